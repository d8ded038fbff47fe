package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestIndexIsCut(t *testing.T) {
	var lines []string
	for i := range 250 {
		lines = append(lines, fmt.Sprintf("- line %d", i+1))
	}
	root := tree(t, map[string]string{"long/MEMORY.md": strings.Join(lines, "\n"), "wide/MEMORY.md": "- a\n" + strings.Repeat("x", IndexBytes), "ok/MEMORY.md": "\n- a\n", "bad/MEMORY.md": "\x00", "empty/MEMORY.md": " \n"})
	book := func(name string) Notebook { return Notebook{Dir: filepath.Join(root, name)} }
	f, note, ok := book("long").Read()
	if !ok || note == nil || !strings.Contains(f.Text, "- line 200\n") || strings.Contains(f.Text, "- line 201\n") || !strings.Contains(f.Text, `WARNING: MEMORY.md has 250 lines`) || !strings.Contains(f.Text, `line 201: "- line 201"`) {
		t.Errorf("%v %v %s", ok, note, f.Text)
	}
	if f, note, ok := book("wide").Read(); !ok || note == nil || !strings.HasPrefix(f.Text, "- a\n\nWARNING") || len(f.Text) > 1000 {
		t.Errorf("%v %v %.300s", ok, note, f.Text)
	}
	if f, note, ok := book("ok").Read(); !ok || note != nil || f.Text != "- a" || f.Scope != Auto {
		t.Errorf("%v %v %v", ok, note, f)
	}
	if _, note, ok := book("bad").Read(); ok || note == nil {
		t.Error("a binary index is read, or left out without a word")
	}
	for _, name := range []string{"empty", "none"} {
		if _, note, ok := book(name).Read(); ok || note != nil {
			t.Errorf("%s: %v", name, note)
		}
	}
	if s := book("long").Full(); !strings.HasPrefix(s, "Error: ") {
		t.Errorf("over the limit: %q", s)
	}
	if s := book("ok").Full(); s != "" {
		t.Errorf("far from the limit: %q", s)
	}
	if err := os.WriteFile(book("ok").Index(), []byte(strings.Join(lines[:195], "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	if s := book("ok").Full(); !strings.Contains(s, "nearly full") {
		t.Errorf("near the limit: %q", s)
	}
}

func TestTopics(t *testing.T) {
	root := tree(t, map[string]string{
		"m/MEMORY.md": "- x", "m/a.md": "---\nname: A\ndescription: about\n  a\ntype: project\nmodified: 2026-01-02T03:04:05Z\n---\nbody", "m/broken.md": "---\nname: [\n: :\n---\nbody",
		"m/plain.md": "# no head", "m/.hidden.md": "no", "m/x.txt": "no", "m/sub/c.md": "---\nname: \"two\\nlines\"\n---\n", "team/t.md": "shared",
	})
	if err := os.Symlink(filepath.Join(root, "team"), filepath.Join(root, "m", "team")); err != nil {
		t.Skip("left out: a team's folder (needs symbolic links): ", err)
	}
	if err := os.Symlink("..", filepath.Join(root, "m", "sub", "up")); err != nil {
		t.Fatal(err)
	}
	book := Notebook{Dir: filepath.Join(root, "m")}
	topics, notes := book.Topics()
	got := map[string]string{}
	for _, x := range topics {
		got[x.Name] = x.Title + "|" + x.About + "|" + x.Kind
	}
	want := map[string]string{"a.md": "A|about a|project", "broken.md": got["broken.md"], "plain.md": "||", "sub/c.md": "two lines||", "team/t.md": "||"}
	if d := cmp.Diff(want, got); d != "" || len(notes) != 0 {
		t.Error(d, notes)
	}
	if last := topics[len(topics)-1]; last.Name != "a.md" || last.Modified.Year() != 2026 || last.Modified.Month() != 1 {
		t.Errorf("not sorted by age: %v", topics)
	}
	book.Within = filepath.Join(root, "m")
	topics, notes = book.Topics()
	if len(topics) != 4 || len(notes) != 1 || !strings.Contains(notes[0].Text, "not trusted") {
		t.Errorf("out of a repository: %v %v", topics, notes)
	}
}

func TestAgeOfATopic(t *testing.T) {
	root := tree(t, map[string]string{"a.md": "body", "big.md": strings.Repeat("x", maxTopic+1)})
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	topics, _ := Notebook{Dir: root}.Topics()
	for _, x := range topics {
		x.Modified = now.AddDate(0, 0, -47)
		f, err := x.Open(now)
		if x.Name == "big.md" {
			if err == nil {
				t.Error("a huge memory is attached")
			}
			continue
		}
		if err != nil || !strings.HasPrefix(f.Text, "(This note is 47 days old.") || !strings.HasSuffix(f.Text, "body") {
			t.Errorf("%v %q", err, f.Text)
		}
		x.Modified = now.Add(-time.Hour)
		if f, err := x.Open(now); err != nil || f.Text != "body" {
			t.Errorf("%v %q", err, f.Text)
		}
	}
}

func TestChoice(t *testing.T) {
	var topics []Topic
	for _, n := range []string{"1.md", "2.md", "3.md", "4.md", "5.md", "6.md", "7.md"} {
		topics = append(topics, Topic{Path: "/" + n, Name: n, About: "about " + n})
	}
	_, user := Question("do it", topics)
	if !strings.Contains(user, "- 3.md (0001-01-01): about 3.md\n") || !strings.Contains(user, "do it") {
		t.Error(user)
	}
	for reply, want := range map[string]string{
		`["7.md","nope.md","6.md","5.md","7.md","4.md","3.md","2.md"]`: "7.md 6.md 5.md 4.md 3.md",
		"```json\n[\"1.md\"]\n```":                                     "1.md", "[]": "", "Sure: [\"2.md\"]": "2.md", "none": "error", `[1]`: "error", "": "error",
	} {
		picked, err := Choice(reply, topics)
		var names []string
		for _, p := range picked {
			names = append(names, p.Name)
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", reply, got, want)
		}
	}
}

func FuzzChoice(f *testing.F) {
	f.Add(`["a.md"]`)
	f.Add(`x ] [ "a.md"`)
	topics := []Topic{{Path: "/a", Name: "a.md"}, {Path: "/b", Name: "b.md"}}
	f.Fuzz(func(t *testing.T, reply string) {
		picked, err := Choice(reply, topics)
		if len(picked) > len(topics) || err != nil && picked != nil {
			t.Errorf("%q: %v, %v", reply, picked, err)
		}
	})
}

func TestAgentNotebook(t *testing.T) {
	for scope, want := range map[string]string{"user": "/h/agent-memory/rev", "project": "/p/.claude/agent-memory/rev", "local": "/p/.claude/agent-memory-local/rev"} {
		n, err := AgentNotebook(scope, "rev", "/h", "/p")
		if err != nil || filepath.ToSlash(n.Dir) != want {
			t.Errorf("%s: %v, %v", scope, n, err)
		}
	}
	for _, name := range []string{"", "..", "a/b", `a\b`, "c:x"} {
		if _, err := AgentNotebook("user", name, "/h", "/p"); err == nil {
			t.Errorf("%q is a folder", name)
		}
	}
	if _, err := AgentNotebook("team", "x", "/h", "/p"); err == nil {
		t.Error("an unknown scope")
	}
}
