package hewtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/provider/script"
	"github.com/hew-agent/hew/internal/state/session"
)

// world is a home, a project and a scripted model, for tests that drive hew
// more closely than a scenario can.
type world struct {
	t          testing.TB
	home, proj string
	id         string // of the session
	mark       string // a variable that every child process inherits
	model      *script.Model
	env        []string
	kills      int // runs that ended by a kill
}

// newWorld starts a model that plays sc. env adds to the environment of hew.
func newWorld(t testing.TB, sc *script.Scenario, env ...string) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, home: filepath.Join(root, "home"), proj: filepath.Join(root, "proj"), id: session.NewID(), mark: "HEW_TEST_WORLD=" + session.NewID()}
	for _, d := range []string{w.home, w.proj, filepath.Join(root, "tmp")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.model = script.New(checked(t, sc), script.Config{Keep: true})
	srv := httptest.NewServer(http.Handler(w.model))
	srv.Config.ErrorLog = nil
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	w.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "TMPDIR=" + filepath.Join(root, "tmp"), "LANG=C.UTF-8", "GORACE=" + raceOptions,
		"GOCACHE=" + goCache(), "GOFLAGS=-mod=mod", "CGO_ENABLED=0", "GOMAXPROCS=2",
		"ANTHROPIC_API_KEY=test-key-0123456789", "ANTHROPIC_BASE_URL=" + srv.URL, "ANTHROPIC_MODEL=claude-sonnet-4-5", w.mark,
	}, env...)
	return w
}

// checked is sc as if it had been read from a file.
func checked(t testing.TB, sc *script.Scenario) *script.Scenario {
	t.Helper()
	data, err := json.Marshal(sc)
	if err != nil {
		t.Fatal(err)
	}
	out, err := script.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// bytes of the transcript, nil when there is none.
func (w *world) bytes() []byte {
	found, err := filepath.Glob(filepath.Join(w.home, ".claude", "projects", "*", w.id+".jsonl"))
	if err != nil || len(found) != 1 {
		return nil
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		w.t.Fatal(err)
	}
	return data
}

// begun chooses between a new session and going on with the old one, which
// exists when a prompt of it was written down.
func (w *world) begun() []string {
	if bytes.Contains(w.bytes(), []byte(`"type":"user"`)) {
		return []string{"--resume", w.id}
	}
	return []string{"--session-id", w.id}
}

// turns are the bodies of the requests so far, side queries left out.
func (w *world) turns() []script.Record {
	var out []script.Record
	for _, r := range w.model.Requests() {
		if r.Side == "" {
			out = append(out, r)
		}
	}
	return out
}

// children lists the processes that inherited the mark.
func (w *world) children() []string {
	found, _ := filepath.Glob("/proc/[0-9]*/environ")
	var out []string
	for _, f := range found {
		env, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(env, []byte(w.mark)) {
			continue
		}
		cmd, err := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
		if err == nil && len(cmd) > 0 {
			out = append(out, filepath.Base(filepath.Dir(f))+" "+strings.ReplaceAll(string(cmd), "\x00", " "))
		}
	}
	return out
}

// proc is a running hew. Its lines are collected by a reader of their own.
type hew struct {
	w      *world
	cmd    *exec.Cmd
	in     io.WriteCloser
	seen   func(h *hew, line gjson.Result) // called for each line, in order
	mu     sync.Mutex
	lines  []string
	stderr bytes.Buffer
	ended  chan struct{}
	termed atomic.Bool // term was called
	err    error
}

// launch is how to start a hew: seen is called for each line of its output.
type launch struct {
	args []string
	seen func(h *hew, line gjson.Result)
}

func (w *world) start(l launch) *hew {
	w.t.Helper()
	path, err := exec.LookPath("hew")
	if err != nil {
		w.t.Fatal(err)
	}
	h := &hew{w: w, cmd: exec.Command(path, l.args...), seen: l.seen, ended: make(chan struct{})}
	h.cmd.Dir, h.cmd.Env, h.cmd.Stderr = w.proj, w.env, &h.stderr
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		w.t.Fatal(err)
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go h.read(out)
	return h
}

// read takes whole lines; what a killed process left of its last line is no line.
func (h *hew) read(out io.Reader) {
	defer close(h.ended)
	br := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := br.ReadString('\n')
		if err != nil {
			break
		}
		h.mu.Lock()
		h.lines = append(h.lines, line)
		h.mu.Unlock()
		if h.seen != nil {
			h.seen(h, gjson.Parse(line))
		}
	}
	h.err = h.cmd.Wait()
}

