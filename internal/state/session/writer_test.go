package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// rig writes a session with counted ids and a clock that stands.
type rig struct {
	t *testing.T
	s Store
	l *Log
	w *Writer
	n int
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, s: testStore(t)}
	r.l = mustCreate(t, r.s, id1)
	r.writer(nil)
	return r
}

func (r *rig) writer(from *Conversation) {
	r.w = NewWriter(WriterConfig{
		Log: r.l, From: from, Mode: "default",
		Stamp: Stamp{Session: id1, Cwd: "/w", Version: "v0.1.0", Branch: "main", Entrypoint: "sdk-cli"},
		Now:   func() time.Time { return time.Unix(1_700_000_000, 123e6) },
		NewID: r.id,
	})
}

func (r *rig) id() string {
	r.n++
	return fmt.Sprintf("%08d-0000-4000-8000-000000000000", r.n)
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) prompt(text string) *msg.Message {
	r.t.Helper()
	m := msg.User(r.id(), time.Unix(1, 0), text)
	r.ok(r.w.Prompt(m, Prompt{Source: "typed"}))
	return m
}

// reply writes the blocks of one reply as the loop does: one message a block.
func (r *rig) block(reply string, i int, last bool, b msg.Block) *msg.Message {
	r.t.Helper()
	rep := &msg.Reply{
		ID: reply, RequestID: "req_" + reply, Model: "m-1", Requested: "m", Block: i,
		Usage: msg.Usage{InputTokens: 10, OutputTokens: 1, CacheReadInputTokens: 5},
	}
	if last {
		rep.Final, rep.StopReason, rep.Usage.OutputTokens = true, "end_turn", 77
	}
	m := &msg.Message{ID: r.id(), Role: msg.RoleAssistant, Blocks: []msg.Block{b}, Reply: rep}
	r.ok(r.w.Record(event.Message{Msg: m}))
	return m
}

func (r *rig) call(reply string, i int, last bool, use string) *msg.Message {
	r.t.Helper()
	return r.block(reply, i, last, msg.NewToolUse(use, "Read", json.RawMessage(`{"file_path":"/a"}`)))
}

func (r *rig) result(use, text string) *msg.Message {
	r.t.Helper()
	m := &msg.Message{ID: r.id(), Role: msg.RoleUser, Blocks: []msg.Block{msg.NewToolResult(use, []msg.Block{msg.NewText(text)}, msg.OK)}}
	r.ok(r.w.Record(event.ToolFinished{Use: msg.NewToolUse(use, "Read", json.RawMessage(`{}`)), Msg: m, Result: tool.Result{Data: json.RawMessage(`{"d":1}`)}}))
	return m
}

func (r *rig) lines() []gjson.Result {
	r.t.Helper()
	raw, err := os.ReadFile(r.s.Path(id1))
	if err != nil {
		r.t.Fatal(err)
	}
	var out []gjson.Result
	for line := range strings.Lines(string(raw)) {
		if !gjson.Valid(line) {
			r.t.Fatalf("not JSON: %s", line)
		}
		out = append(out, gjson.Parse(line))
	}
	return out
}

func (r *rig) load() (*Conversation, []Report) {
	r.t.Helper()
	c, reports, err := Load(r.s.Path(id1))
	if err != nil {
		r.t.Fatal(err)
	}
	return c, reports
}

// shape prints messages as "role: block, block" lines.
func shape(ms []*msg.Message) []string {
	var out []string
	for _, m := range ms {
		var parts []string
		for _, b := range m.Blocks {
			switch b := b.(type) {
			case *msg.Text:
				parts = append(parts, b.Text)
			case *msg.ToolUse:
				parts = append(parts, "call "+b.ID)
			case *msg.ToolResult:
				parts = append(parts, "result "+b.ToolUseID)
			case *msg.Thinking:
				parts = append(parts, "thinking")
			case *msg.Image, *msg.Document, *msg.Opaque:
				parts = append(parts, string(b.JSON()))
			}
		}
		out = append(out, string(m.Role)+": "+strings.Join(parts, ", "))
	}
	return out
}

func wantShape(t *testing.T, c *Conversation, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, shape(c.Messages)); d != "" {
		t.Errorf("messages (-want +got):\n%s", d)
	}
}

