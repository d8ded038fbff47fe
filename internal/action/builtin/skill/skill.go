// Package skill holds the Skill tool: instructions that enter the conversation when somebody asks for them.
//
// One Book serves one conversation. The model loads skills through the tool,
// a person by typing "/name"; both ways end in Load, so both put the same text
// into the window. What a skill brings along (rules, a model, hooks) is put in
// force by a port before its text is made, because the commands in that text
// are judged under it.
package skill

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/tool"
)

//go:embed skill.md skill.json
var prose embed.FS

const skillName = "Skill"

// By says who invokes a skill, in the words of hooks.
type By string

// Who may invoke a skill.
const (
	User  By = "user"
	Model By = "claude"
)

// Command is a shell command in the text of a skill, arguments filled in.
type Command struct {
	Skill *catalog.Skill
	Text  string
	By    By
}

// Fork is a skill that runs as a subagent.
type Fork struct {
	Skill  *catalog.Skill
	Prompt string
	// Rules are what the skill is granted there.
	Rules []string
	// Use is the call that began it, Parent the agent that made it; "" for a person.
	Use, Parent string
}

// Config is what a Book needs from outside. All functions are safe for
// concurrent use; those without a comment that says otherwise are required.
type Config struct {
	Find func(name string) *catalog.Skill
	// Names are the skills that the model may be pointed to.
	Names func() []string
	// Refused says why somebody may not invoke a skill, "" when he may. Optional.
	Refused func(s *catalog.Skill, by By) string
	// Values are what placeholders stand for; Arguments are filled in here.
	Values func(s *catalog.Skill) catalog.Values
	// Begin puts in force what a skill brings, End takes the rules back. Optional together.
	Begin func(s *catalog.Skill, rules []string, by By)
	End   func(s *catalog.Skill)
	// Exec runs a command and returns what it printed. Any error means that it did
	// not run to a good end, and the skill is not loaded then.
	Exec func(ctx context.Context, c Command, emit func(event.Body)) (string, error)
	// NoExec tells that the commands of a skill are left out. Optional.
	NoExec func(s *catalog.Skill) bool
	// Attach reads a file that a skill names; ok is false when there is none. Optional.
	Attach func(ctx context.Context, path string) (text string, ok bool)
	// Delegate runs a skill as a subagent.
	Delegate func(ctx context.Context, f Fork, emit func(tool.Progress)) tool.Result
	// Used counts a skill's use. Optional.
	Used func(name string)
}

type input struct {
	Skill string `json:"skill"`
	Args  string `json:"args"`
}

// Spec is what the tool says of itself.
func Spec() tool.Spec {
	return tool.Spec{
		Name: skillName, MainField: "skill", Always: true, Origin: "builtin", Description: text("skill.md"), Schema: []byte(text("skill.json")),
	}
}

func text(name string) string {
	raw, err := prose.ReadFile(name)
	if err != nil {
		panic(err) // a fault of the build, which any test shows
	}
	return strings.TrimSpace(string(raw))
}

// Tool is the Skill tool of the conversation.
func (k *Book) Tool() tool.Tool { return tool.Define(Spec(), k.plan) }

func (k *Book) plan(in input, env tool.Env) (tool.Call, error) {
	name := strings.TrimPrefix(strings.TrimSpace(in.Skill), "/")
	s := k.c.Find(name)
	if s == nil {
		return nil, &tool.InputError{Tool: skillName, Faults: []string{k.unknown(name)}}
	}
	if why := k.refused(s, Model); why != "" {
		return nil, &tool.InputError{Tool: skillName, Faults: []string{why}}
	}
	return &tool.Func{
		Wants:  []tool.Need{{Kind: tool.NeedUse, Detail: s.Name}},
		Line:   strings.TrimSpace("Load the skill " + s.Name + " " + in.Args),
		Before: tool.TextView{Text: strings.TrimSpace(s.Origin.String() + "\n" + s.Description)},
		Do: func(ctx context.Context, emit func(tool.Progress)) tool.Result {
			return k.run(ctx, s, in.Args, env, emit)
		},
	}, nil
}

func (k *Book) refused(s *catalog.Skill, by By) string {
	switch {
	case by == Model && !s.ForModel:
		return fmt.Sprintf("The skill %s is for the user alone; ask the user to type /%s", s.Name, s.Name)
	case by == User && !s.ForUser:
		return fmt.Sprintf("The skill %s is for the model alone; ask for what it does", s.Name)
	case k.c.Refused != nil:
		return k.c.Refused(s, by)
	}
	return ""
}

// unknown names the skill that was meant, when that can be told.
func (k *Book) unknown(name string) string {
	names := k.c.Names()
	out := fmt.Sprintf("There is no skill %q", name)
	if near := nearest(names, name); near != "" {
		return out + ". Did you mean " + near + "?"
	}
	if len(names) == 0 {
		return out + "; no skills are listed here"
	}
	const most = 20
	if len(names) > most {
		names = append(names[:most:most], "…")
	}
	return out + ". There are: " + strings.Join(names, ", ")
}

// nearest is the name that differs least: by case, as the last part behind a
// colon, or as a beginning or end.
func nearest(names []string, want string) string {
	want = strings.ToLower(want)
	fits := []func(name string) bool{
		func(n string) bool { return n == want },
		func(n string) bool { return strings.HasSuffix(n, ":"+want) },
		func(n string) bool {
			return len(want) > 2 && (strings.HasPrefix(n, want) || strings.HasPrefix(want, n))
		},
		func(n string) bool { return len(want) > 3 && near(n, want) },
	}
	for _, fit := range fits {
		for _, n := range names {
			if fit(strings.ToLower(n)) {
				return n
			}
		}
	}
	return ""
}

// near tells two names that are one edit apart, or two neighbours swapped.
func near(a, b string) bool {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	a, b = a[i:], b[i:]
	switch {
	case a == "" || b == "":
		return len(a)+len(b) <= 1
	case len(a) == len(b):
		return a[1:] == b[1:] || len(a) > 1 && a[0] == b[1] && a[1] == b[0] && a[2:] == b[2:]
	case len(a) == len(b)+1:
		return a[1:] == b
	}
	return len(b) == len(a)+1 && b[1:] == a
}

func (k *Book) run(ctx context.Context, s *catalog.Skill, args string, env tool.Env, emit func(tool.Progress)) tool.Result {
	silent := func(event.Body) {}
	if s.Fork {
		f, err := k.Fork(ctx, s, args, Model, silent)
		if err != nil {
			return tool.Failure(err.Error())
		}
		f.Use, f.Parent = env.Use, env.Agent
		return k.c.Delegate(ctx, f, emit)
	}
	l, err := k.Load(ctx, s, args, Model, silent)
	if err != nil {
		return tool.Failure(err.Error())
	}
	r := tool.Text(Launching + s.Name)
	r.Effects = []tool.Effect{tool.Inject{Blocks: l}}
	return r
}

// Launching opens the result of a call that has loaded a skill.
const Launching = "Launching skill: "
