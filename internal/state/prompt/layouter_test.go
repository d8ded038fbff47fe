package prompt

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/msg"
)

// Whatever a history is and however it grows, shrinks or changes between two
// requests, a Layouter sends what Layout would.
func TestLayouterIsLayout(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	kept, steps := 0, 0
	for range 3_000 {
		var l Layouter
		var history []*msg.Message
		model := "m"
		for range 6 {
			switch r.IntN(8) {
			case 0:
				history = slices.Clone(history[:r.IntN(len(history)+1)])
			case 1:
				model = []string{"m", "n", "m[1m]", ""}[r.IntN(4)]
			case 2:
				history = append(slices.Clone(history), nil)
			}
			history = append(history, grown(t, r)...)
			if extends := len(l.seen) > 0 && l.extended(history) && l.model == plainModel(model); extends {
				kept++
			}
			steps++
			got, want := &provider.Request{Model: model, Mark: "5m"}, &provider.Request{Model: model, Mark: "5m"}
			l.Layout(got, history)
			Layout(want, history)
			if d := cmp.Diff(wire(want.Messages), wire(got.Messages)); d != "" || !slices.Equal(got.MarkAt, want.MarkAt) {
				t.Fatalf("history %s\n%s", show2(history), d)
			}
		}
	}
	if kept < steps/4 {
		t.Errorf("only %d of %d requests went on from the one before", kept, steps)
	}
}

// grown is what may come between two requests: mostly a turn as it should be.
func grown(t testing.TB, r *rand.Rand) []*msg.Message {
	if r.IntN(3) == 0 {
		return random(t, r, r.IntN(4))
	}
	id := fmt.Sprint("t", r.IntN(1000))
	call := a(fmt.Sprint(r.IntN(1000)), text("x"), use(id))
	return []*msg.Message{call, u(res(id), text("note"))}
}

// The API must see the bytes of the last request again, and the work of a turn
// must not grow with the conversation.
func TestLayouterDoesOnlyWhatIsNew(t *testing.T) {
	history := []*msg.Message{u(text("hi"))}
	turn := func(i int) {
		id := fmt.Sprint("t", i)
		history = append(history, a(id, text("x"), use(id)), u(res(id)))
	}
	var l Layouter
	req := &provider.Request{Model: "m", Mark: "5m"}
	for i := range 2_000 {
		turn(i)
	}
	l.Layout(req, history)
	first := req.Messages
	n := len(history)
	allocs := testing.AllocsPerRun(100, func() {
		turn(n)
		n++
		l.Layout(req, history)
	})
	if allocs > 60 {
		t.Errorf("%.0f allocations for one turn after 2,000", allocs)
	}
	if len(req.Messages) != len(history) || !slices.Equal(first, req.Messages[:len(first)]) {
		t.Error("the beginning of the request has changed")
	}
	l.Layout(req, history)
	if len(req.Messages) != len(history) || req.MarkAt[1] != len(history)-1 {
		t.Errorf("the same history again: %d messages, marks %v", len(req.Messages), req.MarkAt)
	}
}

// TestUrged: where history ends with a reply the request ends with a word of
// hew, which no later request holds; the next one says so.
func TestUrged(t *testing.T) {
	var l Layouter
	at := time.Unix(1, 0)
	reply := func(id string) *msg.Message {
		return &msg.Message{ID: id, Role: msg.RoleAssistant, Blocks: []msg.Block{msg.NewText(id)}, Reply: &msg.Reply{ID: id}}
	}
	h := []*msg.Message{msg.User("a", at, "one"), reply("b")}
	lay := func() *provider.Request {
		r := &provider.Request{Model: "m"}
		l.Layout(r, h)
		return r
	}
	if r := lay(); r.Messages[len(r.Messages)-1].Text() != goOn {
		t.Fatalf("it ends with %q", r.Messages[len(r.Messages)-1].Text())
	}
	h = append(h, reply("d"), msg.User("e", at, "two"))
	if r := lay(); r.Break != "repair" {
		t.Errorf("the break is %q", r.Break)
	}
	h = append(h, reply("f"), msg.User("g", at, "three"))
	if r := lay(); r.Break != "" {
		t.Errorf("the next break is %q", r.Break)
	}
}
