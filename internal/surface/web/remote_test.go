package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/surface/view"
	"github.com/hew-agent/hew/internal/surface/web/remote"
	"github.com/hew-agent/hew/internal/tool"
)

// far is a client of a served session as hew's own surfaces use it.
func (d *stand) far(t *testing.T, id string, f remote.Follow) (*remote.Server, *remote.Session) {
	t.Helper()
	s, err := remote.Connect(t.Context(), remote.Config{URL: d.http.URL + d.s.Link(), Name: "far"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Attach(t.Context(), id, f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return s, c
}

// What a client far away draws is what the server has, to the last field.
func TestTheSameFarAway(t *testing.T) {
	t.Parallel()
	d := newStand(t, nil)
	id, k := d.person("ann").begin()
	_, c := d.far(t, id, remote.Follow{})
	use := msg.NewToolUse("u1", "Edit", json.RawMessage(`{"a":1}`))
	question := event.Question{ID: "x", Kind: event.AskPermission, Use: use, Preview: tool.TextView{Text: "?"}, Risk: "r"}
	at := d.now()
	for _, b := range []event.Body{
		event.TurnStarted{Turn: 1, Why: "start"},
		event.Message{Msg: msg.User("p1", at, "go"), Source: "prompt"},
		event.Delta{Kind: event.DeltaThinking, Text: "hm"},
		event.Delta{Kind: event.DeltaText, Text: "I "},
		event.Delta{Kind: event.DeltaText, Text: "lö\u2028ok <b>"},
		event.Message{Msg: &msg.Message{ID: "m", Role: msg.RoleAssistant, Blocks: []msg.Block{msg.NewText("I look"), use}}},
		event.ToolStarted{Use: use, Title: "edit a"},
		event.ToolProgress{UseID: "u1", Progress: tool.Progress{Text: "half"}},
		event.TaskChanged{ID: "t1", Kind: "local_agent", Status: event.TaskRunning, Summary: "s", Depth: 1, Spent: event.TaskSpent{Tokens: 5}},
		event.Notice{Level: event.Warning, Code: "c", Text: "careful"},
		event.Asked{Question: question},
	} {
		k.out.Heard(event.Event{Body: b})
	}
	k.line(asksBash)
	until(t, "the question is seen", func() bool {
		s, _ := c.Store.State()
		return len(s.Questions) == 1 && s.Questions[0].Preview != nil && s.Questions[0].Risk == "r" && s.Questions[0].ID == "q1"
	})
	d.same(t, id, c)
	k.out.Heard(event.Event{Body: event.ToolFinished{Use: use, Ran: true, Result: tool.Result{
		Content: []msg.Block{msg.NewText("done")},
		View:    tool.NestedView{Title: "n", Views: []tool.View{tool.DiffView{Path: "a", New: "x", Hunks: []tool.Hunk{{OldStart: 1, Lines: []string{"+x"}}}}, tool.TableView{Header: []string{"h"}, Rows: [][]string{{"c"}}}, tool.TerminalView{Command: "c", ExitCode: 2}, tool.ListView{Title: "l", Items: []tool.Item{{Text: "t", State: "s"}}}}},
	}}})
	k.out.Heard(event.Event{Body: event.Compacted{Trigger: "auto", Boundary: "b", PreTokens: 9, PostTokens: 3}})
	k.out.Heard(event.Event{Body: event.CommandRan{ID: "c1", Name: "cost", Output: "x", Failed: true}})
	k.out.Heard(event.Event{Body: event.Done{Terminal: event.Terminal{Reason: event.MaxTurns, Detail: "d", Signals: []event.Signal{{Kind: event.FailedCheck, Detail: "x"}}}}})
	d.same(t, id, c)
}

// same waits until a client has the items of the server.
func (d *stand) same(t *testing.T, id string, c *remote.Session) {
	t.Helper()
	m, leave, err := d.s.visit(id)
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	text := func(s view.State) string {
		var b strings.Builder
		for _, it := range append(append([]view.Item{}, s.Items...), s.Live...) {
			b.Write(view.Encode(it))
			b.WriteByte('\n')
		}
		fmt.Fprint(&b, s.Tasks, s.Todo, s.Run.Busy)
		return b.String()
	}
	want, _ := m.store.State()
	var got view.State
	until(t, "the client has what the server has", func() bool { got, _ = c.Store.State(); return text(got) == text(want) })
	for i, it := range append(append([]view.Item{}, got.Items...), got.Live...) {
		if all := append(append([]view.Item{}, want.Items...), want.Live...); reflect.TypeOf(it) != reflect.TypeOf(all[i]) {
			t.Errorf("item %d is a %T, want a %T", i, it, all[i])
		}
	}
}

// A connection that breaks loses nothing and says nothing twice.
func TestFarAwayThroughBrokenConnections(t *testing.T) {
	t.Parallel()
	d := newStand(t, nil)
	id, k := d.person("ann").begin()
	var mu sync.Mutex
	var seen []int64
	_, c := d.far(t, id, remote.Follow{Lines: func(l json.RawMessage) {
		if n := gjson.GetBytes(l, "n"); n.Exists() {
			mu.Lock()
			seen = append(seen, n.Int())
			mu.Unlock()
		}
	}})
	const lines = 200
	for i := range lines {
		k.line(fmt.Sprintf(`{"type":"stream_event","n":%d}`, i))
		if i%50 == 20 {
			d.http.CloseClientConnections()
			c.Prompt(t.Context(), msg.User(fmt.Sprint("p", i), time.Time{}, "word"))
		}
	}
	until(t, "all lines come", func() bool { mu.Lock(); defer mu.Unlock(); return len(seen) >= lines })
	mu.Lock()
	defer mu.Unlock()
	for i, n := range seen {
		if n != int64(i) {
			t.Fatalf("line %d is %d", i, n)
		}
	}
	until(t, "all prompts come", func() bool { return len(k.lines()) >= 4 })
	if got := k.lines(); len(got) != 4 {
		t.Errorf("the conversation heard %d prompts: %v", len(got), got)
	}
}

func TestFarAwayAnswersAndRequests(t *testing.T) {
	t.Parallel()
	d := newStand(t, nil)
	id, k := d.person("ann").begin()
	trouble := make(chan *remote.Fault, 4)
	s, c := d.far(t, id, remote.Follow{Trouble: func(f *remote.Fault) { trouble <- f }})
	k.line(asksBash)
	until(t, "the question comes", func() bool { return len(c.Asked()) == 1 })
	c.Answer(t.Context(), "q1", event.Answer{Behavior: tool.Deny, Message: "no", Interrupt: true})
	until(t, "the answer is heard", func() bool { return len(k.lines()) == 1 })
	r := gjson.Get(k.lines()[0], "response.response")
	if r.Get("behavior").Str != "deny" || r.Get("message").Str != "no" || !r.Get("interrupt").Bool() {
		t.Error(r.Raw)
	}
	until(t, "the question is closed", func() bool { return len(c.Asked()) == 0 })
	c.Answer(t.Context(), "q1", event.Answer{Behavior: tool.Allow})
	if f := <-trouble; f.Code != "answered" {
		t.Error(f)
	}
	if got, err := c.Control(t.Context(), map[string]any{"subtype": "one"}); err != nil || gjson.GetBytes(got, "did").Str != "one" {
		t.Error(string(got), err)
	}
	var f *remote.Fault
	if _, err := c.Control(t.Context(), map[string]any{"subtype": "mcp_message"}); !errors.As(err, &f) || f.Code != "forbidden" {
		t.Error(err)
	}
	if list, err := s.Sessions(t.Context(), ""); err != nil || len(list) != 1 || list[0].ID != id {
		t.Error(list, err)
	}
	if _, err := s.Attach(t.Context(), "11111111-1111-4111-8111-111111111111", remote.Follow{}); err == nil {
		t.Error("a session that does not exist is followed")
	}
	if _, err := remote.Connect(context.Background(), remote.Config{URL: d.http.URL, Password: "guess"}); !errors.As(err, &f) || f.Code != "bad_login" {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
