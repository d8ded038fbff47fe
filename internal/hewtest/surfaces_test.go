package hewtest

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	sdk "github.com/hew-agent/hew"
	"github.com/hew-agent/hew/internal/backend/provider/script"
)

// traced is a script that calls tools side by side and one after the other, is
// refused, retries, is cut off and calls what does not exist.
func traced() *script.Scenario {
	return &script.Scenario{Capture: map[string]string{"cwd": `(?m)^\s*Working directory: (.+)$`}, Steps: []script.Step{
		{Reply: []script.Reply{
			{Thinking: "first look"},
			{Text: "I look."},
			{Tool: "Read", Input: []byte(`{"file_path":"{{cwd}}/a.txt"}`)},
			{Tool: "Read", Input: []byte(`{"file_path":"{{cwd}}/none.txt"}`)},
			{Tool: "Bash", Input: []byte(`{"command":"touch refused"}`)},
			{Tool: "Edit", Input: []byte(`{"file_path":"{{cwd}}/a.txt","old_string":"alpha","new_string":"beta"}`)},
		}},
		{Fault: &script.Fault{Do: "status", Status: 529, Message: "busy", Headers: map[string]string{"retry-after-ms": "1"}}},
		{Reply: []script.Reply{{Text: "half"}, {Text: "cut off"}}, Fault: &script.Fault{Do: "cut", At: "in:2"}},
		{Reply: []script.Reply{{Tool: "Teleport", Input: []byte(`{}`)}, {Tool: "Bash", Input: []byte(`{"command":"cat a.txt"}`)}}},
		{Reply: []script.Reply{{Text: "Done."}}},
	}}
}

// ways are the ways to run one prompt: each writes its trace into a file.
var ways = []struct {
	name string
	run  func(t *testing.T, w *world, trace string)
}{
	{"text", byFormat("text")},
	{"text again", byFormat("text")},
	{"json", byFormat("json")},
	{"stream-json", byFormat("stream-json")},
	{"stream-json both ways", byHost},
	{"Go SDK", inProcess},
	{"editor", byEditor},
	{"WebSocket", bySocket},
}

func byFormat(format string) func(*testing.T, *world, string) {
	return func(t *testing.T, w *world, trace string) {
		t.Helper()
		args := []string{"-p", "go", "--permission-mode", "acceptEdits", "--trace", trace, "--output-format", format}
		if format == "stream-json" {
			args = append(args, "--verbose")
		}
		r := w.reader(args...)
		if _, err := io.Copy(io.Discard, r.buf); err != nil {
			t.Fatal(err)
		}
		if err := r.cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

func byHost(t *testing.T, w *world, trace string) {
	t.Helper()
	in := strings.NewReader(`{"type":"user","message":{"role":"user","content":"go"}}` + "\n")
	r := w.readerOf(in, "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits", "--trace", trace)
	if _, err := io.Copy(io.Discard, r.buf); err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

func inProcess(t *testing.T, w *world, trace string) {
	t.Helper()
	f, err := os.Create(trace)
	if err != nil {
		t.Fatal(err)
	}
	for ev := range sdk.Query(t.Context(), "go", sdk.Options{Dir: w.proj, Env: w.env, Mode: "acceptEdits", Trace: f}) {
		if d, ok := ev.(sdk.Done); ok && d.Err != nil {
			t.Fatal(d.Err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// byEditor speaks the Agent Client Protocol.
func byEditor(t *testing.T, w *world, trace string) {
	t.Helper()
	in, say, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	r := w.readerOf(in, "acp", "--permission-mode", "acceptEdits", "--trace", trace)
	request := func(id int, method, params string) gjson.Result {
		if _, err := fmt.Fprintf(say, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
			t.Fatal(err)
		}
		for {
			v := r.line(t)
			if v.Get("id").Int() == int64(id) && !v.Get("method").Exists() {
				if v.Get("error").Exists() {
					t.Fatalf("%s: %s", method, v.Raw)
				}
				return v.Get("result")
			}
		}
	}
	request(1, "initialize", `{"protocolVersion":1,"clientCapabilities":{}}`)
	session := request(2, "session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, w.proj)).Get("sessionId").Str
	request(3, "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}`, session))
	if err := say.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, r.buf); err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// TestTraceIsTheSame is rows LP-28 and Q-2: the same script gives the same
// normalised trace twice, and on each surface.
func TestTraceIsTheSame(t *testing.T) {
	var want string
	for _, way := range ways {
		w := newWorld(t, traced())
		if err := os.WriteFile(filepath.Join(w.proj, "a.txt"), []byte("alpha\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		trace := filepath.Join(w.home, "trace.jsonl")
		way.run(t, w, trace)
		if err := w.model.Done(); err != nil {
			t.Fatalf("%s: %v", way.name, err)
		}
		got := withoutSizes(withoutStart(normal(t, w, trace)))
		if want == "" {
			want = got
			for _, kind := range []string{"turn", "model_call", "decision", "tool_start", "tool_stop", "retry", "done"} {
				if !strings.Contains(got, fmt.Sprintf(`"kind":%q`, kind)) {
					t.Errorf("the trace has no line of kind %s:\n%s", kind, got)
				}
			}
		}
		if got != want {
			t.Errorf("%s has the trace\n%s\nwant\n%s", way.name, got, want)
		}
	}
}

// withoutSizes leaves out how large requests are: where somebody can be asked,
// tools for that are offered.
func withoutSizes(trace string) string {
	return regexp.MustCompile(`,"(bytes|before|after)":\d+`).ReplaceAllString(trace, "")
}

// withoutStart leaves out the steps of a process's start: a library has none.
func withoutStart(trace string) string {
	var out []string
	for l := range strings.SplitSeq(trace, "\n") {
		if gjson.Get(l, "kind").Str != "start" {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}
