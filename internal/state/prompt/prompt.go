// Package prompt builds system prompt, environment, reminders, request layout for caching.
//
// It decides what a request holds and in which order, so that each request
// begins with the bytes of the one before it. Everything here is a function of
// its arguments: the caller makes a text once a session, records it, and sends
// the recorded text from then on.
package prompt

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/memory"
)

//go:embed system.md
var systemText string

// Config says what the system prompt is made of.
type Config struct {
	// Replace, when not empty, stands in place of hew's own text and of the environment.
	Replace string
	// Role stands in place of hew's own text; the environment stays behind it.
	Role string
	// Style is how the person wants to be answered, "" for no wish; it stands behind
	// hew's own text. General leaves the parts of that about software work out.
	Style   string
	General bool
	// Append follows whatever comes before it.
	Append string
	// Memory tells the model about its own notes, "" when it keeps none. It is a
	// part of hew's own text.
	Memory string
	Env    Environment
}

// System is the system prompt, a text a block. It is not empty.
func System(c Config) []string {
	own := strings.TrimSpace(systemText)
	if c.General {
		own = withoutCoding(own)
	}
	if c.Memory != "" {
		own += "\n\n" + clean(c.Memory)
	}
	out := []string{own, c.Env.text()}
	if text := clean(c.Role); text != "" {
		out[0] = text
	}
	if text := clean(c.Style); text != "" {
		out = append(out, text)
	}
	if text := clean(c.Replace); text != "" {
		out = []string{text}
	}
	if text := clean(c.Append); text != "" {
		out = append(out, text)
	}
	return out
}

// withoutCoding leaves the parts of the system prompt out that are about
// software work: an output style that does not keep them does something else.
func withoutCoding(text string) string {
	var kept []string
	for part := range strings.SplitSeq(text, "\n\n# ") {
		if !strings.HasPrefix(part, "Working\n") && !strings.HasPrefix(part, "Verifying\n") {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "\n\n# ")
}

// clean makes a text from outside fit for a request.
func clean(s string) string {
	return strings.TrimSpace(strings.ToValidUTF8(s, "\ufffd"))
}

// Environment is where a conversation takes place. Empty fields are left out.
type Environment struct {
	Cwd string
	// Roots are further working directories.
	Roots []string
	// Platform is the operating system and architecture, Shell the shell that runs commands.
	Platform, Shell string
	// Git is the state of the repository, nil to say nothing about it.
	Git *Git
}

func (e Environment) text() string {
	var b strings.Builder
	b.WriteString("# Environment\n")
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, oneLine(value))
		}
	}
	line("Working directory", e.Cwd)
	for _, r := range e.Roots {
		line("Also a working directory", r)
	}
	line("Platform", e.Platform)
	line("Shell", e.Shell)
	if e.Git != nil {
		b.WriteString(e.Git.text())
	}
	return strings.TrimSpace(b.String())
}

// oneLine keeps a name with a newline from looking like more lines of the prompt.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// Reminder wraps text of the harness so that the model can tell it from the
// words of a person.
func Reminder(text string) string {
	return "<system-reminder>\n" + text + "\n</system-reminder>"
}

// Context is the user message at the front of a conversation: instruction
// files, each under its path, and the date. It is made once and then repeated,
// also after midnight; id is the entry that it will be recorded as. Items that
// sources would say behind the first prompt can stand here, a block each: the
// sources find them said.
func Context(id string, at time.Time, files []memory.File, items ...Item) *msg.Message {
	var b strings.Builder
	if len(files) > 0 {
		b.WriteString("Instructions for your work here, from the person and the project. They go before your own defaults: " +
			"follow them as they are written wherever they apply. Where two disagree, the later one counts.\n\n")
	}
	for _, f := range files {
		fmt.Fprintf(&b, "Contents of %s (%s):\n\n%s\n\n", oneLine(f.Path), f.Scope.Label(), f.Text)
	}
	fmt.Fprintf(&b, "Today's date is %s.", at.Format(time.DateOnly))
	m := msg.User(id, at, Reminder(b.String()))
	m.Meta = true
	for _, it := range items {
		if text := it.block(); text != "" {
			m.Blocks = append(m.Blocks, msg.NewText(text))
		}
	}
	return m
}
