// Package term is the terminal device: raw mode, decoding of input, what the terminal can do, and putting everything back.
//
// A Term asks the terminal what it can do and never waits for the answers: Caps
// holds what is known so far, Learned tells that it is more. It owns the
// terminal's modes and puts them back on every way out; what a killed hew left
// behind, the next one puts back. At rest no timer runs.
package term

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/muesli/cancelreader"

	"github.com/hew-agent/hew/internal/surface/tui/input"
)

// ErrNoTerminal says that input or output is something else: a pipe or a file.
var ErrNoTerminal = errors.New("there is no terminal on standard input and output; for use without one: hew -p \"prompt\"")

// Config is what a Term is opened on.
type Config struct {
	In, Out *os.File
	Environ []string
	// State is a folder for the notes that undo what a killed hew left; "" for none.
	State string
	// After is the clock of a lone Esc. Nil: the wall clock.
	After func(time.Duration) <-chan time.Time
}

// Term is an open terminal. Its methods are safe for concurrent use.
type Term struct {
	cfg     Config
	env     environ
	notice  string
	events  chan input.Event
	learned chan struct{}
	bytes   chan []byte
	failed  chan error
	quit    chan struct{}
	done    chan struct{}
	once    sync.Once

	mu     sync.Mutex // guards what follows, and the writing of whole frames
	caps   Caps
	on     modes
	saved  *term.State
	raw    *term.State
	note   note
	titled bool
	adieu  string // what erases the live region
	parted bool   // somebody else had the terminal since Parted was asked
	away   bool   // the modes are put back: stopped, or lent to another program
	closed bool
	reader cancelreader.CancelReader
	halt   chan struct{} // closed to end reader's goroutine
	reads  sync.WaitGroup
}

// Open takes over the terminal. The caller closes it on every way out, by defer.
func Open(cfg Config) (*Term, error) {
	if cfg.In == nil || cfg.Out == nil || !term.IsTerminal(cfg.In.Fd()) || !term.IsTerminal(cfg.Out.Fd()) {
		return nil, ErrNoTerminal
	}
	if cfg.After == nil {
		cfg.After = time.After
	}
	t := &Term{
		cfg: cfg, env: environ(cfg.Environ), events: make(chan input.Event), learned: make(chan struct{}, 1),
		bytes: make(chan []byte), failed: make(chan error, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	t.caps = t.env.caps()
	t.note = note{folder: cfg.State, device: deviceName(cfg.In)}
	var found left
	if found, t.notice = t.note.recover(cfg.In); found.any {
		t.emit(found.undo(t.caps))
	}
	if err := t.enter(); err != nil {
		_ = t.leave()
		return nil, err
	}
	signals := watchSignals()
	go func() {
		defer close(t.done)
		defer signals.stop()
		t.pump(signals)
	}()
	return t, nil
}

// Notice says what was put right for an earlier hew that was killed, or "".
func (t *Term) Notice() string { return t.notice }

// Events are what the terminal sends. The channel is closed after Ended, and by Close.
func (t *Term) Events() <-chan input.Event { return t.events }

// Learned receives when Caps became different, such as the colour of the background.
func (t *Term) Learned() <-chan struct{} { return t.learned }

// Caps is what is known about the terminal by now.
func (t *Term) Caps() Caps {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.caps
}

// Size is the terminal's size in cells; 80×24 where it does not say.
func (t *Term) Size() (width, height int) {
	w, h, err := term.GetSize(t.cfg.Out.Fd())
	if err != nil || w < 1 || h < 1 {
		return 80, 24
	}
	return w, h
}

// Write writes one frame. While the terminal is lent or the process stops,
// nothing is written: Resumed comes before the next frame that counts. That the
// terminal is gone is told by Ended alone.
func (t *Term) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.away || t.closed {
		return len(p), nil
	}
	if _, err := t.cfg.Out.Write(p); err != nil {
		select {
		case t.failed <- err:
		default: // told already
		}
	}
	return len(p), nil
}

// Parting keeps what is to be written when the terminal is given back, at the
// end or for a while: it erases what is not to stay on the screen.
func (t *Term) Parting(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.adieu = s
}

// Parted tells whether somebody else had the terminal since the last call: what
// a painter knows of the screen is no longer true.
func (t *Term) Parted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.parted
	t.parted = false
	return was
}

