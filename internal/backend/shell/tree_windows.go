package shell

import (
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// sysProcess holds the job object of a process tree. Ending it ends the whole
// tree at once (there is no gentle signal on Windows), and the system ends it
// when hew's handle goes away, so also when hew is killed. A child made in the
// first moments, before the shell is put into the job, stays outside.
type sysProcess struct{ job windows.Handle }

func (s *sysProcess) adopt(pid int) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return // terminate then ends the shell alone
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = assign(job, pid)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return
	}
	s.job = job
}

func assign(job windows.Handle, pid int) error {
	proc, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(proc)
	return windows.AssignProcessToJobObject(job, proc)
}

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION (information class 1).
type accounting struct {
	userTime, kernelTime, periodUserTime, periodKernelTime int64
	faults, total, active, terminated                      uint32
}

// lingers reports whether the shell left processes behind in its job.
func (s *sysProcess) lingers() bool {
	if s.job == 0 {
		return false
	}
	var a accounting
	err := windows.QueryInformationJobObject(s.job, 1, uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil)
	return err == nil && a.active > 0
}

func (s *sysProcess) close() {
	if s.job != 0 {
		_ = windows.CloseHandle(s.job)
		s.job = 0
	}
}

func exitOf(s *os.ProcessState, err error) (int, string) {
	if s == nil {
		return -1, err.Error()
	}
	return s.ExitCode(), ""
}

// terminate ends the job objects of the target; tag and grace have no use here.
func terminate(t target, _, limit time.Duration) error {
	deadline := time.After(limit)
	for _, p := range t.roots {
		if p.sys.job == 0 || windows.TerminateJobObject(p.sys.job, 143) != nil {
			_ = p.cmd.Process.Kill() // an error means that it has ended
		}
	}
	for _, p := range t.roots {
		select {
		case <-p.exited:
		case <-deadline:
			return errStubborn
		}
	}
	return nil
}

func leftovers(*process) ([]Process, []procID) { return nil, nil }

// procID is enough here: the job object knows its processes.
type procID struct{ pid int }

func identify(pid int) procID { return procID{pid: pid} }

func sysProcAttr(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// spawner has nothing to take care of: the job object follows hew's handle.
type spawner struct{}

func (*spawner) start(cmd *exec.Cmd) error { return cmd.Start() }
func (*spawner) stop()                     {}
