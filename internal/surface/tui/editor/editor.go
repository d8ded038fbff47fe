// Package editor is the input: editing, vim, history, chips for pastes and images, completion.
//
// It is a plain value that takes events and draws itself. What it cannot do
// alone (read files, run an editor) it reports as an Outcome.
package editor

import (
	"slices"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/surface/tui/input"
)

// Outcome is what an event has led to, for the caller.
type Outcome int

// The outcomes.
const (
	None    Outcome = iota // the event means nothing here
	Changed                // text, cursor or menu have changed
	Submit                 // the draft is to be sent; Draft has it
	Leave                  // up or down beyond the text with no history there
	// EditOutside asks for the person's own editor: Draft has the text, Replace takes
	// what came of it.
	EditOutside
)

// Config makes an Editor. All fields are optional.
type Config struct {
	// Recall lists earlier prompts, newest first; scope is one of Scopes.
	Recall func(scope string) []Entry
	// Complete finds what a word could become. kind is '@' or '/', query what
	// follows it; for '!', which is asked for by tab alone, query is the whole shell
	// command up to the cursor, and a Candidate stands for all of it.
	Complete func(kind byte, query string) []Candidate
	// Hint is what a command that stands there whole still wants, "" for nothing:
	// it is shown dim behind the cursor.
	Hint func(line string) string
	// Now is the clock for sequences of keys in time (vim's jj).
	Now func() time.Time
	// Style is how text is edited; Remaps are sequences of keys in vim's insert mode.
	Style  Style
	Remaps map[string]string
}

// Entry is an earlier prompt.
type Entry struct {
	Text string
	// Pastes are the long pastes of it by their number.
	Pastes map[int]string
	// Where says where and when, for the search.
	Where string
}

// Draft is what stands in the editor.
type Draft struct {
	// Text is whole; Shown has the chips as they are seen.
	Text, Shown string
	// Images are the files behind the image chips in the text, Pastes the long
	// pastes, both by the number on the chip.
	Images map[int]string
	Pastes map[int]string
}

// Editor is the input.
type Editor struct {
	c   Config
	buf buffer
	cur pos
	// want is the column in cells that up and down keep, -1 for where the cursor is.
	want   int
	chips  chips
	undo   []step
	redo   []step
	merges bool // the next typed character belongs to the last undo step
	kills  []string
	killed bool // the last key cut text
	yanked pos  // start of the last yank, with turn its index
	turn   int
	yanks  bool
	menu   menu
	past   past
	search *search
	ghost  string
	vim    *vim
	width  int // of the last drawing
	stash  *kept
	laid   []laid // rows of long lines
}

// step is what one undo takes back.
type step struct {
	changes []change
	cur     pos // before it
}

// New makes an empty editor.
func New(c Config) *Editor {
	e := &Editor{c: c, buf: newBuffer(""), want: -1, width: 80}
	e.SetStyle(c.Style)
	return e
}

// Empty tells that nothing stands in it.
func (e *Editor) Empty() bool { return e.buf.empty() }

// Draft is what stands in it now.
func (e *Editor) Draft() Draft { return e.chips.draft(e.buf.String()) }

// Prefix is the first character when it makes the text something else than a
// prompt: '/' a command, '!' a shell command, '#' a line of memory; else 0.
func (e *Editor) Prefix() byte {
	line := e.buf.lines[0]
	if line != "" && strings.IndexByte("/!#", line[0]) >= 0 {
		return line[0]
	}
	return 0
}

// Set replaces the text and puts the cursor at its end.
func (e *Editor) Set(text string) { e.set(clean(text)) }

func (e *Editor) set(text string) {
	e.save(false)
	e.buf.cut(pos{}, e.buf.end())
	e.cur, e.want = e.buf.insert(pos{}, text), -1
	e.past.leave()
	e.menu.close()
}

// SetDraft is Set with chips.
func (e *Editor) SetDraft(d Draft) { e.set(e.chips.undraft(d)) }

// Insert types text at the cursor.
func (e *Editor) Insert(text string) {
	e.save(false)
	e.put(clean(text))
}

// Clear empties the editor after its text was sent; it can be undone.
func (e *Editor) Clear() { e.Set("") }

// Suggest shows text dim behind the cursor of an empty editor; tab takes it.
func (e *Editor) Suggest(text string) { e.ghost = text }

func (e *Editor) put(text string) {
	e.cur = e.buf.insert(e.cur, text)
	e.want = -1
	e.past.leave()
}

// maxUndo is how many steps can be taken back.
const maxUndo = 1000

