package hewtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/paint"
	"github.com/hew-agent/hew/internal/surface/tui/style"
	"github.com/hew-agent/hew/internal/surface/tui/term"
)

// echoMain is a program that has hew's terminal and painter and nothing else: it
// prints each event, and keeps a prompt between two rules.
func echoMain() int {
	t, err := term.Open(term.Config{In: os.Stdin, Out: os.Stdout, Environ: os.Environ(), State: filepath.Join(os.Getenv("HOME"), "terminals")})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = t.Close() }()
	e := &echo{t: t}
	e.look()
	if n := t.Notice(); n != "" {
		e.inline.Commit([]style.Line{style.Text(style.Warning, n)})
	}
	for {
		if err := e.draw(); err != nil {
			return 1
		}
		select {
		case ev, ok := <-t.Events():
			if !ok {
				return 3
			}
			if e.take(ev) {
				_ = e.inline.Close() // the terminal is closed next
				return 0
			}
		case <-t.Learned():
			e.look()
		}
	}
}

type echo struct {
	t      *term.Term
	inline *paint.Inline
	full   *paint.Full
	typed  string
	events int
}

func (e *echo) look() {
	theme, err := paint.ThemeNamed("auto", e.t.Caps())
	if err != nil {
		panic(err)
	}
	if e.inline == nil {
		e.inline = paint.NewInline(e.t, e.t.Caps(), theme)
	}
	e.inline.Look(e.t.Caps(), theme)
}

func (e *echo) draw() error {
	w, h := e.t.Size()
	rule := style.Text(style.Rule, strings.Repeat("─", w))
	f := frame.Frame{
		Lines: []style.Line{rule, style.Text(style.Plain, "> "+e.typed), rule, style.Text(style.Dim, fmt.Sprintf("%dx%d", w, h))},
		Row:   1, Col: 2 + style.Width(e.typed), Cursor: true,
	}
	if e.full != nil {
		return e.full.Draw(f)
	}
	return e.inline.Live(f)
}

// take acts on an event and tells whether it ends the program.
func (e *echo) take(ev input.Event) bool {
	e.events++
	say := func(format string, args ...any) {
		e.inline.Commit([]style.Line{style.Text(style.Plain, fmt.Sprintf("%d ", e.events)+fmt.Sprintf(format, args...))})
	}
	switch ev := ev.(type) {
	case input.Press:
		return e.press(ev, say)
	case input.Paste:
		say("paste of %d bytes, %d lines", len(ev.Text), 1+strings.Count(ev.Text, "\r"))
	case input.Mouse:
		say("mouse %d,%d", ev.X, ev.Y)
	case input.Focus:
		say("focus %v", ev.In)
	case input.Resize:
		e.inline.Resize(ev.Width, ev.Height)
		if e.full != nil {
			e.full.Resize(ev.Width, ev.Height)
		}
	case input.Resumed:
		say("resumed")
	case input.Ended:
		_ = os.WriteFile(filepath.Join(os.Getenv("HOME"), "ended"), []byte("ended\n"), 0o600)
	}
	return false
}

func (e *echo) press(ev input.Press, say func(string, ...any)) bool {
	switch ev.Key {
	case "ctrl+d":
		return true
	case "ctrl+p":
		panic("as asked")
	case "ctrl+z":
		if err := e.t.Suspend(); err != nil {
			say("%v", err)
		}
	case "ctrl+f":
		if e.full != nil {
			e.full = nil
			e.t.Inline()
			break
		}
		e.t.Fullscreen()
		theme, _ := paint.ThemeNamed("auto", e.t.Caps())
		e.full = paint.NewFull(e.t, e.t.Caps(), theme)
	case "enter":
		say("typed %s", e.typed)
		e.typed = ""
	default:
		if ev.Text == "" {
			say("key %s", ev.Key)
		}
		e.typed += ev.Text
	}
	return false
}
