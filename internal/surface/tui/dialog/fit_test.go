package dialog

import (
	"testing"

	"github.com/hew-agent/hew/internal/surface/tui/frame"
)

// fits fails when a frame is larger than asked or holds what acts on a terminal.
func fits(t *testing.T, w frame.Widget, width, height int) {
	t.Helper()
	f := w.Draw(width, height)
	if len(f.Lines) > height {
		t.Errorf("%T: %d lines at %dx%d", w, len(f.Lines), width, height)
	}
	for _, l := range f.Lines {
		if n := l.Width(); n > width {
			t.Errorf("%T: %d cells at %dx%d: %q", w, n, width, height, l.String())
		}
		for _, r := range l.String() {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0xfeff {
				t.Fatalf("%T: %U at %dx%d in %q", w, r, width, height, l.String())
			}
		}
	}
	if f.Cursor && (f.Row < 0 || f.Row >= len(f.Lines) || f.Col < 0 || f.Col >= width) {
		t.Errorf("%T: cursor at %d,%d in %dx%d", w, f.Row, f.Col, width, height)
	}
}
