package session

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestSearch(t *testing.T) {
	s := testStore(t)
	put(t, s, sid(1), 10, user("u1", "", "the Zebra crossing"), assistant("a1", "u1", "r1", textBlock("nothing here")))
	put(t, s, sid(2), 20, user("u2", "", "plain"), result("x", "u2", "", "zebra-id"), `{"type":"user","uuid":"e","message":{"content":"quoted \"zebra\" & <b>"}}`)
	put(t, s, sid(3), 30, `{"type":"assistant","uuid":"esc","message":{"content":[{"type":"text","text":"Stra\u00dfe \u003cb\u003e"}]}}`)
	all, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"zebra": "1:1 2:3", "Zebra": "1:1", `"zebra"`: "2:3", "zebra-id": "", "straße <b>": "3:1", "ß": "3:1", "& <b>": "2:3", "nowhere": "", "u1": "",
	} {
		got, err := Search(context.Background(), all, Query{Text: query})
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, m := range got {
			for _, h := range m.Hits {
				have = append(have, fmt.Sprintf("%s:%d", strings.TrimLeft(m.ID[:8], "0"), h.Line))
			}
		}
		if strings.Join(have, " ") != want {
			t.Errorf("%q: %v, want %s", query, have, want)
		}
	}
	got, _ := Search(context.Background(), all, Query{Text: "zebra", Sessions: 1})
	if len(got) != 1 || got[0].ID != sid(1) {
		t.Errorf("the newest match only: %v", got)
	}
}

func FuzzContainsFold(f *testing.F) {
	f.Add([]byte("a Zebra"), []byte("zebra"))
	f.Add([]byte("aab"), []byte("ab"))
	f.Fuzz(func(t *testing.T, b, sub []byte) {
		for i, c := range sub {
			if 'A' <= c && c <= 'Z' {
				sub[i] = c + 32
			}
			if c >= 0x80 {
				return
			}
		}
		lower := make([]byte, len(b))
		for i, c := range b {
			lower[i] = c
			if 'A' <= c && c <= 'Z' {
				lower[i] = c + 32
			}
		}
		if len(sub) > 0 && containsFold(b, sub) != strings.Contains(string(lower), string(sub)) {
			t.Fatalf("%q in %q", sub, b)
		}
	})
}

// An index that is missing, stale, damaged or a lie never changes a list.
func TestIndexNeverChangesAnAnswer(t *testing.T) {
	s := testStore(t)
	put(t, s, sid(1), 10, user("u1", "", "first"), `{"type":"custom-title","customTitle":"Old"}`)
	put(t, s, sid(2), 20, user("u2", "", "second"))
	list := func() string {
		t.Helper()
		all, err := s.List()
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, x := range all {
			fmt.Fprintf(&b, "%s|%s|%s|%d\n", x.ID, x.Title, x.FirstPrompt, x.Size)
		}
		return b.String()
	}
	want := list()
	raw, err := os.ReadFile(s.indexPath())
	if err != nil || !strings.Contains(string(raw), "Old") {
		t.Fatalf("no index was written: %v %s", err, raw)
	}
	for name, content := range map[string]string{
		"kept": string(raw), "empty": "", "torn": string(raw[:len(raw)/2]), "lie": strings.Replace(string(raw), "Old", "New", 1), "binary": "\x00\xff",
	} {
		if err := os.WriteFile(s.indexPath(), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := list(); got != want {
			t.Errorf("%s index: %s", name, got)
		}
	}
	at := time.Now().Add(-10 * time.Minute)
	put(t, s, sid(1), 10, user("u1", "", "first"), `{"type":"custom-title","customTitle":"Fresh"}`)
	if err := os.Chtimes(s.Path(sid(1)), at, at); err != nil {
		t.Fatal(err)
	}
	if got := list(); !strings.Contains(got, "Fresh") {
		t.Errorf("stale index: %s", got)
	}
	if err := os.Chmod(s.Path(sid(2)), 0); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		if all, _ := s.List(); len(all) != 2 || all[1].Problem == "" {
			t.Errorf("unreadable from memory: %+v", all)
		}
		if _, err := s.Find(sid(2)); err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("unreadable: %v", err)
		}
	}
	if err := os.Remove(s.Path(sid(1))); err != nil {
		t.Fatal(err)
	}
	if got := list(); strings.Contains(got, sid(1)) {
		t.Errorf("removed: %s", got)
	}
}
