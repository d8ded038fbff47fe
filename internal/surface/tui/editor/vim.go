package editor

import (
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/surface/tui/input"
)

// Style is how text is edited.
type Style int

// The styles.
const (
	Readline Style = iota
	Vim
)

type vimMode uint8

const (
	insertMode vimMode = iota
	normalMode
	visualMode
	visualLineMode
)

// vim is the state of vim editing; nil when text is edited as in readline.
type vim struct {
	mode   vimMode
	typed  []string // keys of a command that is not complete
	anchor pos      // where a selection began
	regs   map[string]register
	find   command // the last f, F, t or T
	// events are those since the command under way began, dot those of the last
	// change; replaying holds while dot runs.
	events    []input.Event
	dot       []input.Event
	replaying bool
	changes   bool // the command under way is a change
	// times is how often the text that is being inserted is to stand there, and
	// begun is how many events came before it.
	times, begun int
	opens        bool // each time on a line of its own
	// last are the newest characters typed in insert mode, for the remaps.
	last   string
	lastAt time.Time
}

// register is text that was yanked or deleted.
type register struct {
	text  string
	lines bool
}

// SetStyle changes how text is edited.
func (e *Editor) SetStyle(s Style) {
	e.vim = nil
	if s == Vim {
		e.vim = &vim{regs: map[string]register{}}
	}
}

// Mode is what vim calls its mode, with the keys of an incomplete command; ""
// without vim.
func (e *Editor) Mode() string {
	if e.vim == nil {
		return ""
	}
	name := [...]string{insertMode: "insert", normalMode: "normal", visualMode: "visual", visualLineMode: "visual line"}[e.vim.mode]
	return strings.TrimSpace(strings.ToUpper(name) + " " + strings.Join(e.vim.typed, ""))
}

// Escapes tells that esc means something to the editor itself: vim is not in
// normal mode, or in the middle of a command.
func (e *Editor) Escapes() bool {
	return e.vim != nil && (e.vim.mode != normalMode || len(e.vim.typed) > 0)
}

// inserting tells that what is typed belongs to one insertion.
func (v *vim) inserting() bool { return v != nil && v.mode == insertMode }

func (v *vim) visual() bool { return v != nil && (v.mode == visualMode || v.mode == visualLineMode) }

// vimEvent is how vim hears of what came, to repeat it.
func (e *Editor) vimEvent(ev input.Event) {
	if e.vim != nil && !e.vim.replaying && e.search == nil {
		e.vim.events = append(e.vim.events, ev)
	}
}

func (e *Editor) vimPress(p input.Press) (Outcome, bool) {
	v := e.vim
	if v.mode == insertMode {
		return e.vimInsert(p)
	}
	if p.Key == "esc" || p.Key == "ctrl+[" {
		if len(v.typed) == 0 && v.mode == normalMode {
			v.events = nil
			return None, true
		}
		e.toNormal()
		return Changed, true
	}
	key := p.Text
	if key == "" {
		key = p.Key
	}
	if len(v.typed) == 0 {
		switch key {
		case "enter":
			return Submit, true
		case "up", "down", "left", "right", "home", "end", "backspace", "delete", " ", "ctrl+r", "ctrl+p", "ctrl+n":
		default:
			if p.Text == "" {
				v.events = nil
				return None, false // the keys of readline that type nothing work here too
			}
		}
	}
	v.typed = append(v.typed, key)
	c, state := parse(v.typed, v.visual())
	switch state {
	case incomplete:
		return Changed, true
	case wrong:
		e.forgetTyped()
		return Changed, true
	case complete:
	}
	v.typed = nil
	out := e.perform(c)
	e.performed()
	return out, true
}

// performed keeps the events of a change for the dot, when it has come to its end.
func (e *Editor) performed() {
	v := e.vim
	if v == nil || v.mode == insertMode {
		return
	}
	e.clamp()
	if v.visual() {
		return
	}
	if v.changes && !v.replaying {
		v.dot = v.events
	}
	v.changes = false
	v.events = nil
}

func (e *Editor) forgetTyped() {
	e.vim.typed = nil
	if !e.vim.visual() {
		e.vim.events = nil
	}
}

// toNormal leaves any mode.
func (e *Editor) toNormal() {
	v := e.vim
	was := v.mode
	v.mode, v.typed = normalMode, nil
	e.settle()
	e.merges, e.want = false, -1
	e.menu.close()
	if was == insertMode && e.cur.col > 0 {
		e.cur = e.buf.left(e.cur)
	}
	e.performed()
}

