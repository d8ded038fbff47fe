package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// reference holds the programs that hew is measured against.
//
//go:embed testdata/empty testdata/floor
var reference embed.FS

// lab is what measures work with: the programs, a model and a folder that goes away.
type lab struct {
	hew, empty, floor string // programs
	dir               string
	model             *server
	made              int // folders and files named so far

	recorded string      // see firstRequest
	big      *bigFigures // see bigTurns
	tree     string      // see searchTree

	crowds map[int]*home // see crowd
	tired  *home         // see compacted
}

// newLab builds the reference programs; hew is the program to measure.
func newLab(ctx context.Context, hew string) (_ *lab, err error) {
	l := &lab{}
	if l.hew, err = filepath.Abs(hew); err != nil {
		return nil, err
	}
	if _, err := os.Stat(l.hew); err != nil {
		return nil, fmt.Errorf("the program to measure: %w (make build makes it)", err)
	}
	if l.dir, err = os.MkdirTemp("", "hew-bench."); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.dir, err = filepath.EvalSymlinks(l.dir); err != nil {
		return nil, err
	}
	if l.empty, err = l.build(ctx, "empty"); err != nil {
		return nil, err
	}
	if l.floor, err = l.build(ctx, "floor"); err != nil {
		return nil, err
	}
	l.model, err = listen()
	return l, err
}

func (l *lab) close() {
	if l.model != nil {
		l.model.close()
	}
	if err := os.RemoveAll(l.dir); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
}

// build makes a reference program with the flags of a release build of hew.
func (l *lab) build(ctx context.Context, name string) (string, error) {
	from, to := path.Join("testdata", name), filepath.Join(l.dir, "src", name)
	sources, err := fs.Sub(reference, from)
	if err != nil {
		return "", err
	}
	if err := os.CopyFS(to, sources); err != nil {
		return "", err
	}
	module := "module " + name + "\n\ngo 1.26\n"
	if err := os.WriteFile(filepath.Join(to, "go.mod"), []byte(module), 0o600); err != nil {
		return "", err
	}
	out := filepath.Join(l.dir, name)
	if runtime.GOOS == "windows" {
		out += ".exe"
	}
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", out, ".")
	c.Dir = to
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
	if text, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the reference program %s: %w\n%s", name, err, text)
	}
	return out, nil
}

// path names a new file or folder of the lab.
func (l *lab) path(kind string) string {
	l.made++
	return filepath.Join(l.dir, fmt.Sprintf("%s%d", kind, l.made))
}

// home is a place for hew to run in: a project, and a configuration of its own.
type home struct{ project, config string }

func (l *lab) newHome() (*home, error) {
	h := &home{project: l.path("project"), config: l.path("config")}
	for _, dir := range []string{h.project, h.config} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
	}
	return h, os.WriteFile(filepath.Join(h.project, "README.md"), []byte("# A project\n"), 0o600)
}

