package hewtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hew-agent/hew/internal/hewtest/robot"
)

// tmuxServer is a tmux of the scenario's own.
type tmuxServer struct {
	ts   *testscript.TestScript
	dir  string // of its socket, whose path must be short
	env  []string
	path string
}

func (t *tmuxServer) run(args ...string) (string, error) {
	c := exec.Command(t.path, append([]string{"-S", filepath.Join(t.dir, "s"), "-f", os.DevNull}, args...)...)
	c.Env, c.Dir = t.env, t.ts.MkAbs(".")
	out, err := c.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

func (t *tmuxServer) stop() {
	_, _ = t.run("kill-server") // may have ended with its last program
	_ = os.RemoveAll(t.dir)
}

// all is what the pane shows, with its history.
func (t *tmuxServer) all() string {
	out, err := t.run("capture-pane", "-p", "-S", "-")
	if err != nil {
		return ""
	}
	return strings.TrimRight(out, "\n")
}

// tmux start [WxH] ARGS… runs hew in tmux, tmux run [WxH] PROGRAM ARGS… another program; type TEXT, key NAME…, resize WxH,
// wait TEXT, lacks TEXT, count TEXT N and end work as with tui.
func cmdTmux(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || neg {
		ts.Fatalf("usage: tmux start|run|type|key|resize|wait|lacks|count|end …")
	}
	verb, args := args[0], args[1:]
	s := on(ts)
	switch verb {
	case "start":
		tmuxStart(ts, s, "hew", args)
		return
	case "run":
		tmuxStart(ts, s, "", args)
		return
	}
	t := s.tmux
	if t == nil {
		ts.Fatalf("tmux %s: nothing was started", verb)
	}
	text := strings.Join(args, " ")
	switch verb {
	case "type":
		_, err := t.run("send-keys", "-l", text)
		ts.Check(err)
	case "key":
		for _, name := range args {
			seq, err := robot.Sequence(name)
			ts.Check(err)
			_, err = t.run("send-keys", "-l", seq)
			ts.Check(err)
		}
	case "resize":
		w, h, ok := cells(text)
		if !ok {
			ts.Fatalf("usage: tmux resize WxH")
		}
		_, err := t.run("resize-window", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h))
		ts.Check(err)
	case "wait":
		if until(func() bool { return strings.Contains(t.all(), text) }) != nil {
			ts.Fatalf("%q never came:\n%s", text, framed(t.all()))
		}
	case "lacks":
		if strings.Contains(t.all(), text) {
			ts.Fatalf("%q is there:\n%s", text, framed(t.all()))
		}
	case "count":
		if len(args) != 2 || fmt.Sprint(strings.Count(t.all(), args[0])) != args[1] {
			ts.Fatalf("%q stands there %d times:\n%s", args[0], strings.Count(t.all(), args[0]), framed(t.all()))
		}
	case "end":
		if until(func() bool { _, err := t.run("has-session"); return err != nil }) != nil {
			ts.Fatalf("hew does not end:\n%s", framed(t.all()))
		}
	default:
		ts.Fatalf("tmux %s: unknown", verb)
	}
}

func tmuxStart(ts *testscript.TestScript, s *stage, program string, args []string) {
	w, h := "80", "24"
	if len(args) > 0 {
		if _, _, ok := cells(args[0]); ok {
			w, h, _ = strings.Cut(args[0], "x")
			args = args[1:]
		}
	}
	if program == "" {
		program, args = args[0], args[1:]
	}
	path, err := exec.LookPath("tmux")
	ts.Check(err)
	program, err = lookPath(ts, program)
	ts.Check(err)
	dir, err := os.MkdirTemp("", "hewtmux")
	ts.Check(err)
	s.tmux = &tmuxServer{ts: ts, dir: dir, path: path, env: append(environ(ts), "TERM=xterm-256color")}
	_, err = s.tmux.run(append([]string{"new-session", "-d", "-x", w, "-y", h, program}, args...)...)
	ts.Check(err)
}
