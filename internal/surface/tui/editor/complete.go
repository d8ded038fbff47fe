package editor

import (
	"strings"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// Candidate is something that a word could become.
type Candidate struct {
	// Text takes the word's place, its mark included; a space follows it unless Open.
	Text string
	// Label is what the menu shows, About stands dim behind it.
	Label, About string
	// Open says that more may follow without a space: a folder.
	Open bool
	// Whole says that the word is all there is to say: enter takes and sends it.
	Whole bool
}

// menu is the list of candidates under the input.
type menu struct {
	list []Candidate
	at   int
	from pos // of the word
	off  bool
}

func (m *menu) open() bool { return len(m.list) > 0 }

func (m *menu) close() { m.list, m.at = nil, 0 }

// complete looks for candidates of the word at the cursor.
func (e *Editor) complete() {
	kind, from, query := e.word()
	if kind == 0 || e.c.Complete == nil {
		e.menu = menu{}
		return
	}
	if e.menu.off && e.menu.from == from {
		return
	}
	list := e.c.Complete(kind, query)
	at := 0
	if e.menu.open() && e.menu.from == from && e.menu.at < len(e.menu.list) {
		for i, c := range list {
			if c.Text == e.menu.list[e.menu.at].Text && e.menu.at > 0 {
				at = i
			}
		}
	}
	e.menu = menu{list: list, from: from, at: at}
}

// tab completes a shell command.
func (e *Editor) tab() Outcome {
	line := e.buf.lines[0]
	if e.Prefix() != '!' || e.cur.row != 0 || e.cur.col == 0 || e.c.Complete == nil || len(line) > longQuery {
		return None
	}
	list := e.c.Complete('!', line[1:e.cur.col])
	e.menu = menu{list: list, from: pos{0, 1}}
	if len(list) == 1 {
		e.take()
	}
	return Changed
}

// Refresh asks for candidates again: the caller has found more.
func (e *Editor) Refresh() {
	if e.search == nil && e.Prefix() != '!' {
		e.complete()
	}
}

// longQuery is how far into a line words are completed.
const longQuery = 8 << 10

// word is what stands before the cursor when it can be completed.
func (e *Editor) word() (kind byte, from pos, query string) {
	line := e.buf.lines[e.cur.row][:e.cur.col]
	if len(line) > longQuery {
		return 0, pos{}, ""
	}
	if e.cur.row == 0 && strings.HasPrefix(line, "/") && !strings.ContainsAny(line, " \t") {
		return '/', pos{0, 0}, line[1:]
	}
	i := strings.LastIndexByte(line, '@')
	if i < 0 || i > 0 && !strings.ContainsRune(" \t(\"'", rune(line[i-1])) {
		return 0, pos{}, ""
	}
	q := line[i+1:]
	if rest, ok := strings.CutPrefix(q, `"`); ok {
		if strings.Contains(rest, `"`) {
			return 0, pos{}, ""
		}
		return '@', pos{e.cur.row, i}, rest
	}
	if strings.ContainsAny(q, " \t") {
		return 0, pos{}, ""
	}
	return '@', pos{e.cur.row, i}, q
}

// choosing takes a key while the menu is open; false when it is the editor's.
func (e *Editor) choosing(p input.Press) (Outcome, bool) {
	m := &e.menu
	switch p.Key {
	case "up", "ctrl+p":
		m.at = (m.at + len(m.list) - 1) % len(m.list)
	case "down", "ctrl+n":
		m.at = (m.at + 1) % len(m.list)
	case "esc", "ctrl+c":
		from := m.from
		e.menu = menu{off: true, from: from}
	case "tab", "right":
		e.take()
	case "enter":
		whole := m.list[m.at].Whole
		e.take()
		if whole {
			return Submit, true
		}
	default:
		return None, false
	}
	return Changed, true
}

// take puts the chosen candidate in the place of the word.
func (e *Editor) take() {
	c := e.menu.list[e.menu.at]
	e.save(false)
	e.buf.cut(e.menu.from, e.cur)
	e.cur = e.menu.from
	e.menu.close()
	text := c.Text
	if !c.Open {
		text += " "
	}
	e.put(clean(text))
	if c.Open {
		e.complete()
	}
}

func (m *menu) draw(width, height int) []style.Line {
	if !m.open() || height < 1 {
		return nil
	}
	from := max(0, min(m.at-height/2, len(m.list)-height))
	var out []style.Line
	wide := 0
	for _, c := range m.list[from:min(len(m.list), from+height)] {
		wide = max(wide, style.Width(c.Label))
	}
	wide = min(wide, max(10, width/2))
	for i := from; i < min(len(m.list), from+height); i++ {
		c := m.list[i]
		role, mark := style.Plain, "  "
		if i == m.at {
			role, mark = style.Selected, "› "
		}
		label := style.Cut(plain.Line(c.Label), wide)
		l := style.Line{{Text: mark + label, Role: role}}
		if c.About != "" {
			l = append(l, style.Span{Text: strings.Repeat(" ", max(0, wide-style.Width(label))+2) + plain.Line(c.About), Role: style.Dim})
		}
		out = append(out, l.Cut(width))
	}
	return out
}

// MenuOpen tells that candidates are shown; esc closes them first.
func (e *Editor) MenuOpen() bool { return e.menu.open() || e.search != nil }
