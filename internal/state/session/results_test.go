package session

import (
	"os"
	"path/filepath"
	"testing"
)

// Results go with their session, and stay as long as a fork of it, or a fork of
// a fork, is there.
func TestResultsOutliveTheirSessionForForks(t *testing.T) {
	s := testStore(t)
	put(t, s, sid(1), 9, user("u", "", "one"))
	keep := func(id string) string {
		t.Helper()
		path := filepath.Join(s.Results(id), "r.txt")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("result of "+id), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	there := func(path string, want bool) {
		t.Helper()
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", path, err, want)
		}
	}
	fork := func(from, to string) {
		t.Helper()
		if err := s.Fork(s.Path(from), to); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(id string) {
		t.Helper()
		all, err := s.List()
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			if x.ID == id {
				if err := Remove(x, all); err != nil {
					t.Fatal(err)
				}
				return
			}
		}
		t.Fatal("no session", id)
	}
	first := keep(sid(1))
	log := s.Sidechain(sid(1), "a1")
	if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
		t.Fatal(err)
	}
	fork(sid(1), sid(2))
	second := keep(sid(2))
	fork(sid(2), sid(3))
	if got := s.Borrowed(sid(3)); len(got) != 2 || got[0] != s.Results(sid(1)) || got[1] != s.Results(sid(2)) {
		t.Errorf("%v", got)
	}
	remove(sid(1))
	there(first, true)
	there(filepath.Dir(log), false)
	remove(sid(2))
	there(first, true)
	there(second, true)
	remove(sid(3))
	there(first, false)
	there(second, false)
	there(s.Folder(sid(1)), false)

	put(t, s, sid(4), 9, user("u", "", "alone"))
	alone := keep(sid(4))
	remove(sid(4))
	there(alone, false)
}
