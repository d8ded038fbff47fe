//go:build unix

package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/tool"
)

// cage is a folder in which allowed commands run: a home with a project in it,
// a PATH of a few programs that read, and the marker, which leaves a trace
// outside of everything that a command knows.
type cage struct {
	// patience, when longer than the usual limits, is how long a command and what it
	// leaves behind may take.
	patience time.Duration

	root, home, project, bin, trace string
	shells                          map[shellread.Shell]string
	before                          map[string]string
}

// cagePrograms may be found on PATH, when the machine has them. None removes,
// copies over a network, or starts something that stays. tee and sed write,
// though only where the policy lets them.
var cagePrograms = []string{
	"ls", "cat", "head", "tail", "wc", "sort", "uniq", "grep", "sed", "find", "xargs", "echo", "printf", "env", "nice", "timeout", "nohup", "stdbuf", "tr", "cut", "date", "git", "rg", "diff", "file", "jq", "awk", "stat", "basename", "dirname", "tee", "touch", "mkdir", "bash", "sh", "zsh", "test", "tar", "split", "true", "pwd",
}

func newCage(t testing.TB) *cage {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &cage{root: root, home: root + "/home", project: root + "/home/proj", bin: root + "/home/bin", trace: root + "/trace", shells: map[shellread.Shell]string{}}
	for _, d := range []string{c.bin, c.trace} {
		c.must(t, os.MkdirAll(d, 0o755))
	}
	for _, p := range cagePrograms {
		if real, err := exec.LookPath(p); err == nil {
			c.must(t, os.Symlink(real, filepath.Join(c.bin, p)))
		}
	}
	for sh, name := range map[shellread.Shell]string{shellread.Bash: "bash", shellread.Zsh: "zsh"} {
		if real, err := exec.LookPath(name); err == nil {
			c.shells[sh] = real
		}
	}
	if c.shells[shellread.Bash] == "" {
		t.Skip("left out: marker fuzz (needs bash)")
	}
	for _, name := range []string{"tool", "tool2"} {
		c.write(t, filepath.Join(c.bin, name), "#!"+c.shells[shellread.Bash]+"\nexit 0\n", 0o755)
	}
	c.write(t, filepath.Join(c.bin, "mark"), c.marker(), 0o755)
	c.fill(t)
	return c
}

// marker is the program that must not run.
func (c *cage) marker() string {
	return "#!" + c.shells[shellread.Bash] + "\n> " + c.trace + "/ran\n"
}

// fill makes the project anew.
func (c *cage) fill(t testing.TB) {
	t.Helper()
	c.must(t, os.RemoveAll(c.project))
	for _, d := range []string{"src", "out", "fake"} {
		c.must(t, os.MkdirAll(filepath.Join(c.project, d), 0o755))
	}
	for name, text := range map[string]string{
		"a.txt": "mark\n./mark\nx mark\n", "b.txt": "b\n", "src/a": "mark x\n", "a.json": "{}\n", "script.sed": "1e mark\n",
	} {
		c.write(t, filepath.Join(c.project, name), text, 0o644)
	}
	for _, name := range []string{"mark", "fake/ls", "script.sh", "=mark"} {
		c.write(t, filepath.Join(c.project, name), c.marker(), 0o755)
	}
	if _, err := os.Lstat(filepath.Join(c.bin, "git")); err == nil {
		cmd := exec.Command(filepath.Join(c.bin, "git"), "init", "-q", "--template=", ".")
		cmd.Dir, cmd.Env = c.project, c.environ()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git init: %v %s", err, out)
		}
	}
	c.before = c.look()
}

func (c *cage) must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (c *cage) write(t testing.TB, name, text string, mode os.FileMode) {
	t.Helper()
	c.must(t, os.WriteFile(name, []byte(text), mode))
}

// environ is all that a command inherits. M is a variable whose value the
// policy cannot know.
func (c *cage) environ() []string {
	return []string{
		"PATH=" + c.bin, "HOME=" + c.home, "TMPDIR=" + c.home, "LANG=C.UTF-8", "M=mark",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b.invalid", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.invalid",
	}
}

// look is every file of the home with its size, kind and time.
func (c *cage) look() map[string]string {
	out := map[string]string{}
	_ = filepath.WalkDir(c.home, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // a file that is gone by now
		}
		if st, err := d.Info(); err == nil && !d.IsDir() {
			out[p] = fmt.Sprint(st.Size(), st.Mode(), st.ModTime().UnixNano())
		} else if err == nil {
			out[p] = "dir"
		}
		return nil
	})
	return out
}

