// Package dialog is lists, pages, questions and permission requests that take the keyboard.
//
// Each is a plain frame.Widget over what the caller hands in: it reads no disk,
// starts nothing and knows no engine.
package dialog

import (
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// Row is a line of a List.
type Row struct {
	Label, Detail, Right, Section string
	// Mark stands before the label in MarkRole; "" for none.
	Mark     string
	MarkRole style.Role
	// Depth makes a tree: a row stands under the last one before it that is less
	// deep. left and right fold it.
	Depth int
}

// List is rows to choose from.
type List struct {
	Title, Empty string
	// Intro is drawn under the title.
	Intro func(width int) []style.Line
	Rows  []Row
	// Preview draws what is known of a row. Optional.
	Preview func(row, width int) []style.Line
	// Keys are what can be done with the chosen row, by key, in the order of the
	// footer. enter is among them when rows can be taken.
	Keys []Key
	// Note is a line of the footer: what the last act led to.
	Note string
	// Many lets space tick rows.
	Many bool

	filter    string
	filtering bool // every letter belongs to the filter
	texts     []string
	hits      []int
	folded    map[int]bool
	ticked    map[int]bool
	at, top   int
	chosen    string
	done      bool

	seen   seen
	scroll int   // of the preview
	first  int   // line of the first row as drawn last
	drawn  []int // the hit of each line of rows, -1 for a section
	page   int
}

// Key is a key and what it does.
type Key struct{ Key, Name string }

// NewList makes a list with a row chosen.
func NewList(l List, chosen int) *List {
	l.folded, l.ticked = map[int]bool{}, map[int]bool{}
	l.match()
	l.at = max(0, slices.Index(l.hits, chosen))
	return &l
}

// SetRows replaces the rows and keeps the place.
func (l *List) SetRows(rows []Row) {
	at := l.at
	if len(rows) != len(l.Rows) {
		clear(l.ticked)
		clear(l.folded)
	}
	l.Rows, l.texts, l.seen = rows, nil, seen{}
	l.match()
	l.at = max(0, min(at, len(l.hits)-1))
}

// Done tells that the list was left or a key of Keys was pressed.
func (l *List) Done() bool { return l.done || l.chosen != "" }

// Left tells that the list was left.
func (l *List) Left() bool { return l.done }

// Taken is the row and the key that were chosen since the last call; row is -1
// when no row is there, key "" when none was pressed.
func (l *List) Taken() (row int, key string) {
	key, l.chosen = l.chosen, ""
	return l.Row(), key
}

// Row is the index of the row at the cursor, -1 for none.
func (l *List) Row() int {
	if l.at < len(l.hits) {
		return l.hits[l.at]
	}
	return -1
}

// Ticked are the rows that space has ticked, in their order.
func (l *List) Ticked() []int {
	var out []int
	for i := range l.Rows {
		if l.ticked[i] {
			out = append(out, i)
		}
	}
	return out
}

// Handle moves, filters and takes keys.
func (l *List) Handle(ev input.Event) bool {
	switch ev := ev.(type) {
	case input.Mouse:
		return l.mouse(ev)
	case input.Press:
		return l.press(ev)
	case input.Paste:
		l.narrow(l.filter + plain.Line(plain.Cut(strings.TrimSpace(ev.Text), 200)))
		return true
	case input.Focus, input.Resize, input.Resumed, input.Ended:
	}
	return false
}

// mouse scrolls and chooses; a click on the chosen row is what Enter does. Its
// cells are the list's own.
func (l *List) mouse(ev input.Mouse) bool {
	switch ev.Kind {
	case input.WheelUp:
		l.step(-3)
	case input.WheelDown:
		l.step(3)
	case input.Click:
		y := ev.Y - l.first
		if y < 0 || y >= len(l.drawn) || l.drawn[y] < 0 {
			return false
		}
		if l.drawn[y] != l.at {
			l.step(l.drawn[y] - l.at)
			return true
		}
		return l.act("enter")
	case input.Release, input.Drag:
		return false
	}
	return true
}

func (l *List) step(by int) {
	l.at = max(0, min(l.at+by, len(l.hits)-1))
	l.scroll = 0
}

func (l *List) press(p input.Press) bool {
	l.Note = ""
	page := max(1, l.page-1)
	switch p.Key {
	case "up", "ctrl+p":
		l.step(-1)
	case "down", "ctrl+n":
		l.step(1)
	case "pgup", "ctrl+b":
		l.step(-page)
	case "pgdown", "ctrl+f":
		l.step(page)
	case "home":
		l.step(-len(l.hits))
	case "end":
		l.step(len(l.hits))
	case "shift+up", "ctrl+up", "ctrl+u":
		l.scroll = max(0, l.scroll-3)
	case "shift+down", "ctrl+down", "ctrl+d":
		l.scroll += 3
	case "esc", "ctrl+c":
		if (l.filter != "" || l.filtering) && p.Key == "esc" {
			l.narrow("")
			l.filtering = false
			return true
		}
		l.done = true
	case "backspace":
		if r := []rune(l.filter); len(r) > 0 {
			l.narrow(string(r[:len(r)-1]))
		} else {
			l.filtering = false
		}
	default:
		return l.other(p)
	}
	return true
}

// other takes the keys that act. Letters move or act while there is no filter,
// and belong to it from its first one on, or after a slash.
func (l *List) other(p input.Press) bool {
	if (l.filter == "" && !l.filtering) || len(p.Key) > 1 && p.Key != "space" {
		if l.act(p.Key) || l.vi(p.Key) || l.fold(p.Key) {
			return true
		}
	}
	if p.Text == "" {
		return false
	}
	l.narrow(l.filter + plain.Line(p.Text))
	return true
}

func (l *List) act(key string) bool {
	if !slices.ContainsFunc(l.Keys, func(k Key) bool { return k.Key == key }) {
		return false
	}
	l.chosen = key
	return true
}

// vi moves by letters, ticks and begins to filter.
func (l *List) vi(key string) bool {
	switch key {
	case "j":
		l.step(1)
	case "k":
		l.step(-1)
	case "g":
		l.step(-len(l.hits))
	case "G":
		l.step(len(l.hits))
	case "/":
		l.filtering = true
	case "space", " ":
		if row := l.Row(); l.Many && row >= 0 {
			l.ticked[row] = !l.ticked[row]
		}
		return l.Many
	default:
		return false
	}
	return true
}

// fold closes and opens the branch of a tree at the cursor.
func (l *List) fold(key string) bool {
	row := l.Row()
	if row < 0 || key != "left" && key != "right" {
		return false
	}
	branch := row+1 < len(l.Rows) && l.Rows[row+1].Depth > l.Rows[row].Depth
	if key == "right" || branch && !l.folded[row] {
		if !branch || l.folded[row] == (key == "left") {
			return false
		}
		l.folded[row] = key == "left"
		l.match()
		l.at = max(0, slices.Index(l.hits, row))
		return true
	}
	for i := row - 1; i >= 0; i-- {
		if l.Rows[i].Depth < l.Rows[row].Depth {
			l.at = max(0, slices.Index(l.hits, i))
			return true
		}
	}
	return false
}

// narrow sets the filter.
func (l *List) narrow(filter string) {
	l.filter = filter
	l.at, l.scroll = 0, 0
	l.match()
}

// match finds the rows that fit the filter: those that hold its words, then those
// that hold their letters in their order.
func (l *List) match() {
	if len(l.texts) != len(l.Rows) {
		l.texts = make([]string, len(l.Rows))
		for i, r := range l.Rows {
			l.texts[i] = strings.ToLower(plain.Cut(r.Label, 1000) + " " + plain.Cut(r.Detail, 1000) + " " + r.Section + " " + r.Right)
		}
	}
	l.hits = l.hits[:0]
	words := strings.Fields(strings.ToLower(l.filter))
	if len(words) == 0 {
		l.unfolded()
		return
	}
	var loose []int
	for i, text := range l.texts {
		holds, letters := true, true
		for _, w := range words {
			holds = holds && strings.Contains(text, w)
			letters = letters && (holds || subsequence(text, w))
		}
		switch {
		case holds:
			l.hits = append(l.hits, i)
		case letters:
			loose = append(loose, i)
		}
	}
	l.hits = append(l.hits, loose...)
	l.at = max(0, min(l.at, len(l.hits)-1))
}

// unfolded are all rows but those in folded branches.
func (l *List) unfolded() {
	hidden := -1 // the depth below which rows are hidden
	for i, r := range l.Rows {
		if hidden >= 0 && r.Depth > hidden {
			continue
		}
		hidden = -1
		if l.folded[i] {
			hidden = r.Depth
		}
		l.hits = append(l.hits, i)
	}
	l.at = max(0, min(l.at, len(l.hits)-1))
}

// subsequence tells whether a text has the letters of a word in their order.
func subsequence(text, word string) bool {
	for _, r := range word {
		i := strings.IndexRune(text, r)
		if i < 0 {
			return false
		}
		text = text[i+len(string(r)):]
	}
	return true
}

var _ frame.Widget = (*List)(nil)
