package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestAdd(t *testing.T) {
	root := tree(t, map[string]string{"lf.md": "# a\ntext", "crlf.md": "\ufeff# a\r\n", "bin.md": "\x00", "out/key": "k", "w/x": ""})
	add := func(name, text string) error {
		return Add(t.Context(), Addition{Path: filepath.Join(root, name), Lock: filepath.Join(root, "lock"), Text: text})
	}
	for name, want := range map[string]string{"lf.md": "# a\ntext\n- use tabs\n", "crlf.md": "\ufeff# a\r\n- use tabs\r\n", "new/CLAUDE.md": "- use tabs\n"} {
		if err := add(name, " use\n tabs "); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, text := range map[string]string{"bin.md": "x", "w": "x", "lf.md": " \n", "crlf.md": "- ", "a.md": strings.Repeat("x", maxAddition+1), "b.md": "\xff"} {
		if add(name, text) == nil {
			t.Errorf("%s takes %.10q", name, text)
		}
	}
	if err := os.Symlink("../out/key", filepath.Join(root, "w", "CLAUDE.md")); err != nil {
		t.Skip("left out: an instruction file that is a link (needs symbolic links): ", err)
	}
	err := Add(t.Context(), Addition{Path: filepath.Join(root, "w", "CLAUDE.md"), Within: filepath.Join(root, "w"), Lock: filepath.Join(root, "lock"), Text: "x"})
	if got, _ := os.ReadFile(filepath.Join(root, "out", "key")); err == nil || string(got) != "k" {
		t.Errorf("a link led out: %q, %v", got, err)
	}
}

// Two sessions that add at the same time lose no line.
func TestAddTogether(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "CLAUDE.md")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if err := Add(t.Context(), Addition{Path: path, Lock: filepath.Join(root, "lock"), Text: fmt.Sprint("entry ", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if raw, err := os.ReadFile(path); err != nil || strings.Count(string(raw), "- entry ") != 20 {
		t.Errorf("%q, %v", raw, err)
	}
}
