//go:build unix

package shell

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// sysProcess is what the platform keeps of a process: nothing here.
type sysProcess struct{}

func (sysProcess) adopt(int)     {}
func (sysProcess) lingers() bool { return false }
func (sysProcess) close()        {}

// procID names a process for good: the kernel reuses pids, not pairs of pid
// and start time. The unit of start is the platform's.
type procID struct {
	pid   int
	start uint64
}

// entry is one row of the process table.
type entry struct {
	procID
	ppid   int
	sid    int // session; on macOS the process group
	zombie bool
	name   string
}

// exitOf tells exit code and signal of a reaped shell.
func exitOf(s *os.ProcessState, err error) (int, string) {
	if s == nil {
		return -1, err.Error()
	}
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), unix.SignalName(status.Signal())
	}
	return s.ExitCode(), ""
}

// terminate ends every process of the target: SIGTERM, then after grace
// SIGKILL. It returns when none is left, or with errStubborn when some still
// are limit after that.
//
// The process table is read anew before each signal, so that a pid which has
// changed hands is never hit, and children made meanwhile are.
func terminate(t target, grace, limit time.Duration) error {
	if t.end(unix.SIGTERM, grace) || t.end(unix.SIGKILL, limit) {
		return nil
	}
	return errStubborn
}

func (t target) end(sig unix.Signal, within time.Duration) bool {
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	hit := map[procID]bool{}
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		members, err := t.members(0)
		if err != nil {
			members = t.groups()
		}
		if len(members) == 0 && !anyAlive(hit) {
			return true
		}
		for _, m := range members {
			if !hit[m.procID] || sig == unix.SIGKILL {
				signal(m, sig)
				hit[m.procID] = true
			}
		}
		select {
		case <-deadline.C:
			return false
		case <-time.After(pause):
		}
	}
}

// anyAlive looks at processes that were members before: one that is on its way
// out has no environment any more, and so no tag, some time before it is gone.
func anyAlive(ids map[procID]bool) bool {
	for id := range ids {
		if e, err := lookup(id.pid); err == nil && e.start == id.start && !e.zombie {
			return true
		}
	}
	return false
}

// signal goes to the whole group at once where m is a shell of ours (a group
// leader that is not yet reaped keeps the number of its group reserved).
func signal(m entry, sig unix.Signal) {
	if m.pid <= 1 {
		return
	}
	to := m.pid
	if m.sid == m.pid {
		to = -m.pid
	}
	if err := unix.Kill(to, sig); errors.Is(err, unix.ESRCH) && to < 0 {
		_ = unix.Kill(m.pid, sig)
	}
	if sig == unix.SIGTERM {
		_ = unix.Kill(to, unix.SIGCONT) // a stopped process sees no other signal
	}
}

// groups is the target as far as it is known without a process table.
func (t target) groups() []entry {
	var list []entry
	for _, p := range t.roots {
		if !p.ended() {
			list = append(list, entry{procID: p.id, sid: p.id.pid})
		}
	}
	return list
}

// members lists the living processes of the target whose pid is above least.
func (t target) members(least int) ([]entry, error) {
	table, err := processes(least)
	if err != nil {
		return nil, err
	}
	in := t.family(table)
	var list []entry
	for _, e := range table {
		if e.zombie || e.pid == os.Getpid() {
			continue
		}
		if in[e.pid] || (e.start >= t.oldest.start && hasTag(e.pid, t.tag)) {
			list = append(list, e)
		}
	}
	return list, nil
}

// family finds the target by parent links and sessions. The number of a shell
// that has ended may belong to somebody else by now: instead of its session,
// what it left at its end counts.
func (t target) family(table []entry) map[int]bool {
	in := make(map[int]bool, len(t.roots))
	sessions, left := make(map[int]uint64, len(t.roots)), map[procID]bool{}
	for _, p := range t.roots {
		if !p.ended() {
			left[p.id], sessions[p.id.pid] = true, p.id.start
			in[p.id.pid] = p.id.start == 0
			continue
		}
		for _, id := range p.leftIDs {
			left[id] = true
		}
	}
	self := os.Getpid()
	for grown := true; grown; {
		grown = false
		for _, e := range table {
			since, ours := sessions[e.sid]
			ours = ours && e.start >= since
			if !in[e.pid] && e.pid != self && (in[e.ppid] || ours || left[e.procID]) {
				in[e.pid], grown = true, true
			}
		}
	}
	return in
}

// leftovers lists what a shell that has ended left running. Only pids above
// the shell's are looked at, which spares most of the table; after the
// numbers have wrapped around, some may be missed.
func leftovers(p *process) ([]Process, []procID) {
	members, err := target{roots: []*process{p}, tag: p.tag, oldest: p.id}.members(p.id.pid)
	if err != nil {
		return nil, nil
	}
	var list []Process
	var ids []procID
	for _, m := range members {
		list = append(list, Process{PID: m.pid, Name: m.name})
		ids = append(ids, m.procID)
	}
	return list, ids
}

// identify must be called before the process is reaped.
func identify(pid int) procID {
	e, _ := lookup(pid) // a start of 0 only widens the search of members
	return procID{pid: pid, start: e.start}
}

// newSession makes the child the leader of a session and group of its own: it
// has no terminal to stop at or to prompt on.
func newSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// direct starts a command on whatever thread it is called.
func direct(cmd *exec.Cmd) error { return cmd.Start() }
