package hewtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/tools/txtar"

	"github.com/hew-agent/hew/internal/hewtest/robot"
)

const (
	screenPatience = 10 * time.Second
	usageTUI       = "usage: tui start|again|run|type|key|send|paste|resize|wait|gone|screen|scrollback|raw|mark|bytes|cursor|svg|signal|stopped|restored|hangup|quit|end …"
)

// tui VERB … is a person at hew's terminal; docs/testing.md lists the verbs.
func cmdTUI(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || neg {
		ts.Fatalf(usageTUI)
	}
	verb, args := args[0], args[1:]
	switch verb {
	case "start", "run":
		tuiStart(ts, verb, args)
		return
	}
	r := on(ts).robot
	if r == nil {
		ts.Fatalf("tui %s: nothing was started", verb)
	}
	if act, ok := tuiActs()[verb]; ok {
		act(ts, r, args)
		return
	}
	ts.Fatalf(usageTUI)
}

type tuiAct func(ts *testscript.TestScript, r *robot.Robot, args []string)

func tuiActs() map[string]tuiAct {
	return map[string]tuiAct{
		"again": func(ts *testscript.TestScript, r *robot.Robot, args []string) { tuiProgram(ts, r, args[0], args[1:]) },
		"type": func(ts *testscript.TestScript, r *robot.Robot, args []string) {
			ts.Check(r.Send(strings.Join(args, " ")))
		},
		"key":        func(ts *testscript.TestScript, r *robot.Robot, args []string) { ts.Check(r.Key(args...)) },
		"send":       func(ts *testscript.TestScript, r *robot.Robot, args []string) { ts.Check(r.Send(unquote(ts, args))) },
		"paste":      tuiPaste,
		"resize":     tuiResize,
		"wait":       tuiWait,
		"gone":       tuiGone,
		"screen":     tuiScreen,
		"scrollback": tuiScrollback,
		"raw":        tuiRaw,
		"mark":       func(_ *testscript.TestScript, r *robot.Robot, _ []string) { r.Mark() },
		"bytes":      tuiBytes,
		"cursor":     tuiCursor,
		"svg":        func(ts *testscript.TestScript, r *robot.Robot, args []string) { shoot(ts, r, args[0]) },
		"signal":     tuiSignal,
		"stopped": func(ts *testscript.TestScript, r *robot.Robot, _ []string) {
			wait(ts, r, "it is not stopped", r.Stopped)
		},
		"restored": func(ts *testscript.TestScript, r *robot.Robot, _ []string) {
			wait(ts, r, "its modes are not restored", func() bool { return r.Restored() == nil })
		},
		"hangup": func(ts *testscript.TestScript, r *robot.Robot, _ []string) { ts.Check(r.Hangup()) },
		"quit":   tuiQuit,
		"end":    tuiEnd,
	}
}

// tuiStart opens a terminal, of 80x24 cells unless the first argument says
// otherwise, and starts hew, or with run another program.
func tuiStart(ts *testscript.TestScript, verb string, args []string) {
	w, h := 80, 24
	if len(args) > 0 {
		if cw, ch, ok := cells(args[0]); ok {
			w, h, args = cw, ch, args[1:]
		}
	}
	s := on(ts)
	if s.robot != nil {
		s.robot.Close()
	}
	r, err := robot.Open(w, h)
	ts.Check(err)
	s.robot = r
	program := "hew"
	if verb == "run" {
		if len(args) == 0 {
			ts.Fatalf("usage: tui run [WxH] PROGRAM ARGS…")
		}
		program, args = args[0], args[1:]
	}
	tuiProgram(ts, r, program, args)
}

func cells(s string) (w, h int, ok bool) {
	a, b, ok := strings.Cut(s, "x")
	w, err1 := strconv.Atoi(a)
	h, err2 := strconv.Atoi(b)
	return w, h, ok && err1 == nil && err2 == nil
}

func tuiProgram(ts *testscript.TestScript, r *robot.Robot, program string, args []string) {
	path, err := lookPath(ts, program)
	ts.Check(err)
	ts.Check(r.Start(robot.Config{Path: path, Args: args, Env: tuiEnviron(ts), Dir: ts.MkAbs(".")}))
}

// tuiEnviron is the scenario's environment and an ordinary terminal's, which does
// not wrap lines anew when its window changes (XTERM_VERSION), as the virtual
// one does not.
func tuiEnviron(ts *testscript.TestScript) []string {
	env := append(environ(ts), "XTERM_VERSION=robot")
	for _, k := range []string{
		"NO_COLOR", "COLORFGBG", "EDITOR", "VISUAL", "SHELL", "TERM_PROGRAM", "CLAUDE_AX_SCREEN_READER", "CLAUDE_CODE_ACCESSIBILITY",
		"CLAUDE_CODE_NO_FLICKER", "TMUX", "KITTY_WINDOW_ID", "PS1", "ENV", "XDG_CONFIG_HOME",
	} {
		if v := ts.Getenv(k); v != "" {
			env = append(env, k+"="+v)
		}
	}
	for k, v := range map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor"} {
		if set := ts.Getenv(k); set != "" {
			v = set
		}
		env = append(env, k+"="+v)
	}
	return env
}

