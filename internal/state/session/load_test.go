package session

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// e writes one entry in the short form of the tests: user and assistant
// entries hold text, unless more is given.
func user(uuid, parent, text string) string {
	return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":"user","message":{"role":"user","content":%q},"uuid":%q,"timestamp":"2026-01-02T03:04:05.678Z","sessionId":"s"}`, orNull(parent), text, uuid)
}

func assistant(uuid, parent, reply, block string) string {
	return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":"assistant","message":{"model":"m","id":%q,"role":"assistant","content":[%s],"stop_reason":null,"usage":{"input_tokens":1}},"requestId":"q","uuid":%q,"timestamp":"2026-01-02T03:04:05.678Z","sessionId":"s"}`, orNull(parent), reply, block, uuid)
}

func result(uuid, parent, source, use string) string {
	src := ""
	if source != "" {
		src = fmt.Sprintf(`"sourceToolAssistantUUID":%q,`, source)
	}
	return fmt.Sprintf(`{"parentUuid":%s,%s"isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":%q,"type":"tool_result","content":"ok"}]},"uuid":%q,"sessionId":"s"}`, orNull(parent), src, use, uuid)
}

func textBlock(s string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }

func useBlock(id string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"T","input":{}}`, id)
}

func orNull(s string) string {
	if s == "" {
		return "null"
	}
	return `"` + s + `"`
}

func loadText(t *testing.T, text string) (*Conversation, []Report) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, reports, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return c, reports
}

func TestLoadSurvives(t *testing.T) {
	ok := []string{user("u1", "", "one"), assistant("a1", "u1", "r1", textBlock("two")), user("u2", "a1", "three")}
	whole := []string{"user: one", "assistant: two", "user: three"}
	big := strings.Repeat("x", 3<<20)
	for name, c := range map[string]struct {
		lines []string
		tail  string
		want  []string
		// reports are pieces of the expected reports, in order.
		reports []string
	}{
		"clean":           {lines: ok, want: whole},
		"empty":           {want: nil},
		"torn last line":  {lines: ok, tail: `{"type":"assistant","uuid":"x","mess`, want: whole, reports: []string{"line 4: skipped: the last line is torn"}},
		"no last newline": {lines: ok[:2], tail: ok[2], want: whole},
		"torn and closed": {lines: []string{ok[0], ok[1], `{"type":"ass`, "", ok[2]}, want: whole, reports: []string{"line 3: skipped: not a JSON"}},
		"foreign first":   {lines: append([]string{"#!/bin/sh", `["list"]`, `{"type":"summary","summary":"x"}`}, ok...), want: whole, reports: []string{"line 1", "line 2"}},
		"crlf and bom":    {lines: []string{"\ufeff" + ok[0] + "\r", ok[1] + "\r", ok[2] + "\r"}, want: whole},
		"utf-16":          {lines: []string{"\xff\xfe{\x00\"\x00", ok[0]}, want: whole[:1], reports: []string{"line 1"}},
		"zeros":           {lines: []string{ok[0], strings.Repeat("\x00", 100), ok[1], ok[2]}, want: whole, reports: []string{"line 2"}},
		"unknown types":   {lines: []string{ok[0], `{"type":"progress","uuid":"p1","parentUuid":"u1","isSidechain":false}`, assistant("a1", "p1", "r1", textBlock("two")), `{"type":"of-tomorrow"}`, ok[2]}, want: whole},
		"sidechain":       {lines: append(slices.Clone(ok), strings.Replace(user("s1", "", "side"), `"isSidechain":false`, `"isSidechain":true`, 1)), want: whole},
		"duplicate uuid":  {lines: []string{ok[0], user("u1", "", "other"), ok[1], ok[2]}, want: whole, reports: []string{"line 2: skipped: same uuid as line 1"}},
		"two roots":       {lines: append([]string{user("r0", "", "before")}, ok...), want: whole},
		"circle":          {lines: []string{user("u1", "u2", "one"), assistant("a1", "u1", "r1", textBlock("two")), user("u2", "a1", "three")}, want: whole, reports: []string{"circle"}},
		"own parent":      {lines: []string{user("u0", "", "zero"), user("u1", "u1", "one")}, want: []string{"user: zero", "user: one"}, reports: []string{"circle"}},
		"lost parent":     {lines: []string{ok[0], ok[1], user("u2", "gone", "three")}, want: whole, reports: []string{"its parent is not in the file; continued with line 2"}},
		"parent damaged":  {lines: []string{ok[0], `{"type":"assistant",,}`, ok[2]}, want: []string{"user: one", "user: three"}, reports: []string{"line 2", "its parent is not in the file"}},
		"invalid inside":  {lines: []string{ok[0], assistant("a1", "u1", "r1", `{"type":"text","text":[1,,2]}`), ok[2]}, want: []string{"user: one", "user: three"}, reports: []string{"line 2: left out: it is not valid JSON"}},
		"block no object": {lines: []string{ok[0], assistant("a1", "u1", "r1", `7,{"type":"text","text":"two"}`), ok[2]}, want: whole, reports: []string{"left out 1 elements of its content"}},
		"3 MB line":       {lines: []string{user("u0", "", big)}, want: []string{"user: " + big}},
		"no uuid":         {lines: append([]string{`{"type":"user","message":{"role":"user","content":"x"}}`}, ok...), want: whole, reports: []string{"line 1: skipped: user entry without uuid"}},
		"rewound": {
			lines: append(slices.Clone(ok), assistant("a2", "u2", "r2", textBlock("old branch")), user("u3", "a1", "other way")),
			want:  []string{"user: one", "assistant: two", "user: other way"},
		},
		"scalars": {lines: []string{`{"type":1,"uuid":{},"parentUuid":[1],"isSidechain":"x"}`, ok[0]}, want: whole[:1]},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Join(c.lines, "\n")
			if len(c.lines) > 0 {
				text += "\n"
			}
			got, reports := loadText(t, text+c.tail)
			if d := cmp.Diff(c.want, shape(got.Messages)); d != "" {
				t.Errorf("messages (-want +got):\n%s", d)
			}
			if len(reports) != len(c.reports) {
				t.Fatalf("reports %v, want %v", reports, c.reports)
			}
			for i, r := range reports {
				if !strings.Contains(r.String(), c.reports[i]) {
					t.Errorf("report %q, want %q", r, c.reports[i])
				}
			}
		})
	}
}

