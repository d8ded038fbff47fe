//go:build unix

package shell

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func executable(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLookPath(t *testing.T) {
	cwd, good, later := t.TempDir(), t.TempDir(), t.TempDir()
	t.Chdir(cwd)
	executable(t, cwd, "git", "echo planted")
	want := executable(t, good, "git", "echo real")
	executable(t, later, "git", "echo later")
	plain := filepath.Join(good, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(good, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(cwd, later)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, prog, path, want string
		err                    error
	}{
		{"dot first", "git", ".:" + good, want, nil},
		{"empty entry", "git", ":" + good + ":", want, nil},
		{"relative entry", "git", rel + ":" + good, want, nil},
		{"order", "git", good + ":" + later, want, nil},
		{"only dot", "git", ".", "", exec.ErrNotFound},
		{"no path", "git", "", "", exec.ErrNotFound},
		{"absolute", want, "", want, nil},
		{"relative name", "./git", good, "", exec.ErrDot},
		{"relative with folder", "a/git", good, "", exec.ErrDot},
		{"not executable", "plain", good, "", exec.ErrNotFound},
		{"absolute, not executable", plain, good, "", exec.ErrNotFound},
		{"folder", "folder", good, "", exec.ErrNotFound},
		{"empty", "", good, "", exec.ErrNotFound},
		{"dots", "..", good, "", exec.ErrNotFound},
	}
	for _, tt := range tests {
		got, err := LookPath(tt.prog, []string{"PATH=/first", "PATH=" + tt.path})
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
	}
}

func TestPlantedProgramDoesNotRun(t *testing.T) {
	dir := t.TempDir()
	executable(t, dir, "hewplanted", "echo planted")
	r := newRunner(t, func(c *Config) { c.Env = append(c.Env, "PATH=.:"+os.Getenv("PATH")) })
	o, got := run(t, r, Command{Text: "hewplanted; echo $?", Dir: dir, Env: map[string]string{"PATH": ":.:" + os.Getenv("PATH")}})
	if strings.Contains(got, "planted\n") || !strings.HasSuffix(got, "127\n") || o.ExitCode != 0 {
		t.Errorf("output %q", got)
	}
}

func TestFindShell(t *testing.T) {
	dir := t.TempDir()
	mine := executable(t, dir, "bash", "")
	fish := executable(t, dir, "fish", "")
	tests := []struct {
		name, shell, path, want string
		notices                 int
	}{
		{"from PATH", "", dir, mine, 0},
		{"wanted", mine, "", mine, 0},
		{"relative", "bash", dir, mine, 1},
		{"missing", dir + "/zsh", dir, mine, 1},
		{"not POSIX", fish, dir, mine, 1},
	}
	for _, tt := range tests {
		notices := 0
		got := findShell(Config{Shell: tt.shell, Env: []string{"PATH=" + tt.path}, Notice: func(string) { notices++ }})
		if got != tt.want || notices != tt.notices {
			t.Errorf("%s: %q with %d notices", tt.name, got, notices)
		}
	}
	if got := findShell(Config{Env: []string{"PATH=."}}); !filepath.IsAbs(got) {
		t.Errorf("without PATH: %q", got)
	}
}

// withStartup makes a home folder with a start-up file.
func withStartup(t *testing.T, name, text string) func(*Config) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(c *Config) { c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home} }
}

const startup = `
case $- in *i*) ;; *) return;; esac
echo noise; echo noise >&2
echo read >> "$HOME/count"
export PATH=.:$HOME/bin:$PATH
alias greet='echo "hello from"'
_part() { echo "part $1"; }
whole() { _part "$@"; ls -d /; }
alias ls='ls --no-such-option' # not in whole: that was read before
`

