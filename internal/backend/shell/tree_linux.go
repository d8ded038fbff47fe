package shell

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// sysProcAttr leaves the parent-death signal out where a reaper stands by: the
// shell that it ends at once is what the reaper finds the shell's children by.
func sysProcAttr(reaped bool) *syscall.SysProcAttr {
	attr := newSession()
	if !reaped {
		attr.Pdeathsig = unix.SIGKILL
	}
	return attr
}

// spawner forks from one thread that lives as long as the Runner: the kernel
// sends the parent-death signal when the forking thread ends, not the process.
type spawner struct {
	once sync.Once
	work chan spawnJob
	idle sync.WaitGroup
}

type spawnJob struct {
	cmd  *exec.Cmd
	done chan error
}

func (s *spawner) start(cmd *exec.Cmd) error {
	s.once.Do(func() {
		s.work = make(chan spawnJob)
		s.idle.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for job := range s.work {
				job.done <- direct(job.cmd)
			}
		})
	})
	job := spawnJob{cmd: cmd, done: make(chan error)}
	s.work <- job
	return <-job.done
}

// stop must not be called beside or before start.
func (s *spawner) stop() {
	s.once.Do(func() {})
	if s.work != nil {
		close(s.work)
		s.idle.Wait()
	}
}

// processes reads the process table; unit of start: clock ticks since boot.
func processes(least int) ([]entry, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var table []entry
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid <= least {
			continue
		}
		if e, err := lookup(pid); err == nil {
			table = append(table, e)
		}
	}
	if least == 0 && len(table) == 0 {
		return nil, errors.New("list processes: /proc shows none")
	}
	return table, nil
}

// lookup reads /proc/PID/stat (proc_pid_stat(5)): the name is in parentheses
// and may hold any byte, the fields after it are counted from 3.
func lookup(pid int) (entry, error) {
	var buf [1024]byte // three times what the fields can take
	b, err := readProc(pid, "stat", buf[:])
	if err != nil {
		return entry{}, err
	}
	from, to := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if from < 0 || to < from {
		return entry{}, fmt.Errorf("process %d: unreadable status", pid)
	}
	e := entry{procID: procID{pid: pid}, name: string(b[from+1 : to])}
	field := 2
	for f := range bytes.FieldsSeq(b[to+1:]) {
		switch field++; field {
		case 3:
			e.zombie = f[0] == 'Z' || f[0] == 'X'
		case 4:
			e.ppid = int(number(f))
		case 6:
			e.sid = int(number(f))
		case 22:
			e.start = number(f)
			return e, nil
		}
	}
	return entry{}, fmt.Errorf("process %d: short status", pid)
}

// number reads decimal digits; what is none ends it.
func number(digits []byte) uint64 {
	var n uint64
	for _, c := range digits {
		if c < '0' || c > '9' {
			break
		}
		n = 10*n + uint64(c-'0')
	}
	return n
}

// hasTag looks into the environment that a process was started with.
func hasTag(pid int, tag string) bool {
	env, err := readProc(pid, "environ", make([]byte, 16<<10))
	if err != nil {
		return false // another user's, or gone
	}
	mark := []byte(tagVar + "=" + tag)
	return bytes.HasPrefix(env, mark) || bytes.Contains(env, append([]byte{0}, mark...))
}

// readProc reads a file of a process into buf, or into more memory when it
// needs more. It asks the kernel directly: the table is read again and again
// while processes end, and an *os.File costs more than the file.
func readProc(pid int, name string, buf []byte) ([]byte, error) {
	path := "/proc/" + strconv.Itoa(pid) + "/" + name
	fd, err := retry(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer unix.Close(fd)
	got := 0
	for {
		if got == len(buf) {
			buf = append(buf, make([]byte, len(buf))...)
		}
		n, err := retry(func() (int, error) { return unix.Read(fd, buf[got:]) })
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		if n == 0 {
			return buf[:got], nil
		}
		got += n
	}
}

// retry repeats a call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
