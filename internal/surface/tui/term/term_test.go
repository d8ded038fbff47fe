//go:build !windows

package term

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"github.com/hew-agent/hew/internal/surface/tui/input"
)

// line is a terminal line: what is written to far arrives as typed.
type line struct {
	t         *testing.T
	near, far *os.File
	mu        sync.Mutex
	out       bytes.Buffer
}

func newLine(t *testing.T) *line {
	far, near, err := pty.Open()
	if err != nil {
		t.Skip("left out: the terminal device (needs pseudo-terminals)")
	}
	l := &line{t: t, near: near, far: far}
	if err := pty.Setsize(far, &pty.Winsize{Cols: 80, Rows: 24}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return l
}

// record reads what the terminal is sent.
func (l *line) record() *line {
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := l.far.Read(buf)
			if err != nil {
				return
			}
			l.mu.Lock()
			l.out.Write(buf[:n])
			l.mu.Unlock()
		}
	}()
	return l
}

func (l *line) open(environ ...string) *Term {
	l.t.Helper()
	term, err := Open(Config{In: l.near, Out: l.near, Environ: environ, State: filepath.Join(l.t.TempDir(), "state")})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = term.Close() })
	return term
}

func (l *line) send(s string) {
	l.t.Helper()
	if _, err := l.far.WriteString(s); err != nil {
		l.t.Fatal(err)
	}
}

// until waits for what the terminal must have been sent.
func (l *line) until(what string) string {
	l.t.Helper()
	end := time.Now().Add(10 * time.Second)
	for time.Now().Before(end) {
		l.mu.Lock()
		s := l.out.String()
		l.mu.Unlock()
		if strings.Contains(s, what) {
			return s
		}
		<-time.After(time.Millisecond)
	}
	l.t.Fatalf("%q never came: %q", what, l.out.String())
	return ""
}

func (l *line) state() term.State {
	l.t.Helper()
	s, err := term.GetState(l.near.Fd())
	if err != nil {
		l.t.Fatal(err)
	}
	return *s
}

func next(t *testing.T, tt *Term) input.Event {
	t.Helper()
	select {
	case ev, ok := <-tt.Events():
		if !ok {
			t.Fatal("there are no more events")
		}
		return ev
	case <-time.After(10 * time.Second):
		t.Fatal("no event came")
	}
	return nil
}

const answers = "\x1b[?2026;2$y\x1b[?2027;2$y\x1b[?0u\x1b]11;rgb:ffff/ffff/e0e0\x1b\\\x1b[?62;1c"

func TestTerm(t *testing.T) {
	l := newLine(t).record()
	before := l.state()
	tt := l.open("TERM=xterm-256color")
	if d := cmp.Diff(input.Event(input.Resize{Width: 80, Height: 24}), next(t, tt)); d != "" {
		t.Error(d)
	}
	if l.state() == before {
		t.Error("the terminal is not in raw mode")
	}
	l.until("\x1b[c")
	l.send(answers)
	<-tt.Learned()
	for c := tt.Caps(); c.asked; c = tt.Caps() {
		<-time.After(time.Millisecond)
	}
	c := tt.Caps()
	if want := (Caps{Colours: Indexed, Background: Light, Sync: true, Graphemes: true, Kitty: true, Reflows: true, known: true}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
	l.until("\x1b[>1u")
	l.send("\x1b[200~all\rof it\x1b[201~\x1b")
	if d := cmp.Diff(input.Event(input.Paste{Text: "all\rof it"}), next(t, tt)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(input.Event(input.Press{Key: "esc"}), next(t, tt)); d != "" {
		t.Error(d)
	}
	for range 200 { // a storm
		if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
			t.Fatal(err)
		}
	}
	if err := pty.Setsize(l.far, &pty.Winsize{Cols: 40, Rows: 10}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(input.Event(input.Resize{Width: 40, Height: 10}), next(t, tt)); d != "" {
		t.Error(d)
	}
	tt.Title("a\x1btitle")
	tt.Fullscreen()
	if err := tt.Close(); err != nil {
		t.Error(err)
	}
	if err := tt.Close(); err != nil {
		t.Error("the second time:", err)
	}
	if l.state() != before {
		t.Error("the terminal's modes were not restored")
	}
	out := l.until("\x1b[<1u\x1b[?1004l\x1b[?2004l\x1b[?1006l\x1b[?1002l\x1b[?1049l")
	if !strings.Contains(out, `a\u001btitle`) || !strings.HasSuffix(out, popTitle) {
		t.Errorf("%q", out)
	}
}

func TestTermVanishes(t *testing.T) {
	l := newLine(t)
	tt := l.open("TERM=dumb")
	next(t, tt)
	if err := l.far.Close(); err != nil {
		t.Fatal(err)
	}
	if e, ok := next(t, tt).(input.Ended); !ok || !errors.Is(e.Err, ErrGone) {
		t.Error("Ended is missing, or does not say why")
	}
	if _, more := <-tt.Events(); more {
		t.Error("an event came after Ended")
	}
	_ = tt.Close() // there is nothing to restore any more
}

func TestTermLent(t *testing.T) {
	l := newLine(t).record()
	before := l.state()
	tt := l.open("TERM=dumb")
	next(t, tt)
	if err := tt.Lend(); err != nil {
		t.Fatal(err)
	}
	if l.state() != before {
		t.Error("another program gets the terminal in raw mode")
	}
	l.send("for it\n")
	got := make([]byte, 20)
	n, err := l.near.Read(got)
	if err != nil || string(got[:n]) != "for it\n" {
		t.Errorf("it reads %q, %v", got[:n], err)
	}
	if n, err := tt.Write([]byte("frame")); n != 5 || err != nil {
		t.Error(n, err)
	}
	if err := tt.Return(); err != nil {
		t.Fatal(err)
	}
	l.send("b")
	if d := cmp.Diff(input.Event(input.Press{Key: "b", Text: "b"}), next(t, tt)); d != "" {
		t.Error(d)
	}
	l.mu.Lock()
	shown := l.out.String()
	l.mu.Unlock()
	if strings.Contains(shown, "frame") {
		t.Error("a frame was written over the other program")
	}
}

// What kill -9 leaves is put right by the next start, and that is said.
func TestTermAfterKill(t *testing.T) {
	l := newLine(t).record()
	before := l.state()
	state := filepath.Join(t.TempDir(), "state")
	saved, err := term.MakeRaw(l.near.Fd())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := term.GetState(l.near.Fd())
	if err != nil {
		t.Fatal(err)
	}
	n := note{folder: state, device: deviceName(l.near), saved: saved, raw: raw}
	n.write(true)
	dead := 1 << 29 // larger than any process id
	if err := os.Rename(n.file(os.Getpid()), n.file(dead)); err != nil {
		t.Fatal(err)
	}
	tt, err := Open(Config{In: l.near, Out: l.near, Environ: []string{"TERM=xterm"}, State: state})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(tt.Notice(), "was killed") {
		t.Errorf("notice %q", tt.Notice())
	}
	l.until("\x1b[?1049l")
	if err := tt.Close(); err != nil {
		t.Fatal(err)
	}
	if l.state() != before {
		t.Error("the modes of before the killed hew are not back")
	}
	if left, err := filepath.Glob(filepath.Join(state, "*")); err != nil || len(left) > 0 {
		t.Errorf("notes stay: %v, %v", left, err)
	}
	if _, notice := n.recover(l.near); notice != "" {
		t.Errorf("said twice: %q", notice)
	}
}

func TestOpenWithoutTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = r.Close(), w.Close() }()
	if _, err := Open(Config{In: r, Out: w}); err != ErrNoTerminal {
		t.Error(err)
	}
}

