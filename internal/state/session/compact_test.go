package session

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// What stands behind a compaction and was never sent (words of hew about a
// failed request, a line of another hand) does not hide that the next request
// cannot extend the last one; a reply that an API sent shows that it was taken.
func TestOnlyAReplyEndsACompaction(t *testing.T) {
	boundary := `{"parentUuid":null,"type":"system","subtype":"compact_boundary","uuid":"b","compactMetadata":{"trigger":"auto"}}` + "\n" + user("s", "b", "summary") + "\n" + user("p", "s", "go on") + "\n"
	for usage, want := range map[string]string{
		``: "compaction", `,"usage":{"input_tokens":0,"output_tokens":0}`: "compaction", `,"usage":{"input_tokens":7,"output_tokens":1}`: "",
	} {
		c, _ := loadText(t, boundary+`{"parentUuid":"p","type":"assistant","uuid":"a","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"x"}]`+usage+"}}\n")
		if c.Reshaped != want {
			t.Errorf("%s: %q, want %q", usage, c.Reshaped, want)
		}
	}
}

// A file of forged boundaries, each of which keeps the whole conversation, took
// minutes: the time must not grow with their number times the lines.
func TestForgedBoundariesAreBounded(t *testing.T) {
	const n = 4000
	id := func(i int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", i) }
	var b strings.Builder
	for i := range n {
		parent := "null"
		if i > 0 {
			parent = `"` + id(i-1) + `"`
		}
		fmt.Fprintf(&b, `{"parentUuid":%s,"type":"user","uuid":%q,"message":{"role":"user","content":"q"}}`+"\n", parent, id(i))
	}
	for i := n; i < 2*n; i++ {
		fmt.Fprintf(&b, `{"parentUuid":%q,"type":"system","subtype":"compact_boundary","uuid":%q,"compactMetadata":{"preservedSegment":{"headUuid":%q,"anchorUuid":%q,"tailUuid":%q}}}`+"\n",
			id(i-1), id(i), id(0), id(n-1), id(n-2))
	}
	path := filepath.Join(t.TempDir(), id(0)+".jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := openTranscript(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	l, _, err := loadFrom(f, window{})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := l.newTree()
	if err != nil {
		t.Fatal(err)
	}
	relinked := 0
	for _, r := range l.recs[tree.settled():] {
		if r.subtype == boundarySubtype && !tree.gone[l.byID[r.uuid]] {
			relinked++
		}
	}
	if relinked != maxRelinked {
		t.Errorf("%d boundaries are relinked, want %d", relinked, maxRelinked)
	}
}
