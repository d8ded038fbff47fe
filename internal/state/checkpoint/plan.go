package checkpoint

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Action is what a rewind does to one name.
type Action string

// The actions.
const (
	Restore Action = "restore" // bytes, mode or link come back
	Remove  Action = "remove"  // what was created goes
)

// Step is one name that a rewind changes.
type Step struct {
	Path   string `json:"path"`
	Action Action `json:"action"`
	// Kind is what the name will stand for after Restore.
	Kind Kind `json:"kind,omitempty"`
	// Foreign says that somebody else than hew has changed it since: what is
	// there is kept aside first.
	Foreign string `json:"foreign,omitempty"`

	target, now Entry
	versions    []Entry // what others had made of it in between
	failed      bool
}

// Refusal is a name that a rewind cannot bring back.
type Refusal struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Plan is what a rewind would do.
type Plan struct {
	Steps []Step `json:"steps"`
	// Lost are the names that cannot be brought back.
	Lost []Refusal `json:"lost,omitempty"`
	// Notes are effects of commands that no rewind undoes.
	Notes []string `json:"notes,omitempty"`
	// Commands is how many commands lie in the time that is undone.
	Commands int `json:"commands"`
}

// wish is what is known of one name in the time that is undone.
type wish struct {
	target, last Entry
	// sure tells that last is known, and hew's: an edit that was killed left no
	// word, and work in the background has no end.
	sure    bool
	foreign bool
	others  []Entry
}

// history folds the records of a time into one wish a name.
type history struct {
	wishes   map[string]*wish
	pending  map[string]Change // edits without an end, by use
	notes    []string
	commands int
}

// Point is where a rewind goes to.
type Point struct {
	// Prompt is undone, with all that came after it.
	Prompt string
	// Before are the prompts of the conversation that stay. They tell where the
	// time to undo begins when Prompt itself left no trace.
	Before []string
	// Time is when Prompt was asked, which tells it too: after a compaction or an
	// earlier rewind, Before does not name all that came before.
	Time time.Time
}

// start is the first record to undo.
func (p Point) start(records []record) int {
	if i := slices.IndexFunc(records, func(r record) bool { return r.Message == p.Prompt }); i >= 0 {
		return i
	}
	from := 0
	for i, r := range slices.Backward(records) {
		if slices.Contains(p.Before, r.Message) {
			from = i + 1
			break
		}
	}
	if p.Time.IsZero() {
		return from
	}
	for from < len(records) && records[from].Time < p.Time.UnixNano() {
		from++
	}
	return from
}

// fold reads the records that are to be undone.
func fold(records []record, to Point) *history {
	h := &history{wishes: map[string]*wish{}, pending: map[string]Change{}}
	from := to.start(records)
	// What an earlier prompt has changed may be found, and written down, only
	// after a later one began.
	earlier := map[string]bool{}
	for _, r := range records[:from] {
		earlier[r.Message] = true
	}
	for _, r := range records[from:] {
		if earlier[r.Message] {
			continue
		}
		switch r.Kind {
		case kindBegin:
			h.commands++
			h.note(r)
		case kindEdit:
			for _, ch := range r.Changes {
				h.pending[r.Use] = ch
			}
		case kindEdited, kindRewind:
			delete(h.pending, r.Use)
			h.all(r.Changes, h.mine)
		case kindScan:
			switch r.By {
			case byCommand:
				h.all(r.Changes, h.mine)
			case byUnsure:
				h.all(r.Changes, h.unsure)
			default:
				h.all(r.Changes, h.other)
			}
		}
	}
	for _, ch := range h.pending {
		h.unsure(string(ch.Path), ch)
	}
	return h
}

func (h *history) note(r record) {
	for _, n := range r.Notes {
		line := n + ": " + strings.TrimSpace(strings.SplitN(r.Command, "\n", 2)[0])
		if !slices.Contains(h.notes, line) {
			h.notes = append(h.notes, line)
		}
	}
}