func TestCaps(t *testing.T) {
	for _, c := range []struct {
		environ string
		want    Caps
	}{
		{"TERM=dumb", Caps{Dumb: true}},
		{"", Caps{Dumb: true}},
		{"TERM=no-such-thing", Caps{Colours: Sixteen}},
		{"TERM=vt100", Caps{}},
		{"TERM=linux", Caps{Colours: Sixteen}},
		{"TERM=xterm-256color", Caps{Colours: Indexed, Reflows: true, known: true}},
		{"TERM=xterm-256color COLORTERM=truecolor", Caps{Colours: TrueColour, Reflows: true, known: true}},
		{"TERM=xterm-kitty", Caps{Colours: TrueColour, Reflows: true, known: true}},
		{"TERM=xterm COLORTERM=truecolor NO_COLOR=1", Caps{Reflows: true, known: true}},
		{"TERM=tmux-256color TMUX=/tmp/x", Caps{Colours: Indexed, Tmux: true, Reflows: true, known: true}},
		{"TERM=xterm XTERM_VERSION=XTerm(379)", Caps{Colours: Sixteen, known: true}},
		{"TERM=rxvt COLORFGBG=15;0", Caps{Colours: Sixteen, Background: Dark, Reflows: true, known: true}},
		{"TERM=rxvt COLORFGBG=0;default;15", Caps{Colours: Sixteen, Background: Light, Reflows: true, known: true}},
	} {
		if got := environ(strings.Fields(c.environ)).caps(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.environ, got, c.want)
		}
	}
}

func TestNotifyAndCopy(t *testing.T) {
	for _, c := range []struct {
		environ string
		by      Channel
		want    string
	}{
		{"TERM=xterm", Auto, "\a"},
		{"TERM=xterm-kitty", Auto, "\x1b]99;i=hew:d=0;hew\x1b\\\x1b]99;i=hew:p=body;a\\u001bb;c\x1b\\"},
		{"TERM=xterm TERM_PROGRAM=iTerm.app", Auto, "\x1b]9;hew: a\\u001bb;c\a"},
		{"TERM=foot", Auto, "\x1b]777;notify;hew;a\\u001bb,c\x1b\\"},
		{"TERM=foot", Bell, "\a"},
		{"TERM=tmux-256color TMUX=x", ITerm, "\x1bPtmux;\x1b\x1b]9;hew: a\\u001bb;c\a\x1b\\"},
		{"TERM=foot", Silent, ""},
	} {
		l := newLine(t).record()
		tt := l.open(strings.Fields(c.environ)...)
		next(t, tt)
		tt.Notify(c.by, "hew", "a\x1bb;c")
		tt.emit("end")
		if out := l.until("end"); !strings.HasSuffix(out, "\x1b[c"+c.want+"end") {
			t.Errorf("%s by %s: %q", c.environ, c.by, out)
		}
		if err := tt.Copy("text"); err != nil {
			t.Error(err)
		}
		l.until("\x1b]52;c;dGV4dA==\a")
		if err := tt.Copy(strings.Repeat("x", clipMost+1)); err == nil {
			t.Error("a text that terminals refuse is copied without a word")
		}
		l.send("\x1b[?62c") // no answers are open at the end
		if err := tt.Close(); err != nil {
			t.Error(err)
		}
	}
}