// TestLoadOfOtherWriters holds the trees that other programs write.
func TestLoadOfOtherWriters(t *testing.T) {
	u1, c1 := user("u1", "", "go"), assistant("c1", "u1", "r1", useBlock("a"))
	c2 := assistant("c2", "c1", "r1", useBlock("b"))
	end := func(parent string) string { return assistant("e", parent, "r2", textBlock("end")) }
	full := []string{"user: go", "assistant: call a, call b", "user: result a, result b", "assistant: end"}
	for name, c := range map[string]struct {
		lines []string
		want  []string
		leaf  string
	}{
		"parallel calls":             {[]string{u1, c1, c2, result("x1", "c1", "c1", "a"), result("x2", "c2", "c2", "b"), end("x2")}, full, "e"},
		"reply on the first result":  {[]string{u1, c1, c2, result("x2", "c2", "c2", "b"), result("x1", "c1", "c1", "a"), end("x1")}, full, "e"},
		"fork of the SDK, no source": {[]string{u1, c1, c2, result("x1", "c1", "", "a"), result("x2", "c2", "", "b"), end("x2")}, full, "e"},
		"results in a row":           {[]string{u1, c1, c2, result("x1", "c2", "c1", "a"), result("x2", "x1", "c2", "b"), end("x2")}, full, "e"},
		"call on a result":           {[]string{u1, c1, result("x1", "c1", "c1", "a"), assistant("c2", "x1", "r1", useBlock("b")), result("x2", "c2", "c2", "b"), end("x2")}, full, "e"},
		"killed between results":     {[]string{u1, c1, c2, result("x1", "c1", "c1", "a")}, []string{"user: go", "assistant: call a, call b", "user: result a"}, "c2"},
		"killed after the last result": {
			[]string{u1, c1, c2, result("x2", "c2", "c2", "b")},
			[]string{"user: go", "assistant: call a, call b", "user: result b"},
			"x2",
		},
		"rewound into a reply": {
			[]string{u1, c1, c2, result("x1", "c1", "c1", "a"), result("x2", "c2", "c2", "b"), user("u2", "c1", "stop")},
			[]string{"user: go", "assistant: call a", "user: result a", "user: stop"},
			"u2",
		},
		"one user entry for all": {[]string{u1, c1, c2, `{"type":"user","uuid":"x","parentUuid":"c2","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},{"type":"tool_result","tool_use_id":"b"}]}}`, end("x")}, full, "e"},
	} {
		t.Run(name, func(t *testing.T) {
			got, reports := loadText(t, strings.Join(c.lines, "\n")+"\n")
			wantNoReports(t, reports)
			wantShape(t, got, c.want...)
			if got.Leaf != c.leaf {
				t.Errorf("leaf %s, want %s", got.Leaf, c.leaf)
			}
		})
	}
}

