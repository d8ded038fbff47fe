package editor

import "github.com/hew-agent/hew/internal/surface/tui/input"

// vim is the state of vim editing.
type vim struct{}

// Style is how text is edited.
type Style int

// The styles.
const (
	Readline Style = iota
	Vim
)

// SetStyle changes how text is edited.
func (e *Editor) SetStyle(s Style) {
	e.vim = nil
	if s == Vim {
		e.vim = &vim{}
	}
}

func (e *Editor) vimPress(input.Press) (Outcome, bool) { return None, false }

// Stash puts the draft aside, or takes the one that was put aside back.
func (e *Editor) Stash() {
	if e.Empty() && e.stash != nil {
		e.save(false)
		e.buf, e.cur, e.stash = e.stash.buf, e.stash.cur, nil
		return
	}
	if e.Empty() {
		return
	}
	kept := state{e.buf.clone(), e.cur}
	e.Set("")
	e.stash = &kept
}

// Stashed tells that a draft was put aside.
func (e *Editor) Stashed() bool { return e.stash != nil }

// Escapes tells that esc means something to the editor itself: vim is not in
// normal mode.
func (e *Editor) Escapes() bool { return false }
