//go:build unix

package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

func newRunner(t *testing.T, change func(*Config)) *Runner {
	t.Helper()
	cfg := Config{
		Env:       []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()},
		OutputDir: t.TempDir(),
		Notice:    func(text string) { t.Errorf("unexpected notice: %s", text) },
	}
	if change != nil {
		change(&cfg)
	}
	before := runtime.NumGoroutine()
	r := New(cfg)
	t.Cleanup(func() {
		began := time.Now()
		if err := r.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("close took %v", took)
		}
		eventually(t, "goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
	})
	return r
}

// eventually polls without sleeping: runtime.Gosched would burn the machine,
// a ticker does not.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func run(t *testing.T, r *Runner, c Command) (Outcome, string) {
	t.Helper()
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	o, err := r.Run(t.Context(), c)
	if err != nil {
		t.Fatalf("run %q: %v", c.Text, err)
	}
	return o, output(t, o.OutputFile)
}

func output(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// alive reports whether a process runs (a zombie does not).
func alive(pid int) bool {
	e, err := lookup(pid)
	return err == nil && !e.zombie
}

// pidIn waits until a command has written a pid to a file.
func pidIn(t *testing.T, path string) int {
	t.Helper()
	pid := 0
	eventually(t, "pid in "+path, func() bool {
		b, _ := os.ReadFile(path)
		text, whole := strings.CutSuffix(string(b), "\n")
		n, err := strconv.Atoi(strings.TrimSpace(text))
		pid = n
		return whole && err == nil
	})
	return pid
}

func needs(t *testing.T, program string) string {
	t.Helper()
	path, err := LookPath(program, os.Environ())
	if err != nil {
		t.Skipf("left out: %s (needs %s)", t.Name(), program)
	}
	return path
}

func TestRunExitCodesAndOutput(t *testing.T) {
	r := newRunner(t, nil)
	tests := []struct {
		name, text, want, signal string
		code                     int
	}{
		{name: "merged in order", text: "echo a; echo b >&2; echo c; echo d >&2", want: "a\nb\nc\nd\n"},
		{name: "exit code", text: "echo x; exit 3", want: "x\n", code: 3},
		{name: "last command", text: "false", code: 1},
		{name: "errexit", text: "set -e; (exit 4); echo no", code: 4},
		{name: "child killed", text: "{ bash -c 'kill -9 $$'; } 2>/dev/null", code: 137},
		{name: "shell killed", text: "kill -9 $$", code: 137, signal: "SIGKILL"},
		{name: "shell terminated", text: "kill $$", code: 143, signal: "SIGTERM"},
		{name: "not found", text: "no-such-program-here 2>/dev/null", code: 127},
		{name: "empty", text: ""},
		{name: "comment at the end", text: "echo a # b", want: "a\n"},
		{name: "backslash at the end", text: `echo a \`, want: "a\n"},
		{name: "quotes", text: `echo "it's"; echo 'a"b'`, want: "it's\na\"b\n"},
		{name: "heredoc", text: "cat <<'X'\n$a `b`\nX", want: "$a `b`\n"},
		{name: "cannot leave the frame", text: "'; echo out", want: "", code: 2},
		{name: "tracing shows only the text", text: "set -x; true", want: "++ true\n"},
		{name: "own exit trap", text: "trap 'echo bye' EXIT; echo hi", want: "hi\nbye\n"},
		{name: "stdin is empty", text: "cat; read x; echo $?", want: "1\n"},
		{name: "outputs opened by name", text: "echo a; echo b > /dev/stderr; echo c > /dev/stdout; echo d", want: "a\nb\nc\nd\n"},
		{name: "no terminal", text: "(: < /dev/tty) 2>/dev/null || echo none", want: "none\n"},
		{name: "no final newline", text: "printf abc", want: "abc"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, got := run(t, r, Command{Text: tt.text})
			if tt.name == "cannot leave the frame" {
				if o.ExitCode == 0 || strings.Contains(got, "out\n") && !strings.Contains(got, "syntax") && !strings.Contains(got, "EOF") {
					t.Fatalf("code %d, output %q", o.ExitCode, got)
				}
				return
			}
			if got != tt.want || o.ExitCode != tt.code || o.Signal != tt.signal {
				t.Errorf("got %q, code %d, signal %q; want %q, %d, %q", got, o.ExitCode, o.Signal, tt.want, tt.code, tt.signal)
			}
			if o.Size != int64(len(got)) || o.TimedOut || o.Interrupted || o.Overflow || o.OutputErr != nil {
				t.Errorf("outcome %+v", o)
			}
		})
	}
}

func TestCwd(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"plain", "with space", "quote'\"$x`y`", "line\nfeed", "end\n\n", "-n", "*?[a]", "naïve-日本", "\xff\xfe", `back\slash`}
	for _, sh := range []string{"bash", "sh", "dash", "zsh"} {
		path, err := LookPath(sh, os.Environ())
		if err != nil {
			t.Logf("left out: working directory of %s (needs %[1]s)", sh)
			continue
		}
		r := newRunner(t, func(c *Config) { c.Shell = path })
		for i, name := range names {
			dir := filepath.Join(root, name)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				if runtime.GOOS == "darwin" {
					continue // only UTF-8 names there
				}
				t.Fatal(err)
			}
			for _, text := range []string{`cd "$T"`, `cd "$T"; exit 0`, `cd "$T"; trap : EXIT`, `set -e; cd "$T"; false`} {
				o, got := run(t, r, Command{Text: text, Dir: root, Env: map[string]string{"T": dir}})
				if o.Cwd != dir || got != "" {
					t.Errorf("%s, name %d, %q: cwd %q, output %q, want %q", sh, i, text, o.Cwd, got, dir)
				}
			}
		}
	}
}

func TestCwdUnknown(t *testing.T) {
	r := newRunner(t, nil)
	root, _ := filepath.EvalSymlinks(t.TempDir())
	for _, text := range []string{
		"cd /; exec true", "cd /; kill -9 $$", "mkdir gone; cd gone; rmdir ../gone", "(cd /)", "pwd() { echo /; }; alias pwd='echo /'; printf() { :; }",
		`printf 'relative\n\0' >&187`,
	} {
		if o, _ := run(t, r, Command{Text: text, Dir: root}); o.Cwd != root {
			t.Errorf("%q: cwd %q, want %q", text, o.Cwd, root)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	r := newRunner(t, nil)
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]Command{
		"relative dir": {Dir: "x"}, "no dir": {}, "missing dir": {Dir: file + "/no"}, "dir is a file": {Dir: file},
		"NUL": {Dir: "/", Text: "a\x00b"}, "output exists": {Dir: "/", OutputFile: file},
	} {
		if _, err := r.Run(t.Context(), c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got := output(t, file); got != "mine" {
		t.Errorf("an existing file was written: %q", got)
	}
}

func TestReturnsWhenShellEnds(t *testing.T) {
	r := newRunner(t, nil)
	began := time.Now()
	o, got := run(t, r, Command{Text: "echo first; (while :; do echo more; sleep 0.02; done) & echo last"})
	if took := time.Since(began); took > patience/2 {
		t.Errorf("took %v", took)
	}
	if o.ExitCode != 0 || !strings.Contains(got, "first\n") || !strings.Contains(got, "last\n") {
		t.Errorf("code %d, output %q", o.ExitCode, got)
	}
	if len(o.Left) == 0 {
		t.Error("the background child is not listed")
	}
	eventually(t, "output of the background child", func() bool { return strings.Count(output(t, o.OutputFile), "more\n") > 3 })
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range o.Left {
		if alive(p.PID) {
			t.Errorf("%v still runs after Close", p)
		}
	}
}

// escapes are ways out of a process group; each writes the pid of what
// escaped into $F.
var escapes = map[string]string{
	"child":           `sleep 300 & echo $! > "$F"; wait`,
	"ignores TERM":    `bash -c 'trap "" TERM; echo $$ > "$F"; while :; do sleep 0.1; done'`,
	"setsid":          `setsid sleep 300 & echo $! > "$F"; wait`,
	"double fork":     `(setsid bash -c 'echo $$ > "$F"; exec sleep 300' &) ; sleep 300`,
	"clean env":       `setsid env -i sleep 300 & echo $! > "$F"; wait`,
	"stopped":         `sleep 300 & echo $! > "$F"; kill -STOP $!; wait`,
	"job control":     `set -m; sleep 300 & echo $! > "$F"; wait`,
	"nohup, disowned": `nohup sleep 300 & echo $! > "$F"; disown; sleep 300`,
}

func TestCancelKillsTree(t *testing.T) {
	needs(t, "setsid")
	r := newRunner(t, func(c *Config) { c.Grace = 300 * time.Millisecond })
	for name, text := range escapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pid")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			pid := make(chan int, 1)
			go func() { pid <- pidIn(t, file); cancel() }()
			o, err := r.Run(ctx, Command{Text: text, Dir: t.TempDir(), Env: map[string]string{"F": file}})
			if err != nil || !o.Interrupted || o.TimedOut || o.ExitCode == 0 {
				t.Errorf("outcome %+v, %v", o, err)
			}
			if p := <-pid; alive(p) {
				t.Errorf("process %d survived", p)
			}
		})
	}
}

func TestCancelBeforeStart(t *testing.T) {
	r := newRunner(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o, err := r.Run(ctx, Command{Text: "touch ran", Dir: t.TempDir()})
	if err != nil || !o.Interrupted || o.OutputFile != "" {
		t.Errorf("outcome %+v, %v", o, err)
	}
	if _, err := r.Start(ctx, Command{Dir: "/"}); !errors.Is(err, context.Canceled) {
		t.Errorf("start: %v", err)
	}
}

func TestTimeoutKills(t *testing.T) {
	needs(t, "setsid")
	r := newRunner(t, nil)
	file := filepath.Join(t.TempDir(), "pid")
	o, got := run(t, r, Command{
		Text: `echo begun; setsid sleep 300 & echo $! > "$F"; sleep 300`, Env: map[string]string{"F": file}, Timeout: 300 * time.Millisecond,
	})
	if !o.TimedOut || o.Interrupted || o.ExitCode != 143 || o.Detached != nil || got != "begun\n" {
		t.Errorf("outcome %+v, output %q", o, got)
	}
	if pid := pidIn(t, file); alive(pid) {
		t.Errorf("process %d survived", pid)
	}
}

func TestTimeoutDetaches(t *testing.T) {
	r := newRunner(t, func(c *Config) { c.NewID = func() string { return "b5w843zve" } })
	dir := t.TempDir()
	o, _ := run(t, r, Command{
		Text: "echo before; until [ -e go ]; do sleep 0.02; done; echo after", Dir: dir,
		Timeout: 100 * time.Millisecond, OnTimeout: Detach,
	})
	j := o.Detached
	if j == nil || !o.TimedOut || j.ID() != "b5w843zve" || !strings.HasSuffix(o.OutputFile, "b5w843zve.output") {
		t.Fatalf("outcome %+v", o)
	}
	if s := j.Status(); s.State != Running {
		t.Errorf("status %+v", s)
	}
	first, err := j.Output(0, 1<<10)
	if err != nil || string(first.Data) != "before\n" || first.Final {
		t.Errorf("first chunk %+v, %v", first, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := j.Wait(t.Context())
	if err != nil || s.State != Completed || s.ExitCode != 0 || s.Size != int64(len("before\nafter\n")) {
		t.Errorf("status %+v, %v", s, err)
	}
	rest, err := j.Output(first.Next, 1<<10)
	if err != nil || string(rest.Data) != "after\n" || !rest.Final {
		t.Errorf("second chunk %+v, %v", rest, err)
	}
}

func TestDetachLimit(t *testing.T) {
	r := newRunner(t, nil)
	o, _ := run(t, r, Command{Text: "sleep 300", Timeout: 50 * time.Millisecond, OnTimeout: Detach, DetachLimit: 50 * time.Millisecond})
	s, err := o.Detached.Wait(t.Context())
	if err != nil || s.State != Killed || s.Cause != CauseTimeout {
		t.Errorf("status %+v, %v", s, err)
	}
}

func TestJobs(t *testing.T) {
	r := newRunner(t, nil)
	dir := t.TempDir()
	start := func(c Command) *Job {
		c.Dir = dir
		j, err := r.Start(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	jobs := []*Job{
		start(Command{Text: "true"}), start(Command{Text: "exit 7"}), start(Command{Text: "sleep 300"}),
		start(Command{Text: "sleep 300", Timeout: 30 * time.Millisecond}),
	}
	if err := r.Stop(jobs[2].ID()); err != nil {
		t.Fatal(err)
	}
	want := []JobStatus{
		{State: Completed},
		{State: Failed, ExitCode: 7},
		{State: Killed, Cause: CauseStopped},
		{State: Killed, Cause: CauseTimeout},
	}
	for i, j := range jobs {
		s, err := j.Wait(t.Context())
		if err != nil || s.State != want[i].State || s.Cause != want[i].Cause || (s.State == Failed && s.ExitCode != 7) || s.Ended.IsZero() {
			t.Errorf("job %d: %+v, %v", i, s, err)
		}
		if err := j.Stop(); err != nil { // a finished job: nothing changes
			t.Error(err)
		}
		if again := j.Status(); again.State != s.State {
			t.Errorf("job %d left its final state: %+v", i, again)
		}
	}
	for i, s := range r.Jobs() {
		if s.ID != jobs[i].ID() {
			t.Errorf("list out of order: %+v", r.Jobs())
		}
	}
	if _, ok := r.Job("nope"); ok || r.Stop("nope") == nil {
		t.Error("an unknown job was found")
	}
}

func TestClose(t *testing.T) {
	needs(t, "setsid")
	r := newRunner(t, nil)
	file := filepath.Join(t.TempDir(), "pid")
	j, err := r.Start(t.Context(), Command{
		Text: `trap "" TERM; setsid bash -c 'trap "" TERM; echo $$ > "$F"; while :; do sleep 0.1; done'`,
		Dir:  t.TempDir(), Env: map[string]string{"F": file},
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan Outcome, 1)
	go func() {
		o, _ := r.Run(context.Background(), Command{Text: "sleep 300", Dir: "/"})
		ended <- o
	}()
	pid := pidIn(t, file)
	began := time.Now()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("close took %v", took)
	}
	if s := j.Status(); alive(pid) || s.State != Killed || s.Cause != CauseStopped {
		t.Errorf("alive %v, status %+v", alive(pid), s)
	}
	select {
	case o := <-ended:
		if o.OutputFile != "" && !o.Interrupted {
			t.Errorf("outcome %+v", o)
		}
	case <-time.After(patience):
		t.Error("Run did not return")
	}
	if _, err := r.Run(t.Context(), Command{Dir: "/"}); !errors.Is(err, ErrClosed) {
		t.Errorf("run after close: %v", err)
	}
}

func TestBigOutputBoundedMemory(t *testing.T) {
	r := newRunner(t, nil)
	const size = 200 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	o, err := r.Run(t.Context(), Command{Text: fmt.Sprintf("head -c %d /dev/zero", size), Dir: t.TempDir()})
	runtime.ReadMemStats(&after)
	if err != nil || o.Size != size {
		t.Fatalf("size %d, %v", o.Size, err)
	}
	if info, err := os.Stat(o.OutputFile); err != nil || info.Size() != size {
		t.Errorf("file %v, %v", info, err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
		t.Errorf("allocated %d bytes", got)
	}
	e, err := ReadExcerpt(o.OutputFile, 100, 100)
	if err != nil || e.Omitted != size-200 {
		t.Errorf("excerpt omits %d, %v", e.Omitted, err)
	}
	if err := os.Remove(o.OutputFile); err != nil {
		t.Fatal(err)
	}
}

func TestOverflowKills(t *testing.T) {
	r := newRunner(t, func(c *Config) { c.MaxOutput = 1 << 20 })
	o, err := r.Run(t.Context(), Command{Text: "yes", Dir: t.TempDir()})
	if err != nil || !o.Overflow || o.TimedOut || o.Interrupted || o.Size != 1<<20 {
		t.Errorf("outcome %+v, %v", o, err)
	}
	// a runaway that its shell left behind loses its reader
	o, err = r.Run(t.Context(), Command{Text: "yes & exit 0", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of yes", func() bool {
		for _, p := range o.Left {
			if alive(p.PID) {
				return false
			}
		}
		return true
	})
}

func TestDiskFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("left out: output on a full disk (needs /dev/full)")
	}
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCapture(f, MaxOutput)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	w, err := syscall.Dup(int(c.child().Fd()))
	if err != nil {
		t.Fatal(err)
	}
	go func() { c.collect(); close(done) }()
	for range 64 { // more than the pipe holds: the writer must not be blocked
		if _, err := syscall.Write(w, make([]byte, 4096)); err != nil {
			t.Fatal(err)
		}
	}
	c.settle()
	if !errors.Is(c.lost(), syscall.ENOSPC) {
		t.Errorf("lost: %v", c.lost())
	}
	_ = syscall.Close(w)
	<-done
}

// fakeClock fires when told to.
type fakeClock struct {
	mu  sync.Mutex
	now time.Time
	due []chan time.Time
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) After(time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := make(chan time.Time, 1)
	c.due = append(c.due, ch)
	return ch
}

func (c *fakeClock) fire(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	for _, ch := range c.due {
		ch <- c.now
	}
	c.due = nil
}

func TestProgress(t *testing.T) {
	clock := &fakeClock{now: time.Unix(1000, 0)}
	r := newRunner(t, func(c *Config) { c.Clock = clock })
	dir := t.TempDir()
	reports := make(chan Progress, 100)
	ended := make(chan Outcome, 1)
	go func() {
		o, err := r.Run(t.Context(), Command{
			Text: "printf '1\\n2\\n3\\n4\\n5\\n6\\n\\033[31m7\\033[0m\\n'; touch ready; until [ -e go ]; do sleep 0.02; done",
			Dir:  dir, Progress: func(p Progress) { reports <- p },
		})
		if err != nil {
			t.Error(err)
		}
		ended <- o
	}()
	eventually(t, "the command to write", func() bool { _, err := os.Stat(filepath.Join(dir, "ready")); return err == nil })
	var last Progress
	eventually(t, "a report of everything", func() bool {
		if len(reports) == 0 {
			clock.fire(time.Second)
			return false
		}
		last = <-reports
		return last.Size == 23
	})
	if last.Tail != "3\n4\n5\n6\n7" || last.Elapsed < time.Second {
		t.Errorf("progress %+v", last)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-ended
	count := len(reports)
	clock.fire(time.Hour)
	if len(reports) != count {
		t.Error("a report came after Run had returned")
	}
}

func TestConcurrentUse(t *testing.T) {
	r := newRunner(t, nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 3 {
				o, err := r.Run(t.Context(), Command{Text: fmt.Sprintf("echo %d; exit %d", i, i), Dir: "/"})
				if err != nil || o.ExitCode != i {
					t.Errorf("outcome %+v, %v", o, err)
				}
				j, err := r.Start(t.Context(), Command{Text: "sleep 300", Dir: "/"})
				if err != nil {
					t.Error(err)
					return
				}
				r.Jobs()
				if err := j.Stop(); err != nil || j.Status().State != Killed {
					t.Errorf("stop: %v, %+v", err, j.Status())
				}
			}
		})
	}
	wg.Wait()
}

// TestParentDeath runs this test binary as a hew that is killed hard.
func TestParentDeath(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("left out: death of the shell with its parent (needs Linux)")
	}
	file := filepath.Join(t.TempDir(), "pid")
	cmd := exec.Command(os.Args[0], "-test.run=^TestParentDeathChild$")
	cmd.Env = append(os.Environ(), "SHELL_TEST_PIDFILE="+file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := pidIn(t, file)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, "the shell to die with its parent", func() bool { return !alive(pid) })
}

func TestParentDeathChild(t *testing.T) {
	file := os.Getenv("SHELL_TEST_PIDFILE")
	if file == "" {
		return // only a helper of TestParentDeath
	}
	_, _ = New(Config{}).Run(context.Background(), Command{
		Text: `echo $$ > "$F"; while :; do read -t 1 < /dev/null; done`, Dir: "/", Env: map[string]string{"F": file},
	})
}

func BenchmarkRun(b *testing.B) {
	r := New(Config{NoSnapshot: true, OutputDir: b.TempDir()})
	defer r.Close()
	dir := b.TempDir()
	for b.Loop() {
		if _, err := r.Run(b.Context(), Command{Text: ":", Dir: dir}); err != nil {
			b.Fatal(err)
		}
	}
}
