//go:build unix

package fsys

import (
	"os"
	"path/filepath"
	"testing"
)

// What somebody else planted under the name of the folder for locks is refused.
func TestPrivateDir(t *testing.T) {
	at := func(name string) string { return filepath.Join(t.TempDir(), name) }
	fresh := at("fresh")
	for range 2 {
		if err := privateDir(fresh); err != nil {
			t.Fatal(err)
		}
	}
	if st, err := os.Stat(fresh); err != nil || st.Mode().Perm() != 0o700 {
		t.Fatalf("%v %v", st.Mode(), err)
	}
	link, open, file := at("link"), at("open"), at("file")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := "/" // root's, and another user's for everybody else
	if os.Getuid() == 0 {
		foreign = at("foreign")
		if err := os.Mkdir(foreign, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(foreign, 12345, 12345); err != nil {
			t.Fatal(err)
		}
	}
	for _, planted := range []string{link, open, file, foreign} {
		if err := privateDir(planted); CauseOf(err) != CauseNotPrivate {
			t.Errorf("%s: %v", planted, err)
		}
	}
}
