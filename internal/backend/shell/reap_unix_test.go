//go:build unix

package shell

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain is the reaper when a test's Runner starts it as one.
func TestMain(m *testing.M) {
	if code, mine := Reap(os.Args[1:]); mine {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// survivors are commands whose processes nothing but the reaper would end.
// Each writes the number of its quiet process to $F.
var survivors = map[string]string{
	"silent":     `sleep 9871 & echo $! > "$F"; wait`,
	"foreground": `bash -c 'echo $$ > "$F"; exec sleep 9872'`,
	"deaf":       `trap '' TERM HUP; sleep 9870 & echo $! > "$F"; wait`,
	"session":    `setsid bash -c 'echo $$ > "$F"; exec sleep 9873' & wait`,
	"cleared":    `env -i F="$F" setsid bash -c 'echo $$ > "$F"; exec sleep 9874'`,
	"orphan":     `(setsid nohup sleep 9875 >/dev/null 2>&1 & echo $! > "$F")`,
	"stopped":    `sleep 9876 & echo $! > "$F"; kill -STOP $!; wait`,
}

// TestReaper kills a hew that runs all of them, and expects none to be left.
func TestReaper(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("left out: processes in sessions of their own (needs setsid)")
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestReaperChild$")
	cmd.Env = append(os.Environ(), "REAPER_TEST_DIR="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pids := map[string]int{"server": 0, "job": 0}
	for name := range survivors {
		pids[name] = 0
	}
	for name := range pids {
		pids[name] = pidIn(t, filepath.Join(dir, name))
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	began := time.Now()
	for name, pid := range pids {
		eventually(t, name+" to be ended", func() bool { return !alive(pid) })
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the last process lived for another %v", took)
	}
}

func TestReaperChild(t *testing.T) {
	dir := os.Getenv("REAPER_TEST_DIR")
	if dir == "" {
		return // only a helper of TestReaper
	}
	r := New(Config{NoSnapshot: true, Reaper: ReaperCommand()})
	ctx := context.Background()
	env := func(name string) map[string]string { return map[string]string{"F": filepath.Join(dir, name)} }
	for name, text := range survivors {
		go func() { _, _ = r.Run(ctx, Command{Text: text, Dir: "/", Env: env(name)}) }()
	}
	_, _ = r.Start(ctx, Command{Text: `echo $$ > "$F"; sleep 9877; :`, Dir: "/", Env: env("job")})
	chain := `sh -c 'sh -c "echo \$\$ > \"$F\"; sleep 9878; :"; :'; :`
	_, _ = r.Serve(ctx, Server{Argv: []string{r.Shell(), "-c", chain}, Dir: "/", Env: env("server")})
	select {}
}

// TestReaperRests: it is not there before a command, and gone after Close,
// without having ended anything.
func TestReaperRests(t *testing.T) {
	r := newRunner(t, func(c *Config) { c.Reaper = ReaperCommand() })
	if _, err := r.Exec(t.Context(), Program{Argv: []string{r.Shell(), "-c", ":"}, Dir: "/", Tidy: true}); err != nil {
		t.Fatal(err)
	}
	if r.reaper.pipe != nil {
		t.Error("the reaper was started for a program that leaves nothing behind")
	}
	if _, err := r.Run(t.Context(), Command{Text: ":", Dir: "/"}); err != nil {
		t.Fatal(err)
	}
	before := reapers(t)
	if len(before) != 1 {
		t.Fatalf("reapers: %v", before)
	}
	if err := unix.Kill(before[0], unix.SIGKILL); err != nil { // somebody ends it
		t.Fatal(err)
	}
	eventually(t, "another reaper", func() bool {
		_, err := r.Run(t.Context(), Command{Text: ":", Dir: "/"})
		now := reapers(t)
		return err == nil && len(now) == 1 && now[0] != before[0]
	})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if left := reapers(t); len(left) > 0 {
		t.Errorf("left after Close: %v", left)
	}
}

// reapers are this process's living children that are one.
func reapers(t *testing.T) []int {
	t.Helper()
	table, err := processes(0)
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, e := range table {
		if e.ppid != os.Getpid() || e.zombie {
			continue
		}
		out, err := exec.Command("ps", "-o", "args=", "-p", strconv.Itoa(e.pid)).Output()
		if err == nil && strings.Contains(string(out), ReaperArg) {
			pids = append(pids, e.pid)
		}
	}
	return pids
}

func TestReapReadsCutLines(t *testing.T) {
	for _, lines := range []string{"", "tag", "run 1", "tag x.\nrun 1 0\nrun", "tag nobody-has-this.\nrun 999999999 1\nend 5", "\x00\xff"} {
		if err := reap(strings.NewReader(lines), time.Millisecond, time.Millisecond); err != nil {
			t.Errorf("%q: %v", lines, err)
		}
	}
}

func TestServe(t *testing.T) {
	r := newRunner(t, nil)
	s, err := r.Serve(t.Context(), Server{Argv: []string{r.Shell(), "-c", "echo started >&2; cat"}, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintln(s.Stdin, "hello"); err != nil {
		t.Fatal(err)
	}
	var got [6]byte
	if _, err := s.Stdout.Read(got[:]); err != nil || string(got[:]) != "hello\n" {
		t.Fatalf("read %q, %v", got, err)
	}
	eventually(t, "its standard error", func() bool {
		b, err := s.Errors(100)
		return err == nil && bytes.Equal(b, []byte("started\n"))
	})
	for range 2 {
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if code, sig := s.Exit(); sig == "" || code < 128 {
		t.Errorf("ended with %d %q", code, sig)
	}
}
