package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// longSession writes more than wholeFile: big turns, then a compaction that
// keeps the last of them, then a little more.
func longSession(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), id1+".jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	put := func(s string) {
		if _, err := fmt.Fprintln(f, s); err != nil {
			t.Fatal(err)
		}
	}
	put(`{"type":"custom-title","customTitle":"Early name","sessionId":"s"}`)
	filler := strings.Repeat("x", 1<<20)
	parent := ""
	for i := range wholeFile>>20 + 2 {
		u, a := fmt.Sprint("u", i), fmt.Sprint("a", i)
		put(user(u, parent, u+filler))
		put(assistant(a, u, "r"+a, textBlock(a)))
		parent = a
	}
	put(user("k1", parent, "kept one"))
	put(assistant("k2", "k1", "rk", textBlock("kept two")))
	put(`{"type":"system","subtype":"compact_boundary","uuid":"b","parentUuid":null,"logicalParentUuid":"k2","compactMetadata":{"preservedSegment":{"headUuid":"k1","anchorUuid":"s1","tailUuid":"k2"}}}`)
	put(user("s1", "b", "summary"))
	put(user("n1", "s1", "next"))
	put("damaged line")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOnlyTheWindowIsIndexed(t *testing.T) {
	path := longSession(t)
	f, err := openTranscript(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	l, c, err := loadWindow(f)
	if err != nil {
		t.Fatal(err)
	}
	wantShape(t, c, "user: summary", "user: kept one", "assistant: kept two", "user: next")
	if len(l.recs) != 5 || c.Title != "Early name" {
		t.Errorf("%d entries indexed, title %q", len(l.recs), c.Title)
	}
	want := 1 + 2*(wholeFile>>20+2) + 6
	if len(l.reports) != 1 || l.reports[0].Line != want {
		t.Errorf("%v, want line %d", l.reports, want)
	}
}

// What leads out of the window is found all the same.
func TestTheWindowChangesNoAnswer(t *testing.T) {
	path := longSession(t)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, tail := range map[string]string{
		"rewound to before it": `{"type":"system","subtype":"rewound","uuid":"w","parentUuid":"a3","content":"back"}`,
		"parent far up":        user("z", "a3", "branch"),
		"older messages kept":  `{"type":"system","subtype":"compact_boundary","uuid":"b2","parentUuid":null,"logicalParentUuid":"n1","compactMetadata":{"preservedSegment":{"headUuid":"u1","anchorUuid":"s2","tailUuid":"a1"}}}` + "\n" + user("s2", "b2", "second summary") + "\n" + user("n2", "s2", "after"),
	} {
		if err := os.Truncate(path, info.Size()); err != nil {
			t.Fatal(err)
		}
		l := &Log{path: path}
		if l.f, err = openAppend(path, 0); err != nil {
			t.Fatal(err)
		}
		l.disk = l.f
		if err := errors.Join(l.Append([]byte(tail)), l.f.Close()); err != nil {
			t.Fatal(err)
		}
		got, _, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := openTranscript(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := loadWindow(f); err == nil {
			t.Errorf("%s: a window was enough", name)
		}
		_, want, err := loadFrom(f, window{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Leaf != want.Leaf || strings.Join(shape(got.Messages), "\n") != strings.Join(shape(want.Messages), "\n") || len(got.Messages) < 3 {
			t.Errorf("%s: %s, %d messages; want %s, %d", name, got.Leaf, len(got.Messages), want.Leaf, len(want.Messages))
		}
		f.close()
	}
}
