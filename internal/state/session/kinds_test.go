package session

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// chained are the fields of every entry that is part of the conversation.
const chained = "uuid parentUuid isSidechain timestamp sessionId cwd version gitBranch userType entrypoint"

// kinds is the schema: the fields of each kind of entry, by type and, where a
// type has several, by subtype or kind of attachment.
func kinds() map[string]string {
	return map[string]string{
		"user":                       chained + " message.role message.content promptId permissionMode",
		"assistant":                  chained + " message.role message.content message.id message.model message.usage requestId",
		"attachment instructions":    chained + " attachment.files rendered renderedRole",
		"attachment prompt_snapshot": chained + " rendered renderedRole",
		"attachment nested_memory":   chained + " rendered renderedRole",
		"system compact_boundary":    chained + " content level logicalParentUuid compactMetadata.trigger compactMetadata.preTokens compactMetadata.preservedSegment.headUuid compactMetadata.preservedSegment.anchorUuid compactMetadata.preservedSegment.tailUuid",
		"system retracted":           chained + " content level retractedUuids",
		"system quarantine":          chained + " content level withheldBlocks",
		"system tool_deferred":       chained + " content level",
		"system notice":              chained + " content level",
		"system local_command":       chained + " content level",
		"system " + cleared:          chained + " content level clearedFrom",
		"system " + rewound:          chained + " content level rewoundTo rewoundFrom",
		"file-history-snapshot":      "messageId snapshot.messageId snapshot.timestamp snapshot.trackedFileBackups isSnapshotUpdate",
		"file-history-delta":         "messageId snapshotMessageId trackingPath backup.backupFileName backup.version backup.backupTime timestamp",
		typeEdit:                     "sessionId stage edits.0.use edits.0.text edits.0.tokens timestamp",
		"prefix-break":               "sessionId reason model timestamp",
		"request-prefix":             "sessionId prefix",
		"queue-operation":            "sessionId operation timestamp",
		"last-prompt":                "sessionId lastPrompt leafUuid",
		"custom-title":               "sessionId customTitle",
		"agent-color":                "sessionId agentColor",
		"permission-mode":            "sessionId permissionMode",
		"cost-state":                 "sessionId totalCostUSD totalAPIDuration startTime modelUsage",
	}
}

// TestEveryKindOfEntry is row SE-2: a session that makes each kind; every line has
// the fields of its kind, and the file is read again without a report.
func TestEveryKindOfEntry(t *testing.T) {
	r := newRig(t)
	r.ok(r.w.Cleared("another"))
	one := r.prompt("one")
	r.ok(r.w.Snapshot([]string{"be kind"}))
	r.ok(r.w.Context(msg.User(r.id(), time.Unix(1, 0), "the instructions"), []Source{{Path: "/w/CLAUDE.md", Type: "Project"}}))
	r.ok(r.w.Checkpoint(one.ID))
	r.ok(r.w.Prefix("tools model"))
	r.ok(r.w.LastPrompt("one"))
	r.ok(r.w.Title("a name"))
	r.ok(r.w.Color("green"))
	r.ok(r.w.SetMode("plan"))
	r.ok(r.w.Queue("enqueue"))
	lost := r.block("r0", 0, true, msg.NewText("taken back"))
	r.ok(r.w.Retract([]string{lost.ID}, "the server failed"))
	r.call("r1", 0, true, "a")
	r.ok(r.w.FileBackup(FileBackup{Snapshot: one.ID, UseID: "a", Path: "a.txt", Dir: "/w", Name: "hash@v1", Version: 1, Time: time.Unix(1, 0)}))
	r.result("a", "A")
	r.ok(r.w.Attach("nested_memory", msg.User(r.id(), time.Unix(1, 0), "a rule")))
	r.ok(r.w.Record(event.Shaped{Stage: "microcompact", Edits: []event.Edit{{Use: "a", Text: "cleared", Tokens: 1}}}))
	r.ok(r.w.Record(event.Notice{Level: event.Warning, Code: "x", Text: "mind this"}))
	r.ok(r.w.Record(event.Notice{Level: event.Warning, Code: event.Quarantined, Text: "left out", Blocks: []string{"abc"}}))
	r.ok(r.w.Record(event.Notice{Level: event.Info, Code: event.Deferred, Text: "put off"}))
	r.ok(r.w.Record(event.CommandRan{ID: r.id(), At: time.Unix(1, 0), Name: "context", Output: "full"}))
	r.ok(r.w.Record(event.ModelCall{Model: "m", Break: "tools"}))
	last := r.block("r2", 0, true, msg.NewText("answer"))
	summary := msg.User(r.id(), time.Unix(1, 0), "the short of it")
	r.ok(r.w.Boundary(event.Compacted{Trigger: "auto", PreTokens: 9, Boundary: r.id(), HeadID: last.ID, AnchorID: summary.ID, TailID: last.ID, Summary: summary}))
	r.prompt("two")
	r.block("r3", 0, true, msg.NewText("the end"))
	r.ok(r.w.Cost(Cost{TotalUSD: 1, StartTime: 1, ModelUsage: []byte(`{"m":{}}`)}))
	r.ok(r.l.Close())
	c, reports := r.load()
	wantNoReports(t, reports)
	if got := shape(c.Messages); !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "the end") }) {
		t.Errorf("read again it is %q", got)
	}
	if _, err := r.s.Rewind(id1, "two", Rewinding{Version: "0.1.0", NewID: r.id}); err == nil {
		t.Error("a prompt was found by its text")
	}
	_, err := r.s.Rewind(id1, c.Points[len(c.Points)-1].ID, Rewinding{Version: "0.1.0", NewID: r.id})
	r.ok(err)
	c, reports = r.load()
	wantNoReports(t, reports)
	if !c.Rewound {
		t.Error("the rewind was not read again")
	}
	r.hold(kinds())
}

// hold checks each line against the schema, and that every kind occurs.
func (r *rig) hold(want map[string]string) {
	r.t.Helper()
	data, err := os.ReadFile(r.s.Path(id1))
	r.ok(err)
	found := map[string]bool{}
	for l := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n") {
		v := gjson.Parse(l)
		var kind strings.Builder
		kind.WriteString(v.Get("type").Str)
		for _, sub := range []string{"subtype", "attachment.type"} {
			if s := v.Get(sub).Str; s != "" {
				kind.WriteString(" " + s)
			}
		}
		fields, ok := want[kind.String()]
		if !ok {
			r.t.Errorf("no schema for %q: %.200s", kind.String(), l)
		}
		found[kind.String()] = true
		for f := range strings.FieldsSeq(fields) {
			if !v.Get(f).Exists() {
				r.t.Errorf("%s has no %s: %.300s", kind.String(), f, l)
			}
		}
	}
	for k := range want {
		if !found[k] {
			r.t.Errorf("nothing of the kind %q was written", k)
		}
	}
}
