package prompt

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/msg"
)

func TestLayoutMarks(t *testing.T) {
	turns := []*msg.Message{u(text("ctx")), u(text("hi")), a("1", use("p")), u(res("p")), a("2", use("q")), u(res("q")), u(text("steer"))}
	for n, want := range map[int][]int{1: {0}, 2: {1}, 4: {1, 3}, 6: {3, 5}, 7: {3, 6}} {
		r := &provider.Request{Model: "m", Mark: "5m"}
		if notes := Layout(r, turns[:n]); notes != nil {
			t.Error(notes)
		}
		if d := cmp.Diff(want, r.MarkAt); d != "" {
			t.Errorf("%d messages: %s", n, d)
		}
		if len(r.Messages) != n || r.Messages[0] != turns[0] {
			t.Errorf("%d messages became %d", n, len(r.Messages))
		}
	}
	r := &provider.Request{Model: "m"}
	Layout(r, turns)
	if r.MarkAt != nil {
		t.Error("marks without being asked")
	}
	Layout(r, nil)
	if len(r.Messages) != 1 {
		t.Error("an empty history gives no valid request")
	}
}