// plant writes n files of about size bytes into the project and returns their paths.
func (l *lab) plant(h *home, n, size int) ([]string, error) {
	line := "the quick brown fox jumps over the lazy dog, line after line, to no end\n"
	text := []byte(strings.Repeat(line, size/len(line)+1))
	paths := make([]string, n)
	for i := range paths {
		l.made++
		paths[i] = filepath.Join(h.project, fmt.Sprintf("file%05d.txt", l.made))
		if err := os.WriteFile(paths[i], text, 0o600); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// cost is what a program took, as floor's run writes it.
type cost struct {
	WallNS    int64 `json:"wall_ns"`
	CPUNS     int64 `json:"cpu_ns"`
	PeakBytes int64 `json:"peak_bytes"`
	Exit      int   `json:"exit"`

	stderr []byte
}

func (c cost) wall() float64 { return float64(c.WallNS) / 1e9 }
func (c cost) cpu() float64  { return float64(c.CPUNS) / 1e9 }
func (c cost) peak() float64 { return float64(c.PeakBytes) }

// runLimit ends a program that hangs; the slowest that is measured takes seconds.
const runLimit = 2 * time.Minute

// command is a program to run in a home; env comes on top of the lab's.
type command struct {
	home    *home
	program string
	args    []string
	env     []string
	stdin   string
}

// run starts c through floor's run. It fails when the program does.
func (l *lab) run(ctx context.Context, run command) (cost, error) {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	result := filepath.Join(l.dir, "cost.json")
	c := exec.CommandContext(ctx, l.floor, append([]string{"run", result, run.program}, run.args...)...)
	c.Dir, c.Stdin = run.home.project, strings.NewReader(run.stdin)
	c.Env = append(l.env(run.home), run.env...)
	if runtime.GOOS != "windows" { // there, a kill is all there is
		c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
		c.WaitDelay = 5 * time.Second
	}
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		return cost{}, fmt.Errorf("%s: %w: %s", filepath.Base(run.program), err, tail(&stderr))
	}
	text, err := os.ReadFile(result)
	if err != nil {
		return cost{}, err
	}
	out := cost{stderr: stderr.Bytes()}
	if err := json.Unmarshal(text, &out); err != nil {
		return cost{}, err
	}
	if out.Exit != 0 {
		return cost{}, fmt.Errorf("%s: exit code %d: %s%s", filepath.Base(run.program), out.Exit, tail(&stdout), tail(&stderr))
	}
	return out, nil
}

// tail is the end of an output, short enough for an error.
func tail(b *bytes.Buffer) string {
	text := strings.TrimSpace(b.String())
	return text[max(0, len(text)-500):]
}

// env is the whole environment of a measured program: nothing of the person who runs the bench leaks in.
func (l *lab) env(h *home) []string {
	env := []string{
		"HOME=" + h.config, "USERPROFILE=" + h.config, "CLAUDE_CONFIG_DIR=" + h.config, "TMPDIR=" + l.dir, "LANG=C.UTF-8",
		"ANTHROPIC_BASE_URL=" + l.model.url, "ANTHROPIC_API_KEY=x",
		"DISABLE_AUTO_COMPACT=1", // the measures of long histories want them whole
	}
	for _, name := range []string{"PATH", "SystemRoot"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

const (
	words     = "Read what you need."
	modelName = "claude-sonnet-4-5"
)

// prompt runs hew headless on one prompt; the model answers by p.
func (l *lab) prompt(ctx context.Context, h *home, p plan, flags ...string) (*talk, cost, error) {
	args := append([]string{"-p", words, "--model", modelName, "--output-format", "json"}, flags...)
	return l.converse(ctx, command{home: h, program: l.hew, args: args}, p)
}

func (l *lab) converse(ctx context.Context, c command, p plan) (*talk, cost, error) {
	t := l.model.converse(p)
	took, err := l.run(ctx, c)
	if err == nil && len(t.arrive) == 0 {
		err = fmt.Errorf("%s: ended without a request to the model", filepath.Base(c.program))
	}
	return t, took, err
}

// chat runs the floor on a recorded request; the model answers by p.
func (l *lab) chat(ctx context.Context, h *home, p plan, request string) (*talk, cost, error) {
	return l.converse(ctx, command{home: h, program: l.floor, args: []string{"chat", l.model.url, request}}, p)
}

// record writes the first request of a talk to a file, for the floor.
func (l *lab) record(t *talk) (string, error) {
	name := l.path("request")
	return name, os.WriteFile(name, t.first, 0o600)
}

// firstRequest is the file with what hew sends for a prompt in a fresh project.
func (l *lab) firstRequest(ctx context.Context) (string, error) {
	if l.recorded != "" {
		return l.recorded, nil
	}
	h, err := l.newHome()
	if err != nil {
		return "", err
	}
	t, _, err := l.prompt(ctx, h, always(text("ok")))
	if err != nil {
		return "", err
	}
	l.recorded, err = l.record(t)
	return l.recorded, err
}

// always is the plan with one reply.
func always(r reply) plan { return func(int, int) reply { return r } }

// readAll is the plan that reads the files in turn and then ends.
func readAll(paths []string) plan {
	return func(turn, _ int) reply {
		if turn < len(paths) {
			return reading(paths[turn])
		}
		return text("done")
	}
}