// clamp keeps the cursor on a character, as normal mode does.
func (e *Editor) clamp() {
	if e.vim.mode == normalMode && e.cur.col > 0 && e.cur.col >= len(e.buf.lines[e.cur.row]) {
		e.cur = e.buf.left(e.buf.eol(e.cur.row))
	}
}

// vimInsert takes a key in insert mode.
func (e *Editor) vimInsert(p input.Press) (Outcome, bool) {
	v := e.vim
	if p.Key == "esc" || p.Key == "ctrl+[" {
		e.endInsert()
		return Changed, true
	}
	if p.Text == "" {
		v.last = ""
		return None, false
	}
	now := time.Time{}
	if e.c.Now != nil {
		now = e.c.Now()
	}
	if now.Sub(v.lastAt) > remapWindow {
		v.last = ""
	}
	v.last, v.lastAt = v.last+p.Text, now
	for from, to := range e.c.Remaps {
		before, ok := strings.CutSuffix(from, p.Text)
		if !ok || from == "" || !strings.HasSuffix(v.last, from) || e.cur.col < len(before) {
			continue
		}
		start := pos{e.cur.row, e.cur.col - len(before)}
		if e.buf.text(start, e.cur) != before {
			continue
		}
		e.buf.cut(start, e.cur)
		e.cur, v.last = start, ""
		v.events = v.events[:max(0, len(v.events)-len([]rune(from)))]
		return e.typeKeys(to), true
	}
	return None, false
}

// remapWindow is the time in which the keys of a remap must come.
const remapWindow = time.Second

// typeKeys presses keys as vim writes them: <Esc>, <CR> and characters.
func (e *Editor) typeKeys(keys string) Outcome {
	out := Changed
	for keys != "" {
		p := input.Press{}
		end := strings.IndexByte(keys, '>')
		name := map[string]string{"<esc>": "esc", "<cr>": "enter", "<enter>": "enter", "<space>": "space", "<bs>": "backspace", "<tab>": "tab", "<left>": "left", "<right>": "right"}[strings.ToLower(keys[:end+1])]
		if keys[0] == '<' && name != "" {
			p.Key, keys = name, keys[end+1:]
			if name == "space" {
				p.Text = " "
			}
		} else {
			n := size(keys)
			p.Key, p.Text, keys = keys[:n], keys[:n], keys[n:]
		}
		e.vimEvent(p)
		out = e.press(p)
	}
	return out
}

// startInsert enters insert mode; what is typed then is part of the change.
func (e *Editor) startInsert(times int) {
	v := e.vim
	v.mode, v.times, v.begun, v.opens, v.changes, v.last = insertMode, times, len(v.events), false, true, ""
	e.merges, e.want = true, -1
}

// endInsert leaves insert mode, after the text was put in as often as was asked.
func (e *Editor) endInsert() {
	v := e.vim
	times := v.times
	v.times = 0
	if times > 1 && !v.replaying && v.begun < len(v.events) {
		again := v.events[v.begun : len(v.events)-1]
		v.replaying = true
		for range times - 1 {
			if v.opens {
				row := e.cur.row
				e.cur = e.buf.insert(e.buf.eol(row), "\n"+e.buf.lines[row][:e.buf.indent(row).col])
			}
			for _, ev := range again {
				e.Handle(ev)
			}
		}
		v.replaying = false
	}
	e.toNormal()
}

// repeat makes the last change again.
func (e *Editor) repeat(count int) {
	v := e.vim
	if len(v.dot) == 0 || v.replaying {
		return
	}
	v.replaying = true
	events := v.dot
	if count > 0 { // in the place of the count that was given then
		for len(events) > 0 {
			p, ok := events[0].(input.Press)
			if !ok || len(p.Text) != 1 || p.Text[0] < '0' || p.Text[0] > '9' {
				break
			}
			events = events[1:]
		}
		var digits []input.Event
		for _, d := range digitsOf(count) {
			digits = append(digits, input.Press{Key: d, Text: d})
		}
		events = append(digits, events...)
		v.dot = events
	}
	for _, ev := range events {
		e.Handle(ev)
	}
	v.replaying = false
	if v.mode != normalMode {
		e.toNormal()
	}
}