// wait polls until something holds, and shows the screen where it never does.
func wait(ts *testscript.TestScript, r *robot.Robot, otherwise string, ok func() bool) {
	ctx, cancel := context.WithTimeout(context.Background(), screenPatience)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			ts.Fatalf("%s; the screen:\n%s", otherwise, framed(r.Screen()))
		}
	}
}

func framed(screen string) string {
	return "  │" + strings.ReplaceAll(screen, "\n", "\n  │")
}

func unquote(ts *testscript.TestScript, args []string) string {
	s, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.Join(args, " "), `"`, `\"`) + `"`)
	ts.Check(err)
	return s
}

// paste FILE|TEXT pastes a file's content, or the text where there is no such file.
func tuiPaste(ts *testscript.TestScript, r *robot.Robot, args []string) {
	text := strings.Join(args, " ")
	if raw, err := os.ReadFile(ts.MkAbs(text)); err == nil {
		text = string(raw)
	}
	ts.Check(r.Paste(text))
}

func tuiResize(ts *testscript.TestScript, r *robot.Robot, args []string) {
	for _, a := range args { // several: a storm
		w, h, ok := cells(a)
		if !ok {
			ts.Fatalf("usage: tui resize WxH…")
		}
		ts.Check(r.Resize(w, h))
	}
}

func tuiWait(ts *testscript.TestScript, r *robot.Robot, args []string) {
	text := strings.Join(args, " ")
	wait(ts, r, fmt.Sprintf("%q never came", text), func() bool { return strings.Contains(r.All(), text) })
}

func tuiGone(ts *testscript.TestScript, r *robot.Robot, args []string) {
	text := strings.Join(args, " ")
	wait(ts, r, fmt.Sprintf("%q stays", text), func() bool { return !strings.Contains(r.Screen(), text) })
}

func tuiScreen(ts *testscript.TestScript, r *robot.Robot, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: tui screen golden FILE | contains|lacks TEXT")
	}
	text := strings.Join(args[1:], " ")
	switch args[0] {
	case "golden":
		tuiGolden(ts, r, args[1])
	case "contains":
		wait(ts, r, fmt.Sprintf("%q is not there", text), func() bool { return strings.Contains(r.Screen(), text) })
	case "lacks":
		if strings.Contains(r.Screen(), text) {
			ts.Fatalf("%q is there:\n%s", text, framed(r.Screen()))
		}
	default:
		ts.Fatalf("tui screen %s: unknown", args[0])
	}
}

// anything stands for any text in a line of a golden.
const anything = "{{*}}"

// tuiGolden compares the screen with a file of the scenario, which UPDATE=1
// rewrites, except lines with {{*}} that are still right.
func tuiGolden(ts *testscript.TestScript, r *robot.Robot, name string) {
	want := strings.TrimRight(ts.ReadFile(name), "\n")
	seen := func() string { return strings.ReplaceAll(r.Screen(), ts.Getenv("WORK"), "$WORK") }
	if dir := os.Getenv("HEW_TUI_SHOTS"); dir != "" {
		defer shoot(ts, r, strings.TrimSuffix(filepath.Base(name), ".txt")+".svg")
	}
	if os.Getenv("UPDATE") == "" {
		got := ""
		ctx, cancel := context.WithTimeout(context.Background(), screenPatience)
		defer cancel()
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for got = seen(); !sameScreen(want, got); got = seen() {
			select {
			case <-tick.C:
			case <-ctx.Done():
				ts.Fatalf("%s: the screen is another one (UPDATE=1 accepts it):\n%s\n%s", name, framed(got), cmp.Diff(want, got))
			}
		}
		return
	}
	got := settled(seen)
	lines, old := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(lines), len(old)) {
		if sameLine(old[i], lines[i]) {
			lines[i] = old[i]
		}
	}
	ts.Check(rewrite(on(ts).area, ts.Name(), filepath.Base(name), strings.Join(lines, "\n")+"\n"))
}

// settled is a screen that stayed the same for a while.
func settled(seen func() string) string {
	last, since := seen(), time.Now()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if now := seen(); now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) > 400*time.Millisecond {
			break
		}
	}
	return last
}

func sameScreen(want, got string) bool {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameLine(a[i], b[i]) {
			return false
		}
	}
	return true
}

func sameLine(want, got string) bool {
	parts := strings.Split(want, anything)
	rest, ok := strings.CutPrefix(got, parts[0])
	for _, p := range parts[1:] {
		i := strings.Index(rest, p)
		ok = ok && i >= 0
		rest = rest[max(i, 0):][min(len(p), len(rest)-max(i, 0)):]
		if p == "" {
			rest = ""
		}
	}
	return ok && rest == ""
}

