// Package command is the table of slash commands, one row each; runs them beside the conversation.
//
// A command is text that begins with "/" and a name, at the start of a prompt.
// It either does something in this process and answers at once, or stands for a
// prompt. Every surface submits through a Book, so that a command works alike in
// all of them.
package command

import (
	"context"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// Where says on which surfaces a command can be used.
type Where int

// The places. Terminal commands open a dialog and need a person at a terminal.
const (
	Anywhere Where = iota
	Terminal
)

// Command is one row of the table.
type Command struct {
	// Name is typed after the slash: lower case, "-" between words, ":" behind a
	// plugin's name. Aliases do the same.
	Name    string
	Aliases []string
	// Hint shows the arguments: "[instructions]". About is one line for people.
	Hint, About string
	Where       Where
	// Run does it and returns what to show, in Markdown. What happens meanwhile
	// is emitted. An error is shown in its place. Exactly one of Run and Expand is set.
	Run func(ctx context.Context, args string, emit func(event.Event)) (string, error)
	// Expand returns what goes to the model in the command's place, behind its name
	// and arguments. What happens meanwhile is emitted.
	Expand func(ctx context.Context, args string, emit func(event.Event)) ([]msg.Block, error)
	// Stacks tells that more commands may follow before the arguments, which then
	// are those of each.
	Stacks bool
	// Hidden commands work and are in no list.
	Hidden bool
}

// named tells whether the command answers to name.
func (c *Command) named(name string) bool {
	if c.Name == name {
		return true
	}
	return slices.Contains(c.Aliases, name)
}

// Call is a command as it was typed.
type Call struct{ Name, Args string }

// Parse reads a prompt that calls a command. A path ("/etc/hosts is …") is
// none, nor is a slash alone.
func Parse(text string) (Call, bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n"), "/")
	if !ok {
		return Call{}, false
	}
	name, args := rest, ""
	if i := strings.IndexAny(rest, " \t\r\n"); i >= 0 {
		name, args = rest[:i], strings.TrimSpace(rest[i:])
	}
	if name == "" || strings.ContainsFunc(name, foreign) {
		return Call{}, false
	}
	return Call{name, args}, true
}

// foreign are characters that no command's name has.
func foreign(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != ':'
}

// call is the command that a message calls; pictures or more than one text are
// a prompt for the model.
func call(m *msg.Message) (Call, bool) {
	if m == nil || m.Meta || len(m.Blocks) != 1 {
		return Call{}, false
	}
	t, ok := m.Blocks[0].(*msg.Text)
	if !ok {
		return Call{}, false
	}
	return Parse(t.Text)
}

// Tags are the text that stands before what a command expands to, in the form
// that transcripts of the ecosystem hold.
func Tags(c Call) string {
	return "<command-message>" + c.Name + "</command-message>\n<command-name>/" + c.Name + "</command-name>\n<command-args>" +
		c.Args + "</command-args>"
}
