//go:build unix

package search

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestGrepSurvivesSpecialFiles holds a FIFO, which would block an open, a
// 20 GB sparse file, links in a circle, an unreadable folder and a line feed
// in a name.
func TestGrepSurvivesSpecialFiles(t *testing.T) {
	isolate(t)
	root := plant(t, map[string]string{"sub/a.txt": "hit\n", "new\nline": "hit\n", "closed/x": "hit\n"})
	for _, err := range []error{
		syscall.Mkfifo(filepath.Join(root, "fifo"), 0o644),
		os.Symlink("..", filepath.Join(root, "sub", "up")),
		os.Symlink("a.txt", filepath.Join(root, "sub", "link")),
		os.WriteFile(filepath.Join(root, "sparse"), nil, 0o644),
		os.Truncate(filepath.Join(root, "sparse"), 20<<30),
		os.Chmod(filepath.Join(root, "closed"), 0),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(root, "closed"), 0o755) })
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	r, err := Engine{}.Grep(ctx, GrepQuery{Root: root, Pattern: "hit", Mode: ModeCount})
	if err != nil {
		t.Fatal(err)
	}
	want := "new\nline:1\nsub/a.txt:1\n"
	if os.Getuid() == 0 { // root reads closed folders
		want = "closed/x:1\n" + want
	} else if r.SkipCount != 1 || !strings.HasSuffix(r.Skips[0].Path, "closed") {
		t.Errorf("skips: %+v", r.Skips)
	}
	if got := render(root, r); got != want {
		t.Errorf("got %q", got)
	}
	if _, err := (Engine{}).Grep(ctx, GrepQuery{Root: filepath.Join(root, "fifo"), Pattern: "x"}); err == nil {
		t.Error("a FIFO was searched")
	}
}

func TestGrepReportsUnreadable(t *testing.T) {
	isolate(t)
	root := plant(t, map[string]string{"a": "hit"})
	// A name that cannot be opened whoever asks: it became a folder after the
	// listing.
	s := newScanner(&GrepQuery{Pattern: "hit"}, mustCompile(t, "hit"))
	if f := s.scan(context.Background(), root, refuseLinks); f.err == nil {
		t.Error("a folder was searched as a file")
	}
	if err := os.Symlink("a", filepath.Join(root, "l")); err != nil {
		t.Fatal(err)
	}
	if f := s.scan(context.Background(), filepath.Join(root, "l"), refuseLinks); f.err == nil {
		t.Error("a link was followed in a walk")
	}
}

func TestFindRipgrepTrustsNoWritablePlace(t *testing.T) {
	base := realTempDir(t)
	// The test's own temporary folder lies under a world-writable one, so no
	// candidate in it may ever be taken.
	bin := filepath.Join(base, "bin")
	write(t, filepath.Join(bin, "rg"), "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(bin, "rg"), 0o755); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(filepath.Dir(base)); err != nil || !onlyOurs(base) {
		if got := FindRipgrep(bin); got != "" {
			t.Errorf("took %s below %v", got, st)
		}
	}
	t.Chdir(base)
	for _, list := range []string{"bin", "./bin", "", ".", ":bin"} {
		if got := FindRipgrep(list); got != "" {
			t.Errorf("PATH %q gave %s", list, got)
		}
	}
	real := FindRipgrep(os.Getenv("PATH"))
	if real == "" {
		t.Log("left out: the accepted case (needs ripgrep)")
		return
	}
	if !filepath.IsAbs(real) || FindRipgrep(os.Getenv("PATH"), filepath.Dir(real)) != "" {
		t.Errorf("%s: not absolute, or taken out of an untrusted folder", real)
	}
}

func TestSparseFileNamedDirectlyIsCut(t *testing.T) {
	path := filepath.Join(realTempDir(t), "sparse")
	write(t, path, "hit\n")
	if err := os.Truncate(path, 20<<30); err != nil {
		t.Fatal(err)
	}
	s := newScanner(&GrepQuery{Pattern: "hit", Mode: ModeCount}, mustCompile(t, "hit"))
	s.limit = 8 << 20 // of the same effect as MaxFileBytes, and sooner
	f := s.scan(context.Background(), path, followLinks)
	if f.count != 1 || !errors.Is(f.err, errCut) || s.src.read != s.limit {
		t.Errorf("got %+v after %d bytes", f, s.src.read)
	}
}
