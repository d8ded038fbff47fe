package tool

// View is what people see of a call or a result, in kinds that every surface
// can draw. The union is sealed; it never holds terminal codes.
//
//sumtype:decl
type View interface{ view() }

// TextView is plain text.
type TextView struct{ Text string }

// DiffView is a change of one file.
type DiffView struct {
	Path     string
	Old, New string
	// Created tells that the file did not exist.
	Created bool
	Hunks   []Hunk
}

// Hunk is one run of changed lines; each line starts with ' ', '+' or '-'.
type Hunk struct {
	OldStart int      `json:"oldStart"`
	OldLines int      `json:"oldLines"`
	NewStart int      `json:"newStart"`
	NewLines int      `json:"newLines"`
	Lines    []string `json:"lines"`
}

// TerminalView is a command and what it printed.
type TerminalView struct {
	Command, Output string
	ExitCode        int
}

// ListView is a list of lines with a state each (a to-do list, found files).
type ListView struct {
	Title string
	Items []Item
}

// Item is one line of a ListView; State is "", "pending", "in_progress" or "completed".
type Item struct{ Text, State string }

// TableView is rows under a header.
type TableView struct {
	Header []string
	Rows   [][]string
}

// NestedView is a view of something that has events of its own (a subagent).
type NestedView struct {
	Title string
	Views []View
}

func (TextView) view()     {}
func (DiffView) view()     {}
func (TerminalView) view() {}
func (ListView) view()     {}
func (TableView) view()    {}
func (NestedView) view()   {}