func (h *hew) output() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.lines...)
}

// say sends one line. The process may be gone: then nobody has accepted it.
func (h *hew) say(v any) {
	line, err := json.Marshal(v)
	if err != nil {
		h.w.t.Error(err)
		return
	}
	_, _ = h.in.Write(append(line, '\n'))
}

// user is a prompt as a host sends it.
func user(text string) any {
	return map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}}
}

// wait waits for the end and returns the exit code, -1 for a signal. A hang is
// patience without a new line and without a new request: a run may rightly wait
// longer in all, for the retries of many faults on a busy machine.
func (h *hew) wait() int {
	h.w.t.Helper()
	ended, came := false, -1
	var err error
	for err == nil && !ended {
		err = until(func() bool {
			select {
			case <-h.ended:
				ended = true
				return true
			default:
			}
			now := len(h.output()) + len(h.w.model.Requests())
			more := now > came
			came = max(came, now)
			return more
		})
	}
	if err != nil {
		_ = h.cmd.Process.Signal(syscall.SIGQUIT) // Go answers with the stacks, on stderr
		select {
		case <-h.ended:
		case <-time.After(patience / 6):
			_ = h.cmd.Process.Kill()
			<-h.ended
		}
		h.w.t.Fatalf("hew %v does nothing for "+patience.String()+" and does not end; so far:\n%s\nstderr: %s\nprocesses: %v", h.cmd.Args[1:], strings.Join(h.output(), ""), h.stderr.String(), h.w.children())
	}
	var ee *exec.ExitError
	switch {
	case h.err == nil:
		return 0
	case errors.As(h.err, &ee):
		if ee.ExitCode() < 0 {
			h.w.kills++
		}
		return ee.ExitCode()
	}
	h.w.t.Fatal(h.err)
	return 0
}

// kill ends hew without warning, as a power cut would.
func (h *hew) kill() { _ = h.cmd.Process.Kill() } // may have ended

// term asks hew to end.
func (h *hew) term() {
	h.termed.Store(true)
	_ = h.cmd.Process.Signal(syscall.SIGTERM) // may have ended
}

// result is the last result line.
func (h *hew) result() gjson.Result {
	lines := h.output()
	for i := len(lines) - 1; i >= 0; i-- {
		if v := gjson.Parse(lines[i]); v.Get("type").String() == "result" {
			return v
		}
	}
	return gjson.Result{}
}

// intact checks what holds after every run: the earlier bytes of the transcript
// are still its first bytes, and each whole line is JSON, but for one stump a
// kill: a write of several pages may end in the middle. It returns its bytes.
func (w *world) intact(before []byte) ([]byte, error) {
	now := w.bytes()
	if !bytes.HasPrefix(now, before) {
		return now, fmt.Errorf("the first %d bytes of the transcript have changed", len(before))
	}
	torn := 0
	for i, l := range bytes.Split(now[:bytes.LastIndexByte(now, '\n')+1], []byte("\n")) {
		if len(l) == 0 || gjson.ValidBytes(l) {
			continue
		}
		if torn++; torn > w.kills {
			return now, fmt.Errorf("line %d of the transcript is not JSON after %d kills: %.200q", i+1, w.kills, l)
		}
	}
	return now, nil
}
