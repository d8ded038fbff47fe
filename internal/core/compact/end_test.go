package compact

import (
	"context"
	"errors"
	"testing"

	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// A boundary that cannot be written (a full disk cancels the run) leaves history
// as it was.
func TestFullDiskLeavesHistory(t *testing.T) {
	r := newRig(t, 8_000)
	r.c.On.Micro = false
	r.say("task")
	for tokens(r.history) < 7_500 {
		r.reply(msg.NewText(words1000(10)))
		r.say("more")
	}
	full := errors.New("no space left on device")
	ctx, cancel := context.WithCancelCause(context.Background())
	w, err := New(r.c).Shape(ctx, loop.Window{Messages: r.history, Model: "m"}, loop.Routine{}, func(b event.Body) {
		if _, ok := b.(event.Compacted); ok {
			cancel(full)
		}
	})
	if !errors.Is(err, full) || w.Break != "" || len(w.Messages) != len(r.history) {
		t.Fatalf("%v, break %q, %d messages", err, w.Break, len(w.Messages))
	}
}

// A window that is full again after each compaction ends the run, and the next
// run may try again.
func TestRapidRefill(t *testing.T) {
	r := newRig(t, 8_000)
	r.c.On.Micro = false
	p := New(r.c)
	r.say("task")
	var halt *loop.Halt
	rounds := 0
	for ; rounds < 20 && halt == nil; rounds++ {
		r.reply(msg.NewText(words1000(1_600)))
		r.say("more")
		_, err := r.shape(p, loop.Routine{}, loop.Window{})
		if err != nil && !errors.As(err, &halt) {
			t.Fatal(err)
		}
	}
	if halt == nil || halt.Reason != event.RapidRefillBreaker {
		t.Fatalf("no end after %d rounds: %v", rounds, halt)
	}
	if out, err := r.shape(p, loop.Routine{}, loop.Window{}); err != nil || out.Break != StageAuto {
		t.Errorf("the next run: %v %q", err, out.Break)
	}
}

// What fills the window by itself is named.
func TestFixedPartTooLarge(t *testing.T) {
	r := newRig(t, 8_000)
	r.c.Overhead = func() int { return 7_900 }
	r.say("task")
	r.reply(msg.NewText("x"))
	r.say("more")
	_, err := r.shape(New(r.c), loop.Routine{}, loop.Window{})
	var halt *loop.Halt
	if !errors.As(err, &halt) {
		t.Fatal(err)
	}
}
