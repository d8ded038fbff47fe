package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// put writes a session file of the store, as old as the minutes given.
func put(t *testing.T, s Store, id string, minutes int, lines ...string) {
	t.Helper()
	if err := os.MkdirAll(s.Dir(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Path(id), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-time.Duration(minutes) * time.Minute)
	if err := os.Chtimes(s.Path(id), at, at); err != nil {
		t.Fatal(err)
	}
}

func from(cwd, entrypoint, text string) string {
	return fmt.Sprintf(`{"type":"user","uuid":"u-%s","parentUuid":null,"isSidechain":false,"cwd":%q,"entrypoint":%q,"gitBranch":"b","message":{"role":"user","content":%q}}`, text, cwd, entrypoint, text)
}

func sid(n int) string { return fmt.Sprintf("%08d-0000-4000-8000-000000000000", n) }

func TestLatestAndList(t *testing.T) {
	s := Store{Home: t.TempDir(), Project: Key("/a/b")}
	if _, err := s.Latest("/a/b", Headless); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no project folder: %v", err)
	}
	put(t, s, sid(1), 50, from("/a/b", "cli", "one"))
	put(t, s, sid(2), 40, from("/a/b", "sdk-cli", "two"))
	put(t, s, sid(3), 30, from("/a-b", "cli", "other folder of the same name"))
	put(t, s, sid(4), 20, `{"type":"user","uuid":"s","isSidechain":true,"message":{"role":"user","content":"side"}}`)
	put(t, s, sid(5), 10, `{"type":"queue-operation"}`)
	put(t, s, "not-an-id", 0, from("/a/b", "cli", "x"))
	put(t, s, sid(6), 60, from("/moved/here", "cli", "six"))
	if err := os.MkdirAll(s.Path(sid(7)), 0o700); err != nil {
		t.Fatal(err)
	}
	all, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, sum := range all {
		ids = append(ids, sum.ID[7:8])
	}
	if d := cmp.Diff([]string{"3", "2", "1", "6"}, ids); d != "" {
		t.Error(d)
	}
	for from, want := range map[Surface]string{Interactive: sid(1), Headless: sid(2)} {
		if got, err := s.Latest("/a/b", from); err != nil || got.ID != want {
			t.Errorf("surface %d: %s %v", from, got.ID, err)
		}
	}
	if sum := all[1]; sum.FirstPrompt != "two" || sum.Cwd != "/a/b" || sum.Branch != "b" || sum.Entrypoint != "sdk-cli" {
		t.Errorf("%+v", sum)
	}
}

func TestSummaryLooksAtBothEnds(t *testing.T) {
	s := testStore(t)
	filler := user("f", "", strings.Repeat("x", 3*edge))
	title := func(s string) string { return fmt.Sprintf(`{"type":"custom-title","customTitle":%q}`, s) }
	put(t, s, sid(1), 0, `{"type":"attachment","uuid":"a"}`, `{"type":"user","uuid":"m","isMeta":true,"message":{"content":"meta"}}`,
		`{"type":"user","uuid":"c","message":{"content":"<command-name>/x</command-name>"}}`,
		`{"type":"user","uuid":"p","message":{"content":[{"type":"text","text":"real prompt"}]}}`, filler, title("old"), title("Tail title"), `{"type":"last-prompt","lastPrompt":"newest"}`)
	put(t, s, sid(2), 5, user("u", "", "hi"), filler, title("Middle title"), filler)
	sum, err := s.Find("tail TITLE")
	if err != nil || sum.ID != sid(1) || sum.FirstPrompt != "real prompt" || sum.LastPrompt != "newest" {
		t.Errorf("%+v %v", sum, err)
	}
	if sum, err := s.Find("Middle title"); err != nil || sum.ID != sid(2) {
		t.Errorf("%+v %v", sum, err)
	}
	if _, err := s.Find("old"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a title that was replaced: %v", err)
	}
}