func TestForeignAttachments(t *testing.T) {
	att := func(uuid, parent, kind, text string) string {
		return fmt.Sprintf(`{"type":"attachment","uuid":%q,"parentUuid":%q,"attachment":{"type":%q},"rendered":[{"content":%q}],"renderedRole":"user"}`, uuid, parent, kind, text)
	}
	c, reports := loadText(t, strings.Join([]string{
		user("u1", "", "go"), att("a1", "u1", "environment", "their tools"), att("a2", "a1", "deferred_tools_delta", "more"),
		att("a3", "a2", "queued_command", "also this"), assistant("e", "a3", "r", textBlock("end")),
	}, "\n"))
	wantNoReports(t, reports)
	wantShape(t, c, "user: go", "user: also this", "assistant: end")
	if c.Model != "m" || !c.Messages[1].Meta {
		t.Errorf("%+v", c)
	}
}

func TestCompactBoundary(t *testing.T) {
	boundary := func(meta string) string {
		return `{"type":"system","subtype":"compact_boundary","uuid":"b","parentUuid":null,"logicalParentUuid":"x2","compactMetadata":` + meta + `}`
	}
	before := []string{user("u0", "", "old"), assistant("a0", "u0", "r0", textBlock("older")), assistant("c1", "a0", "r1", useBlock("a")), assistant("c2", "c1", "r1", useBlock("b")), result("x1", "c1", "c1", "a"), result("x2", "c2", "c2", "b")}
	after := []string{user("sum", "b", "summary"), user("n", "sum", "next")}
	kept := []string{"user: summary", "assistant: call a, call b", "user: result a, result b", "user: next"}
	for name, c := range map[string]struct {
		meta    string
		want    []string
		reports int
	}{
		"segment":           {`{"preservedSegment":{"headUuid":"c1","anchorUuid":"sum","tailUuid":"x2"}}`, kept, 0},
		"list":              {`{"preservedMessages":{"anchorUuid":"sum","uuids":["c1","c2","x1","x2"]}}`, kept, 0},
		"all list":          {`{"preservedMessages":{"anchorUuid":"sum","allUuids":["c1","c2","x1","x2"]}}`, kept, 0},
		"nothing kept":      {`{"trigger":"auto"}`, []string{"user: summary", "user: next"}, 0},
		"no anchor":         {`{"preservedSegment":{"headUuid":"c1","anchorUuid":"gone","tailUuid":"x2"}}`, []string{"user: summary", "user: next"}, 1},
		"anchor in segment": {`{"preservedMessages":{"anchorUuid":"sum","uuids":["c1","sum"]}}`, []string{"user: summary", "user: next"}, 1},
		"head not above":    {`{"preservedSegment":{"headUuid":"n","anchorUuid":"sum","tailUuid":"x2"}}`, []string{"user: summary", "user: next"}, 0},
		"not an object":     {`7`, []string{"user: summary", "user: next"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, reports := loadText(t, strings.Join(slices.Concat(before, []string{boundary(c.meta)}, after), "\n"))
			wantShape(t, got, c.want...)
			if len(reports) != c.reports {
				t.Errorf("reports %v", reports)
			}
		})
	}
}

func TestBoundaryRoundTrip(t *testing.T) {
	r := newRig(t)
	r.prompt("old")
	c1 := r.call("r1", 0, false, "a")
	r.call("r1", 1, true, "b")
	r.result("a", "A")
	x2 := r.result("b", "B")
	sum := msg.User(r.id(), time.Time{}, "summary")
	r.ok(r.w.Record(event.Compacted{Trigger: "manual", PreTokens: 9, Boundary: r.id(), HeadID: c1.ID, AnchorID: sum.ID, TailID: x2.ID}))
	r.ok(r.w.Record(event.Message{Msg: sum}))
	end := r.block("r2", 0, true, msg.NewText("end"))
	c, reports := r.load()
	wantNoReports(t, reports)
	wantShape(t, c, "user: summary", "assistant: call a, call b", "user: result a, result b", "assistant: end")
	if !c.Messages[0].Meta || c.Leaf != end.ID {
		t.Errorf("%+v", c)
	}
	b := r.lines()[5]
	if b.Get("parentUuid").Raw != "null" || b.Get("logicalParentUuid").Str != x2.ID || !r.lines()[6].Get("isCompactSummary").Bool() {
		t.Error(b)
	}
}