// emit writes control sequences, of which a lost one harms nobody.
func (t *Term) emit(s string) {
	if s != "" {
		_, _ = io.WriteString(t.cfg.Out, s)
	}
}

// enter puts the terminal into hew's modes.
func (t *Term) enter() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.raw == nil {
		saved, err := term.MakeRaw(t.cfg.In.Fd())
		if err != nil {
			return fmt.Errorf("switch the terminal to raw mode: %w", err)
		}
		t.saved = saved
		if t.raw, err = term.GetState(t.cfg.In.Fd()); err != nil {
			return fmt.Errorf("read the terminal's mode: %w", err)
		}
		if err := prepareOutput(t.cfg.Out); err != nil {
			return fmt.Errorf("let the console understand escape sequences: %w", err)
		}
		t.note.saved, t.note.raw = t.saved, t.raw
		t.on.wanted = t.caps.modes()
	} else if err := term.SetState(t.cfg.In.Fd(), t.raw); err != nil {
		return fmt.Errorf("switch the terminal to raw mode again: %w", err)
	}
	t.note.write(t.on.alternate)
	t.away = false
	t.emit(t.on.enter())
	t.emit(t.caps.questions())
	return t.read()
}

// leave puts everything back as it was.
func (t *Term) leave() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.away || t.saved == nil {
		return nil
	}
	t.away, t.parted = true, true
	t.emit(t.adieu)
	t.adieu = ""
	t.emit(t.on.leave())
	if t.titled {
		t.titled = false
		t.emit(popTitle)
	}
	if err := term.Restore(t.cfg.In.Fd(), t.saved); err != nil {
		return fmt.Errorf("restore the terminal's modes (try: stty sane): %w", err)
	}
	return nil
}

// Lend gives the terminal back to another program, such as an editor, until
// Return. Nothing is read meanwhile.
func (t *Term) Lend() error {
	t.mu.Lock()
	r := t.reader
	t.reader = nil
	t.mu.Unlock()
	if r != nil {
		close(t.halt)
		if r.Cancel() { // otherwise it ends with the next byte
			t.reads.Wait()
			_ = r.Close()
		}
	}
	return t.leave()
}

// Return takes the terminal back after Lend. The screen is unknown then: the
// caller paints it anew.
func (t *Term) Return() error { return t.enter() }

// Close puts the terminal back as it was. Only the first call does something.
func (t *Term) Close() error {
	var err error
	t.once.Do(func() {
		t.settle()
		close(t.quit)
		err = t.Lend()
		<-t.done
		t.mu.Lock()
		defer t.mu.Unlock()
		t.closed = true
		t.note.remove()
	})
	return err
}

// settle waits a moment for answers that are still under way: after the end they
// would be typed into the shell.
func (t *Term) settle() {
	t.mu.Lock()
	asked := t.caps.asked && !t.away
	t.mu.Unlock()
	if !asked {
		return
	}
	late := t.cfg.After(lateAnswers)
	for {
		select {
		case <-late:
			return
		case _, ok := <-t.events:
			if !ok {
				return
			}
		case <-t.learned:
		}
		t.mu.Lock()
		asked := t.caps.asked
		t.mu.Unlock()
		if !asked {
			return
		}
	}
}

// read starts the goroutine that reads. It ends by Cancel or with the terminal.
func (t *Term) read() error {
	if t.reader != nil {
		return nil
	}
	r, err := cancelreader.NewReader(t.cfg.In)
	if err != nil {
		return fmt.Errorf("read the terminal: %w", err)
	}
	halt := make(chan struct{})
	t.reader, t.halt = r, halt
	t.reads.Go(func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := r.Read(buf)
			if n > 0 {
				select {
				case t.bytes <- append([]byte(nil), buf[:n]...):
				case <-halt:
					return
				}
			}
			if errors.Is(err, cancelreader.ErrCanceled) {
				return
			}
			if err != nil {
				select {
				case t.failed <- err:
				default:
				}
				return
			}
		}
	})
	return nil
}
