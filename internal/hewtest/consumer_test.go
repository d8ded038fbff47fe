package hewtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/provider/script"
)

// reader is a hew whose output is read only when the test reads it.
type reader struct {
	cmd *exec.Cmd
	out *os.File
	buf *bufio.Reader
}

func (w *world) reader(args ...string) *reader {
	w.t.Helper()
	return w.readerOf(nil, args...)
}

// readerOf is reader with something on standard input.
func (w *world) readerOf(stdin io.Reader, args ...string) *reader {
	w.t.Helper()
	path, err := exec.LookPath("hew")
	if err != nil {
		w.t.Fatal(err)
	}
	out, in, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	r := &reader{cmd: exec.Command(path, args...), out: out, buf: bufio.NewReader(out)}
	r.cmd.Dir, r.cmd.Env, r.cmd.Stdin, r.cmd.Stdout = w.proj, w.env, stdin, in
	if err := errors.Join(r.cmd.Start(), in.Close()); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _, _ = r.cmd.Process.Kill(), out.Close() }) // may have ended
	return r
}

func (r *reader) line(t *testing.T) gjson.Result {
	t.Helper()
	s, err := r.buf.ReadString('\n')
	if err != nil {
		t.Fatalf("the output ended early: %v", err)
	}
	return gjson.Parse(s)
}

// memory is the resident set of a process in bytes.
func memory(t *testing.T, pid int) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}

func needProc(t *testing.T, what string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skipf("left out: %s (needs /proc)", what)
	}
}

// TestSlowReaderPausesTheModel is row LP-2: nobody reads, so the model's server
// blocks and memory stays bounded; then everything arrives, in order.
func TestSlowReaderPausesTheModel(t *testing.T) {
	needProc(t, "memory of a run that nobody reads")
	stream := []string{"--output-format", "stream-json", "--verbose", "--include-partial-messages"}
	t.Run("prompt", func(t *testing.T) {
		t.Parallel()
		slowly(t, func(w *world) *reader { return w.reader(append([]string{"-p", "go"}, stream...)...) })
	})
	t.Run("host", func(t *testing.T) { // bad input of S-3: a slow host
		t.Parallel()
		slowly(t, func(w *world) *reader {
			in := strings.NewReader(`{"type":"user","message":{"role":"user","content":"go"}}` + "\n")
			return w.readerOf(in, append([]string{"--input-format", "stream-json"}, stream...)...)
		})
	})
}

func slowly(t *testing.T, start func(w *world) *reader) {
	t.Helper()
	const blocks, lines = 13, 10_000 // of 100 bytes: 13 MB, more than the sockets and pipes on the way hold
	var sc script.Scenario
	var all strings.Builder
	step := script.Step{Chunk: 8000}
	for b := range blocks {
		var text strings.Builder
		for i := range lines {
			fmt.Fprintf(&text, "%099d\n", b*lines+i)
		}
		step.Reply = append(step.Reply, script.Reply{Text: text.String()})
		all.WriteString(text.String())
	}
	sc.Steps = []script.Step{step}
	w := newWorld(t, &sc)
	r := start(w)
	r.line(t) // system/init
	before := memory(t, r.cmd.Process.Pid)

	// Blocked is: for half a second the server got nothing rid of.
	sent, since := int64(-1), time.Now()
	if err := until(func() bool {
		if now := w.model.Sent(); now != sent || now == 0 {
			sent, since = now, time.Now()
		}
		return time.Since(since) > 500*time.Millisecond
	}); err != nil {
		t.Fatalf("the server is never blocked; it has sent %d bytes", w.model.Sent())
	}
	if int(sent) >= all.Len() {
		t.Fatalf("the server got rid of all %d bytes though nobody reads", sent)
	}
	grown := memory(t, r.cmd.Process.Pid) - before
	t.Logf("blocked after %d bytes, memory has grown by %d MB", sent, grown>>20)
	if grown > 64<<20 {
		t.Errorf("memory has grown by %d MB while nobody reads", grown>>20)
	}
	var got strings.Builder
	for {
		v := r.line(t)
		if d := v.Get("event.delta"); d.Get("type").String() == "text_delta" {
			got.WriteString(d.Get("text").String())
		}
		if v.Get("type").String() == "result" {
			break
		}
	}
	if err := r.cmd.Wait(); err != nil {
		t.Error(err)
	}
	if got.String() != all.String() {
		t.Errorf("%d bytes of text arrived, want %d in order", got.Len(), all.Len())
	}
}