// TestResumeAfterAnyKill cuts a session after each byte near a line end and
// after each line; what is left loads, continues, and keeps every whole line.
func TestResumeAfterAnyKill(t *testing.T) {
	r := newRig(t)
	r.prompt("go")
	r.block("r1", 0, false, msg.NewText("look"))
	r.call("r1", 1, false, "a")
	r.call("r1", 2, true, "b")
	r.result("b", "B")
	r.result("a", "A")
	r.block("r2", 0, true, msg.NewText("done"))
	whole, err := os.ReadFile(r.s.Path(id1))
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) + 1 {
		if cut%97 != 0 && cut != len(whole) && (cut == 0 || whole[cut-1] != '\n') {
			continue
		}
		s := Store{Home: t.TempDir(), Project: "-p"}
		if err := os.MkdirAll(s.Dir(), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.Path(id1), whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		c, _, err := Load(s.Path(id1))
		if err != nil {
			t.Fatal(err)
		}
		kept := 0
		for _, m := range c.Messages {
			kept += len(m.Blocks)
		}
		if want := strings.Count(string(whole[:cut]), "\n"); kept < want || kept > want+1 {
			t.Fatalf("cut %d: %d of %d lines in the conversation %v", cut, kept, want, shape(c.Messages))
		}
		l, err := s.Open(id1)
		if err != nil {
			t.Fatal(err)
		}
		again := &rig{t: t, s: s, l: l, n: 1000}
		again.writer(c)
		for _, u := range c.Pending {
			again.result(u.ID, "interrupted")
		}
		again.prompt("continue")
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		c2, _, err := Load(s.Path(id1))
		if err != nil {
			t.Fatal(err)
		}
		got := shape(c2.Messages)
		if len(c2.Pending) != 0 || got[len(got)-1] != "user: continue" || len(got) > 5 {
			t.Fatalf("cut %d: %v", cut, got)
		}
	}
}

// TestRandomDamage: whatever happens to the bytes, Load returns and names what it skipped.
func TestRandomDamage(t *testing.T) {
	r := newRig(t)
	for i := range 20 {
		r.prompt(fmt.Sprint("prompt ", i))
		r.call(fmt.Sprint("r", i), 0, true, fmt.Sprint("t", i))
		r.result(fmt.Sprint("t", i), "x")
	}
	whole, err := os.ReadFile(r.s.Path(id1))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.jsonl")
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		b := slices.Clone(whole)
		for range 1 + rnd.IntN(20) {
			b[rnd.IntN(len(b))] = byte(rnd.IntN(256))
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Load(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLoadRefusesWhatIsNoFile(t *testing.T) {
	if _, _, err := Load(t.TempDir()); err == nil {
		t.Error("a folder was loaded")
	}
	if _, _, err := Load(filepath.Join(t.TempDir(), "no.jsonl")); err == nil {
		t.Error("a missing file was loaded")
	}
}

// Whatever encoding a file came to have, what is loaded is UTF-8 and the rest is told.
func TestLoadOfOtherEncodings(t *testing.T) {
	latin := strings.Replace(user("u1", "", "caf#"), "#", "\xe9", 1)
	nul := strings.Replace(user("u2", "u1", "a#b"), "#", "\x00", 1)
	c, reports := loadText(t, latin+"\n"+nul+"\n"+strings.Repeat("\x00", 4096)+"\n"+user("u3", "u1", "fine"))
	wantShape(t, c, "user: caf\uFFFD", "user: fine")
	if len(reports) != 2 {
		t.Errorf("%v", reports)
	}
	for _, m := range c.Messages {
		if !utf8.Valid(m.JSON()) {
			t.Errorf("%q", m.JSON())
		}
	}
	var wide strings.Builder
	wide.WriteString("\xff\xfe")
	for _, b := range []byte(user("u", "", "x")) {
		wide.WriteString(string([]byte{b, 0}))
	}
	s := testStore(t)
	put(t, s, sid(1), 0, wide.String())
	if _, err := s.Find(sid(1)); err == nil || !strings.Contains(err.Error(), "UTF-16") {
		t.Errorf("%v", err)
	}
}