func wantNoReports(t *testing.T, reports []Report) {
	t.Helper()
	if len(reports) > 0 {
		t.Errorf("reports: %v", reports)
	}
}

func TestChainOfParallelCalls(t *testing.T) {
	r := newRig(t)
	p := r.prompt("go")
	text := r.block("r1", 0, false, msg.NewText("look"))
	c1 := r.call("r1", 1, false, "a")
	c2 := r.call("r1", 2, true, "b")
	r1, r2 := r.result("a", "A"), r.result("b", "B")
	end := r.block("r2", 0, true, msg.NewText("done"))

	parents := map[string]string{p.ID: "", text.ID: p.ID, c1.ID: text.ID, c2.ID: c1.ID, r1.ID: c1.ID, r2.ID: c2.ID, end.ID: r2.ID}
	for _, e := range r.lines() {
		if got := e.Get("parentUuid").String(); got != parents[e.Get("uuid").Str] {
			t.Errorf("parent of %s = %s", e.Get("uuid"), got)
		}
	}
	for _, e := range r.lines()[4:6] {
		if e.Get("sourceToolAssistantUUID").Str != e.Get("parentUuid").Str || e.Get("toolUseResult.d").Int() != 1 {
			t.Errorf("result entry %s", e)
		}
	}
	c, reports := r.load()
	wantNoReports(t, reports)
	wantShape(t, c, "user: go", "assistant: look, call a, call b", "user: result a, result b", "assistant: done")
	if c.Model != "m" || c.Leaf != end.ID || c.ID != id1 || c.Cwd != "/w" || c.Mode != "default" || len(c.Pending) != 0 {
		t.Errorf("%+v", c)
	}
	reply := c.Messages[1].Reply
	if c.Messages[1].ID != text.ID || reply.ID != "r1" || reply.RequestID != "req_r1" || !reply.Final || reply.Usage.OutputTokens != 77 {
		t.Errorf("%+v", reply)
	}
}

func TestResultsOutOfOrderAndEarly(t *testing.T) {
	r := newRig(t)
	r.prompt("go")
	c1 := r.call("r1", 0, false, "a")
	r.result("a", "early") // before the second call is complete
	c2 := r.call("r1", 1, false, "b")
	c3 := r.call("r1", 2, true, "c")
	last := r.result("c", "C")
	r.result("b", "B")
	end := r.block("r2", 0, true, msg.NewText("done"))
	for _, e := range r.lines() {
		want := map[string]string{c2.ID: c1.ID, c3.ID: c2.ID, end.ID: last.ID}[e.Get("uuid").Str]
		if want != "" && e.Get("parentUuid").Str != want {
			t.Errorf("parent of %s = %s", e.Get("uuid"), e.Get("parentUuid"))
		}
	}
	c, _ := r.load()
	wantShape(t, c, "user: go", "assistant: call a, call b, call c", "user: result a, result b, result c", "assistant: done")
}

func TestEveryLineHasTheFieldsThatReadersNeed(t *testing.T) {
	r := newRig(t)
	r.ok(r.w.Queue("enqueue"))
	r.prompt("a listing prompt")
	r.ok(r.w.Record(event.Decided{Use: msg.NewToolUse("a", "Read", json.RawMessage(`{}`)), Decision: tool.Decision{Behavior: tool.Allow, Layer: "rule"}}))
	r.call("r1", 0, false, "a")
	r.block("r1", 1, true, msg.NewText("x"))
	r.result("a", "A")
	counted := 0
	for _, e := range r.lines()[1:] {
		for _, k := range []string{"uuid", "parentUuid", "timestamp", "sessionId", "cwd", "version", "isSidechain", "userType", "message", "gitBranch", "entrypoint"} {
			if !e.Get(k).Exists() {
				t.Errorf("lacks %s: %s", k, e)
			}
		}
		if e.Get("timestamp").Str[len("2006-01-02T15:04:05.000"):] != "Z" || e.Get("version").Str != "0.1.0" || e.Get("isSidechain").Raw != "false" {
			t.Error(e)
		}
		if e.Get("type").Str == "assistant" {
			m := e.Get("message")
			if m.Get("usage.input_tokens").Int() != 10 || m.Get("id").Str != "r1" || e.Get("requestId").Str != "req_r1" || m.Get("model").Str != "m-1" || e.Get("requestedModel").Str != "m" {
				t.Error(e)
			}
			if out := m.Get("usage.output_tokens"); out.Exists() {
				counted++
				if out.Int() != 77 || m.Get("stop_reason").Str != "end_turn" {
					t.Error(e)
				}
			} else if m.Get("stop_reason").Raw != "null" {
				t.Error(e)
			}
		}
	}
	if counted != 1 {
		t.Errorf("%d lines of one reply count for usage readers", counted)
	}
	res := r.lines()[4]
	if res.Get("permissionDecision.decision").Str != "allow" || res.Get("permissionDecision.source").Str != "rule" || res.Get("promptId").Str == "" {
		t.Error(res)
	}
	if got := r.lines()[1].Get("message.content"); got.Type != gjson.String {
		t.Errorf("a plain prompt is stored as %s", got.Raw)
	}
}

