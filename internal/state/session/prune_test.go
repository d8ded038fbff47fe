package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A fork of a large session takes a few bytes, and outlives its source.
func TestForkByReference(t *testing.T) {
	path := bigSession(t, copyLimit+1<<20)
	home := filepath.Dir(filepath.Dir(filepath.Dir(path)))
	s := Store{Home: home, Project: "-p"}
	sum, err := s.Find(id1)
	if err != nil {
		t.Fatal(err)
	}
	if err := sum.Rename("Big one"); err != nil {
		t.Fatal(err)
	}
	other := Store{Home: home, Project: "-q"}
	if err := other.Fork(path, id2); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(other.Path(id2)); err != nil || info.Size() > maxReference {
		t.Fatalf("%v %v", info, err)
	}
	before, _ := os.ReadFile(path)
	want, _, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := other.Open(id2)
	if err != nil {
		t.Fatal(err)
	}
	got, reports, err := Load(other.Path(id2))
	if err != nil || len(reports) > 0 {
		t.Fatal(err, reports)
	}
	if got.ID != id2 || got.Leaf != want.Leaf || len(got.Messages) != len(want.Messages) || got.Title != "Big one (fork)" {
		t.Fatalf("%s %s %d %q", got.ID, got.Leaf, len(got.Messages), got.Title)
	}
	r := &rig{t: t, s: other, l: l}
	r.writer(got)
	r.prompt("ahead")
	r.ok(l.Close())
	if now, _ := os.ReadFile(path); string(now) != string(before) {
		t.Fatal("the source changed")
	}
	all, err := ListAll(home)
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	plan := Retention{Age: time.Nanosecond, Now: time.Now().Add(time.Hour), Keep: []string{id2}}.Plan(all)
	if len(plan) != 1 || !strings.Contains(plan[0].Kept, id2) {
		t.Fatalf("a source goes before its fork: %+v", plan)
	}
	sum, err = s.Find(id1)
	if err != nil {
		t.Fatal(err)
	}
	if err := Remove(sum, all); err != nil {
		t.Fatal(err)
	}
	after, reports, err := Load(other.Path(id2))
	if err != nil || len(reports) > 0 || len(after.Messages) != len(want.Messages)+1 || after.ID != id2 {
		t.Fatalf("the fork without its source: %v %v %d", err, reports, len(after.Messages))
	}
	if _, err := s.Find(id1); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	log, err := os.ReadFile(filepath.Join(home, "hew", "sessions.log"))
	if err != nil || !strings.Contains(string(log), id1) {
		t.Errorf("not logged: %s %v", log, err)
	}
}

// A fork whose source somebody deleted by hand still opens, and says what is missing.
func TestForkOfALostSource(t *testing.T) {
	path := bigSession(t, copyLimit+1<<20)
	s := Store{Home: filepath.Dir(filepath.Dir(filepath.Dir(path))), Project: "-p"}
	if err := s.Fork(path, id2); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	c, reports, err := Load(s.Path(id2))
	if err != nil || c.ID != id2 || len(reports) != 1 || !strings.Contains(reports[0].Text, id1) {
		t.Fatalf("%+v %v %v", c, reports, err)
	}
}

func TestRetention(t *testing.T) {
	s := testStore(t)
	for i := 1; i <= 4; i++ {
		put(t, s, sid(i), i*60, user(fmt.Sprint("u", i), "", strings.Repeat("x", 1000)))
	}
	all, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	ids := func(plan []Doomed) (out string) {
		for _, d := range plan {
			out += strings.TrimLeft(d.ID[:8], "0") + d.Why + " "
		}
		return strings.TrimSpace(out)
	}
	for _, c := range []struct {
		r    Retention
		want string
	}{
		{Retention{}, ""},
		{Retention{Age: 150 * time.Minute}, "4age 3age"},
		{Retention{Age: 150 * time.Minute, Keep: []string{sid(4)}}, "3age"},
		{Retention{Size: 2500}, "4size 3size"},
		{Retention{Size: 1}, "4size 3size 2size 1size"},
	} {
		c.r.Now = time.Now()
		if got := ids(c.r.Plan(all)); got != c.want {
			t.Errorf("%+v: %q, want %q", c.r, got, c.want)
		}
	}
}

