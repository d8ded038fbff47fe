package dialog

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
)

var update = flag.Bool("update", false, "write the golden files")

// clock is a time that stands still until a test moves it.
type clock struct{ t time.Time }

func newClock() *clock { return &clock{time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time       { return c.t }
func (c *clock) pass(d time.Duration) { c.t = c.t.Add(d) }
func (c *clock) options() Options     { return Options{Now: c.now} }

// sizes are those that every widget must be usable at.
var sizes = [][2]int{{40, 10}, {80, 24}, {200, 60}}

// ready draws a dialog and lets its guard pass.
func ready(w frame.Widget, c *clock) {
	w.Draw(80, 24)
	c.pass(time.Second)
}

// press types keys, half a second apart.
func press(w frame.Widget, c *clock, keys ...string) {
	for _, k := range keys {
		c.pass(time.Second / 2)
		ev := input.Press{Key: k}
		if len([]rune(k)) == 1 {
			ev.Text = k
		}
		if k == "space" {
			ev.Text = " "
		}
		w.Handle(ev)
		w.Draw(80, 24)
	}
}

// picture is a frame as text, with the cursor's place.
func picture(f frame.Frame) string {
	var b strings.Builder
	for _, l := range f.Lines {
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	if f.Cursor {
		fmt.Fprintf(&b, "cursor %d,%d\n", f.Row, f.Col)
	}
	return b.String()
}

// golden compares what a widget draws at all sizes with its file. Each size gets
// a widget of its own: what was seen in a large window counts in a small one.
func golden(t *testing.T, name string, make func(draw func(frame.Widget)) frame.Widget) {
	t.Helper()
	var b strings.Builder
	for _, s := range sizes {
		w := make(func(w frame.Widget) { w.Draw(s[0], s[1]) })
		fmt.Fprintf(&b, "-- %dx%d --\n%s", s[0], s[1], picture(w.Draw(s[0], s[1])))
	}
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("%s (go test -update writes it): %s", name, d)
	}
}
