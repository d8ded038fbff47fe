package checkpoint

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRandomTrees changes random trees at random, as commands, as edits and
// with restarts in between, and goes back to a random prompt.
func TestRandomTrees(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			watch := func(c *Config) { c.Watch = seed%2 == 0 }
			s := newSite(t, watch)
			for range 20 {
				grow(s, r)
			}
			var before []map[string]string
			prompts := 3 + r.IntN(3)
			for p := range prompts {
				before = append(before, s.tree())
				s.tracker.Prompt(fmt.Sprint("m", p))
				for range 1 + r.IntN(3) {
					act(s, r)
				}
				if r.IntN(3) == 0 { // the process ends, and another goes on
					if err := s.tracker.Settle(t.Context()); err != nil {
						t.Fatal(err)
					}
					s.open(watch)
				}
			}
			to := r.IntN(prompts)
			clean(t, s.rewind(fmt.Sprint("m", to)))
			s.same(before[to])
		})
	}
}

// act is one call: some commands' worth of changes, or one edit.
func act(s *site, r *rand.Rand) {
	s.Helper()
	s.uses++
	use := fmt.Sprint("use", s.uses)
	if r.IntN(3) == 0 {
		path := filepath.Join(s.root, fmt.Sprintf("edited%d", r.IntN(4)))
		if _, err := s.tracker.BeforeEdit(s.Context(), use, path); err != nil {
			s.Fatal(err)
		}
		if st, err := os.Lstat(path); err == nil && !st.Mode().IsRegular() {
			return
		}
		s.write(filepath.Base(path), fmt.Sprint("edit ", r.IntN(1000)), 0o644)
		if err := s.tracker.AfterEdit(use); err != nil {
			s.Fatal(err)
		}
		return
	}
	if _, err := s.tracker.Before(s.Context(), Command{Use: use, Text: "random"}); err != nil {
		s.Fatal(err)
	}
	for range 1 + r.IntN(6) {
		grow(s, r)
	}
	if err := s.tracker.After(End{Use: use}); err != nil {
		s.Fatal(err)
	}
}

// grow makes one change: of a file, a mode, a link, a folder, or a removal.
func grow(s *site, r *rand.Rand) {
	s.Helper()
	dir := s.root
	for range r.IntN(3) {
		dir = filepath.Join(dir, fmt.Sprintf("d%d", r.IntN(3)))
	}
	path := filepath.Join(dir, fmt.Sprintf("f%d", r.IntN(5)))
	var err error
	switch r.IntN(7) {
	case 0:
		err = os.RemoveAll(path)
	case 1:
		err = os.RemoveAll(dir)
		if dir == s.root {
			err = os.Mkdir(dir, 0o755)
		}
	case 2:
		if st, e := os.Lstat(path); e == nil && st.Mode()&os.ModeSymlink == 0 {
			err = os.Chmod(path, os.FileMode(0o600|r.IntN(0o200)))
		}
	case 3:
		if err = os.MkdirAll(dir, 0o755); err == nil {
			_ = os.RemoveAll(path)
			err = os.Symlink(fmt.Sprint("target", r.IntN(3)), path)
		}
	case 4:
		_ = os.RemoveAll(path)
		err = os.MkdirAll(path, 0o700)
	default:
		if err = os.MkdirAll(dir, 0o755); err == nil {
			_ = os.RemoveAll(path)
			err = os.WriteFile(path, []byte(strings.Repeat(fmt.Sprint(r.IntN(9)), r.IntN(50))), 0o644)
		}
	}
	if err != nil && !strings.Contains(err.Error(), "not a directory") {
		s.Fatal(err)
	}
}

func TestEveryEditHasItsVersion(t *testing.T) {
	s := newSite(t, nil)
	s.write("a.txt", "one", 0o640)
	path := filepath.Join(s.root, "a.txt")
	for i, text := range []string{"two", "three", "four"} {
		s.tracker.Prompt(fmt.Sprint("m", i))
		use := fmt.Sprint("u", i)
		b, err := s.tracker.BeforeEdit(t.Context(), use, path)
		if err != nil || !b.First || b.Version != i+1 {
			t.Fatalf("%+v, %v", b, err)
		}
		s.write("a.txt", text, 0o640)
		if err := s.tracker.AfterEdit(use); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(s.home, b.Name))
		if want := []string{"one", "two", "three"}[i]; err != nil || string(data) != want {
			t.Fatalf("version %d: %q, %v", i+1, data, err)
		}
	}
	clean(t, s.rewind("m1"))
	if got := s.tree()["a.txt"]; !strings.Contains(got, `"two"`) {
		t.Fatal(got)
	}
}

