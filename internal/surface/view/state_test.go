package view

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

func fold() *Fold {
	return &Fold{
		Outline: func(u *msg.ToolUse) Outline { return Outline{Title: "do " + u.Name, Act: tool.ActExecute} },
		Cost:    func() float64 { return 0 },
	}
}

func told(f *Fold, s State, bodies ...event.Body) State {
	at := time.Unix(1000, 0)
	for _, b := range bodies {
		at = at.Add(time.Second)
		s = f.Apply(s, event.Event{Body: b}, at)
	}
	return s
}

func reply(id string, blocks ...msg.Block) event.Message {
	return event.Message{Msg: &msg.Message{ID: id, Role: msg.RoleAssistant, Blocks: blocks}}
}

// keys are the kinds and texts of items.
func keys(items []Item) string {
	var out []string
	for _, it := range items {
		var m map[string]any
		if err := json.Unmarshal(Encode(it), &m); err != nil {
			return err.Error()
		}
		text, _ := m["text"].(string)
		status, _ := m["status"].(string)
		out = append(out, strings.Join(strings.Fields(m["kind"].(string)+" "+status+" "+text), " "))
	}
	return strings.Join(out, " | ")
}

func TestOrderIsThatOfTheConversation(t *testing.T) {
	t.Parallel()
	f := fold()
	a, b := msg.NewToolUse("a", "Slow", json.RawMessage(`{}`)), msg.NewToolUse("b", "Quick", json.RawMessage(`{}`))
	user := &msg.Message{ID: "u", Role: msg.RoleUser, Blocks: []msg.Block{msg.NewText("go")}}
	s := told(
		f, State{},
		event.Message{Msg: user, Source: "prompt"}, event.TurnStarted{Turn: 1, Why: "start"},
		event.Delta{Kind: event.DeltaThinking, Text: "hm"}, event.Delta{Kind: event.DeltaText, Text: "I "}, event.Delta{Kind: event.DeltaText, Text: "look"},
	)
	if got := keys(s.Items) + " / " + keys(s.Live); got != "prompt go | thought hm / reply I look" {
		t.Fatal(got)
	}
	s = told(f, s, reply("m", msg.NewText("I look"), a, b), event.ToolStarted{Use: a, Title: "slow"}, event.ToolStarted{Use: b, Title: "quick"},
		event.ToolFinished{Use: b, Ran: true, Result: tool.Text("b!")})
	if got := keys(s.Items) + " / " + keys(s.Live); got != "prompt go | thought hm | reply I look / call running | call done b!" {
		t.Fatal(got)
	}
	s = told(f, s, event.ToolFinished{Use: a, Ran: true, Result: tool.Failure("a!")}, event.Done{Terminal: event.Terminal{Reason: event.Completed}})
	if got := keys(s.Items) + " / " + keys(s.Live); got != "prompt go | thought hm | reply I look | call failed a! | call done b! | ending / " {
		t.Fatal(got)
	}
	if s.Run.Busy {
		t.Error("a run that has ended is busy")
	}
}

func TestACutReplyIsKept(t *testing.T) {
	t.Parallel()
	f := fold()
	use := msg.NewToolUse("a", "Slow", json.RawMessage(`{}`))
	s := told(f, State{}, event.TurnStarted{Turn: 1}, event.Delta{Kind: event.DeltaText, Text: "half"},
		event.Done{Terminal: event.Terminal{Reason: event.AbortedStreaming}})
	if got := keys(s.Items); got != "reply half | ending" {
		t.Error(got)
	}
	s = told(f, State{}, reply("m", use), event.Done{Terminal: event.Terminal{Reason: event.AbortedTools}})
	if got := keys(s.Items); got != "call refused | ending" {
		t.Error(got)
	}
}

// An older state still reads what it read when newer ones have grown.
func TestStatesAreValues(t *testing.T) {
	t.Parallel()
	f := fold()
	var seen []State
	var want []string
	s, text := State{}, ""
	for range 200 {
		s = told(f, s, event.Delta{Kind: event.DeltaText, Text: "word "})
		text += "word "
		seen, want = append(seen, s), append(want, text)
	}
	for i, s := range seen {
		if got := s.Live[0].(Reply).Text; got != want[i] {
			t.Fatalf("state %d reads %q", i, got)
		}
	}
}

func TestReplayShowsThePast(t *testing.T) {
	t.Parallel()
	use := msg.NewToolUse("a", "Look", json.RawMessage(`{}`))
	lost := msg.NewToolUse("b", "Gone", json.RawMessage(`{}`))
	s := fold().Replay([]*msg.Message{
		{ID: "u", Role: msg.RoleUser, Blocks: []msg.Block{msg.NewText("go")}},
		{ID: "m", Role: msg.RoleAssistant, Blocks: []msg.Block{msg.NewText("so"), use, lost}},
		{ID: "r", Role: msg.RoleUser, Blocks: []msg.Block{msg.NewToolResult("a", []msg.Block{msg.NewText("found")}, msg.OK)}},
	})
	if got := keys(s.Items); got != "prompt go | reply so | call done found | call refused" {
		t.Error(got)
	}
}

// SS-2: whoever draws hears once of any number of changes, and not of nothing.
func TestStoreTellsOfDifferences(t *testing.T) {
	t.Parallel()
	s := NewStore(*fold(), State{})
	changes, end := s.Subscribe()
	s.Apply(event.Event{Body: event.Shaped{}}, time.Time{})
	select {
	case <-changes:
		t.Error("heard of an event that changes nothing")
	default:
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 100 {
				s.Apply(event.Event{Body: event.Delta{Kind: event.DeltaText, Text: "x"}}, time.Time{})
				st, _ := s.State()
				_ = keys(st.Live)
			}
		})
	}
	all.Wait()
	<-changes
	select {
	case <-changes:
		t.Error("heard twice of changes that were seen at once")
	default:
	}
	if st, seq := s.State(); len(st.Live[0].(Reply).Text) != 400 || seq != 400 {
		t.Errorf("%d changes, text %q", seq, st.Live[0].(Reply).Text)
	}
	end()
}

func BenchmarkDelta(b *testing.B) {
	f := fold()
	s := State{}
	for b.Loop() {
		s = f.Apply(s, event.Event{Body: event.Delta{Kind: event.DeltaText, Text: "ten bytes "}}, time.Time{})
	}
}