func (h *history) all(changes []Change, do func(string, Change)) {
	for _, ch := range changes {
		if !ch.Before.Equal(&ch.After) {
			do(string(ch.Path), ch)
		}
	}
}

func (h *history) mine(path string, ch Change) {
	w := h.wishes[path]
	if w == nil {
		h.wishes[path] = &wish{target: ch.Before, last: ch.After, sure: true}
		return
	}
	if w.sure && differ(&w.last, &ch.Before) {
		w.others = append(w.others, ch.Before)
	}
	w.last, w.sure, w.foreign = ch.After, true, false
}

func (h *history) unsure(path string, ch Change) {
	h.mine(path, ch)
	h.wishes[path].sure = false
}

func (h *history) other(path string, ch Change) {
	if w := h.wishes[path]; w != nil {
		if w.foreign {
			w.others = append(w.others, w.last)
		}
		w.last, w.foreign, w.sure = ch.After, true, true
	}
}

// differ tells that two entries hold different things, as far as both are known.
func differ(a, b *Entry) bool {
	if a.Kind == File && b.Kind == File && (a.Sum == "" || b.Sum == "") {
		return false
	}
	return !a.Equal(b)
}

// Plan works out what a rewind would do. It changes no file but the journal.
func (t *Tracker) Plan(ctx context.Context, to Point) (*Plan, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.plan(ctx, to)
}

func (t *Tracker) plan(ctx context.Context, to Point) (*Plan, error) {
	t.log.lenient = true
	defer func() { t.log.lenient = false }()
	if err := t.settle(ctx); err != nil {
		return nil, err
	}
	records, err := readJournal(t.c.Dir)
	if err != nil {
		return nil, err
	}
	h := fold(append(records, t.log.unsaved...), to)
	p := &Plan{Notes: h.notes, Commands: h.commands}
	for path, w := range h.wishes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t.step(p, path, w)
	}
	slices.SortFunc(p.Steps, func(a, b Step) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(p.Lost, func(a, b Refusal) int { return strings.Compare(a.Path, b.Path) })
	return p, nil
}

// step decides about one name.
func (t *Tracker) step(p *Plan, path string, w *wish) {
	now, err := t.found(path)
	if err != nil {
		p.Lost = append(p.Lost, Refusal{path, reason(err)})
		return
	}
	if now.Equal(&w.target) || w.target.Kind == Other {
		return
	}
	if !w.target.saved() && !t.store.has(w.target.Sum) {
		why := w.target.Why
		if why == "" {
			why = "its bytes were not saved"
		}
		p.Lost = append(p.Lost, Refusal{path, why})
		return
	}
	s := Step{Path: path, Action: Restore, Kind: w.target.Kind, target: w.target, now: now, versions: w.others}
	if w.target.Kind == Absent {
		s.Action = Remove
	}
	s.Foreign = foreign(w, &now)
	p.Steps = append(p.Steps, s)
}

// foreign says what somebody else has done to a name, "" when nothing.
func foreign(w *wish, now *Entry) string {
	switch {
	case !w.sure && now.Kind == File:
		return "it may have been changed by somebody else since"
	case !w.sure:
		return ""
	case w.foreign && now.Kind != Folder:
		return "it was changed by somebody else since"
	case now.Equal(&w.last), now.Kind == Folder && w.last.Kind == Folder:
		return ""
	case now.Kind == File && w.last.Kind == File && (now.Sum == w.last.Sum || w.last.Sum == ""):
		return ""
	case now.Kind == Absent:
		return "it was deleted by somebody else since"
	}
	return "it was changed by somebody else since"
}

// found is what is at path now. Behind a link nothing of a tree is found.
func (t *Tracker) found(path string) (Entry, error) {
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err != nil || real != filepath.Dir(path) {
		return Entry{}, nil // the folder is gone or hidden: so is the name
	}
	e, err := t.now(path)
	if err == nil && e.Kind == Link {
		e.Target, err = readLink(path)
	}
	return e, err
}
