package tui

import (
	"context"
	"strings"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/surface/tui/dialog"
	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/markdown"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// modal is a widget that has the keyboard.
type modal struct {
	widget frame.Widget
	// closed is called once the widget is done and has been taken away.
	closed func()
	// below is what had the keyboard before.
	below *modal
	// pick takes a choice that does not end the widget. Optional.
	pick func()
}

// show puts a widget on top.
func (u *ui) show(m *modal) {
	m.below = u.modal
	u.modal = m
	u.dirty = true
}

// drop takes a modal away, wherever it stands.
func (u *ui) drop(m *modal) {
	for at := &u.modal; *at != nil; at = &(*at).below {
		if *at == m {
			*at = m.below
			u.dirty = true
			return
		}
	}
}

// toModal gives the event to what has the keyboard.
func (u *ui) toModal(ev input.Event) {
	m := u.modal
	m.widget.Handle(ev)
	u.dirty = true
	if m.pick != nil {
		m.pick()
	}
	if !m.widget.Done() {
		return
	}
	u.drop(m)
	if m.closed != nil {
		m.closed()
	}
}

// sheetView is a Screen as it is shown.
type sheetView struct {
	u      *ui
	screen Screen
	tab    int
	lists  []*dialog.List // one a tab; nil for a page
	pages  []*dialog.Pager
	own    *modal
}

func (u *ui) openScreen(s Screen) {
	v := &sheetView{u: u, screen: s}
	v.build(nil)
	m := &modal{widget: v}
	v.own = m
	m.pick = v.pick
	u.show(m)
}

func (v *sheetView) tabs() []Screen {
	if len(v.screen.Tabs) > 0 {
		return v.screen.Tabs
	}
	return []Screen{v.screen}
}

// build makes the widgets; old ones keep their place.
func (v *sheetView) build(old []*dialog.List) {
	v.lists, v.pages = nil, nil
	for i, t := range v.tabs() {
		if t.Text != "" || t.Meter != nil {
			v.lists = append(v.lists, nil)
			v.pages = append(v.pages, page(t))
			continue
		}
		v.pages = append(v.pages, nil)
		if i < len(old) && old[i] != nil {
			old[i].SetRows(rowsOf(t))
			v.lists = append(v.lists, old[i])
			continue
		}
		v.lists = append(v.lists, v.list(t))
	}
	v.tab = min(v.tab, len(v.lists)-1)
}

func page(t Screen) *dialog.Pager {
	return &dialog.Pager{Title: t.Title, Lines: func(width int) []style.Line {
		var out []style.Line
		if t.Meter != nil {
			out = append(dialog.Meter(t.Meter, t.Whole, width), nil)
		}
		return append(out, markdown.Render(t.Text, width)...)
	}}
}

func rowsOf(t Screen) []dialog.Row {
	var out []dialog.Row
	for _, r := range t.Rows {
		sign, role := markOf(r.Mark)
		out = append(out, dialog.Row{Label: r.Label, Detail: r.Detail, Right: r.Right, Section: r.Section, Mark: sign, MarkRole: role})
	}
	return out
}

func markOf(m Mark) (string, style.Role) {
	switch m {
	case Current:
		return "●", style.Accent
	case On:
		return "✓", style.Success
	case Off:
		return "○", style.Dim
	case Warn:
		return "!", style.Warning
	case Bad:
		return "✗", style.Failure
	case NoMark:
	}
	return "", style.Plain
}

func (v *sheetView) list(t Screen) *dialog.List {
	l := dialog.List{Title: t.Title, Empty: plain.Text(t.Empty), Rows: rowsOf(t)}
	if l.Empty == "" {
		l.Empty = "nothing here"
	}
	if t.Intro != "" {
		l.Intro = func(width int) []style.Line { return markdown.Render(t.Intro, width) }
	}
	seen := map[string]bool{}
	add := func(list []Action) {
		for _, a := range list {
			if !seen[a.Key] {
				seen[a.Key] = true
				l.Keys = append(l.Keys, dialog.Key{Key: a.Key, Name: a.Name})
			}
		}
	}
	preview := false
	for _, r := range t.Rows {
		add(r.Actions)
		preview = preview || r.Preview != nil
	}
	add(t.Actions)
	if preview {
		cache := map[int]string{}
		l.Preview = func(row, width int) []style.Line {
			cur := v.tabs()[v.tab]
			if row >= len(cur.Rows) || cur.Rows[row].Preview == nil {
				return nil
			}
			text, ok := cache[row]
			if !ok {
				text = cur.Rows[row].Preview(v.u.ctx)
				cache[row] = text
			}
			return markdown.Render(text, width)
		}
	}
	return dialog.NewList(l, t.Chosen)
}

// Handle switches tabs and passes all else on.
func (v *sheetView) Handle(ev input.Event) bool {
	if p, ok := ev.(input.Press); ok && len(v.lists) > 1 {
		switch p.Key {
		case "tab", "right":
			v.tab = (v.tab + 1) % len(v.lists)
			return true
		case "shift+tab", "left":
			v.tab = (v.tab + len(v.lists) - 1) % len(v.lists)
			return true
		}
	}
	return v.now().Handle(ev)
}

func (v *sheetView) now() frame.Widget {
	if l := v.lists[v.tab]; l != nil {
		return l
	}
	return v.pages[v.tab]
}

// Done tells that the screen was left.
func (v *sheetView) Done() bool {
	if l := v.lists[v.tab]; l != nil {
		return l.Left()
	}
	return v.pages[v.tab].Done()
}

// Draw shows the tabs, when there are some, and what is in the one in front.
func (v *sheetView) Draw(width, height int) frame.Frame {
	if len(v.lists) == 1 {
		return v.now().Draw(width, height)
	}
	names := make([]string, len(v.screen.Tabs))
	for i, t := range v.screen.Tabs {
		names[i] = t.Title
	}
	l := dialog.TabLine(names, v.tab, width)
	if width > 60 {
		l = append(l, style.Span{Text: "tab switches", Role: style.Dim})
	}
	return frame.Stack(frame.Frame{Lines: []style.Line{l.Cut(width)}}, v.now().Draw(width, height-1))
}

// pick does what a key on a row asks for.
func (v *sheetView) pick() {
	l := v.lists[v.tab]
	if l == nil {
		return
	}
	row, key := l.Taken()
	if key == "" {
		return
	}
	t := v.tabs()[v.tab]
	if row >= 0 && row < len(t.Rows) {
		for _, a := range t.Rows[row].Actions {
			if a.Key == key {
				v.act(a)
				return
			}
		}
	}
	for _, a := range t.Actions {
		if a.Key == key {
			v.act(a)
			return
		}
	}
}

// act asks what must be asked first, then does it.
func (v *sheetView) act(a Action) {
	switch {
	case a.Confirm != "":
		v.u.confirm(a.Confirm, func() { v.do(a, "") })
	case a.Input != "":
		f := dialog.NewField(dialog.Field{Label: a.Input, Value: a.Value, Secret: a.Secret})
		v.u.show(&modal{widget: f, closed: func() {
			if !f.Left() {
				v.do(a, f.Value)
			}
		}})
	default:
		v.do(a, "")
	}
}

func (v *sheetView) do(a Action, text string) {
	v.u.async(func(ctx context.Context) func() {
		r, err := a.Do(ctx, text)
		return func() {
			if err != nil {
				v.note("cannot do that: " + err.Error())
				return
			}
			if r.Say != "" && !r.Close && r.Next == nil && r.Rest == nil {
				v.note(r.Say)
				r.Say = ""
			}
			if r.Close || r.Switch != "" || r.Leave {
				v.u.drop(v.own)
			}
			v.u.result(r)
			v.reload()
		}
	})
}

func (v *sheetView) note(text string) {
	if l := v.lists[v.tab]; l != nil {
		l.Note = firstLine(text)
		v.u.dirty = true
		return
	}
	v.u.sayPlain(text)
}

// reload makes the screen anew.
func (v *sheetView) reload() {
	if v.screen.Reload == nil {
		return
	}
	v.u.async(func(ctx context.Context) func() {
		s, err := v.screen.Reload(ctx)
		if err != nil {
			return nil // it stays as it was
		}
		return func() {
			if s.Reload == nil {
				s.Reload = v.screen.Reload
			}
			v.screen = s
			v.build(v.lists)
			v.u.dirty = true
		}
	})
}

// confirm asks before something that cannot be taken back; no is chosen first.
func (u *ui) confirm(question string, yes func()) {
	w := dialog.NewConfirm("Are you sure?", question, "Yes", dialog.Options{Now: u.c.Now, LastKey: u.lastKey, LastAt: u.lastAt})
	u.show(&modal{widget: w, closed: func() {
		if w.Taken() == 0 {
			yes()
		}
	}})
}

// result carries out what an action led to.
func (u *ui) result(r Result) {
	if r.Say != "" {
		u.sayPlain(r.Say)
	}
	if r.Prefs != nil {
		u.setPrefs(*r.Prefs)
	}
	if r.Copy != "" {
		u.c.Device.Copy(r.Copy)
	}
	if r.Insert != "" {
		u.ed.Insert(r.Insert)
	}
	if r.Submit != "" {
		u.submit(Said{Text: r.Submit, Shown: r.Submit})
	}
	if r.Next != nil {
		u.openScreen(*r.Next)
	}
	if r.Edit != "" {
		u.editFile(r.Edit)
	}
	if r.Switch != "" {
		u.switchTo(r.Switch)
	}
	if r.Rest != nil {
		u.atRest(r.Rest)
	}
	if r.Anew {
		u.reset()
	}
	if r.Leave {
		u.quit()
	}
}

// atRest does work that needs the conversation at rest.
func (u *ui) atRest(work func(ctx context.Context) (Result, error)) {
	u.run.rest(func() {
		r, err := work(u.ctx)
		u.post(func() {
			if err != nil {
				u.sayPlain("cannot do that: " + err.Error())
				return
			}
			u.result(r)
		})
	})
}

// sayPlain prints a remark of hew's own, with its line breaks.
func (u *ui) sayPlain(text string) {
	var lines []style.Line
	lines = append(lines, nil)
	for l := range strings.SplitSeq(plain.Text(text), "\n") {
		lines = append(lines, style.Text(style.Dim, "· "+l))
	}
	u.say(lines...)
}
