package shell

import (
	"fmt"
	"os"
	"strings"
	"sync"
)

// ReaperArg is the first argument of a process that is the reaper and not hew.
//
// The reaper ends what a Runner started when hew itself is killed, which hew
// cannot do any more: kill -9 asks nobody. It is started with the first command
// and reads, from a pipe that only hew holds, what is running; the end of the
// pipe means that hew is gone. It then ends every process that hew would have
// ended, by the same marks (see target), within two seconds.
const ReaperArg = "__reaper"

// reaper is hew's end of the pipe. Its zero value starts nothing.
type reaper struct {
	argv []string

	mu   sync.Mutex
	pipe *os.File
	end  func()              // ends the process and waits for it
	tag  string              // what the processes are marked with
	live map[procID]struct{} // what the reaper must know, should it have to be started again
}

// ready starts the reaper when it does not run. It must come before a process
// starts, so that there is no moment in which nobody would end it.
func (r *reaper) ready() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.argv) == 0 {
		return errNoReaper
	}
	if r.pipe != nil {
		return nil
	}
	return r.startLocked()
}

func (r *reaper) startLocked() error {
	pipe, end, err := startReaper(r.argv)
	if err != nil {
		return fmt.Errorf("start what ends commands when hew is killed: %w", err)
	}
	r.pipe, r.end = pipe, end
	var known strings.Builder
	known.WriteString("tag " + r.tag + "\n")
	for id := range r.live {
		known.WriteString("run " + id.word() + "\n")
	}
	if _, err := r.pipe.WriteString(known.String()); err != nil {
		r.stopLocked()
		return fmt.Errorf("tell what ends commands when hew is killed: %w", err)
	}
	return nil
}

// watch notes a process that was started.
func (r *reaper) watch(id procID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pipe == nil {
		return
	}
	if r.live == nil {
		r.live = map[procID]struct{}{}
	}
	r.live[id] = struct{}{}
	r.tellLocked("run " + id.word())
}

// ended notes that a process has ended and what it left running.
func (r *reaper) ended(id procID, left []procID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pipe == nil {
		return
	}
	delete(r.live, id)
	r.tellLocked("end " + id.word())
	for _, l := range left {
		r.live[l] = struct{}{}
		r.tellLocked("run " + l.word())
	}
}

// tellLocked writes a line. A reaper that somebody has ended is started again,
// once a line; when that fails there is none until the next command.
func (r *reaper) tellLocked(line string) {
	if _, err := r.pipe.WriteString(line + "\n"); err == nil {
		return
	}
	r.stopLocked()
	_ = r.startLocked() // it tells all that is live, also what line says
}

// stop ends the reaper, which then ends nobody.
func (r *reaper) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopLocked()
}

func (r *reaper) stopLocked() {
	if r.pipe == nil {
		return
	}
	r.end() // before the pipe is closed, which would be the sign to act
	_ = r.pipe.Close()
	r.pipe, r.end = nil, nil
}
