package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// Ports are what the built-in commands act through. A command whose port is nil
// is not in the table.
type Ports struct {
	// Compact replaces history by a summary, keeping what instructions ask for, and
	// returns a sentence about the result.
	Compact func(ctx context.Context, instructions string, emit func(event.Event)) (string, error)
	// Context describes what is in the window, each thing when all is "all".
	Context func(ctx context.Context, all string) (string, error)
	// Clear goes on with an empty conversation under a new session id; a title names it.
	Clear func(ctx context.Context, title string, emit func(event.Event)) (string, error)
	// Memory lists the files of instructions and memory in the order in which they are sent.
	Memory func() []File
	// Costs reads the account.
	Costs func() engine.Totals
	// Model describes the model in use; SetModel changes it for the next request.
	Model    func() string
	SetModel func(ctx context.Context, name string, emit func(event.Event)) error
	// AddDir makes a folder a working directory of this session, and returns its full name.
	AddDir func(ctx context.Context, name string, emit func(event.Event)) (string, error)
	// Rules lists the permission rules, AddRule writes one and puts it in force.
	Rules   func() []string
	AddRule func(list, rule, scope string) (string, error)
	// Login waits until the person has logged in, or ends a login with what was pasted;
	// Logout ends the login. NoIssuer tells that nobody has set up where.
	Login, Logout func(ctx context.Context, pasted string, emit func(event.Event)) (string, error)
	NoIssuer      bool
	// Status is name and value of what is worth knowing about the process.
	Status func() [][2]string
}

// File is one file of instructions or memory.
type File struct {
	Path, Scope string
	Bytes       int
}

// Builtin is the table of the built-in commands. list is the whole table of
// the book that they stand in, for /help.
func Builtin(p Ports, list func() []Command) []Command {
	rows := []struct {
		there bool
		Command
	}{
		{p.AddDir != nil, Command{
			Name: "add-dir", Hint: "<path>", About: "Work in a further folder, too, until this session ends",
			Run: func(ctx context.Context, args string, emit func(event.Event)) (string, error) {
				return addDir(ctx, p, args, emit)
			},
		}},
		{p.Clear != nil, Command{
			Name: "clear", Aliases: []string{"reset", "new"}, Hint: "[name]",
			About: "Start an empty conversation; the old one can be resumed", Run: p.Clear,
		}},
		{p.Compact != nil, Command{
			Name: "compact", Hint: "[instructions]",
			About: "Replace the conversation by a summary, keeping what the instructions ask for", Run: p.Compact,
		}},
		{p.Context != nil, Command{
			Name: "context", Hint: "[all]", About: "Show what fills the context window",
			Run: func(ctx context.Context, args string, _ func(event.Event)) (string, error) {
				return p.Context(ctx, args)
			},
		}},
		{true, Command{Name: "help", About: "List the commands", Run: told(func() string { return help(list()) })}},
		{p.Login != nil, Command{
			Name: "login", Hint: "[address]", About: "Log in at the login server of the settings", Hidden: p.NoIssuer, Run: p.Login,
		}},
		{p.Logout != nil, Command{Name: "logout", About: "Forget the login", Hidden: p.NoIssuer, Run: p.Logout}},
		{p.Memory != nil, Command{Name: "memory", About: "List the files of instructions and memory that are in use", Run: told(func() string { return memory(p.Memory()) })}},
		{p.Model != nil && p.SetModel != nil, Command{
			Name: "model", Hint: "[name]", About: "Show the model, or go on with another one",
			Run: func(ctx context.Context, args string, emit func(event.Event)) (string, error) {
				return model(ctx, p, args, emit)
			},
		}},
		{true, Command{
			Name: "pin", Hint: "text", About: "Say something that every compaction keeps word for word",
			Expand: func(_ context.Context, text string, _ func(event.Event)) ([]msg.Block, error) { return pin(text) },
		}},
		{p.Rules != nil && p.AddRule != nil, Command{
			Name: "permissions", Aliases: []string{"allowed-tools"}, Hint: "[allow|ask|deny RULE [local|project|user|session]]",
			About: "Show the permission rules, or write one to a settings file (the local one)",
			Run: func(_ context.Context, args string, _ func(event.Event)) (string, error) {
				return permissions(p, strings.TrimSpace(args))
			},
		}},
		{p.Status != nil, Command{Name: "status", About: "Show session, folder, model and permission mode", Run: told(func() string { return status(p.Status()) })}},
		{p.Costs != nil, Command{
			Name: "usage", Aliases: []string{"cost", "stats"},
			About: "Show tokens, cost and why the prompt cache was broken", Run: told(func() string { return Usage(p.Costs()) }),
		}},
	}
	var out []Command
	for _, r := range rows {
		if r.there {
			out = append(out, r.Command)
		}
	}
	return out
}

