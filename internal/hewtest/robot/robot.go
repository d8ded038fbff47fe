//go:build !windows

// Package robot is a person at a virtual terminal: types, reads the screen, changes its size, and ends programs.
package robot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// Config is a program and its terminal.
type Config struct {
	Path          string
	Args          []string
	Env           []string // without TERM, where nothing else is meant than an ordinary terminal
	Dir           string
	Width, Height int
}

// Robot sits at one terminal, at which one program after the other runs. Its
// methods are safe for concurrent use.
type Robot struct {
	far, near *os.File // our end, and the program's
	before    term.State
	reads     sync.WaitGroup

	mu            sync.Mutex
	emu           *vt.Emulator
	modes         map[ansi.Mode]bool
	width, height int
	raw           []byte
	mark          int
	cmd           *exec.Cmd
	done          chan struct{}
	err           error
	hung          bool
}

// Open makes a terminal.
func Open(width, height int) (*Robot, error) {
	far, near, err := pty.Open()
	if err != nil {
		return nil, fmt.Errorf("open a pseudo-terminal: %w", err)
	}
	r := &Robot{far: far, near: near, emu: vt.NewEmulator(width, height), modes: map[ansi.Mode]bool{}, width: width, height: height}
	if err := r.setSize(); err != nil {
		return nil, err
	}
	state, err := term.GetState(near.Fd())
	if err != nil {
		return nil, fmt.Errorf("read the terminal's modes: %w", err)
	}
	r.before = *state
	if err := syscall.SetNonblock(int(far.Fd()), true); err != nil { // so that Close ends a Read
		return nil, fmt.Errorf("prepare the pseudo-terminal: %w", err)
	}
	r.listen()
	return r, nil
}

func (r *Robot) setSize() error {
	if err := pty.Setsize(r.near, &pty.Winsize{Cols: uint16(r.width), Rows: uint16(r.height)}); err != nil {
		return fmt.Errorf("set the terminal's size: %w", err)
	}
	return nil
}

// listen shows what programs write on the virtual screen, and sends back what a
// terminal answers.
func (r *Robot) listen() {
	on := func(m ansi.Mode) { r.modes[m] = true }
	off := func(m ansi.Mode) { delete(r.modes, m) }
	r.emu.SetCallbacks(vt.Callbacks{EnableMode: on, DisableMode: off})
	r.emu.RegisterCsiHandler(ansi.Command('?', '$', 'p'), func(p ansi.Params) bool {
		if n, _, _ := p.Param(0, 0); n == ansi.ModeSynchronizedOutput.Mode() {
			_, _ = io.WriteString(r.emu.InputPipe(), ansi.ReportMode(ansi.ModeSynchronizedOutput, ansi.ModeReset))
			return true
		}
		return false
	})
	r.reads.Go(func() { _, _ = io.Copy(r.far, r.emu) })
	r.reads.Go(func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := r.far.Read(buf)
			r.mu.Lock()
			r.raw = append(r.raw, buf[:n]...)
			_, _ = r.emu.Write(buf[:n])
			r.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
}

// Start runs a program at the terminal, as the leader of a session that has it.
func (r *Robot) Start(c Config) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.near, r.near, r.near
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", c.Path, err)
	}
	done := make(chan struct{})
	r.cmd, r.done, r.err = cmd, done, nil
	go func() {
		err := cmd.Wait()
		r.mu.Lock()
		r.err = err
		r.mu.Unlock()
		close(done)
	}()
	return nil
}

// Send sends bytes as the keyboard would.
func (r *Robot) Send(s string) error {
	if _, err := io.WriteString(r.far, s); err != nil {
		return fmt.Errorf("type at the terminal: %w", err)
	}
	return nil
}

// Key presses keys by the names of input.Press.
func (r *Robot) Key(names ...string) error {
	for _, n := range names {
		seq, err := Sequence(n)
		if err != nil {
			return err
		}
		if err := r.Send(seq); err != nil {
			return err
		}
	}
	return nil
}

// Paste pastes text as terminals do: bracketed where the program asked for that,
// with carriage returns at the ends of lines.
func (r *Robot) Paste(text string) error {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r")
	if r.set(ansi.ModeBracketedPaste) {
		text = ansi.BracketedPasteStart + text + ansi.BracketedPasteEnd
	}
	return r.Send(text)
}

func (r *Robot) set(m ansi.Mode) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.modes[m]
}

// Resize gives the window another size, in cells.
func (r *Robot) Resize(width, height int) error {
	r.mu.Lock()
	r.lift(height)
	r.width, r.height = width, height
	r.emu.Resize(width, height)
	r.mu.Unlock()
	return r.setSize()
}