// changed names a file that is not as it was, "" when there is none.
func (c *cage) changed() string {
	now := c.look()
	for p, v := range now {
		if c.before[p] != v {
			return p
		}
	}
	for p := range c.before {
		if _, ok := now[p]; !ok {
			return p
		}
	}
	return ""
}

// runLimit ends commands that wait for something.
const runLimit = 3 * time.Second

// run executes one command and reports whether the marker ran. ok is false
// when the shell is not at hand.
func (c *cage) run(t testing.TB, tr markerTree) (ran, ok bool) {
	t.Helper()
	sh := c.shells[tr.shell]
	if sh == "" {
		return false, false
	}
	args := []string{"--noprofile", "--norc", "-c", tr.text}
	if tr.shell == shellread.Zsh {
		args = []string{"-f", "-c", tr.text}
	}
	cmd := exec.Command(sh, args...)
	cmd.Dir, cmd.Env = c.project, c.environ()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return false, true // a text that no program can be given
	}
	group := -cmd.Process.Pid
	stop := time.AfterFunc(max(runLimit, c.patience), func() { _ = syscall.Kill(group, syscall.SIGKILL) })
	_ = cmd.Wait() // how it ended is all the same
	// What it left in the background gets a moment to run the marker.
	for deadline := time.Now().Add(max(200*time.Millisecond, c.patience)); syscall.Kill(group, 0) == nil && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	stop.Stop()
	_ = syscall.Kill(group, syscall.SIGKILL)
	_, err := os.Lstat(filepath.Join(c.trace, "ran"))
	return !errors.Is(err, fs.ErrNotExist), true
}

// diskPaths is the file system as the live session shows it to the policy.
type diskPaths struct{}

func (diskPaths) Resolve(p string) (string, bool) {
	real, err := fsys.Real(p)
	return real, err == nil
}

func (diskPaths) Glob(pattern string) []string {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return nil
	}
	return found
}

// markerRules are what the policies of the fuzz allow; none of them lets the
// marker run. The second ones write nothing either.
var markerRules = [][]string{nil, {"Bash(tool *)", "Bash(tool)"}, {"Bash(tool:*)", "Edit(out/**)"}}

// policies are the snapshots to ask: every mode with every set of rules.
func (c *cage) policies() []*Snapshot {
	var out []*Snapshot
	for _, mode := range []Mode{Default, AcceptEdits} {
		for _, rules := range markerRules {
			cfg := testConfig(mode, rules, nil, nil)
			cfg.Project, cfg.Home = c.project, c.home
			out = append(out, New(cfg))
		}
	}
	return out
}

// score is what a run of the fuzz came to.
type score struct {
	trees, allowed, ran, writes int
	kinds                       census
}

func (s *score) add(o score) {
	s.trees, s.allowed, s.ran, s.writes = s.trees+o.trees, s.allowed+o.allowed, s.ran+o.ran, s.writes+o.writes
	s.kinds.add(o.kinds)
}

// hunt is one worker: a generator, a cage and the policies to ask.
type hunt struct {
	score
	c     *cage
	g     *grower
	snaps []*Snapshot
	// done are the texts that were run already.
	done map[string]bool
}

func newHunt(t testing.TB, seed, worker uint64) *hunt {
	c := newCage(t)
	return &hunt{score: score{kinds: census{}}, c: c, g: &grower{rng: rand.New(rand.NewPCG(seed, worker))}, snaps: c.policies(), done: map[string]bool{}}
}

// next makes a tree and asks one of the policies about it.
func (h *hunt) next(t *testing.T) (markerTree, *Snapshot, Decision) {
	tr := h.g.tree()
	h.trees++
	forbidden := h.kinds.count(tr)
	snap := h.snaps[h.g.rng.IntN(len(h.snaps))]
	r := shell(tr.text)
	r.Cwd, r.Paths, r.Shell = h.c.project, diskPaths{}, tr.shell
	d := snap.Decide(r)
	if d.Behavior == tool.Allow {
		h.allowed++
		if forbidden != "" {
			t.Errorf("%s is a part of what was allowed: %q (shell %v, mode %s): %s", forbidden, tr.text, tr.shell, snap.Mode(), d.Reason)
		}
	}
	return tr, snap, d
}

