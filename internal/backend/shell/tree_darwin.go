package shell

import (
	"bytes"
	"fmt"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

func sysProcAttr(bool) *syscall.SysProcAttr { return newSession() }

// spawner has nothing to take care of: there is no parent-death signal.
type spawner struct{}

func (*spawner) start(cmd *exec.Cmd) error { return direct(cmd) }
func (*spawner) stop()                     {}

// zombieState is SZOMB of <sys/proc.h>.
const zombieState = 5

// processes reads the process table; unit of start: microseconds since 1970.
func processes(least int) ([]entry, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	table := make([]entry, 0, len(list))
	for i := range list {
		if e := row(&list[i]); e.pid > least {
			table = append(table, e)
		}
	}
	return table, nil
}

func lookup(pid int) (entry, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return entry{}, fmt.Errorf("process %d: %w", pid, err)
	}
	return row(k), nil
}

func row(k *unix.KinfoProc) entry {
	started := k.Proc.P_starttime
	name, _, _ := bytes.Cut(k.Proc.P_comm[:], []byte{0})
	return entry{
		procID: procID{pid: int(k.Proc.P_pid), start: uint64(started.Sec)*1e6 + uint64(started.Usec)},
		ppid:   int(k.Eproc.Ppid), sid: int(k.Eproc.Pgid), zombie: k.Proc.P_stat == zombieState, name: string(name),
	}
}

// hasTag looks into the environment that a process was started with, as far
// as the system shows it (not that of protected programs).
func hasTag(pid int, tag string) bool {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	return err == nil && bytes.Contains(b, []byte("\x00"+tagVar+"="+tag))
}