func TestRedact(t *testing.T) {
	s := testStore(t)
	put(t, s, sid(1), 5,
		`{"type":"user","uuid":"u-hunter2","parentUuid":null,"sessionId":"`+sid(1)+`","message":{"role":"user","content":"pass \"hunter2\" and hunter2"}}`,
		`{"type":"assistant","uuid":"a","parentUuid":"u-hunter2","sessionId":"`+sid(1)+`","message":{"id":"r","content":[{"type":"thinking","thinking":"hunter2?","signature":"s"}]}}`,
		assistant("b", "a", "r", `{"type":"tool_use","id":"hunter2","name":"Bash","input":{"command":"echo hunter\u0032"}}`),
		`not json hunter2`)
	side := filepath.Join(s.Results(sid(1)), "x.txt")
	if err := os.MkdirAll(filepath.Dir(side), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(side, []byte("a hunter2 b"), 0o600); err != nil {
		t.Fatal(err)
	}
	history := filepath.Join(s.Home, "history.jsonl")
	lines := `{"display":"hunter2","sessionId":"` + sid(1) + `"}` + "\n" + `{"display":"hunter2","sessionId":"other"}` + "\n"
	if err := os.WriteFile(history, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	got, err := all[0].Redact(regexp.MustCompile("hunter2"), all)
	if err != nil || got.Places != 7 || got.Files != 3 {
		t.Fatalf("%+v %v", got, err)
	}
	text, _ := os.ReadFile(s.Path(sid(1)))
	if n := strings.Count(string(text), "hunter2"); n != 3 { // two ids of the chain, one of a call
		t.Errorf("%d left in %s", n, text)
	}
	c, _ := loadText(t, string(text))
	if len(c.Messages) != 3 || c.Messages[0].Text() != `pass "[redacted]" and [redacted]` || strings.Contains(string(c.Messages[1].JSON()), "signature") {
		t.Errorf("%s", text)
	}
	if raw, _ := os.ReadFile(side); string(raw) != "a [redacted] b" {
		t.Errorf("%s", raw)
	}
	if raw, _ := os.ReadFile(history); strings.Count(string(raw), "hunter2") != 1 {
		t.Errorf("%s", raw)
	}
	if now, _ := s.List(); !now[0].Modified.Equal(all[0].Modified) {
		t.Error("the session looks younger than it is")
	}
}

func TestReplayTellsTheWholeStory(t *testing.T) {
	boundary := `{"type":"system","subtype":"compact_boundary","uuid":"b","parentUuid":null,"logicalParentUuid":"a2","content":"Conversation compacted","compactMetadata":{"preservedSegment":{"headUuid":"u2","anchorUuid":"s","tailUuid":"a2"}}}`
	s := testStore(t)
	put(t, s, sid(1), 0, user("u1", "", "one"), assistant("c1", "u1", "r1", useBlock("a")), assistant("c2", "c1", "r1", useBlock("b")),
		result("x1", "c1", "c1", "a"), result("x2", "c2", "c2", "b"), user("u2", "x2", "two"), assistant("a2", "u2", "r2", textBlock("kept")), boundary,
		user("s", "b", "sum"), user("undone", "s", "undone"), `{"type":"system","subtype":"rewound","uuid":"w","parentUuid":"s","content":"back"}`, user("u3", "w", "three"))
	var got []string
	reports, err := Replay(s.Path(sid(1)), func(e Entry) error {
		got = append(got, string(e.Kind)+":"+e.ID)
		return nil
	})
	want := "user:u1 assistant:c1 assistant:c2 result:x1 result:x2 user:u2 assistant:a2 notice:b user:s notice:w user:u3"
	if err != nil || len(reports) > 0 || strings.Join(got, " ") != want {
		t.Errorf("%v\n%v\n%v %v", got, want, err, reports)
	}
}
