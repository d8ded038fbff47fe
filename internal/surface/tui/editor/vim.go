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

// inserting tells that what is typed belongs to one insertion of vim.
func (v *vim) inserting() bool { return false }

func (e *Editor) vimPress(input.Press) (Outcome, bool) { return None, false }
// Escapes tells that esc means something to the editor itself: vim is not in
// normal mode.
func (e *Editor) Escapes() bool { return false }
