//go:build unix

package fsys

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestFIFOIsNeverOpened(t *testing.T) {
	p := filepath.Join(realDir(t), "fifo")
	must(t, unix.Mkfifo(p, 0o600))
	for what, try := range map[string]func() error{
		"read":  func() error { _, err := ReadText(p, Limits{}); return err },
		"write": func() error { _, err := WriteFile(p, []byte("x"), WriteOptions{}); return err },
	} {
		if err := try(); CauseOf(err) != CauseNotRegular {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A tiny file system shows the real thing; without the right to mount one the injected writer has shown it already.
func TestFullFileSystem(t *testing.T) {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("left out: really full disk (needs Linux and root)")
	}
	d := realDir(t)
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", d).CombinedOutput(); err != nil {
		t.Skip("left out: really full disk (needs the right to mount):", string(out))
	}
	t.Cleanup(func() { must(t, exec.Command("umount", d).Run()) })
	p := filepath.Join(d, "f")
	put(t, p, "old")
	_, err := WriteFile(p, make([]byte, 1<<20), WriteOptions{})
	if CauseOf(err) != CauseDiskFull || content(t, p) != "old" || names(t, d) != "f" {
		t.Errorf("%v; %q; folder: %s", err, content(t, p), names(t, d))
	}
	must(t, os.Link(p, filepath.Join(d, "g")))
	if _, err := WriteFile(p, make([]byte, 1<<20), WriteOptions{}); CauseOf(err) != CauseDiskFull || content(t, p) != "old" {
		t.Errorf("in place: %v; %q", err, content(t, p))
	}
}

func TestPermissionErrors(t *testing.T) {
	if os.Geteuid() == 0 {
		asNobody(t)
		return
	}
	d := realDir(t)
	p := filepath.Join(d, "dir", "f")
	put(t, p, "old")
	must(t, os.Chmod(filepath.Dir(p), 0o555))
	t.Cleanup(func() { must(t, os.Chmod(filepath.Dir(p), 0o755)) })
	if w, err := WriteFile(p, []byte("new"), WriteOptions{}); err != nil || !w.InPlace {
		t.Errorf("a folder that takes no new files: %+v, %v", w, err)
	}
	if _, err := WriteFile(filepath.Join(d, "dir", "g"), []byte("x"), WriteOptions{}); CauseOf(err) != CausePermission {
		t.Errorf("new file: %v", err)
	}
	must(t, os.Chmod(filepath.Dir(p), 0))
	if _, err := ReadText(p, Limits{}); CauseOf(err) != CausePermission {
		t.Errorf("unsearchable folder: %v", err)
	}
}

// asNobody runs the calling test again in a process without the superuser's rights.
func asNobody(t *testing.T) {
	t.Helper()
	d := realDir(t)
	for dir := d; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o755))
	}
	self, err := os.Executable()
	must(t, err)
	bin, err := os.ReadFile(self)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(d, "test"), bin, 0o755))
	must(t, os.Mkdir(filepath.Join(d, "tmp"), 0o777))
	must(t, os.Chmod(filepath.Join(d, "tmp"), 0o777))
	cmd := exec.Command(filepath.Join(d, "test"), "-test.run=^"+t.Name()+"$")
	cmd.Dir = filepath.Join(d, "tmp")
	cmd.Env = append(os.Environ(), "TMPDIR="+cmd.Dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}

func TestReadHead(t *testing.T) {
	d := realDir(t)
	put(t, filepath.Join(d, "f"), "hello world")
	must(t, unix.Mkfifo(filepath.Join(d, "fifo"), 0o600))
	must(t, os.Mkdir(filepath.Join(d, "dir"), 0o755))
	must(t, os.Symlink("loop", filepath.Join(d, "loop")))
	for _, c := range []struct {
		name  string
		most  int
		want  string
		cause Cause
	}{
		{"f", 5, "hello", CauseOther},
		{"f", 100, "hello world", CauseOther},
		{"fifo", 5, "", CauseNotRegular},
		{"dir", 5, "", CauseIsDir},
		{"missing", 5, "", CauseMissing},
		{"loop", 5, "", CauseLinkLoop},
	} {
		head, st, err := ReadHead(filepath.Join(d, c.name), c.most)
		if string(head) != c.want || CauseOf(err) != c.cause {
			t.Errorf("%s: %q, %v", c.name, head, err)
		}
		if err == nil && (st.Size != 11 || st.ModTime.IsZero()) {
			t.Errorf("%s: %+v", c.name, st)
		}
	}
}
