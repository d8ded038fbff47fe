package editor

import (
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// Scopes are where earlier prompts come from; the first is what up goes through.
func Scopes() []string { return []string{"project", "session", "all"} }

// past is the walk through earlier prompts.
type past struct {
	list []Entry
	at   int // index in list plus one; 0 is the draft
	kept Draft
}

func (p *past) leave() { *p = past{} }

// recall goes to an earlier or later prompt; the draft is kept at the end.
func (e *Editor) recall(by int) Outcome {
	if e.past.at == 0 {
		if by > 0 || e.c.Recall == nil {
			return Leave
		}
		e.past.list, e.past.kept = e.c.Recall(Scopes()[0]), e.Draft()
	}
	to := e.past.at - by
	if to < 0 || to > len(e.past.list) {
		return Leave
	}
	p := e.past
	d := p.kept
	if to > 0 {
		in := p.list[to-1]
		d = Draft{Text: in.Text, Shown: in.Text, Pastes: in.Pastes}
	}
	e.SetDraft(d)
	p.at = to
	e.past = p
	if by < 0 {
		e.cur = pos{0, len(e.buf.lines[0])}
	}
	return Changed
}

// search is Ctrl+R.
type search struct {
	query string
	scope int
	list  []Entry
	hits  []int
	at    int
}

func (e *Editor) find() Outcome {
	if e.c.Recall == nil {
		return None
	}
	e.search = &search{scope: 2}
	e.search.list = e.c.Recall(Scopes()[2])
	e.search.filter()
	return Changed
}

func (s *search) filter() {
	s.hits, s.at = s.hits[:0], 0
	q := strings.ToLower(s.query)
	seen := map[string]bool{}
	for i, h := range s.list {
		if strings.Contains(strings.ToLower(h.Text), q) && !seen[h.Text] {
			seen[h.Text] = true
			s.hits = append(s.hits, i)
		}
		if len(s.hits) == 200 {
			return
		}
	}
}

func (e *Editor) searching(p input.Press) Outcome {
	s := e.search
	switch p.Key {
	case "esc", "ctrl+g", "ctrl+c":
		e.search = nil
		return Changed
	case "ctrl+r", "up", "ctrl+p":
		s.at = min(s.at+1, max(0, len(s.hits)-1))
		return Changed
	case "down", "ctrl+n":
		s.at = max(0, s.at-1)
		return Changed
	case "ctrl+s":
		s.scope = (s.scope + 1) % len(Scopes())
		s.list = e.c.Recall(Scopes()[s.scope])
		s.filter()
		return Changed
	case "enter", "tab", "right":
		e.search = nil
		if len(s.hits) > 0 {
			h := s.list[s.hits[s.at]]
			e.SetDraft(Draft{Text: h.Text, Shown: h.Text, Pastes: h.Pastes})
		}
		return Changed
	case "backspace":
		if r := []rune(s.query); len(r) > 0 {
			s.query = string(r[:len(r)-1])
		}
	default:
		if p.Text == "" {
			return Changed
		}
		s.query += clean(p.Text)
	}
	s.filter()
	return Changed
}

// preview shows the lines of the chosen prompt, when it has more than one.
func (s *search) preview(width, room int) []style.Line {
	if len(s.hits) == 0 || room < 2 {
		return nil
	}
	lines := strings.SplitN(s.list[s.hits[s.at]].Text, "\n", 7)
	if len(lines) < 2 {
		return nil
	}
	var out []style.Line
	for i, l := range lines[:min(len(lines), 6, room)] {
		if i == min(6, room)-1 && len(lines) > i+1 {
			l = "…"
		}
		out = append(out, style.Line{{Text: "  │ ", Role: style.Rule}, {Text: plain.Line(strings.ReplaceAll(l, "\t", "  ")), Role: style.Dim}}.Cut(width))
	}
	return out
}

func (e *Editor) drawSearch(width, height int) frame.Frame {
	s := e.search
	head := style.Line{{Text: "⌕ ", Role: style.Accent}, {Text: plain.Line(s.query)}}
	f := frame.Frame{Cursor: true, Col: min(head.Width(), width-1)}
	f.Lines = append(f.Lines, head.Cut(width))
	room := max(1, min(8, height-2))
	from := max(0, min(s.at-room/2, len(s.hits)-room))
	for i := from; i < min(len(s.hits), from+room); i++ {
		h := s.list[s.hits[i]]
		role, mark := style.Plain, "  "
		if i == s.at {
			role, mark = style.Selected, "› "
		}
		text, _, more := strings.Cut(h.Text, "\n")
		if more {
			text += " …"
		}
		l := style.Line{{Text: mark + plain.Line(text), Role: role}}
		if h.Where != "" {
			l = append(l, style.Span{Text: "  " + plain.Line(h.Where), Role: style.Dim})
		}
		f.Lines = append(f.Lines, l.Cut(width))
	}
	f.Lines = append(f.Lines, s.preview(width, height-len(f.Lines)-1)...)
	foot := fmt.Sprintf("  %d found · history of: %s (ctrl+s) · enter takes · esc leaves", len(s.hits), Scopes()[s.scope])
	f.Lines = append(f.Lines, style.Text(style.Dim, foot).Cut(width))
	f.Lines = f.Lines[:min(len(f.Lines), max(1, height))]
	return f
}