// told is a command that only tells something.
func told(text func() string) func(context.Context, string, func(event.Event)) (string, error) {
	return func(context.Context, string, func(event.Event)) (string, error) { return text(), nil }
}

func help(list []Command) string {
	var b strings.Builder
	b.WriteString("Commands:\n")
	for _, c := range list {
		name := "/" + c.Name
		if c.Hint != "" {
			name += " " + c.Hint
		}
		fmt.Fprintf(&b, "- `%s`: %s", name, c.About)
		if len(c.Aliases) > 0 {
			b.WriteString(" (also /" + strings.Join(c.Aliases, ", /") + ")")
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func memory(files []File) string {
	if len(files) == 0 {
		return "No file of instructions or memory is in use here."
	}
	var b strings.Builder
	b.WriteString("| file | scope | bytes |\n|---|---|---|\n")
	for _, f := range files {
		fmt.Fprintf(&b, "| %s | %s | %d |\n", cell(f.Path), cell(f.Scope), f.Bytes)
	}
	return strings.TrimRight(b.String(), "\n")
}

func model(ctx context.Context, p Ports, name string, emit func(event.Event)) (string, error) {
	if name == "" {
		return "Model: " + p.Model(), nil
	}
	if strings.ContainsAny(name, " \t\r\n") {
		return "", errors.New("a model's name has no spaces: /model NAME")
	}
	if err := p.SetModel(ctx, name, emit); err != nil {
		return "", err
	}
	return "Model: " + p.Model() + " from the next request on. The prompt cache is of no use to another model.", nil
}

func addDir(ctx context.Context, p Ports, name string, emit func(event.Event)) (string, error) {
	if strings.TrimSpace(name) == "" {
		return "", errors.New("name the folder: /add-dir PATH")
	}
	dir, err := p.AddDir(ctx, strings.TrimSpace(name), emit)
	if err != nil {
		return "", err
	}
	return dir + " is a working directory of this session now.", nil
}

// pin is the prompt of /pin; compactions know the mark, which also counts in any other prompt.
func pin(text string) ([]msg.Block, error) {
	if text == "" {
		return nil, errors.New("what is to be kept? /pin TEXT")
	}
	return []msg.Block{msg.NewText("<pin>" + text + "</pin>\nThis holds for the rest of the session. Confirm it in a few words.")}, nil
}

func status(rows [][2]string) string {
	var b strings.Builder
	for _, r := range rows {
		if r[1] != "" {
			fmt.Fprintf(&b, "- %s: %s\n", r[0], r[1])
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// Usage is the cost view: the account by model and every deliberate break of the prefix.
func Usage(t engine.Totals) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Total cost: $%.4f\nTime waiting for models: %.1fs\n", t.CostUSD, t.API.Seconds())
	if len(t.Models) > 0 {
		b.WriteString("\n| model | requests | input | cache read | cache write | output | cost |\n|---|---|---|---|---|---|---|\n")
	}
	for _, m := range t.Models {
		u := m.Usage
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | $%.4f |\n", cell(m.Model.ID), m.Requests,
			u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens, m.CostUSD)
	}
	if len(t.Breaks) == 0 {
		b.WriteString("\nThe prompt cache's prefix was never broken.")
		return b.String()
	}
	b.WriteString("\n| prefix broken by | model | times | tokens read anew |\n|---|---|---|---|\n")
	for _, k := range t.Breaks {
		fmt.Fprintf(&b, "| %s | %s | %d | %d |\n", cell(k.Reason), cell(k.Model), k.Times, k.Tokens)
	}
	return strings.TrimRight(b.String(), "\n")
}

// cell keeps a text from ending its cell of a table.
func cell(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '|':
			return '¦'
		case r < 0x20 || r == 0x7f:
			return ' '
		}
		return r
	}, s)
}
