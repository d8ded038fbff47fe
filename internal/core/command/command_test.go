package command

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Call{
		"/compact":                 {"compact", ""},
		"  /compact  keep  names ": {"compact", "keep  names"},
		"/model\nopus":             {"model", "opus"},
		"/plug:run x":              {"plug:run", "x"},
		"/mcp__srv__prompt":        {"mcp__srv__prompt", ""},
	} {
		if got, ok := Parse(text); !ok || got != want {
			t.Errorf("%q: %+v %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "/", "/ x", "compact", "/etc/hosts", "/a.b", "say /compact", "//x", "/é"} {
		if got, ok := Parse(text); ok {
			t.Errorf("%q was read as %+v", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("/compact keep")
	f.Add("/\x00")
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := Parse(text)
		if ok && (c.Name == "" || strings.ContainsAny(c.Name, "/ \n") || c.Args != strings.TrimSpace(c.Args)) {
			t.Errorf("%q: %+v", text, c)
		}
	})
}

// bench is a book over an engine that remembers what it was given.
type bench struct {
	sent  []string
	notes []event.CommandRan
	fail  error
}

func (b *bench) submit(_ context.Context, in engine.Input) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		b.sent = append(b.sent, in.Message.Text())
		yield(event.Event{Body: event.Done{Terminal: event.Terminal{Reason: event.Completed, Text: "reply"}}})
	}
}

func (b *bench) book(custom ...Command) *Book {
	return New(Config{
		Builtin: []Command{
			{Name: "echo", Aliases: []string{"repeat"}, About: "Echo", Run: func(_ context.Context, args string, emit func(event.Event)) (string, error) {
				emit(event.Event{Body: event.Notice{Text: "working"}})
				if args == "" {
					return "", errors.New("nothing to echo")
				}
				return args, nil
			}},
			{Name: "login", Where: Terminal, Run: told(func() string { return "no" })},
		},
		Custom: func() []Command { return custom },
		Submit: b.submit, Record: func(c event.CommandRan) error { b.notes = append(b.notes, c); return b.fail },
	})
}

func run(b *Book, text string) (event.Terminal, []event.Body) {
	var all []event.Body
	for ev := range b.Submit(context.Background(), engine.Input{Message: msg.User("u", time.Unix(1, 0), text)}) {
		all = append(all, ev.Body)
	}
	return all[len(all)-1].(event.Done).Terminal, all
}

func TestALocalCommandAsksNoModel(t *testing.T) {
	b := &bench{}
	end, all := run(b.book(), "/repeat hello")
	if end.Reason != event.Local || end.Text != "hello" || len(b.sent) != 0 || len(all) != 3 {
		t.Errorf("%+v, sent %q, %d events", end, b.sent, len(all))
	}
	if len(b.notes) != 1 || b.notes[0].Tagged() != "<local-command-stdout>hello</local-command-stdout>" {
		t.Errorf("recorded %+v", b.notes)
	}
	if end, _ = run(b.book(), "/echo"); end.Text != "Nothing to echo" || !b.notes[1].Failed {
		t.Errorf("a failed command: %+v", end)
	}
	if end, _ = run(b.book(), "/login"); !strings.Contains(end.Text, "terminal") || len(b.sent) != 0 {
		t.Errorf("a command of the terminal: %+v", end)
	}
}

func TestACommandThatCannotBeRecordedEnds(t *testing.T) {
	b := &bench{fail: errors.New("disk full")}
	if end, _ := run(b.book(), "/echo x"); end.Reason != event.SetupFailed || end.Err == nil {
		t.Errorf("%+v", end)
	}
}

func TestAPromptCommandGoesToTheModel(t *testing.T) {
	b := &bench{}
	custom := []Command{
		{Name: "fix", Stacks: true, Expand: func(_ context.Context, args string, _ func(event.Event)) ([]msg.Block, error) {
			if args == "bad" {
				return nil, errors.New("no such issue")
			}
			return []msg.Block{msg.NewText("\nFix issue " + args)}, nil
		}},
		{Name: "echo", Expand: func(context.Context, string, func(event.Event)) ([]msg.Block, error) { return nil, nil }},
	}
	end, _ := run(b.book(custom...), "/fix 12")
	want := "<command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args>12</command-args>\nFix issue 12"
	if end.Text != "reply" || len(b.sent) != 1 || b.sent[0] != want {
		t.Errorf("%+v, sent %q", end, b.sent)
	}
	if end, _ = run(b.book(custom...), "/fix bad"); end.Reason != event.Local || end.Text != "No such issue" {
		t.Errorf("a failed expansion: %+v", end)
	}
	if end, _ = run(b.book(custom...), "/echo own"); end.Text != "own" {
		t.Errorf("a custom command took a built-in's place: %+v", end)
	}
	run(b.book(custom...), "/fix /fix /fix 7")
	if got := b.sent[len(b.sent)-1]; strings.Count(got, "<command-args>7</command-args>\nFix issue 7") != 3 {
		t.Errorf("three stacked commands: %q", got)
	}
	run(b.book(custom...), "/fix /etc /fix 7")
	if got := b.sent[len(b.sent)-1]; !strings.Contains(got, "<command-args>/etc /fix 7</command-args>") {
		t.Errorf("a stack ends where no command stands: %q", got)
	}
	if names := b.book(custom...).Names(); strings.Join(names, " ") != "echo fix" {
		t.Errorf("names %v", names)
	}
}

func TestUnknownCommands(t *testing.T) {
	b := &bench{}
	end, _ := run(b.book(), "/ehco x")
	if end.Reason != event.Local || !strings.Contains(end.Text, "Did you mean /echo") || len(b.sent) != 0 {
		t.Errorf("a slip: %+v", end)
	}
	end, all := run(b.book(), "/other x")
	n, ok := all[0].(event.Notice)
	if end.Text != "reply" || len(b.sent) != 1 || b.sent[0] != "/other x" || !ok || n.Code != "unknown_command" {
		t.Errorf("unknown: %+v, sent %q", end, b.sent)
	}
}

func TestOnlyAWholeTextIsACommand(t *testing.T) {
	b := (&bench{}).book()
	text := func(blocks ...msg.Block) *msg.Message { return &msg.Message{Role: msg.RoleUser, Blocks: blocks} }
	if !b.Calls(text(msg.NewText("/echo"))) || !b.Calls(text(msg.NewText("/ecoh"))) {
		t.Error("a command was not known as one")
	}
	meta := text(msg.NewText("/echo"))
	meta.Meta = true
	for _, m := range []*msg.Message{nil, meta, text(), text(msg.NewText("/echo"), msg.NewText("x")), text(msg.NewText("/unheard"))} {
		if b.Calls(m) {
			t.Errorf("%+v counted as a command", m)
		}
	}
}

func TestUsageShowsWhatBrokeThePrefix(t *testing.T) {
	got := Usage(engine.Totals{CostUSD: 0.5, Breaks: []engine.Break{{Reason: "model", Model: "a|b", Times: 2, Tokens: 900}}})
	if !strings.Contains(got, "| model | a¦b | 2 | 900 |") || !strings.Contains(got, "$0.5000") {
		t.Error(got)
	}
}