func TestBlocksSurviveByteForByte(t *testing.T) {
	r := newRig(t)
	raws := []string{
		`{"type":"text","text":"a<b>&\u00e9","citations":[{"x":1.0}]}`,
		`{"type":"thinking","thinking":"hm","signature":"c2ln","extra":12345678901234567890}`,
		`{"type":"tool_use","id":"t1","name":"Read","input":{"b":1.0, "a" : "\u00e9"},"caller":{"type":"direct"}}`,
		`{"type":"kind_of_tomorrow","deep":{"a":[1,2,{"z":null}]}}`,
	}
	r.prompt("line\u2028separator \x00 \xff end")
	var blocks []msg.Block
	for _, raw := range raws {
		b, err := msg.DecodeBlock(json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, b)
	}
	r.ok(r.w.Reply(&msg.Message{ID: r.id(), Role: msg.RoleAssistant, Blocks: blocks, Reply: &msg.Reply{ID: "r", RequestID: "q", Final: true, StopReason: "tool_use"}}))
	c, reports := r.load()
	wantNoReports(t, reports)
	if want := msg.NewText("line\u2028separator \x00 \xff end").JSON(); string(c.Messages[0].Blocks[0].JSON()) != string(want) {
		t.Errorf("prompt %s, want %s", c.Messages[0].Blocks[0].JSON(), want)
	}
	for i, raw := range raws {
		if got := string(c.Messages[1].Blocks[i].JSON()); got != raw {
			t.Errorf("got  %s\nwant %s", got, raw)
		}
	}
	if c.Messages[1].Reply.StopReason != "tool_use" {
		t.Error("stop reason of the last block is lost")
	}
}

func TestRawNewlinesBecomeSpaces(t *testing.T) {
	r := newRig(t)
	r.block("r", 0, true, msg.NewToolUse("a", "X", json.RawMessage("{}")))
	b, err := msg.DecodeBlock(json.RawMessage("{\"type\":\"odd\",\r\n \"a\":\n1}"))
	if err != nil {
		t.Fatal(err)
	}
	r.block("s", 0, true, b)
	if n := len(r.lines()); n != 2 {
		t.Fatalf("%d lines", n)
	}
}

func TestRetractedRepliesAreOffTheChain(t *testing.T) {
	r := newRig(t)
	p := r.prompt("go")
	a := r.block("r1", 0, false, msg.NewText("first try"))
	b := r.call("r1", 1, false, "a")
	r.result("a", "A")
	r.ok(r.w.Record(event.Retracted{IDs: []string{a.ID, b.ID}, Reason: "fallback"}))
	c, reports := r.load()
	wantNoReports(t, reports)
	wantShape(t, c, "user: go")
	r.block("r2", 0, true, msg.NewText("second try"))
	c, _ = r.load()
	wantShape(t, c, "user: go", "assistant: second try")
	sys := r.lines()[4]
	if sys.Get("type").Str != "system" || sys.Get("parentUuid").Str != p.ID || sys.Get("retractedUuids.#").Int() != 2 {
		t.Error(sys)
	}
}