// run generates, asks and runs until the deadline, or n trees when n > 0.
func (h *hunt) run(t *testing.T, until time.Time, n int) {
	for i := 0; (n == 0 || i < n) && time.Now().Before(until) && !t.Failed(); i++ {
		tr, snap, d := h.next(t)
		if d.Behavior != tool.Allow || h.done[tr.text] {
			continue
		}
		h.done[tr.text] = true
		hit, ok := h.c.run(t, tr)
		if ok {
			h.ran++
		}
		if hit {
			t.Errorf("the marker ran: %q (shell %v, mode %s): %s %v", tr.text, tr.shell, snap.Mode(), d.Reason, d.Trace)
			h.c.must(t, os.Remove(filepath.Join(h.c.trace, "ran")))
		}
		if file := h.c.changed(); file != "" {
			h.writes++
			if len(snap.Rules(tool.Allow)) == 0 && snap.Mode() == Default {
				t.Errorf("a read-only command changed %s: %q (shell %v): %s", file, tr.text, tr.shell, d.Reason)
			}
			h.c.fill(t)
		}
	}
}

// coverage is the number of trees that are only judged, before any runs: so
// many show what the generator makes, on a slow machine too.
const coverage = 6000

// huntMarkers runs the fuzz on every processor and states what it covered.
func huntMarkers(t *testing.T, seed uint64, d time.Duration) {
	var wg sync.WaitGroup
	hunts := make([]*hunt, max(2, runtime.GOMAXPROCS(0)))
	for i := range hunts {
		hunts[i] = newHunt(t, seed, uint64(i))
	}
	for range coverage {
		hunts[0].next(t)
	}
	until := time.Now().Add(d)
	for _, h := range hunts {
		wg.Go(func() { h.run(t, until, 0) })
	}
	wg.Wait()
	s := score{kinds: census{}}
	for _, h := range hunts {
		s.add(h.score)
	}
	t.Logf("seed %d: %d trees, %d allowed (%.1f %%), %d different ones run, %d of them wrote files", seed, s.trees, s.allowed, 100*float64(s.allowed)/float64(s.trees), s.ran, s.writes)
	t.Logf("nodes: %s", s.kinds)
	if s.allowed*20 < s.trees {
		t.Errorf("only %d of %d trees are allowed: less than 5 %%", s.allowed, s.trees)
	}
	if gone := s.kinds.missing(); len(gone) > 0 {
		t.Errorf("kinds of node that never occurred: %v", gone)
	}
}

// TestCageCatches shows that a marker that runs is noticed, however it is started.
func TestCageCatches(t *testing.T) {
	c := newCage(t)
	c.patience = 20 * time.Second // waits only for what still runs, however busy the machine is
	for text, want := range map[string]bool{
		"mark": true, "./mark": true, "echo $(mark)": true, "cat <(mark)": true, "{ mark; } &": true, "true && (sleep 0; mark) & disown": true, "X='a[$(mark)]'; echo $((X))": true, "PATH=fake ls": true, "find . -maxdepth 0 -exec mark \\;": true, "BASH_ENV=./mark tool": true,
		"echo mark": false, "cat mark": false, "tool ./mark": false, "ls # mark": false, "cat <<'E'\n$(mark)\nE": false,
	} {
		if ran, _ := c.run(t, markerTree{text: text, shell: shellread.Bash}); ran != want {
			t.Errorf("%q: ran %v, want %v", text, ran, want)
		}
		_ = os.Remove(filepath.Join(c.trace, "ran")) // there is none after the quiet ones
	}
	c.write(t, filepath.Join(c.project, "new"), "x", 0o644)
	if c.changed() != filepath.Join(c.project, "new") {
		t.Errorf("a new file is not noticed: %q", c.changed())
	}
}

// TestMarker builds random commands around a program that must not run, asks
// the policy about them and runs what it allows, in a throw-away folder with an
// environment of its own. HEW_MARKER_TIME says for how long.
func TestMarker(t *testing.T) {
	d := 3 * time.Second
	if v := os.Getenv("HEW_MARKER_TIME"); v != "" {
		var err error
		if d, err = time.ParseDuration(v); err != nil {
			t.Fatalf("HEW_MARKER_TIME: %v", err)
		}
	}
	huntMarkers(t, 1, d)
}

// FuzzMarker is the same with seeds from the fuzzer.
func FuzzMarker(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		newHunt(t, seed, 0).run(t, time.Now().Add(runLimit), 200)
	})
}
