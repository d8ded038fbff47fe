//go:build unix

package shell

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	interrupts "os/signal"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

var errNoReaper = errors.New("no reaper is configured")

// ReaperCommand is how hew starts itself as the reaper; nil when it cannot.
func ReaperCommand() []string {
	self, err := selfPath()
	if err != nil {
		return nil
	}
	return []string{self, ReaperArg}
}

func (id procID) word() string { return fmt.Sprintf("%d %d", id.pid, id.start) }

// startReaper gives the end of the pipe that nothing else may hold: os.Pipe
// closes it on exec, so that no command keeps it open.
func startReaper(argv []string) (*os.File, func(), error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	// Out of reach of the terminal's signals, and nothing of hew's is held: not
	// its folder, its output or its environment, which also keeps the tag of a
	// hew that runs this one from ending the reaper early.
	cmd := &exec.Cmd{Path: argv[0], Args: append([]string{"hew"}, argv[1:]...), Env: []string{"GOMAXPROCS=1"}, Dir: "/", Stdin: r, SysProcAttr: newSession()}
	if err := direct(cmd); err != nil {
		_ = w.Close()
		return nil, nil, err
	}
	return w, func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed: nothing to learn
	}, nil
}

// Reap is the program behind ReaperArg. It must be called before anything else
// that main does; mine tells that the process was the reaper.
func Reap(args []string) (code int, mine bool) {
	if len(args) != 1 || args[0] != ReaperArg {
		return 0, false
	}
	interrupts.Ignore(unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	if err := reap(os.Stdin, defaultGrace, killLimit); err != nil {
		return 1, true
	}
	return 0, true
}

// reap reads what runs until the writer is gone, and then ends it.
func reap(from io.Reader, grace, limit time.Duration) error {
	tag := ""
	live := map[procID]bool{}
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		if verb == "tag" {
			tag = rest
			continue
		}
		var id procID
		if n, err := fmt.Sscanf(rest, "%d %d", &id.pid, &id.start); n != 2 || err != nil {
			continue // a line cut by the kill
		}
		if verb == "run" {
			live[id] = true
		} else {
			delete(live, id)
		}
	}
	if tag == "" {
		return nil
	}
	t := target{tag: tag}
	for id := range live {
		if e, err := lookup(id.pid); err == nil && e.start != id.start {
			continue // the number belongs to somebody else by now
		}
		t.roots = append(t.roots, &process{id: id})
	}
	return terminate(t, grace, limit)
}