// save begins a new undo step. A word that is typed is one step, and in vim all
// that is inserted at once.
func (e *Editor) save(typing bool) {
	e.settle()
	if typing && e.merges || e.vim.inserting() && e.merges {
		return
	}
	e.merges = typing || e.vim.inserting()
	e.undo = append(e.undo, step{cur: e.cur})
	if len(e.undo) > maxUndo {
		e.undo = e.undo[1:]
	}
}

// settle puts what was done into the last step.
func (e *Editor) settle() {
	if len(e.buf.log) == 0 {
		return
	}
	if len(e.undo) == 0 {
		e.undo = append(e.undo, step{})
	}
	last := &e.undo[len(e.undo)-1]
	last.changes = append(last.changes, e.buf.log...)
	e.buf.log, e.redo = nil, nil
}

func (e *Editor) back() {
	e.settle()
	for len(e.undo) > 0 {
		s := e.undo[len(e.undo)-1]
		e.undo = e.undo[:len(e.undo)-1]
		if len(s.changes) == 0 {
			continue
		}
		for _, c := range slices.Backward(s.changes) {
			e.buf.undo(c)
		}
		e.redo = append(e.redo, s)
		e.cur, e.want, e.merges = s.cur, -1, false
		return
	}
}

func (e *Editor) again() {
	e.settle()
	if len(e.redo) == 0 {
		return
	}
	s := e.redo[len(e.redo)-1]
	e.redo = e.redo[:len(e.redo)-1]
	for _, c := range s.changes {
		e.cur = e.buf.do(c)
	}
	e.undo = append(e.undo, s)
	e.want, e.merges = -1, false
}

// Handle takes one event.
func (e *Editor) Handle(ev input.Event) Outcome {
	switch ev := ev.(type) {
	case input.Paste:
		e.vimEvent(ev)
		e.paste(ev.Text)
		return Changed
	case input.Press:
		e.vimEvent(ev)
		return e.press(ev)
	case input.Mouse, input.Focus, input.Resize, input.Resumed, input.Ended:
	}
	return None
}

func (e *Editor) press(p input.Press) Outcome {
	if e.search != nil {
		return e.searching(p)
	}
	if e.menu.open() {
		if o, ok := e.choosing(p); ok {
			return o
		}
	}
	if e.vim != nil {
		if o, ok := e.vimPress(p); ok {
			return o
		}
	}
	killed, yanks := e.killed, e.yanks
	e.killed, e.yanks = false, false
	if (p.Key == "tab" || p.Key == "right") && e.Empty() && e.ghost != "" {
		e.Insert(e.ghost)
		e.ghost = ""
		return Changed
	}
	if do, ok := motions()[p.Key]; ok {
		e.cur, e.want, e.merges = do(e), -1, false
		e.complete()
		return Changed
	}
	if do, ok := edits()[p.Key]; ok {
		e.killed, e.yanks = killed, yanks
		do(e)
		if !isKill(p.Key) {
			e.killed = false
		}
		if p.Key != "ctrl+y" && p.Key != "alt+y" {
			e.yanks = false
		}
		e.complete()
		return Changed
	}
	switch p.Key {
	case "enter":
		return e.enter()
	case "up", "ctrl+p":
		return e.vertical(-1)
	case "down", "ctrl+n":
		return e.vertical(1)
	case "ctrl+r":
		return e.find()
	case "ctrl+g":
		return EditOutside
	case "tab":
		return e.tab()
	}
	if p.Text == "" {
		return None
	}
	e.save(p.Text != " ")
	e.put(clean(p.Text))
	e.complete()
	return Changed
}

// enter sends, or makes a new line behind a backslash.
func (e *Editor) enter() Outcome {
	line := e.buf.lines[e.cur.row]
	if e.cur.col > 0 && e.cur.col == len(line) && line[e.cur.col-1] == '\\' {
		e.save(false)
		e.buf.cut(pos{e.cur.row, e.cur.col - 1}, e.cur)
		e.cur.col--
		e.put("\n")
		return Changed
	}
	return Submit
}

// vertical moves a row of the screen up or down, and beyond the text in history.
func (e *Editor) vertical(by int) Outcome {
	if e.move(by) {
		e.menu.close()
		return Changed
	}
	return e.recall(by)
}

// clean makes text what an editor can hold: no returns, no characters of the
// range that chips use.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	return strings.Map(func(r rune) rune {
		if isChip(r) || r == 0 {
			return -1
		}
		return r
	}, s)
}