func TestSnapshot(t *testing.T) {
	for sh, extra := range map[string]string{"bash": "shopt -s extglob nullglob\nset -o noclobber\nset -o vi\n", "zsh": "setopt nullglob\n"} {
		t.Run(sh, func(t *testing.T) {
			path := needs(t, sh)
			change := withStartup(t, "."+sh+"rc", startup+extra)
			var home string
			r := newRunner(t, func(c *Config) {
				change(c)
				c.Shell, home = path, getenv(c.Env, "HOME")
			})
			if _, err := os.Stat(filepath.Join(home, "count")); err == nil {
				t.Error("the start-up file was read before the first command")
			}
			for range 2 {
				_, got := run(t, r, Command{Text: "greet me\nwhole x\necho *.none\necho $PATH\ncase $- in *m*|*i*) echo interactive;; esac"})
				want := "hello from me\npart x\n/\n\n" + home + "/bin:" + os.Getenv("PATH") + "\n"
				if got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
			if got := output(t, filepath.Join(home, "count")); got != "read\n" {
				t.Errorf("the start-up file was read %d times", strings.Count(got, "read"))
			}
			if _, got := run(t, r, Command{Text: "echo $PATH", Env: map[string]string{"PATH": ".:/bin:/usr/bin"}}); got != "/bin:/usr/bin\n" {
				t.Errorf("the caller's PATH became %q", got)
			}
		})
	}
}

func TestSnapshotFailsSoftly(t *testing.T) {
	for name, text := range map[string]string{
		"slow": "sleep 300", "exits": "exit 3", "execs": "exec true", "syntax": "if", "kills": "kill -9 $$",
	} {
		t.Run(name, func(t *testing.T) {
			change := withStartup(t, ".bashrc", text)
			var mu sync.Mutex
			var notices []string
			r := newRunner(t, func(c *Config) {
				change(c)
				c.Shell, c.SnapshotTimeout = needs(t, "bash"), 300*time.Millisecond
				c.Notice = func(s string) { mu.Lock(); defer mu.Unlock(); notices = append(notices, s) }
			})
			for range 2 {
				if o, got := run(t, r, Command{Text: "echo works"}); got != "works\n" || o.ExitCode != 0 {
					t.Errorf("output %q", got)
				}
			}
			want := 1
			if name == "syntax" { // bash reports it and goes on: there is a snapshot
				want = 0
			}
			if len(notices) != want {
				t.Errorf("notices %q", notices)
			}
		})
	}
}

func TestSnapshotCancelled(t *testing.T) {
	change := withStartup(t, ".bashrc", `touch "$HOME/began"; [ -e "$HOME/go" ] || sleep 300; alias ok='echo yes'`)
	var home string
	r := newRunner(t, func(c *Config) {
		change(c)
		c.Shell, c.SnapshotTimeout, home = needs(t, "bash"), patience, getenv(c.Env, "HOME")
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		eventually(t, "the start-up file", func() bool { _, err := os.Stat(home + "/began"); return err == nil })
		cancel()
	}()
	o, err := r.Run(ctx, Command{Text: "ok", Dir: "/"})
	if err != nil || !o.Interrupted {
		t.Fatalf("outcome %+v, %v", o, err)
	}
	if err := os.WriteFile(home+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, got := run(t, r, Command{Text: "ok"}); got != "yes\n" {
		t.Errorf("the next command got %q", got)
	}
}

func TestSources(t *testing.T) {
	r := newRunner(t, nil)
	env := tempFile(t, "export FROM_FILE=yes\n")
	if _, got := run(t, r, Command{Text: "echo $FROM_FILE", Sources: []string{"/no/such/file", env}}); got != "yes\n" {
		t.Errorf("got %q", got)
	}
}

func TestLongCommand(t *testing.T) {
	r := newRunner(t, nil)
	dir, _ := filepath.EvalSymlinks(t.TempDir())
	text := "cat <<'X' | wc -c\n" + strings.Repeat("it's a line\n", 30000) + "X\ncd /; exit 5"
	o, got := run(t, r, Command{Text: text, Dir: dir})
	if strings.TrimSpace(got) != "360000" || o.ExitCode != 5 || o.Cwd != "/" {
		t.Errorf("output %q, outcome %+v", got, o)
	}
}

func TestWrap(t *testing.T) {
	var seen [][]string
	refuse := errors.New("no sandbox here")
	var fail error
	r := newRunner(t, func(c *Config) {
		c.Wrap = func(argv, env []string) ([]string, []string, error) {
			seen = append(seen, argv)
			return append([]string{"/usr/bin/env", "WRAPPED=1"}, argv...), append(env, "MORE=2"), fail
		}
	})
	o, got := run(t, r, Command{Text: "echo $WRAPPED$MORE; cd /"})
	if got != "12\n" || o.Cwd != "/" || len(seen) != 1 || seen[0][0] != r.Shell() {
		t.Errorf("output %q, cwd %q, argv %q", got, o.Cwd, seen)
	}
	if _, got := run(t, r, Command{Text: "echo [$WRAPPED]", Unconfined: true}); got != "[]\n" {
		t.Errorf("unconfined: %q", got)
	}
	fail = refuse
	if _, err := r.Run(t.Context(), Command{Text: "true", Dir: "/"}); !errors.Is(err, refuse) {
		t.Errorf("a failed wrapper gave %v", err)
	}
	left, err := os.ReadDir(r.cfg.OutputDir)
	if err != nil || len(left) != 2 {
		t.Errorf("a refused start left an output file: %v, %v", left, err)
	}
}

func TestExec(t *testing.T) {
	r := newRunner(t, nil)
	sh := func(text string) []string { return []string{r.Shell(), "-c", text} }
	res, err := r.Exec(t.Context(), Program{Argv: sh("cat; echo err >&2; exit 2"), Dir: "/", Stdin: []byte("input")})
	if err != nil || string(res.Stdout) != "input" || string(res.Stderr) != "err\n" || res.ExitCode != 2 || res.Truncated {
		t.Errorf("result %+v, %v", res, err)
	}
	res, err = r.Exec(t.Context(), Program{Argv: sh("cat; sleep 300 & echo done"), Dir: "/"})
	if err != nil || string(res.Stdout) != "done\n" {
		t.Errorf("background: %+v, %v", res, err)
	}
	res, err = r.Exec(t.Context(), Program{Argv: sh("head -c 100000 /dev/zero; echo $?"), Dir: "/", MaxOutput: 1000})
	if err != nil || len(res.Stdout) != 1000 || !res.Truncated || res.ExitCode != 0 {
		t.Errorf("bounded: %d bytes, %+v, %v", len(res.Stdout), res.ExitCode, err)
	}
	res, err = r.Exec(t.Context(), Program{Argv: sh("sleep 300"), Dir: "/", Timeout: 50 * time.Millisecond})
	if err != nil || !res.TimedOut || res.ExitCode != 143 {
		t.Errorf("timeout: %+v, %v", res, err)
	}
	for _, argv := range [][]string{nil, {"sh"}, {"/no/such/program"}} {
		if _, err := r.Exec(t.Context(), Program{Argv: argv, Dir: "/"}); err == nil {
			t.Errorf("%q: no error", argv)
		}
	}
	entries, err := os.ReadDir(r.scratch.path)
	if err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "run-") }) {
		t.Errorf("files are left behind: %v, %v", entries, err)
	}
}

func TestNothingBeforeFirstCommand(t *testing.T) {
	r := New(Config{})
	if err := r.Close(); err != nil || r.scratch.path != "" {
		t.Errorf("close of an unused runner: %v, %q", err, r.scratch.path)
	}
}

// What hew runs for itself and knows well (git) must not cost a search of the
// process table, neither at its end nor at the Runner's.
func TestTidyProgramsLeaveNothingToSearchFor(t *testing.T) {
	r := newRunner(t, nil)
	for _, tidy := range []bool{true, false} {
		res, err := r.Exec(t.Context(), Program{Argv: []string{r.Shell(), "-c", "echo x"}, Dir: t.TempDir(), Tidy: tidy})
		if err != nil || string(res.Stdout) != "x\n" {
			t.Fatalf("%+v, %v", res, err)
		}
		r.mu.Lock()
		search := r.untidy
		r.mu.Unlock()
		if search == tidy {
			t.Errorf("tidy %v: the table is searched at the end: %v", tidy, search)
		}
	}
}
