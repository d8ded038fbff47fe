package fsys

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestKeep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	keep := func(s string) string {
		t.Helper()
		path, n, err := Keep(dir, ".txt", strings.NewReader(s))
		if err != nil || n != int64(len(s)) || filepath.Base(path) != KeptName([]byte(s), ".txt") {
			t.Fatal(path, n, err)
		}
		if raw, _ := os.ReadFile(path); string(raw) != s {
			t.Fatalf("%s holds %q", path, raw)
		}
		return path
	}
	one := keep("one")
	if two := keep("two"); two == one {
		t.Error("different bytes have one name")
	}
	before, _ := os.Stat(one)
	if again := keep("one"); again != one {
		t.Error("the same bytes have two names")
	}
	if after, _ := os.Stat(one); !os.SameFile(before, after) {
		t.Error("what was there was written again")
	}
	if err := os.WriteFile(one, []byte("eno"), 0o600); err != nil {
		t.Fatal(err)
	}
	keep("one")
	if _, _, err := Keep(dir, ".txt", io.MultiReader(strings.NewReader("begun"), iotest.ErrReader(errors.New("torn")))); err == nil || !strings.Contains(err.Error(), "torn") {
		t.Error(err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 2 {
		t.Errorf("%v", list)
	}
}
