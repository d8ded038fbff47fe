package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// request is a recorded first request as hew sends it, in miniature; messages are not last.
const request = `{"model":"m","messages":[{"role":"user","content":"Read what you need."}],"tools":[{"name":"Read"}],"stream":true}`

// TestLab: the references are built and do what they are measured for. No test runs hew.
func TestLab(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	l, err := newLab(t.Context(), self)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	t.Run("floor", func(t *testing.T) { floorReadsAndGrows(t, l) })
	t.Run("failure", func(t *testing.T) { failuresAreNoFigures(t, l) })
}

func floorReadsAndGrows(t *testing.T, l *lab) {
	h, err := l.newHome()
	if err != nil {
		t.Fatal(err)
	}
	recorded := l.path("request")
	if err := os.WriteFile(recorded, []byte(request), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := l.plant(h, 3, fileBytes)
	if err != nil {
		t.Fatal(err)
	}
	talk, c, err := l.floorTurns(t.Context(), h, files, recorded)
	if err != nil {
		t.Fatal(err)
	}
	if c.wall() <= 0 || c.cpu() <= 0 || c.cpu() > 60 {
		t.Errorf("cost %+v", c)
	}
	if first := string(talk.first); !strings.HasSuffix(first, `,"messages":[{"role":"user","content":"Read what you need."}]}`) {
		t.Errorf("first request of the floor: %s", first)
	}
	last := string(l.model.body)
	for _, want := range []string{`"id":"toolu_000003"`, `"tool_use_id":"toolu_000003"`, `"file_path":"` + filepath.ToSlash(files[2])} {
		if !strings.Contains(filepath.ToSlash(last), want) {
			t.Errorf("the last request lacks %s:\n%s", want, last)
		}
	}
	gaps := talk.gaps()
	if len(gaps) != 3 {
		t.Fatalf("%d gaps of 4 requests", len(gaps))
	}
	for _, g := range gaps {
		if g <= 0 || g > 60 {
			t.Errorf("gap of %v s", g)
		}
	}
}

func failuresAreNoFigures(t *testing.T, l *lab) {
	talk := l.model.converse(always(text("ok")))
	if err := talk.holds(1); err == nil {
		t.Error("a talk without requests holds a turn")
	}
	h, err := l.newHome()
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = l.chat(t.Context(), h, always(text("ok")), "no such file")
	if err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("error %v", err)
	}
}

func TestMissingBinary(t *testing.T) {
	if _, err := newLab(t.Context(), filepath.Join(t.TempDir(), "hew")); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("error %v", err)
	}
}

func TestScanRefusesTornLines(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.jsonl")
	for content, ok := range map[string]bool{"{}\n[1]\n": true, "{}\n{}": true, "": true, "{}\n{\"a\":\n": false} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := scanLines(name); (err == nil) != ok {
			t.Errorf("%q: %v", content, err)
		}
	}
}

func TestSearchTreeIsTheSameEachTime(t *testing.T) {
	a := &lab{dir: t.TempDir()}
	first, err := a.searchTree()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(first, "area00", "part00", "file00000.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "New"+rareWord) {
		t.Errorf("file 0 lacks the rare word:\n%s", text)
	}
	if again, err := a.searchTree(); err != nil || again != first {
		t.Errorf("second call: %s, %v; the tree was at %s", again, err, first)
	}
}
