package session

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// A process that is killed while it writes a compaction leaves the history
// before it in force, or the compaction whole; and what a second compaction
// keeps may have been kept by the first.
func TestKilledWhileCompacting(t *testing.T) {
	r := newRig(t)
	r.ok(r.w.Snapshot([]string{"sys"}))
	r.prompt("old")
	kept := r.block("r1", 0, true, msg.NewText("kept"))
	ctx := &msg.Message{ID: r.id(), Role: msg.RoleUser, Meta: true, Blocks: []msg.Block{msg.NewText("ctx")}}
	compact := func(text string) {
		sum := msg.User(r.id(), time.Time{}, text)
		r.ok(r.w.Record(event.Compacted{Trigger: "auto", Boundary: r.id(), HeadID: kept.ID, TailID: kept.ID, AnchorID: sum.ID, Summary: sum, Context: ctx}))
	}
	before, err := os.ReadFile(r.s.Path(id1))
	if err != nil {
		t.Fatal(err)
	}
	compact("first")
	whole, err := os.ReadFile(r.s.Path(id1))
	if err != nil || !bytes.HasPrefix(whole, before) {
		t.Fatal("the transcript did not only grow", err)
	}
	for cut := len(before); cut <= len(whole); cut += 7 {
		c, _ := loadText(t, string(whole[:cut]))
		last := c.Messages[len(c.Messages)-1]
		if last.Text() != "kept" && last.Text() != "first" {
			t.Fatalf("cut at %d: the conversation ends with %q", cut, last.Text())
		}
		if last.Text() == "kept" && len(c.Messages) < 2 {
			t.Fatalf("cut at %d: %d messages", cut, len(c.Messages))
		}
	}
	compact("second")
	c, reports := r.load()
	wantNoReports(t, reports)
	wantShape(t, c, "user: ctx", "user: second", "assistant: kept")
	if c.Reshaped != "compaction" || len(c.Boundaries) != 2 || c.System[0] != "sys" || c.Used != 0 {
		t.Errorf("%+v", c)
	}
}
