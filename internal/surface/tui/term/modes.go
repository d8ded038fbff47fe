package term

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// mode is a state of the terminal: the sequence that sets it and the one that takes it back.
type mode struct{ set, reset string }

// modes are what is on, and what should be.
type modes struct {
	wanted    []mode
	alternate bool
	set       []mode // in the order in which they were set
}

// fullscreen is the alternate screen with the mouse.
var fullscreen = []mode{
	{ansi.SetModeAltScreenSaveCursor, ansi.ResetModeAltScreenSaveCursor},
	{ansi.SetModeMouseButtonEvent, ansi.ResetModeMouseButtonEvent},
	{ansi.SetModeMouseExtSgr, ansi.ResetModeMouseExtSgr},
}

// enter sets what is wanted and not on. The alternate screen comes first: the
// keyboard's modes belong to a screen.
func (m *modes) enter() string {
	want := m.wanted
	if m.alternate {
		want = slices.Concat(fullscreen, want)
	}
	var b strings.Builder
	for _, w := range want {
		if !slices.Contains(m.set, w) {
			b.WriteString(w.set)
			m.set = append(m.set, w)
		}
	}
	return b.String()
}

// leave takes back what is on, last first, and what a painter may have left.
func (m *modes) leave() string {
	var b strings.Builder
	for _, s := range slices.Backward(m.set) {
		b.WriteString(s.reset)
	}
	if len(m.set) > 0 {
		b.WriteString(ansi.ResetModeSynchronizedOutput + ansi.ShowCursor + ansi.ResetStyle)
	}
	m.set = nil
	return b.String()
}

// Fullscreen switches to the alternate screen, with the mouse.
func (t *Term) Fullscreen() { t.screen(true) }

// Inline goes back to the ordinary screen.
func (t *Term) Inline() { t.screen(false) }

func (t *Term) screen(alternate bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.on.alternate == alternate || t.caps.Dumb {
		return
	}
	if !t.away {
		t.emit(t.on.leave())
	}
	t.on.alternate = alternate
	t.note.write(alternate)
	if !t.away {
		t.emit(t.on.enter())
	}
}
