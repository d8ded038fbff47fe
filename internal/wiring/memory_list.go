package wiring

import (
	"fmt"
	"slices"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/memory"
)

// The states of a MemoryRow.
const (
	MemoryLoaded  = "loaded"    // every conversation begins with it
	MemoryWaits   = "waits"     // it is loaded when a file that it is about is read
	MemoryOnAsk   = "on demand" // a note that may be recalled
	MemoryLeftOut = "left out"
)

// MemoryRow is one file of instructions or notes.
type MemoryRow struct {
	Path  string       `json:"path"`
	Scope memory.Scope `json:"scope,omitempty"`
	State string       `json:"state"`
	// Why says what brings the file in, or keeps it out.
	Why    string `json:"why"`
	Bytes  int64  `json:"bytes"`
	Tokens int    `json:"tokens"`
	// Parent is the file that includes this one, Globs are the paths of a rule.
	Parent string   `json:"parent,omitempty"`
	Globs  []string `json:"globs,omitempty"`
}

// ListMemory lists what a session with the options of o would begin with, in the
// order in which the model sees it, then what waits and what is left out. It
// changes nothing.
func ListMemory(o Options) ([]MemoryRow, error) {
	b := &build{o: &o, conv: &Conversation{}}
	if err := b.locate(); err != nil {
		return nil, err
	}
	b.notebook = b.ownNotes()
	var rows []MemoryRow
	if b.uninstructed() {
		return append(rows, b.noteRows()...), nil
	}
	c := b.memoryConfig()
	c.Thorough = true
	in := memory.Load(c)
	for _, f := range in.Files() {
		rows = append(rows, memoryRow(f, MemoryLoaded, whyLoaded(f)))
	}
	rows = append(rows, b.noteRows()...)
	for _, f := range in.Waiting() {
		rows = append(rows, memoryRow(f, MemoryWaits, "when a file is read that its paths cover"))
	}
	for _, n := range in.Notes() {
		rows = note(rows, n)
	}
	return rows, nil
}

func memoryRow(f memory.File, state, why string) MemoryRow {
	return MemoryRow{Path: f.Path, Scope: f.Scope, State: state, Why: why, Bytes: f.Size, Tokens: f.Tokens(), Parent: f.Parent, Globs: f.Globs}
}

func whyLoaded(f memory.File) string {
	if f.Parent != "" {
		return "included by " + fsys.Printable(f.Parent)
	}
	return map[memory.Scope]string{
		memory.Managed: "the administrator's", memory.User: "yours, for all projects", memory.Project: "of this folder or one above it", memory.Local: "yours, for this project",
	}[f.Scope]
}

// note adds what is to be said of a file: to its row when it is read all the same.
func note(rows []MemoryRow, n memory.Note) []MemoryRow {
	i := slices.IndexFunc(rows, func(r MemoryRow) bool { return r.Path == n.Path })
	if n.Kept && i >= 0 {
		rows[i].Why += "; " + n.Text
		return rows
	}
	r := MemoryRow{Path: n.Path, State: MemoryLeftOut, Why: n.Text}
	if st, err := fsys.Stat(n.Path); err == nil && st.Kind == fsys.KindRegular {
		r.Bytes = st.Size
	}
	return append(rows, r)
}

// noteRows are the index of the model's notes and their topics.
func (b *build) noteRows() []MemoryRow {
	if b.notebook == nil {
		return nil
	}
	var rows []MemoryRow
	for _, n := range []memory.Notebook{{Dir: b.home.Dir}, *b.notebook} {
		f, said, ok := n.Read()
		if ok {
			rows = append(rows, memoryRow(f, MemoryLoaded, "the index of the model's notes"))
		}
		if said != nil {
			rows = note(rows, *said)
		}
	}
	topics, notes := b.notebook.Topics()
	for _, t := range topics {
		why := "a note of the model's"
		if t.About != "" {
			why += ": " + t.About
		}
		rows = append(rows, MemoryRow{Path: t.Path, Scope: memory.Auto, State: MemoryOnAsk, Why: why, Bytes: t.Size, Tokens: int(t.Size+3) / 4})
	}
	for _, n := range notes {
		rows = note(rows, n)
	}
	return rows
}

// MemoryPath is the folder of the model's notes about the project of o.Cwd. The
// error says that there are none because auto memory is off.
func MemoryPath(o Options) (string, error) {
	b := &build{o: &o, conv: &Conversation{}}
	if err := b.locate(); err != nil {
		return "", err
	}
	if b.notebook = b.ownNotes(); b.notebook == nil {
		return "", fmt.Errorf("auto memory is switched off here (autoMemoryEnabled, CLAUDE_CODE_DISABLE_AUTO_MEMORY)")
	}
	return b.notebook.Dir, nil
}
