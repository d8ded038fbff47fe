package compact

import (
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/prompt"
)

// Report is what is in a window, by source, and what was taken out of it. All
// sizes are tokens. Terminals draw it, hew context and /context print it.
type Report struct {
	Session string `json:"session"`
	Model   string `json:"model"`
	// Window may be used; shaping begins at Trigger and leaves Target.
	Window  int `json:"window"`
	Trigger int `json:"trigger"`
	Target  int `json:"target"`
	// Used is the size of the next request, Percent its part of Window. Measured
	// tells that it rests on the provider's figure; all else is estimated.
	Used     int  `json:"used"`
	Percent  int  `json:"percent"`
	Measured bool `json:"measured"`
	Free     int  `json:"free"`
	// Sources are in the order of the window.
	Sources []Source `json:"sources"`
	// Tiers are the three ways of remembering: what people wrote down, what the
	// model noted in earlier sessions, and the conversation itself.
	Tiers []Tier `json:"tiers"`
	// Stages are the shapers in order and whether each may run.
	Stages []StageState `json:"stages"`
	// Taken is what is not in the window any more, or not whole, oldest first.
	Taken []Taken `json:"taken"`
}

// Source is one source of the window.
type Source struct {
	Name   string       `json:"name"`
	Class  prompt.Class `json:"class"`
	Tokens int          `json:"tokens"`
	Items  []Item       `json:"items"`
}

// Tier is one way of remembering and the tokens that it takes.
type Tier struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// Item is one thing of a source.
type Item struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// StageState says whether a shaper may run.
type StageState struct {
	Name string `json:"name"`
	On   bool   `json:"on"`
}

// Taken is one thing that a shaper dropped, replaced or summarised.
type Taken struct {
	Stage string `json:"stage"`
	// What names it: the call and its input, or the messages.
	What   string `json:"what"`
	Tokens int    `json:"tokens"`
	// Where says where it can be found again.
	Where string `json:"where"`
}

// Subject is what a Report is made of.
type Subject struct {
	Session, Model, Transcript string
	Limits                     Limits
	On                         Stages
	System                     []string
	// Tools are the definitions that are offered, by name.
	Tools []Item
	// History is what the next request holds, Used and Fresh what is known of it.
	History     []*msg.Message
	Used, Fresh int
	// Kinds names the context source of injected messages, by message id.
	Kinds map[string]string
	// Classes are those of the context sources, by name.
	Classes map[string]prompt.Class
	// Whole is the conversation before anything was taken out, for names.
	Whole     []*msg.Message
	Shapings  []event.Shaped
	Compacted []Taken
}

// The nine sources, in the order in which they stand in a request.
const (
	srcSystem = iota
	srcEnvironment
	srcInstructions
	srcRules
	srcMemory
	srcTools
	srcConversation
	srcResults
	srcSummaries
	srcLate // from here on: the sources that add while the conversation runs, in the order in which they spoke first
)

// Describe makes the report.
func Describe(s Subject) Report {
	r := Report{
		Session: s.Session, Model: s.Model, Window: s.Limits.Window, Trigger: s.Limits.Trigger, Target: s.Limits.Target,
		Stages: []StageState{{StageBudget, true}, {StageSnip, s.On.Snip}, {StageMicro, s.On.Micro}, {StageCollapse, s.On.Collapse}, {StageAuto, s.On.Auto}},
		Sources: []Source{
			{"system_prompt", prompt.ReadOnly, 0, []Item{}},
			{"environment", prompt.ReadOnly, 0, []Item{}},
			{"instructions", prompt.Reloadable, 0, []Item{}},
			{"rules", prompt.OnDemand, 0, []Item{}},
			{"auto_memory", prompt.SystemWritten, 0, []Item{}},
			{"tools", prompt.ReadOnly, 0, []Item{}},
			{"conversation", prompt.AppendOnly, 0, []Item{}},
			{"tool_results", prompt.Runtime, 0, []Item{}},
			{"summaries", prompt.SystemWritten, 0, []Item{}},
		},
		Taken: []Taken{},
	}
	r.system(s.System)
	for _, t := range s.Tools {
		r.add(srcTools, t.Name, t.Tokens)
	}
	r.messages(s)
	for _, src := range r.Sources {
		r.Used += src.Tokens
	}
	sum := func(sources ...Source) (n int) {
		for _, src := range sources {
			n += src.Tokens
		}
		return n
	}
	r.Tiers = []Tier{
		{"instructions", sum(r.Sources[srcInstructions], r.Sources[srcRules])},
		{"auto_memory", sum(r.Sources[srcMemory])},
		{"conversation", sum(r.Sources[srcConversation:]...)},
	}
	whole := tokens(s.History)
	if s.Used > 0 && s.Used >= whole/distrust {
		r.Used, r.Measured = s.Used+tokens(s.History[max(0, len(s.History)-s.Fresh):]), true
	}
	r.Percent, r.Free = r.Used*100/max(1, r.Window), max(0, r.Window-r.Used)
	r.taken(s)
	return r
}

// late is where the context source of a name stands; what no source of this
// process says has been put in while the conversation ran.
func (r *Report) late(name string, class prompt.Class) int {
	for i, src := range r.Sources[srcLate:] {
		if src.Name == name {
			return srcLate + i
		}
	}
	if class == "" {
		class = prompt.Runtime
	}
	r.Sources = append(r.Sources, Source{name, class, 0, []Item{}})
	return len(r.Sources) - 1
}