func TestUserMessageWithResultsIsNotWrittenTwice(t *testing.T) {
	r := newRig(t)
	r.prompt("go")
	r.call("r1", 0, false, "a")
	r.call("r1", 1, true, "b")
	ra := r.result("a", "A")
	rb := msg.NewToolResult("b", nil, msg.Failed)
	r.ok(r.w.Record(event.Message{Msg: &msg.Message{ID: r.id(), Role: msg.RoleUser, Blocks: []msg.Block{ra.Blocks[0], rb, msg.NewText("note")}}}))
	c, _ := r.load()
	wantShape(t, c, "user: go", "assistant: call a, call b", "user: result a, result b", "user: note")
	if got := r.lines()[4].Get("toolUseResult").Str; got != "Error: " {
		t.Errorf("toolUseResult %q", got)
	}
}

func TestContextSnapshotAndSideEntries(t *testing.T) {
	r := newRig(t)
	r.ok(r.w.Snapshot([]string{"sys 1", "sys 2"}))
	r.prompt("hello")
	m := msg.User(r.id(), time.Unix(1, 0), "<system-reminder>\nctx & <b>\n</system-reminder>")
	m.Meta = true
	r.ok(r.w.Context(m, []Source{{Path: "/w/CLAUDE.md", Type: "Project"}}))
	r.ok(r.w.PrefixBreak("compaction", "m"))
	r.ok(r.w.Record(event.ModelCall{Break: "model"}))
	r.ok(r.w.Record(event.Notice{Level: event.Warning, Code: "x", Text: "careful"}))
	r.ok(r.w.SetMode("acceptEdits"))
	r.ok(r.w.Title("old"))
	r.ok(r.w.Title("My title"))
	r.ok(r.w.LastPrompt("hello"))
	r.ok(r.w.Cost(Cost{TotalUSD: 0.5, StartTime: 7, ModelUsage: json.RawMessage(`{"m":{"inputTokens":1}}`)}))
	c, reports := r.load()
	wantNoReports(t, reports)
	wantShape(t, c, "user: "+m.Text(), "user: hello")
	if c.Context == nil || c.Context.ID != m.ID || !c.Context.Meta || string(c.Context.JSON()) != string(m.JSON()) {
		t.Errorf("context %+v", c.Context)
	}
	if d := cmp.Diff([]string{"sys 1", "sys 2"}, c.System); d != "" {
		t.Error(d)
	}
	if c.Title != "My title" || c.LastPrompt != "hello" || c.Mode != "acceptEdits" || !c.Cost.Known || c.Cost.TotalUSD != 0.5 || string(c.Cost.ModelUsage) == "" {
		t.Errorf("%+v", c)
	}
}

func TestAFailedAppendLeavesTheChain(t *testing.T) {
	r := newRig(t)
	p := r.prompt("go")
	good := r.l.disk
	r.l.disk = &fullDisk{File: r.l.f, room: 20}
	m := &msg.Message{ID: r.id(), Role: msg.RoleAssistant, Blocks: []msg.Block{msg.NewText("x")}, Reply: &msg.Reply{ID: "r"}}
	if err := r.w.Reply(m); err == nil || r.w.Leaf() != p.ID {
		t.Fatalf("err %v, leaf %s", err, r.w.Leaf())
	}
	r.l.disk = good
	r.ok(r.w.Reply(m))
	c, reports := r.load()
	wantNoReports(t, reports)
	wantShape(t, c, "user: go", "assistant: x")
}

func TestSemver(t *testing.T) {
	for in, want := range map[string]string{"v1.2.3": "1.2.3", "1.2.3-rc1": "1.2.3-rc1", "": "0.0.0", "unknown": "0.0.0-unknown", "1.2": "0.0.0-1.2", "a1b2": "0.0.0-a1b2"} {
		if got := semver(in); got != want {
			t.Errorf("semver(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNilLogWriterWorks(t *testing.T) {
	w := NewWriter(WriterConfig{})
	m := msg.User("", time.Time{}, "x")
	if err := errors.Join(w.Prompt(m, Prompt{}), w.Title("t"), w.Record(event.Done{})); err != nil || w.Leaf() == "" {
		t.Fatal(err)
	}
}
