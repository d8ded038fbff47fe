package session

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

const (
	id1 = "11111111-1111-4111-8111-111111111111"
	id2 = "22222222-2222-4222-8222-222222222222"
)

func testStore(t *testing.T) Store {
	t.Helper()
	return Store{Home: t.TempDir(), Project: "-p"}
}

func mustCreate(t *testing.T, s Store, id string) *Log {
	t.Helper()
	l, err := s.Create(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestKey(t *testing.T) {
	long := "/" + strings.Repeat("a", 210)
	for in, want := range map[string]string{
		"/a/b.c":   "-a-b-c",
		"/x y/Z_9": "-x-y-Z-9",
		"/e\u0301": "--",  // decomposed é is one letter after normalisation
		"/é":       "--",  // composed
		"/😀":       "---", // two UTF-16 units
		`C:\u\v`:   "C--u-v",
		long:       "-" + strings.Repeat("a", 199) + "-djaaup", // computed with another program
	} {
		if got := Key(in); got != want {
			t.Errorf("Key(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestChosenKey(t *testing.T) {
	for _, ok := range []string{"a", "A-b_9", strings.Repeat("x", 64)} {
		if got, err := ChosenKey(ok); err != nil || got != ok {
			t.Errorf("ChosenKey(%q) = %q, %v", ok, got, err)
		}
	}
	for _, bad := range []string{"", "a/b", "..", "é", strings.Repeat("x", 65)} {
		if _, err := ChosenKey(bad); err == nil {
			t.Errorf("ChosenKey(%q) accepted", bad)
		}
	}
}

func TestNewIDIsAUUID(t *testing.T) {
	a, b := NewID(), NewID()
	if a == b || !ValidID(a) || a[14] != '4' {
		t.Fatalf("%s %s", a, b)
	}
	for _, bad := range []string{"", "x", "../../../../etc/passwd-aaaaaaaaaaaaaa", strings.Repeat("1", 36)} {
		if ValidID(bad) {
			t.Errorf("ValidID(%q)", bad)
		}
	}
}

func TestAppendModesAndReuse(t *testing.T) {
	s := testStore(t)
	l := mustCreate(t, s, id1)
	if err := l.Append([]byte(`{"a":1}`), []byte(`{"b":2}`)); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(l.Path())
	if err != nil || string(got) != "{\"a\":1}\n{\"b\":2}\n" {
		t.Fatalf("%q %v", got, err)
	}
	if runtime.GOOS != "windows" {
		for path, want := range map[string]fs.FileMode{l.Path(): 0o600, s.Dir(): 0o700} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: mode %v, %v", path, info.Mode(), err)
			}
		}
	}
	if _, err := s.Open(id1); !isBusy(err) {
		t.Fatalf("open twice: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var exists *Exists
	if _, err := s.Create(id1); !errors.As(err, &exists) {
		t.Fatalf("create again: %v", err)
	}
	if _, err := s.Open(id2); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("open missing: %v", err)
	}
	if _, err := s.Open("../x"); err == nil {
		t.Fatal("a path was taken for an id")
	}
	again, err := s.Open(id1)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if left, _ := filepath.Glob(filepath.Join(s.Home, "hew", "locks", "*")); len(left) != 1 {
		t.Errorf("lock files: %v", left)
	}
}

func isBusy(err error) bool {
	var b *Busy
	return errors.As(err, &b) && b.PID == os.Getpid()
}

// A process that was stopped before its first prompt leaves an empty file: the
// id is still free, as there is nothing to continue.
func TestCreateTakesAnUnusedFile(t *testing.T) {
	s := testStore(t)
	if err := mustCreate(t, s, id1).Close(); err != nil {
		t.Fatal(err)
	}
	l := mustCreate(t, s, id1)
	if err := l.Append([]byte(`{"type":"user"}`)); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var exists *Exists
	if _, err := s.Create(id1); !errors.As(err, &exists) {
		t.Fatalf("a session with a line: %v", err)
	}
}

func TestNilLogDoesNothing(t *testing.T) {
	var l *Log
	if err := errors.Join(l.Append([]byte("{}")), l.Sync(), l.Close()); err != nil || l.Path() != "" || l.ID() != "" || l.Warning() != "" {
		t.Fatal(err)
	}
}

func TestOpenClosesATornLine(t *testing.T) {
	s := testStore(t)
	if err := os.MkdirAll(s.Dir(), 0o700); err != nil {
		t.Fatal(err)
	}
	torn := "{\"a\":1}\n{\"b\":\"half"
	if err := os.WriteFile(s.Path(id1), []byte(torn), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := s.Open(id1)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got, _ := os.ReadFile(l.Path()); string(got) != torn {
		t.Fatalf("opening changed the file: %q", got)
	}
	if err := l.Append([]byte(`{"c":3}`)); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(l.Path()); string(got) != torn+"\n{\"c\":3}\n" {
		t.Fatalf("%q", got)
	}
}

// fullDisk is a file on a disk with room for a number of bytes.
type fullDisk struct {
	*os.File
	room       int
	noTruncate bool
}

func (d *fullDisk) Write(p []byte) (int, error) {
	n := min(d.room, len(p))
	w, err := d.File.Write(p[:n])
	d.room -= w
	if err == nil && n < len(p) {
		err = &fs.PathError{Op: "write", Path: d.Name(), Err: syscall.ENOSPC}
	}
	return w, err
}

func (d *fullDisk) Truncate(size int64) error {
	if d.noTruncate {
		return syscall.EPERM
	}
	info, _ := d.Stat()
	d.room += int(info.Size() - size)
	return d.File.Truncate(size)
}

func TestFullDiskLeavesTheFileParseable(t *testing.T) {
	whole, next := []byte(`{"n":1}`), []byte(`{"n":2,"text":"0123456789"}`)
	for room := range len(next) + 1 {
		for _, noTruncate := range []bool{false, true} {
			s := Store{Home: t.TempDir(), Project: "-p"}
			l := mustCreate(t, s, id1)
			if err := l.Append(whole); err != nil {
				t.Fatal(err)
			}
			disk := &fullDisk{File: l.f, room: room, noTruncate: noTruncate}
			l.disk = disk
			err := l.Append(next)
			if fsys.CauseOf(err) != fsys.CauseDiskFull {
				t.Fatalf("room %d: %v", room, err)
			}
			got, _ := os.ReadFile(l.Path())
			if !noTruncate && string(got) != string(whole)+"\n" {
				t.Fatalf("room %d: not taken back: %q", room, got)
			}
			disk.room = 1 << 20
			if err := l.Append(next); err != nil {
				t.Fatal(err)
			}
			got, _ = os.ReadFile(l.Path())
			lines := bytes.Split(bytes.TrimSuffix(got, []byte("\n")), []byte("\n"))
			if string(lines[0]) != string(whole) || string(lines[len(lines)-1]) != string(next) {
				t.Fatalf("room %d, no truncate %v: %q", room, noTruncate, got)
			}
		}
	}
}

func TestAppendIsSafeForConcurrentUse(t *testing.T) {
	l := mustCreate(t, testStore(t), id1)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if err := l.Append([]byte(`{"k":"` + strings.Repeat("v", 3000) + `"}`)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got, _ := os.ReadFile(l.Path())
	if n := bytes.Count(got, []byte("\n")); n != 400 || len(got) != 400*3009 {
		t.Fatalf("%d lines, %d bytes", n, len(got))
	}
}

// TestLockOfADeadHolder starts this test binary as the holder of a session and
// kills it.
func TestLockOfADeadHolder(t *testing.T) {
	if home := os.Getenv("HEW_TEST_HOLD"); home != "" {
		l, err := (Store{Home: home, Project: "-p"}).Create(id1)
		if err != nil {
			os.Exit(1)
		}
		os.Stdout.WriteString("held\n")
		// Not select {}: a process in which everything sleeps for ever is ended by the
		// runtime, and the lock with it.
		_, _ = io.Copy(io.Discard, os.Stdin)
		runtime.KeepAlive(l)
		return
	}
	s := testStore(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestLockOfADeadHolder$")
	cmd.Env = append(os.Environ(), "HEW_TEST_HOLD="+s.Home)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 5)
	if _, err := io.ReadFull(out, line); err != nil || string(line) != "held\n" {
		t.Fatalf("%q %v", line, err)
	}
	var busy *Busy
	if _, err := s.Open(id1); !errors.As(err, &busy) || busy.PID != cmd.Process.Pid {
		t.Fatalf("while held: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	deadline := time.Now().Add(5 * time.Second)
	for {
		l, err := s.Open(id1)
		if err == nil {
			_ = l.Close()
			return
		}
		if !errors.As(err, &busy) || time.Now().After(deadline) {
			t.Fatalf("after the holder died: %v", err)
		}
		runtime.Gosched()
	}
}

func TestReadOnlyHomeIsAnErrorWithThePath(t *testing.T) {
	if os.Getuid() == 0 {
		// Root may write anywhere: a file where the folder should be does for it.
		home := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(home, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Store{Home: home, Project: "-p"}.Create(id1)
		if fsys.CauseOf(err) != fsys.CauseNotDir || !strings.Contains(err.Error(), home) {
			t.Fatal(err)
		}
		return
	}
	home := t.TempDir()
	if err := os.Chmod(home, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := (Store{Home: home, Project: "-p"}).Create(id1); fsys.CauseOf(err) != fsys.CausePermission {
		t.Fatal(err)
	}
}
