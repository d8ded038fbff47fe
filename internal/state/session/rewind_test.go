package session

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

func TestRewind(t *testing.T) {
	r := newRig(t)
	r.prompt("one")
	r.block("r1", 0, true, msg.NewText("first"))
	two := r.prompt("two")
	r.call("r2", 0, false, "a")
	r.call("r2", 1, true, "b")
	r.result("a", "A")
	r.result("b", "B")
	r.block("r3", 0, true, msg.NewText("second"))
	r.prompt("three")
	r.block("r4", 0, true, msg.NewText("third"))
	r.ok(r.l.Close())
	before, err := os.ReadFile(r.s.Path(id1))
	r.ok(err)

	p, err := r.s.Rewind(id1, two.ID[:8], Rewinding{Version: "0.1.0", NewID: r.id})
	r.ok(err)
	if p.Text != "two" {
		t.Fatalf("went back to %+v", p)
	}
	after, err := os.ReadFile(r.s.Path(id1))
	r.ok(err)
	if string(after[:len(before)]) != string(before) {
		t.Fatal("earlier bytes changed")
	}
	c, reports := r.load()
	wantNoReports(t, reports)
	wantShape(t, c, "user: one", "assistant: first")
	if !c.Rewound || c.LastPrompt != "one" || len(c.Points) != 1 || len(c.Pending) != 0 {
		t.Fatalf("%+v", c)
	}

	l, err := r.s.Open(id1)
	r.ok(err)
	r.l = l
	r.writer(c)
	r.prompt("another two")
	r.block("r5", 0, true, msg.NewText("other"))
	c, _ = r.load()
	if got := c.Messages[2].Text(); c.Rewound || len(c.Messages) != 4 || got != "another two" {
		t.Fatalf("%v %q", shape(c.Messages), got)
	}
	if _, err := r.s.Rewind(id1, "1", Rewinding{}); !isBusy(err) {
		t.Fatalf("open session: %v", err)
	}
	r.ok(l.Close())
	if _, err := r.s.Rewind(id1, "1", Rewinding{}); err != nil {
		t.Fatal(err)
	}
	c, _ = r.load()
	if len(c.Messages) != 0 || !c.Rewound {
		t.Fatalf("%v", shape(c.Messages))
	}
	if _, err := r.s.Rewind(id1, "1", Rewinding{}); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("nothing left to undo: %v", err)
	}
}

// Messages that a compaction kept hang behind its summary; going back to the
// first of them leaves the summary alone.
func TestRewindBehindACompaction(t *testing.T) {
	r := newRig(t)
	r.prompt("one")
	r.block("r1", 0, true, msg.NewText("first"))
	kept := r.prompt("two")
	last := r.block("r2", 0, true, msg.NewText("second"))
	summary := msg.User(r.id(), r.w.now(), "sum")
	r.ok(r.w.Record(event.Compacted{Boundary: r.id(), AnchorID: summary.ID, HeadID: kept.ID, TailID: last.ID, Trigger: "manual"}))
	r.ok(r.w.User(summary))
	r.prompt("three")
	c, _ := r.load()
	p, err := c.Point(kept.ID)
	r.ok(err)
	r.ok(r.w.Rewind(p, c.before(p)))
	c, _ = r.load()
	if len(c.Messages) != 1 || c.Messages[0].Text() != "sum" {
		t.Fatalf("%v", shape(c.Messages))
	}
}

// TestPointOfMany: the beginning of several ids is no place to go back to; the
// error names the candidates.
func TestPointOfMany(t *testing.T) {
	r := newRig(t)
	one, two := r.prompt("the first\x1b[2J"), r.prompt("the second")
	c, _ := r.load()
	_, err := c.Point("0000000")
	if err == nil || strings.ContainsRune(err.Error(), 0x1b) {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{one.ID, two.ID, "the first", "the second"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: no %s in it", err, want)
		}
	}
	if p, err := c.Point(two.ID[:8]); err != nil || p.ID != two.ID {
		t.Errorf("%v, %v", p, err)
	}
}
