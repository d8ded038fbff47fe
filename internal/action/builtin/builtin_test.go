package builtin

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
	"github.com/hew-agent/hew/internal/tool/tooltest"
)

// bench is a set of tools over a temporary folder.
type bench struct {
	t     *testing.T
	dir   string
	env   tool.Env
	c     Config
	tools map[string]tool.Tool
}

type in map[string]any

func newBench(t *testing.T, c Config) *bench {
	t.Helper()
	dir, err := fsys.Real(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if c.NewID == nil {
		c.NewID = func() string { return "newcell" }
	}
	if c.Now == nil {
		c.Now = func() time.Time { return time.Unix(0, 0) }
	}
	if c.Seen == nil {
		c.Seen = &fsys.ReadState{}
	}
	b := &bench{t: t, dir: dir, c: c, env: tool.Env{Cwd: dir, Project: dir, Roots: []string{dir}}, tools: map[string]tool.Tool{}}
	for _, ch := range All(c) {
		b.tools[ch.Tool.Spec().Name] = ch.Tool
	}
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) write(name, content string) string {
	b.t.Helper()
	p := b.path(name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bench) content(name string) string {
	b.t.Helper()
	raw, err := os.ReadFile(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(raw)
}

func (b *bench) plan(name string, input any) (tool.Call, error) {
	raw, err := json.Marshal(input)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.tools[name].Plan(raw, b.env)
}

// run plans and runs; an error of Plan becomes the result that the loop would make of it.
func (b *bench) run(name string, input any) tool.Result {
	b.t.Helper()
	c, err := b.plan(name, input)
	if err != nil {
		return tool.Refused(err.Error())
	}
	return c.Run(context.Background(), func(tool.Progress) {})
}

// ok runs a call that must succeed and returns its text.
func (b *bench) ok(name string, input any) string {
	b.t.Helper()
	r := b.run(name, input)
	if r.IsError {
		b.t.Fatalf("%s %v failed: %s", name, input, text(r))
	}
	return text(r)
}

// bad runs a call that must fail with a text that holds every part.
func (b *bench) bad(name string, input any, parts ...string) string {
	b.t.Helper()
	r := b.run(name, input)
	if !r.IsError {
		b.t.Fatalf("%s %v succeeded: %s", name, input, text(r))
	}
	for _, p := range parts {
		if !strings.Contains(text(r), p) {
			b.t.Errorf("%s %v: error %q lacks %q", name, input, text(r), p)
		}
	}
	return text(r)
}

func text(r tool.Result) string {
	var s []string
	for _, b := range r.Content {
		if x, ok := b.(*msg.Text); ok {
			s = append(s, x.Text)
		}
	}
	return strings.Join(s, "\n")
}

// data decodes the structured result.
func data(t *testing.T, r tool.Result) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(r.Data, &v); err != nil {
		t.Fatalf("data %s: %v", r.Data, err)
	}
	return v
}

// samples is a good input for every tool.
func samples(dir string) map[string]string {
	f := filepath.ToSlash(filepath.Join(dir, "a.txt"))
	return map[string]string{
		"Read":             `{"file_path":"` + f + `"}`,
		"Write":            `{"file_path":"` + f + `","content":"x"}`,
		"Edit":             `{"file_path":"` + f + `","old_string":"a","new_string":"b"}`,
		"NotebookEdit":     `{"notebook_path":"` + f + `.ipynb","cell_id":"c","new_source":"b"}`,
		"Glob":             `{"pattern":"**/*.go"}`,
		"Grep":             `{"pattern":"x","output_mode":"content","-A":1}`,
		"TodoWrite":        `{"todos":[{"content":"a","status":"pending","activeForm":"b"}]}`,
		"TaskCreate":       `{"subject":"a","description":"b"}`,
		"TaskGet":          `{"taskId":"1"}`,
		"TaskUpdate":       `{"taskId":"1","status":"completed"}`,
		"AskUserQuestion":  `{"questions":[{"question":"q?","header":"h","options":[{"label":"a","description":"x"},{"label":"b","description":"y"}]}]}`,
		"TaskOutput":       `{"task_id":"b1","block":false,"timeout":5}`,
		"TaskStop":         `{"task_id":"b1"}`,
		"CronCreate":       `{"cron":"0 9 * * 1-5","prompt":"p"}`,
		"CronDelete":       `{"id":"x"}`,
		"ScheduleWakeup":   `{"delaySeconds":60,"reason":"r","prompt":"p"}`,
		"ExitPlanMode":     `{"plan":"do it"}`,
		"EnterWorktree":    `{"name":"x"}`,
		"ExitWorktree":     `{"action":"keep"}`,
		"PushNotification": `{"message":"m"}`,
		"ToolSearch":       `{"query":"select:NotebookEdit"}`,
	}
}

func TestEveryToolConforms(t *testing.T) {
	b := newBench(t, Config{Tasks: t.TempDir(), Interactive: true, Background: &task.List{}, Schedule: &task.Schedule{Now: time.Now}, More: func(string) bool { return true }})
	good := samples(b.dir)
	for name, tl := range b.tools {
		t.Run(name, func(t *testing.T) {
			tooltest.Check(t, tl, b.env, json.RawMessage(good[name]))
		})
	}
	out, err := StructuredOutput(json.RawMessage(`{"type":"object","properties":{"a":{"type":["integer","null"]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	tooltest.Check(t, out, b.env, nil)
}

func names(tools []tool.Tool) string {
	var s []string
	for _, t := range tools {
		s = append(s, t.Spec().Name)
	}
	return strings.Join(s, " ")
}

func TestOffer(t *testing.T) {
	const always = "Read Write Edit NotebookEdit Glob Grep"
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{}, always + " TodoWrite"},
		{Config{Tasks: "x"}, always + " TaskCreate TaskGet TaskList TaskUpdate"},
		{Config{Interactive: true}, always + " TodoWrite AskUserQuestion EnterPlanMode ExitPlanMode"},
	} {
		if got := names(New(c.config)); got != c.want {
			t.Errorf("offered %s, want %s", got, c.want)
		}
	}
	for _, ch := range All(Config{}) {
		if s := ch.Tool.Spec(); s.Always && !ch.Offered {
			t.Errorf("%s is said to be offered always", s.Name)
		}
	}
}

// The definitions are sent with every request; Bash and its companions have
// about 3.3 KB of the 14 KB that all tools of the first part may take.
func TestDefinitionsAreSmall(t *testing.T) {
	sum := func(c Config) (n int) {
		for _, tl := range New(c) {
			s := tl.Spec()
			one := len(msg.Encode(map[string]any{"name": s.Name, "description": s.Description, "input_schema": s.Schema}))
			t.Logf("%5d %s", one, s.Name)
			n += one
		}
		return n
	}
	for _, c := range []Config{{Interactive: true}, {Interactive: true, Tasks: "x"}} {
		if n := sum(c); n > 10_700 {
			t.Errorf("%d bytes of definitions, 10,700 at most", n)
		}
	}
}

func contextEnded(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx, cancel
}
