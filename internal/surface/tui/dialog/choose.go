package dialog

import (
	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// Choose puts answers under a page: the general question.
type Choose struct {
	asking
	taken int
}

// Choices are what a Choose shows. Answers must not be empty.
type Choices struct {
	Title string
	// Page draws what it is about; nil for nothing. With Whole, its end must be seen
	// before an answer other than Safe is taken.
	Page  func(width int) []style.Line
	Whole bool
	// Answers are labels of hew's own; Safe is the index of the one that changes
	// nothing: it is chosen at first and what Esc means.
	Answers []string
	Safe    int
}

// NewChoose makes a question.
func NewChoose(c Choices, o Options) *Choose {
	d := &Choose{taken: -1}
	d.asking = asking{
		guard: newGuard(o), head: heading(c.Title),
		pick:  func(i int) { d.taken, d.done = i, true },
		leave: func() { d.taken, d.done = c.Safe, true },
		foot:  func() []string { return []string{"enter takes it", "esc: " + c.Answers[c.Safe]} },
		page: page{draw: func(width int) ([]style.Line, int) {
			if c.Page == nil {
				return nil, 0
			}
			lines := c.Page(width)
			if c.Whole {
				return lines, len(lines)
			}
			return lines, 0
		}},
	}
	for _, a := range c.Answers {
		d.choice.opts = append(d.choice.opts, option{label: label(a, 200)})
	}
	d.choice.at = c.Safe
	if c.Whole {
		d.before = func(int, int) {
			for i := range d.choice.opts {
				d.choice.opts[i].blocked = i != c.Safe && !d.page.body
			}
		}
	}
	return d
}

// Taken is the index of the answer, -1 before there is one.
func (d *Choose) Taken() int { return d.taken }

// NewConfirm asks for a yes before something that cannot be taken back; no is
// the answer at first. Taken is 0 for yes.
func NewConfirm(title, about, yes string, o Options) *Choose {
	return NewChoose(Choices{
		Title: title, Answers: []string{yes, "No"}, Safe: 1,
		Page: func(width int) []style.Line { return paragraph(style.Plain, about, width) },
	}, o)
}

// TrustChoice is what a person says about a folder.
type TrustChoice uint8

// The answers.
const (
	Exit   TrustChoice = iota // leave
	Yes                       // what the folder brings may run
	NoGoOn                    // go on without any of it
)

// Group is a sort of thing that a folder would run, and its items: commands as
// they would run.
type Group struct {
	Name  string
	Items []string
}

// Trust asks whether what a folder brings with it may run.
type Trust struct{ *Choose }

// NewTrust makes the question about a folder. Leaving is the answer at first.
func NewTrust(path string, groups []Group, o Options) *Trust {
	return &Trust{NewChoose(Choices{
		Title: "Do you trust this folder?", Whole: true,
		Answers: []string{"No, exit", "Yes, I trust this folder", "Go on without trusting it"},
		Page:    func(width int) []style.Line { return folder(path, groups, width) },
	}, o)}
}

// Choice is the answer, once Done.
func (t *Trust) Choice() TrustChoice { return TrustChoice(max(0, t.Taken())) }

func folder(path string, groups []Group, width int) []style.Line {
	out := exact(path, "", style.Bold, width)
	out = append(out, nil)
	if len(groups) == 0 {
		return append(out, paragraph(style.Dim, "hew will read its files, and may change them and run commands in it when you agree.", width)...)
	}
	out = append(out, paragraph(style.Plain, "It brings settings that run or allow something by themselves:", width)...)
	for _, g := range groups {
		out = append(out, style.Wrap(style.Text(style.Warning, label(g.Name, 200)), width)...)
		for _, it := range g.Items {
			out = append(out, indented(exact(it, "", style.Plain, max(2, width-2)), 2)...)
		}
	}
	return append(out, paragraph(style.Dim, "Without trust none of this is used.", width)...)
}

// ServerChoice is what a person says about an MCP server of a project.
type ServerChoice uint8

// The answers.
const (
	LeaveServer ServerChoice = iota // do not use it
	UseServer                       // use this one
	UseAll                          // use this one and all others of the project
)

// Server is an MCP server that a project asks for.
type Server struct {
	Name string
	// Command is the exact command line, or the address.
	Command string
	// Env are the names of the variables that it gets, File is where it stands.
	Env  []string
	File string
}

// Approval asks whether a server of a project may be used.
type Approval struct{ *Choose }

// NewApproval makes the question about a server.
func NewApproval(s Server, o Options) *Approval {
	return &Approval{NewChoose(Choices{
		Title: "Use an MCP server of this project?", Whole: true,
		Answers: []string{"No, not this server", "Use this server", "Use this and all other servers of this project"},
		Page: func(width int) []style.Line {
			out := append(exact(s.Name, "", style.Bold, width), exact(s.Command, "", style.Plain, width)...)
			for _, e := range s.Env {
				out = append(out, paragraph(style.Dim, "gets "+e, width)...)
			}
			if s.File != "" {
				out = append(out, paragraph(style.Dim, "asked for in "+s.File, width)...)
			}
			return append(out, paragraph(style.Dim, "Its tools ask before they run, as others do.", width)...)
		},
	}, o)}
}

// Choice is the answer, once Done.
func (a *Approval) Choice() ServerChoice { return ServerChoice(max(0, a.Taken())) }

// SandboxChoice is what a person says to the offer of a sandbox.
type SandboxChoice uint8

// The answers.
const (
	NoSandbox   SandboxChoice = iota // go on without
	SandboxAuto                      // with it, commands inside run unasked
	SandboxAsk                       // with it, commands ask as before
)

// Offer asks whether commands are to run in a sandbox.
type Offer struct{ *Choose }

// NewOffer makes the question; lines say what this machine can keep commands from.
func NewOffer(lines []string, o Options) *Offer {
	return &Offer{NewChoose(Choices{
		Title:   "Run commands in a sandbox?",
		Answers: []string{"No, go on without", "Yes, and run commands in it without asking", "Yes, and ask as before"},
		Page: func(width int) []style.Line {
			var out []style.Line
			for _, l := range lines {
				out = append(out, paragraph(style.Plain, "- "+l, width)...)
			}
			return out
		},
	}, o)}
}

// Choice is the answer, once Done.
func (f *Offer) Choice() SandboxChoice { return SandboxChoice(max(0, f.Taken())) }

var _ frame.Widget = (*Choose)(nil)