// TestKilledCommand: hew dies while a command runs; the next process knows
// what was there before.
func TestKilledCommand(t *testing.T) {
	s := newSite(t, nil)
	s.setUp(false)
	want := s.tree()
	s.tracker.Prompt("m1")
	if _, err := s.tracker.Before(t.Context(), Command{Use: "u", Text: "rm"}); err != nil {
		t.Fatal(err)
	}
	s.shell("rm -rf dir many; rm untracked.txt")
	s.open(nil)
	clean(t, s.rewind("m1"))
	s.same(want)
}

// TestRewindGoesOn: a rewind that was stopped at any point is finished by the next.
func TestRewindGoesOn(t *testing.T) {
	for stop := range 6 {
		s := newSite(t, nil)
		s.setUp(false)
		want := s.tree()
		s.tracker.Prompt("m1")
		s.run("rm -rf dir new many; echo x > made; chmod 700 bin")
		if err := s.tracker.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		p, err := s.tracker.Plan(t.Context(), Point{Prompt: "m1"})
		if err != nil {
			t.Fatal(err)
		}
		// What a killed one has done: some of the steps, and half a file.
		r := &rewind{t: s.tracker, ctx: t.Context(), report: &Report{}}
		steps := p.Steps[:len(p.Steps)*stop/6]
		r.run(slices.Clone(steps))
		s.open(nil)
		clean(t, s.rewind("m1"))
		s.same(want)
	}
}

// TestFullDisk: where nothing can be written, a rewind changes what needs no
// room, says what is left, and is finished by the next.
func TestFullDisk(t *testing.T) {
	s := newSite(t, nil)
	s.setUp(false)
	want := s.tree()
	s.tracker.Prompt("m1")
	s.run("rm -rf many; echo x > made")
	if err := s.tracker.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	copies := filepath.Join(s.home, "copies")
	if err := os.Rename(copies, copies+".away"); err != nil {
		t.Fatal(err)
	}
	r := s.rewind("m1")
	if len(r.Failed)+len(r.Lost) != 20 || len(r.Removed) != 1 {
		t.Fatalf("failed %v, lost %v, removed %v", r.Failed, r.Lost, r.Removed)
	}
	if err := os.Rename(copies+".away", copies); err != nil {
		t.Fatal(err)
	}
	clean(t, s.rewind("m1"))
	s.same(want)
}

func TestForeignChanges(t *testing.T) {
	s := newSite(t, nil)
	s.write("a", "one", 0o644)
	s.write("b", "one", 0o644)
	s.tracker.Prompt("m1")
	s.run("echo two > a; echo two > b; echo made > c")
	if err := s.tracker.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.write("b", "user", 0o644)
	s.write("c", "user", 0o644)
	s.write("d", "user", 0o644)
	r := s.rewind("m1")
	if len(r.Kept) != 2 || len(r.Failed) != 0 {
		t.Fatalf("%+v", r)
	}
	for _, k := range r.Kept {
		if data, err := os.ReadFile(k.Copy); err != nil || string(data) != "user" {
			t.Fatalf("%s: %q %v", k.Copy, data, err)
		}
	}
	if got := s.tree(); !strings.Contains(got["b"], `"one"`) || got["c"] != "" || !strings.Contains(got["d"], "user") {
		t.Fatal(got)
	}
}

// TestNothingBehindALink: a rewind does not follow a link that took a folder's place.
func TestNothingBehindALink(t *testing.T) {
	s := newSite(t, nil)
	s.write("dir/a", "one", 0o644)
	s.tracker.Prompt("m1")
	s.run("rm dir/a")
	if err := s.tracker.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.shell("rmdir dir && mkdir ../elsewhere && ln -s ../elsewhere dir")
	r, err := s.tracker.Rewind(context.Background(), Point{Prompt: "m1"})
	if err != nil || len(r.Failed) != 1 {
		t.Fatalf("%+v %v", r, err)
	}
	if _, err := os.Lstat(filepath.Join(s.root, "..", "elsewhere", "a")); err == nil {
		t.Fatal("a file was written through a link")
	}
}
