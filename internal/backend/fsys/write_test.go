package fsys

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func TestWriteFileCreates(t *testing.T) {
	d := realDir(t)
	p := filepath.Join(d, "a", "b", "f")
	w, err := WriteFile(p, []byte("x"), WriteOptions{})
	if err != nil || !w.Created || w.InPlace || w.Real != p || w.Status.Size != 1 {
		t.Fatalf("%+v, %v", w, err)
	}
	w, err = WriteFile(p, []byte("yy"), WriteOptions{})
	if err != nil || w.Created || content(t, p) != "yy" || names(t, filepath.Dir(p)) != "f" {
		t.Errorf("%+v, %v, %s", w, err, names(t, filepath.Dir(p)))
	}
}

func TestWriteFileKeepsModeAndLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("left out: mode bits and links (needs Unix)")
	}
	d := realDir(t)
	p := filepath.Join(d, "f")
	put(t, p, "old")
	must(t, os.Chmod(p, 0o751))
	must(t, os.Symlink("f", filepath.Join(d, "l")))
	w, err := WriteFile(filepath.Join(d, "l"), []byte("new"), WriteOptions{Mode: 0o600})
	if err != nil || w.Real != p {
		t.Fatalf("%+v, %v", w, err)
	}
	st, err := os.Lstat(p)
	must(t, err)
	if st.Mode().Perm() != 0o751 || content(t, p) != "new" {
		t.Errorf("mode %v, content %q", st.Mode(), content(t, p))
	}
	if target, err := os.Readlink(filepath.Join(d, "l")); err != nil || target != "f" {
		t.Errorf("the link is now %q, %v", target, err)
	}
	secret := filepath.Join(d, "secret")
	_, err = WriteFile(secret, []byte("x"), WriteOptions{Mode: 0o600})
	must(t, err)
	if st, _ := os.Stat(secret); st.Mode().Perm() != 0o600 {
		t.Errorf("new file has mode %v", st.Mode())
	}
}

func TestWriteFileHardLink(t *testing.T) {
	d := realDir(t)
	p, q := filepath.Join(d, "f"), filepath.Join(d, "g")
	put(t, p, "long old content")
	if err := os.Link(p, q); err != nil || runtime.GOOS == "windows" {
		t.Skip("left out: hard links (needs a Unix file system):", err)
	}
	for _, text := range []string{"new", "much longer than the content before"} {
		w, err := WriteFile(p, []byte(text), WriteOptions{})
		if err != nil || !w.InPlace || content(t, q) != text {
			t.Errorf("%+v, %v; the other name holds %q", w, err, content(t, q))
		}
	}
}

func TestWriteFileRefuses(t *testing.T) {
	d := realDir(t)
	ro := filepath.Join(d, "ro")
	put(t, ro, "old")
	must(t, os.Chmod(ro, 0o444))
	put(t, filepath.Join(d, "file"), "x")
	for path, want := range map[string]Cause{
		ro:                                CauseReadOnlyFile,
		d:                                 CauseIsDir,
		filepath.Join(d, "file", "below"): CauseNotDir,
		filepath.Join(d, strings.Repeat("long", 100)): CauseBadPath,
	} {
		_, err := WriteFile(path, []byte("new"), WriteOptions{})
		if CauseOf(err) != want && runtime.GOOS != "windows" {
			t.Errorf("%s: cause %d, want %d: %v", filepath.Base(path), CauseOf(err), want, err)
		}
	}
	if content(t, ro) != "old" {
		t.Error("the read-only file changed")
	}
}

func TestWriteFileFullDisk(t *testing.T) {
	full := writer{write: func(f *os.File, data []byte) error {
		_, err := f.Write(data[:len(data)/2])
		return errors.Join(err, &os.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC})
	}}
	d := realDir(t)
	p := filepath.Join(d, "f")
	put(t, p, "old")
	_, err := full.file(p, []byte("much longer new content"), WriteOptions{})
	if CauseOf(err) != CauseDiskFull || content(t, p) != "old" || names(t, d) != "f" {
		t.Errorf("%v; %q; folder: %s", err, content(t, p), names(t, d))
	}
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("text: %v", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	must(t, os.Link(p, filepath.Join(d, "g")))
	for _, text := range []string{"much longer new content", "n"} {
		if _, err := full.file(p, []byte(text), WriteOptions{}); CauseOf(err) != CauseDiskFull || content(t, p) != "old" {
			t.Errorf("in place: %v; %q", err, content(t, p))
		}
	}
}

func TestSweepRemovesDeadTemps(t *testing.T) {
	d := realDir(t)
	p := filepath.Join(d, "f")
	put(t, p, "old")
	// No process has a number this high: Linux ends at 2^22, Windows numbers are multiples of 4.
	put(t, filepath.Join(d, ".f.hew-999999999-ABCDEFGH"), "half")
	put(t, filepath.Join(d, ".other.hew-999999999-ABCDEFGH"), "half")
	_, err := WriteFile(p, []byte("new"), WriteOptions{})
	must(t, err)
	if got := names(t, d); got != ".other.hew-999999999-ABCDEFGH f" {
		t.Errorf("folder: %s", got)
	}
}

func TestWriteFileBigRoundTrip(t *testing.T) {
	p := filepath.Join(realDir(t), "big")
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<17)
	_, err := WriteFile(p, data, WriteOptions{})
	must(t, err)
	if got, _, err := ReadRaw(p, Limits{}); err != nil || !bytes.Equal(got, data) {
		t.Errorf("came back different: %v", err)
	}
}
