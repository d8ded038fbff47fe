package command

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// Config makes a Book. Submit is required.
type Config struct {
	// Place is the surface that the book serves: Anywhere for headless ones.
	Place Where
	// Builtin is the table; a row's name wins over a custom command's.
	Builtin []Command
	// Custom lists the commands that files and servers bring, in a fixed order. It
	// is called for every prompt and must be cheap. Optional.
	Custom func() []Command
	// Submit runs a prompt; it is the engine's.
	Submit func(ctx context.Context, in engine.Input) iter.Seq[event.Event]
	// Record keeps what a command said; an error ends the command. Optional.
	Record func(event.CommandRan) error
}

// Book runs the commands of one conversation.
type Book struct{ c Config }

// New makes the book.
func New(c Config) *Book { return &Book{c} }

// List is every command that can be used here, built-in ones first.
func (b *Book) List() []Command {
	var out []Command
	for _, c := range b.all() {
		if !c.Hidden && (c.Where == Anywhere || c.Where == b.c.Place) {
			out = append(out, c)
		}
	}
	return out
}

// Names are the names of List.
func (b *Book) Names() []string {
	var out []string
	for _, c := range b.List() {
		out = append(out, c.Name)
	}
	return out
}

func (b *Book) all() []Command {
	out := slices.Clone(b.c.Builtin)
	if b.c.Custom == nil {
		return out
	}
	for _, c := range b.c.Custom() {
		if !slices.ContainsFunc(out, func(have Command) bool { return have.Name == c.Name }) {
			out = append(out, c)
		}
	}
	return out
}

func (b *Book) find(name string) (Command, bool) {
	for _, c := range b.all() {
		if c.named(name) {
			return c, true
		}
	}
	return Command{}, false
}

// Calls tells whether a prompt is a command or a slip of one: it must not join a
// run that is under way.
func (b *Book) Calls(m *msg.Message) bool {
	c, ok := call(m)
	if !ok {
		return false
	}
	_, known := b.find(c.Name)
	return known || b.near(c.Name) != ""
}

// Submit runs a prompt to its end, as Engine.Submit does: a command that does
// something itself ends with event.Done and no turn.
func (b *Book) Submit(ctx context.Context, in engine.Input) iter.Seq[event.Event] {
	c, ok := call(in.Message)
	if !ok {
		return b.c.Submit(ctx, in)
	}
	cmd, known := b.find(c.Name)
	switch {
	case known && cmd.Where != Anywhere && cmd.Where != b.c.Place:
		return b.answer(in, c, "", fmt.Errorf("/%s needs a terminal", c.Name))
	case known && cmd.Run != nil:
		return b.run(ctx, in, cmd, c)
	case known:
		return b.expand(ctx, in, cmd, c)
	}
	if near := b.near(c.Name); near != "" {
		return b.answer(in, c, "", fmt.Errorf("unknown command: /%s. Did you mean /%s? /help lists the commands", c.Name, near))
	}
	return b.unknown(ctx, in, c)
}

// unknown passes what no command is called to the model, as other programs do,
// and says so.
func (b *Book) unknown(ctx context.Context, in engine.Input, c Call) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		n := event.Notice{Level: event.Warning, Code: "unknown_command", Text: "there is no command /" + c.Name + "; the model gets it as text (/help lists the commands)"}
		if !yield(event.Event{Body: n}) {
			return
		}
		for ev := range b.c.Submit(ctx, in) {
			if !yield(ev) {
				return
			}
		}
	}
}

// expand submits the prompt that a command stands for.
func (b *Book) expand(ctx context.Context, in engine.Input, cmd Command, c Call) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		gone := false
		emit := func(e event.Event) { gone = gone || !yield(e) }
		var blocks []msg.Block
		for _, s := range b.stacked(cmd, c) {
			more, err := s.Expand(ctx, s.Args, emit)
			if gone {
				return
			}
			if err != nil {
				b.answer(in, s.Call, "", err)(yield)
				return
			}
			blocks = append(append(blocks, msg.NewText(Tags(s.Call))), more...)
		}
		m := *in.Message
		m.Blocks = blocks
		in.Message = &m
		b.c.Submit(ctx, in)(yield)
	}
}

// maxStack is how many commands one prompt may name.
const maxStack = 6

// ready is a command with its call.
type ready struct {
	Command
	Call
}

// stacked are the commands at the start of a prompt: "/a /b text" calls both,
// each with the text, as far as they stack.
func (b *Book) stacked(cmd Command, c Call) []ready {
	out := []ready{{cmd, c}}
	rest := c.Args
	for cmd.Stacks && len(out) < maxStack {
		next, ok := Parse(rest)
		if !ok {
			break
		}
		found, known := b.find(next.Name)
		if !known || !found.Stacks || found.Where != Anywhere && found.Where != b.c.Place {
			break
		}
		out, rest = append(out, ready{found, next}), next.Args
	}
	for i := range out {
		out[i].Args = rest
	}
	return out
}

// run carries a command out.
func (b *Book) run(ctx context.Context, in engine.Input, cmd Command, c Call) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		gone := false
		emit := func(e event.Event) { gone = gone || !yield(e) }
		text, err := cmd.Run(ctx, c.Args, emit)
		if gone {
			return
		}
		b.answer(in, c, text, err)(yield)
	}
}

// answer ends a command with what it says.
func (b *Book) answer(in engine.Input, c Call, text string, err error) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		ran := event.CommandRan{ID: in.Message.ID, At: in.Message.Time, Name: c.Name, Args: c.Args, Output: text}
		if err != nil {
			ran.Output, ran.Failed = capital(err.Error()), true
		}
		end := event.Terminal{Reason: event.Local, Text: ran.Output}
		if b.c.Record != nil {
			if err := b.c.Record(ran); err != nil {
				end = event.Terminal{Reason: event.SetupFailed, Err: err, Detail: err.Error()}
			}
		}
		if yield(event.Event{Body: ran}) {
			yield(event.Event{Body: event.Done{Terminal: end}})
		}
	}
}

// capital begins an error's text as a sentence.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// near is the built-in command that name is a slip of, "" for none.
func (b *Book) near(name string) string {
	for _, c := range b.c.Builtin {
		for _, n := range append([]string{c.Name}, c.Aliases...) {
			if len(name) > 3 && slip(strings.ToLower(name), n) {
				return n
			}
		}
	}
	return ""
}

// slip tells whether typed is want with one letter wrong, missing, too much or
// two neighbours swapped.
func slip(typed, want string) bool {
	i := 0
	for i < len(typed) && i < len(want) && typed[i] == want[i] {
		i++
	}
	a, b := typed[i:], want[i:]
	switch {
	case len(a) == len(b):
		return a == b || a[1:] == b[1:] || len(a) > 1 && a[0] == b[1] && a[1] == b[0] && a[2:] == b[2:]
	case len(a) == len(b)+1:
		return a[1:] == b
	case len(b) == len(a)+1:
		return b[1:] == a
	}
	return false
}