func (r *Report) add(source int, name string, n int) {
	src := &r.Sources[source]
	src.Tokens += n
	for i := range src.Items {
		if src.Items[i].Name == name {
			src.Items[i].Tokens += n
			return
		}
	}
	src.Items = append(src.Items, Item{name, n})
}

// system parts the environment from the prompt, which may share a block.
func (r *Report) system(blocks []string) {
	for _, b := range blocks {
		head, env := b, ""
		if i := strings.Index(b, "# Environment\n"); i >= 0 {
			head, env = b[:i], b[i:]
		}
		if head != "" {
			r.add(srcSystem, "prompt", textTokens(head))
		}
		if env != "" {
			r.add(srcEnvironment, "environment", textTokens(env))
		}
	}
}

func (r *Report) messages(s Subject) {
	calls := uses(s.Whole)
	for _, u := range uses(s.History) {
		calls[u.ID] = u
	}
	for i, m := range s.History {
		switch kind := s.Kinds[m.ID]; {
		case isSummary(m):
			r.add(srcSummaries, "summary", m.EstimateTokens())
		case marks(m):
			r.add(srcSummaries, "digests and markers", m.EstimateTokens())
		case i == 0 && m.Meta && m.Role == msg.RoleUser:
			r.instructions(m)
		case kind == "nested_memory" || kind == "rules":
			r.add(srcRules, kind, m.EstimateTokens())
		case strings.Contains(kind, "memor"):
			r.add(srcMemory, kind, m.EstimateTokens())
		case kind != "":
			r.add(r.late(kind, s.Classes[kind]), kind, m.EstimateTokens())
		default:
			r.spoken(m, calls)
		}
	}
}

// instructions parts the message of instruction files by file.
func (r *Report) instructions(m *msg.Message) {
	text := m.Text()
	r.add(srcInstructions, "preface and date", max(1, m.EstimateTokens()-textTokens(text)))
	for part := range strings.SplitSeq(text, "\nContents of ") {
		head, _, ok := strings.Cut(part, "):\n")
		path, label := head, ""
		if i := strings.LastIndex(head, " ("); i >= 0 {
			path, label = head[:i], head[i:]
		}
		switch {
		case !ok:
			r.add(srcInstructions, "preface and date", textTokens(part))
		case strings.Contains(label, "own notes"):
			r.add(srcMemory, path, textTokens(part))
		case strings.Contains(path, "/rules/"):
			r.add(srcRules, path, textTokens(part))
		default:
			r.add(srcInstructions, path, textTokens(part))
		}
	}
}

// spoken parts a message of the conversation: results of calls are a source of their own.
func (r *Report) spoken(m *msg.Message, calls map[string]*msg.ToolUse) {
	left := m.EstimateTokens()
	for _, b := range m.Blocks {
		res, ok := b.(*msg.ToolResult)
		if !ok {
			continue
		}
		name := "unknown call"
		if u := calls[res.ToolUseID]; u != nil {
			name = u.Name
		}
		n := resultTokens(res) - 4
		r.add(srcResults, name, n)
		left -= n
	}
	name := string(m.Role)
	if m.Meta {
		name = "notes of the harness"
	}
	r.add(srcConversation, name, left)
}

func (r *Report) taken(s Subject) {
	calls := uses(s.Whole)
	at := "the transcript"
	if s.Transcript != "" {
		at = s.Transcript
	}
	r.Taken = append(r.Taken, s.Compacted...)
	for i := range r.Taken {
		if r.Taken[i].Where == "" {
			r.Taken[i].Where = at
		}
	}
	for _, sh := range s.Shapings {
		for _, e := range sh.Edits {
			t := Taken{Stage: sh.Stage, Tokens: e.Tokens, Where: at}
			switch u := calls[e.Use]; {
			case u != nil:
				t.What = "result of " + u.Name + " " + oneLine(string(u.Input), 100)
				t.Where += ", result of the call " + e.Use
			case e.Use != "":
				t.What, t.Where = "result of the call "+e.Use, at+", result of the call "+e.Use
			case e.Message != "":
				t.What, t.Where = "a message of the user", at+", entry "+e.Message
			default:
				t.What, t.Where = "replies and results", fmt.Sprintf("%s, from entry %s to before %s", at, e.From, e.Until)
			}
			if e.Where != "" {
				t.Where = e.Where
			}
			r.Taken = append(r.Taken, t)
		}
	}
	for _, m := range s.History {
		for _, b := range m.Blocks {
			if res, ok := b.(*msg.ToolResult); ok {
				r.spilled(res, calls[res.ToolUseID])
			}
		}
	}
}

// spilled notes a result that was cut when it came in; the file has all of it.
func (r *Report) spilled(res *msg.ToolResult, u *msg.ToolUse) {
	path := spilledTo(resultText(res))
	if path == "" {
		return
	}
	for _, t := range r.Taken {
		if t.Where == path {
			return
		}
	}
	what := "result of a call"
	if u != nil {
		what = "result of " + u.Name + " " + oneLine(string(u.Input), 100)
	}
	r.Taken = append(r.Taken, Taken{StageBudget, what, 0, path})
}