func rewrite(area, scenario, name, text string) error {
	path := filepath.Join(scenarios, area, scenario+".txtar")
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	a := txtar.Parse(raw)
	for i, f := range a.Files {
		if f.Name == name && !bytes.Equal(f.Data, []byte(text)) {
			a.Files[i].Data = []byte(text)
			return os.WriteFile(path, txtar.Format(a), 0o644)
		}
	}
	return nil
}

// shoot draws the window into a file of the scenario, or into HEW_TUI_SHOTS.
func shoot(ts *testscript.TestScript, r *robot.Robot, name string) {
	path := ts.MkAbs(name)
	if dir := os.Getenv("HEW_TUI_SHOTS"); dir != "" {
		path = filepath.Join(dir, ts.Name()+"-"+name)
	}
	var b bytes.Buffer
	ts.Check(r.SVG(&b))
	ts.Check(os.WriteFile(path, b.Bytes(), 0o644))
}

// tuiScrollback looks at everything that was printed: scrollback and window.
func tuiScrollback(ts *testscript.TestScript, r *robot.Robot, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: tui scrollback contains|lacks TEXT | count TEXT N")
	}
	text := args[1]
	switch args[0] {
	case "contains":
		wait(ts, r, fmt.Sprintf("%q is nowhere", text), func() bool { return strings.Contains(r.All(), text) })
	case "lacks":
		if all := r.All(); strings.Contains(all, text) {
			ts.Fatalf("%q is there:\n%s", text, framed(all))
		}
	case "count":
		if len(args) != 3 || strconv.Itoa(strings.Count(r.All(), text)) != args[2] {
			ts.Fatalf("%q stands there %d times:\n%s", text, strings.Count(r.All(), text), framed(r.All()))
		}
	default:
		ts.Fatalf("tui scrollback %s: unknown", args[0])
	}
}

// tuiRaw looks at the bytes that were written; \x1b and the like are Go's.
func tuiRaw(ts *testscript.TestScript, r *robot.Robot, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: tui raw contains|lacks SEQUENCE")
	}
	seq := unquote(ts, args[1:])
	switch args[0] {
	case "contains":
		wait(ts, r, fmt.Sprintf("%q was not written", seq), func() bool { return strings.Contains(r.Raw(), seq) })
	case "lacks":
		if strings.Contains(r.Raw(), seq) {
			ts.Fatalf("%q was written", seq)
		}
	default:
		ts.Fatalf("tui raw %s: unknown", args[0])
	}
}

// tuiBytes: bytes below N: so few were written since mark, or the start.
func tuiBytes(ts *testscript.TestScript, r *robot.Robot, args []string) {
	if len(args) != 2 || args[0] != "below" {
		ts.Fatalf("usage: tui bytes below N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	if r.Written() >= n {
		ts.Fatalf("%d bytes were written, the limit is %d", r.Written(), n)
	}
}

// tuiCursor: cursor X Y waits for the cursor's cell, from 0; cursor hidden for none.
func tuiCursor(ts *testscript.TestScript, r *robot.Robot, args []string) {
	want := strings.Join(args, " ")
	at := func() string {
		x, y, shown := r.Cursor()
		if !shown {
			return "hidden"
		}
		return fmt.Sprintf("%d %d", x, y)
	}
	wait(ts, r, fmt.Sprintf("the cursor is not at %s", want), func() bool { return at() == want })
}

func tuiSignal(ts *testscript.TestScript, r *robot.Robot, args []string) {
	numbers := map[string]syscall.Signal{
		"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP, "QUIT": syscall.SIGQUIT, "TSTP": syscall.SIGTSTP,
		"STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT, "WINCH": syscall.SIGWINCH,
	}
	s, ok := numbers[strings.Join(args, " ")]
	if !ok {
		ts.Fatalf("usage: tui signal KILL|TERM|INT|HUP|QUIT|TSTP|STOP|CONT|WINCH")
	}
	ts.Check(r.Signal(s))
}

// tuiQuit presses Ctrl+C until hew ends, whatever it is doing.
func tuiQuit(ts *testscript.TestScript, r *robot.Robot, _ []string) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 60 {
		if err := r.Key("ctrl+c"); err != nil {
			break
		}
		select {
		case <-r.Done():
			tuiEnd(ts, r, nil)
			return
		case <-tick.C:
		}
	}
	tuiEnd(ts, r, nil)
}

// tuiEnd waits for the program's end with an exit code, 128+N for a signal, and
// checks that the terminal is as it was, unless the program was killed.
func tuiEnd(ts *testscript.TestScript, r *robot.Robot, args []string) {
	want := "0"
	if len(args) > 0 {
		want = args[0]
	}
	wait(ts, r, "it does not end", func() bool {
		select {
		case <-r.Done():
			return true
		default:
			return false
		}
	})
	if got := strconv.Itoa(r.Code()); got != want {
		ts.Fatalf("it ended with %s, want %s; the screen:\n%s", got, want, framed(r.Screen()))
	}
	if want != "137" {
		wait(ts, r, "the terminal is not as it was", func() bool { return r.Restored() == nil })
	}
}
