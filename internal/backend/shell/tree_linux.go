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

func sysProcAttr() *syscall.SysProcAttr {
	attr := newSession()
	attr.Pdeathsig = unix.SIGKILL
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
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return entry{}, err
	}
	from, to := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if from < 0 || to < from {
		return entry{}, fmt.Errorf("process %d: unreadable status", pid)
	}
	f := bytes.Fields(b[to+1:])
	if len(f) < 20 {
		return entry{}, fmt.Errorf("process %d: short status", pid)
	}
	num := func(field int) uint64 {
		n, _ := strconv.ParseUint(string(f[field-3]), 10, 64)
		return n
	}
	return entry{
		procID: procID{pid: pid, start: num(22)}, ppid: int(num(4)), sid: int(num(6)),
		zombie: f[0][0] == 'Z' || f[0][0] == 'X', name: string(b[from+1 : to]),
	}, nil
}

// hasTag looks into the environment that a process was started with.
func hasTag(pid int, tag string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false // another user's, or gone
	}
	mark := []byte(tagVar + "=" + tag)
	return bytes.HasPrefix(env, mark) || bytes.Contains(env, append([]byte{0}, mark...))
}