func TestFindByID(t *testing.T) {
	home := t.TempDir()
	here, there, third := Store{home, "-here"}, Store{home, "-there"}, Store{home, "-third"}
	put(t, here, sid(1), 0, user("u", "", "x"))
	put(t, there, sid(1), 0, user("u", "", "x"))
	put(t, there, sid(2), 0, user("u", "", "x"))
	put(t, there, sid(3), 0, user("u", "", "x"))
	put(t, third, sid(3), 0, user("u", "", "x"))
	if s, err := here.Find(sid(1)); err != nil || s.Store != here {
		t.Errorf("%+v %v", s, err)
	}
	if s, err := here.Find(sid(2)); err != nil || s.Store != there {
		t.Errorf("%+v %v", s, err)
	}
	var many *Ambiguous
	if _, err := here.Find(sid(3)); !errors.As(err, &many) || len(many.Matches) != 2 || !strings.Contains(err.Error(), sid(3)) {
		t.Errorf("%v", err)
	}
	if _, err := here.Find(sid(9)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := here.Find("../" + sid(1)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestFork(t *testing.T) {
	r := newRig(t)
	r.prompt("go")
	r.call("r1", 0, true, "a")
	r.result("a", "A")
	r.ok(r.w.Title("Name"))
	r.ok(r.w.Cost(Cost{TotalUSD: 3}))
	odd := `{"z":1.0, "type" : "of-tomorrow","deep":{"sessionId":"keep"},"sessionId":"` + id1 + `" , "big":12345678901234567890}`
	r.ok(r.l.Append([]byte(odd), []byte(`not json "sessionId":"`+id1+`"`)))
	before, err := os.ReadFile(r.l.Path())
	if err != nil {
		t.Fatal(err)
	}
	other := Store{Home: r.s.Home, Project: "-other"}
	r.ok(other.Fork(r.l.Path(), id2))
	if after, _ := os.ReadFile(r.l.Path()); string(after) != string(before) {
		t.Error("the source changed")
	}
	raw, err := os.ReadFile(other.Path(id2))
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(odd, id1, id2, 1); !strings.Contains(string(raw), want+"\n") {
		t.Errorf("unknown entry changed, want %s in\n%s", want, raw)
	}
	first := gjson.Parse(strings.Split(string(raw), "\n")[0])
	if first.Get("forkedFrom.sessionId").Str != id1 || first.Get("forkedFrom.messageUuid").Str != first.Get("uuid").Str || first.Get("sessionId").Str != id2 {
		t.Error(first)
	}
	a, reports, err := Load(r.l.Path())
	r.ok(err)
	b, _, err := Load(other.Path(id2))
	r.ok(err)
	if d := cmp.Diff(shape(a.Messages), shape(b.Messages)); d != "" {
		t.Error(d)
	}
	if b.ID != id2 || b.Title != "Name (fork)" || b.Cost.Known || !a.Cost.Known || len(reports) != 1 {
		t.Errorf("%+v %v", b, reports)
	}
	var exists *Exists
	if err := other.Fork(r.l.Path(), id2); !errors.As(err, &exists) {
		t.Errorf("fork onto a session: %v", err)
	}
	if err := other.Fork(filepath.Join(r.s.Home, "none"), sid(9)); err == nil {
		t.Error("fork of nothing")
	}
	if left, _ := filepath.Glob(filepath.Join(other.Dir(), ".*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	// A fork of a fork keeps its first origin.
	r.ok(other.Fork(other.Path(id2), sid(3)))
	raw, _ = os.ReadFile(other.Path(sid(3)))
	if got := gjson.Get(string(raw), "forkedFrom.sessionId").Str; got != id1 {
		t.Errorf("origin %s", got)
	}
}

func TestHistory(t *testing.T) {
	home := t.TempDir()
	h := OpenHistory(home)
	for range h.Newest() {
		t.Fatal("entries without a file")
	}
	for i, text := range []string{"one", "two\nlines", "two\nlines", strings.Repeat("é", 3*stride), "last"} {
		if err := h.Add(Typed{Display: text, Timestamp: int64(i), Project: "/w", SessionID: "s"}); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(filepath.Join(home, "history.jsonl"))
	if err != nil || strings.Count(string(raw), "\n") != 4 || gjson.GetBytes(raw, "pastedContents").Raw != "{}" {
		t.Fatalf("%d lines, %v", strings.Count(string(raw), "\n"), err)
	}
	if err := os.WriteFile(filepath.Join(home, "history.jsonl"), append(raw, "junk\n\n{\"display\":\"torn"...), 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	for e, err := range h.Newest() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Display)
	}
	if d := cmp.Diff([]string{"last", strings.Repeat("é", 3*stride), "two\nlines", "one"}, got); d != "" {
		t.Error(d)
	}
	if err := h.Add(Typed{Display: "after the torn line"}); err != nil {
		t.Fatal(err)
	}
	for e := range h.Newest() {
		if e.Display != "after the torn line" {
			t.Errorf("newest is %q", e.Display)
		}
		break
	}
}

// TestBackwards compares the backward reader with a split of the whole text.
func TestBackwards(t *testing.T) {
	for _, size := range []int{0, 1, stride - 1, stride, stride + 1, 2*stride + 7} {
		for _, sep := range []int{1, 3, 100, stride, stride + 1} {
			var b strings.Builder
			for i := 0; b.Len() < size; i++ {
				b.WriteString(fmt.Sprint(i) + strings.Repeat("y", i%sep) + "\n")
			}
			text := b.String()[:size]
			var want []string
			for line := range strings.SplitSeq(text, "\n") {
				if line != "" {
					want = append(want, line)
				}
			}
			slices.Reverse(want)
			var got []string
			for line, err := range backwards(strings.NewReader(text), int64(size)) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(line))
			}
			if !slices.Equal(want, got) {
				t.Fatalf("size %d, lines %d: %d lines, want %d", size, sep, len(got), len(want))
			}
		}
	}
}

// countingReader counts the bytes that were asked for.
type countingReader struct {
	r io.ReaderAt
	n int64
}

func (c *countingReader) ReadAt(p []byte, off int64) (int, error) {
	c.n += int64(len(p))
	return c.r.ReadAt(p, off)
}

// Of a history of 1 GB, the newest prompt takes one piece of the end.
func TestNewestReadsOnlyTheEnd(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const size = 1 << 30
	if _, err := f.WriteAt([]byte("\n{\"display\":\"é newest\"}\n"), size-25); err != nil {
		t.Fatal(err)
	}
	c := &countingReader{r: f}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for line, err := range backwards(c, info.Size()) {
		if err != nil || !strings.Contains(string(line), "é newest") {
			t.Fatalf("%q %v", line, err)
		}
		break
	}
	if c.n > 2*stride {
		t.Errorf("%d bytes read", c.n)
	}
}