// lift moves the lines above the cursor into the scrollback, as far as a lower
// window has no room for them. Terminals do so; the virtual one cuts the bottom.
func (r *Robot) lift(height int) {
	at := r.emu.CursorPosition()
	if n := at.Y - height + 1; n > 0 && !r.emu.IsAltScreen() {
		_, _ = fmt.Fprintf(r.emu, "\x1b[%d;1H%s\x1b[%d;%dH", r.height, strings.Repeat("\n", n), height, at.X+1)
	}
}

// Screen is the text of the window, without blanks and lines that are empty at the end.
func (r *Robot) Screen() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.screen()
}

func (r *Robot) screen() string {
	return tidy(strings.Split(r.emu.String(), "\n"))
}

func tidy(lines []string) string {
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// All is the text of the scrollback and the window below it.
func (r *Robot) All() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []string
	for y := range r.emu.ScrollbackLen() {
		var b strings.Builder
		for x := 0; x < r.width; {
			c := r.emu.ScrollbackCellAt(x, y)
			if c == nil || c.Content == "" {
				b.WriteByte(' ')
				x++
				continue
			}
			b.WriteString(c.Content)
			x += max(c.Width, 1)
		}
		lines = append(lines, b.String())
	}
	return tidy(append(lines, strings.Split(r.emu.String(), "\n")...))
}

// Cursor is the cursor's cell, and whether it can be seen.
func (r *Robot) Cursor() (x, y int, shown bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.emu.CursorPosition()
	return at.X, at.Y, !r.emu.CursorHidden()
}

// Raw is everything that programs wrote so far.
func (r *Robot) Raw() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.raw)
}

// Mark begins to count what is written.
func (r *Robot) Mark() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mark = len(r.raw)
}

// Written is how many bytes were written since Mark, or the beginning.
func (r *Robot) Written() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.raw) - r.mark
}

// Pid is the process that runs, or ran last.
func (r *Robot) Pid() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cmd == nil {
		return 0
	}
	return r.cmd.Process.Pid
}

// Signal sends a signal to the program.
func (r *Robot) Signal(s syscall.Signal) error {
	if err := syscall.Kill(r.Pid(), s); err != nil {
		return fmt.Errorf("send %v to the program: %w", s, err)
	}
	return nil
}

// Done is closed when the program that was started last has ended.
func (r *Robot) Done() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done
}

// Code is how the program ended: its exit code, or 128 plus a signal's number.
func (r *Robot) Code() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ee *exec.ExitError
	if !errors.As(r.err, &ee) {
		return 0
	}
	if ws, ok := ee.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ee.ExitCode()
}

// CPU is the time that the program, which has ended, took of all processors.
func (r *Robot) CPU() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cmd == nil || r.cmd.ProcessState == nil {
		return 0
	}
	return r.cmd.ProcessState.UserTime() + r.cmd.ProcessState.SystemTime()
}

// Restored says what a program left changed about the terminal, nil for nothing,
// and for a terminal that is gone.
func (r *Robot) Restored() error {
	r.mu.Lock()
	hung := r.hung
	r.mu.Unlock()
	if hung {
		return nil
	}
	now, err := term.GetState(r.near.Fd())
	if err != nil {
		return fmt.Errorf("read the terminal's modes: %w", err)
	}
	var left []string
	if *now != r.before {
		left = append(left, "the line discipline is not as it was (raw mode?)")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for m := range r.modes {
		if m != ansi.Mode(ansi.ModeAutoWrap) && m != ansi.Mode(ansi.ModeTextCursorEnable) {
			left = append(left, fmt.Sprintf("mode %v is on", m))
		}
	}
	if r.emu.CursorHidden() {
		left = append(left, "the cursor is hidden")
	}
	if len(left) == 0 {
		return nil
	}
	slices.Sort(left)
	return errors.New(strings.Join(left, "; "))
}

// Hangup closes the terminal, as closing its window does.
func (r *Robot) Hangup() error {
	r.mu.Lock()
	hung := r.hung
	r.hung = true
	r.mu.Unlock()
	if hung {
		return nil
	}
	if err := r.far.Close(); err != nil {
		return fmt.Errorf("close the terminal: %w", err)
	}
	return nil
}

// Close ends what runs at the terminal, with its children, and the terminal.
func (r *Robot) Close() {
	if pid := r.Pid(); pid > 0 {
		_ = syscall.Kill(-pid, syscall.SIGKILL) // may have ended
		<-r.Done()
	}
	_ = r.Hangup()
	// Not emu.Close: it writes what its reader reads.
	if in, ok := r.emu.InputPipe().(io.Closer); ok {
		_ = in.Close()
	}
	_ = r.near.Close()
	r.reads.Wait()
}

// Stopped tells whether the program is stopped, as by Ctrl+Z.
func (r *Robot) Stopped() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.Pid()))
	if err != nil {
		return false
	}
	_, after, _ := bytes.Cut(stat, []byte(") "))
	return bytes.HasPrefix(after, []byte("T"))
}