// TestReaderThatLeavesEndsTheRun is row LP-3: the reader closes the output
// while the model speaks, or while a command runs. Two seconds later there is
// no process left, and the transcript is whole.
func TestReaderThatLeavesEndsTheRun(t *testing.T) {
	needProc(t, "processes that outlive a run")
	text := script.Reply{Text: strings.Repeat("and so on ", 20_000)}
	sleep := script.Reply{Tool: "Bash", Input: []byte(`{"command":"sleep 8633 & sleep 8634"}`)}
	job := script.Reply{Tool: "Bash", Input: []byte(`{"command":"sleep 8633; sleep 8634","run_in_background":true}`)}
	for _, c := range []struct {
		name  string
		steps []script.Step
		ready string // in the command line of a process, "" for the first delta
	}{
		{"model", []script.Step{{Reply: []script.Reply{text}, PaceMS: 1}}, ""},
		{"command", []script.Step{{Reply: []script.Reply{{Text: "I wait."}, sleep}}}, "sleep 8634"},
		{"job", []script.Step{{Reply: []script.Reply{job}}, {Reply: []script.Reply{text}, PaceMS: 1}}, "sleep 8633"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &script.Scenario{Steps: c.steps})
			r := w.reader("-p", "go", "--output-format", "stream-json", "--verbose", "--include-partial-messages", "--allowedTools", "Bash", "--session-id", w.id)
			for !strings.Contains(r.line(t).Get("event.type").String(), "delta") {
				continue
			}
			if err := until(func() bool { return strings.Contains(strings.Join(w.children(), "\n"), c.ready) }); err != nil {
				t.Fatalf("no process %q among %v", c.ready, w.children())
			}
			left := time.Now()
			if err := r.out.Close(); err != nil {
				t.Fatal(err)
			}
			go func() { _ = r.cmd.Wait() }() // its exit code does not matter
			if err := until(func() bool { return len(w.children()) == 0 || time.Since(left) > 2*time.Second }); err != nil || len(w.children()) > 0 {
				t.Errorf("two seconds after the reader has left these still run: %v", w.children())
			}
			if _, err := w.intact(nil); err != nil {
				t.Error(err)
			}
			if n := strings.Count(string(w.bytes()), "\n"); n < 2 {
				t.Errorf("the transcript has %d lines", n)
			}
		})
	}
}

// normal is a trace without what may differ: times, the folder, and the order
// in which calls of one batch run beside each other.
func normal(t *testing.T, w *world, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out, batch []string
	flush := func() {
		// Lines of one call stay in order, calls are in the order of the reply.
		for _, use := range inOrder(batch) {
			for _, l := range batch {
				if gjson.Get(l, "tool_use_id").String() == use {
					out = append(out, l)
				}
			}
		}
		batch = nil
	}
	for l := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n") {
		l = strings.ReplaceAll(l, w.proj, "$W")
		for _, drop := range []string{"t", "ms"} {
			raw := gjson.Get(l, drop).Raw
			l = strings.Replace(l, fmt.Sprintf("%q:%s,", drop, raw), "", 1)
		}
		if gjson.Get(l, "tool_use_id").Exists() {
			batch = append(batch, l)
			continue
		}
		flush()
		out = append(out, l)
	}
	flush()
	return strings.Join(out, "\n")
}

// inOrder lists the calls of a batch by their ids, which the model numbers.
func inOrder(batch []string) []string {
	var ids []string
	for _, l := range batch {
		ids = append(ids, gjson.Get(l, "tool_use_id").String())
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
