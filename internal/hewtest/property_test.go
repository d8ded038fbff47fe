package hewtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/provider/script"
)

// acks are the messages that a run has acknowledged: their lines have left hew.
type acks struct {
	w     *world
	lines []gjson.Result
	// prompts were accepted although no line says so: the run went on to answer.
	prompts []string
}

// acknowledged collects them from whole lines of the output; earlier are those
// of runs before. A reply that hew took back, on the output or in the
// transcript, is not among them: the next try replaced it.
func acknowledged(w *world, output []string, earlier *acks) *acks {
	a := &acks{w: w}
	back := map[string]bool{}
	for l := range bytes.SplitSeq(w.bytes(), []byte("\n")) {
		for _, id := range gjson.GetBytes(l, "retractedUuids").Array() {
			back[id.String()] = true
		}
	}
	var all []gjson.Result
	if earlier != nil {
		all, a.prompts = earlier.lines, earlier.prompts
	}
	for _, l := range output {
		v := gjson.Parse(l)
		switch v.Get("type").String() {
		case "assistant":
			if v.Get("message.model").String() != "<synthetic>" {
				all = append(all, v)
			}
		case "user":
			all = append(all, v)
		case "system":
			for _, id := range v.Get("uuids").Array() {
				back[id.String()] = true
			}
		}
	}
	for _, v := range all {
		if !back[v.Get("uuid").String()] {
			a.lines = append(a.lines, v)
		}
	}
	return a
}

// missing tells which acknowledged messages are not in the transcript.
func (a *acks) missing(transcript []byte) error {
	known := map[string]bool{}
	for l := range bytes.SplitSeq(transcript, []byte("\n")) {
		known[gjson.GetBytes(l, "uuid").String()] = true
	}
	var errs []error
	for _, v := range a.lines {
		if !known[v.Get("uuid").String()] {
			errs = append(errs, fmt.Errorf("not in the transcript, but acknowledged: %.300s", v.Raw))
		}
	}
	return errors.Join(errs...)
}

// lost tells which acknowledged messages a request leaves out.
func (a *acks) lost(body []byte) error {
	has := map[string]bool{}
	gjson.GetBytes(body, "messages").ForEach(func(_, m gjson.Result) bool {
		if c := m.Get("content"); !c.IsArray() {
			has["text "+c.String()] = true
		}
		for _, b := range m.Get("content").Array() {
			has[blockKey(b)] = true
		}
		return true
	})
	var errs []error
	model := gjson.GetBytes(body, "model").String()
	for i, v := range a.lines {
		for _, b := range v.Get("message.content").Array() {
			if b.Get("type").String() == "thinking" && (!a.followed(i) || v.Get("message.model").String() != model) {
				continue // the API refuses thinking that nothing follows, or of another model
			}
			if k := blockKey(b); !has[k] {
				errs = append(errs, fmt.Errorf("not in the request, but acknowledged (%s): %.300s", k, v.Raw))
			}
		}
	}
	for _, p := range a.prompts {
		if !has["text "+p] {
			errs = append(errs, fmt.Errorf("not in the request, but answered: prompt %q", p))
		}
	}
	return errors.Join(errs...)
}

// followed tells whether another block of the same reply was acknowledged after line i.
func (a *acks) followed(i int) bool {
	id := a.lines[i].Get("message.id").String()
	for _, v := range a.lines[i+1:] {
		if v.Get("message.id").String() == id && v.Get("message.content.0.type").String() != "thinking" {
			return true
		}
	}
	return false
}

// blockKey says what of a block must come back.
func blockKey(b gjson.Result) string {
	switch kind := b.Get("type").String(); kind {
	case "text", "thinking":
		return kind + " " + b.Get(kind).String()
	case "tool_use":
		return "tool_use " + b.Get("id").String() + " " + b.Get("name").String()
	case "tool_result":
		text := b.Get("content").String()
		if c := b.Get("content"); c.IsArray() {
			text = c.Get("#.text").String()
		}
		return "tool_result " + b.Get("tool_use_id").String() + " " + text
	default:
		return b.Raw
	}
}

// dice makes everything that is random about a trial.
type dice struct {
	*rand.Rand
	words int
}

// word is a text that occurs once.
func (d *dice) word() string {
	d.words++
	return fmt.Sprintf("word-%d-%08x", d.words, d.Uint32())
}

func (d *dice) chance(percent int) bool { return d.IntN(100) < percent }

func pick[T any](d *dice, list ...T) T { return list[d.IntN(len(list))] }

// scenario is a random script; whatever comes after it is answered, too.
func (d *dice) scenario() *script.Scenario {
	sc := &script.Scenario{Name: "random", Capture: map[string]string{"cwd": `(?m)^\s*Working directory: (.+)$`}}
	for range 5 + d.IntN(10) {
		sc.Steps = append(sc.Steps, d.step())
	}
	sc.Steps = append(sc.Steps, script.Step{Loop: true, Reply: []script.Reply{{Text: "That is all."}}})
	return sc
}

func (d *dice) step() script.Step {
	var s script.Step
	if d.chance(35) {
		s.Reply = append(s.Reply, script.Reply{Thinking: d.word()})
	}
	for range d.IntN(3) {
		s.Reply = append(s.Reply, script.Reply{Text: d.word() + strings.Repeat(" and so on", d.IntN(20))})
	}
	if n := d.IntN(8); n < 5 {
		for range n {
			s.Reply = append(s.Reply, d.call())
		}
	}
	if len(s.Reply) == 0 || s.Reply[len(s.Reply)-1].Thinking != "" {
		s.Reply = append(s.Reply, script.Reply{Text: d.word()})
	}
	if d.chance(5) {
		s.StopReason = pick(d, "max_tokens", "refusal")
	}
	if d.chance(30) {
		s.DelayMS, s.PaceMS = d.IntN(30), d.IntN(3)
	}
	if d.chance(30) {
		s.Fault = d.fault()
	}
	return s
}

// call is a call of any kind: reading, changing, running, refused, unknown, malformed.
func (d *dice) call() script.Reply {
	r := func(tool string, in map[string]any) script.Reply {
		raw, err := json.Marshal(in)
		if err != nil {
			panic(err) // strings and numbers only
		}
		return script.Reply{Tool: tool, Input: raw}
	}
	bash := func(command string) script.Reply { return r("Bash", map[string]any{"command": command}) }
	switch d.IntN(16) {
	case 0, 1:
		return r("Read", map[string]any{"file_path": "{{cwd}}/a.txt"})
	case 2:
		return r("Read", map[string]any{"file_path": "{{cwd}}/none-" + d.word()})
	case 3, 4:
		return r("Write", map[string]any{"file_path": "{{cwd}}/new-" + d.word(), "content": d.word() + "\n"})
	case 5, 6:
		return r("Edit", map[string]any{"file_path": "{{cwd}}/a.txt", "old_string": pick(d, "alpha", "beta", "gamma"), "new_string": pick(d, "alpha", "beta", d.word())})
	case 7, 8:
		return bash("echo " + d.word())
	case 9:
		return bash(fmt.Sprintf("sleep 0.%02d; echo %s", d.IntN(30), d.word()))
	case 10:
		return bash("rm -rf " + d.word()) // nobody allowed that
	case 11:
		return r(pick(d, "Glob", "Grep"), map[string]any{"pattern": pick(d, "*.txt", "alpha", "[")})
	case 12:
		return r("Bash", map[string]any{"command": "sleep 0.2; echo " + d.word(), "run_in_background": true})
	case 13:
		return r("TodoWrite", map[string]any{"todos": []any{map[string]any{"content": d.word(), "status": "pending", "activeForm": "Doing"}}})
	case 14:
		return r(pick(d, "Teleport", "Read"), map[string]any{"where": d.word()})
	default:
		if d.chance(50) {
			return script.Reply{Tool: "Read", Raw: `{"file_path": `}
		}
		return bash("seq 1 20000")
	}
}

// fault is any failure at any place.
func (d *dice) fault() *script.Fault {
	at := pick(d, "start", "stop", fmt.Sprintf("in:%d", 1+d.IntN(3)), fmt.Sprintf("block:%d", 1+d.IntN(3)), fmt.Sprintf("byte:%d", d.IntN(2500)))
	soon := map[string]string{"retry-after-ms": "5"}
	switch d.IntN(9) {
	case 0, 1:
		return &script.Fault{Do: "status", Status: pick(d, 408, 429, 500, 503, 529), Message: "later", Headers: soon}
	case 2:
		// 400 and 413 make hew leave out or summarise what was said: storms look at those.
		return &script.Fault{Do: "status", Status: pick(d, 401, 403, 404), Message: "no"}
	case 3, 4:
		return &script.Fault{Do: "cut", At: at, Clean: d.chance(50)}
	case 5:
		return &script.Fault{Do: "stall", At: at, MS: pick(d, 0, 20)}
	case 6:
		return &script.Fault{Do: "error", At: at, Type: pick(d, "overloaded_error", "api_error"), Message: "in the middle"}
	case 7:
		return &script.Fault{Do: "raw", At: pick(d, "headers", at), Body: pick(d, "<html>Welcome</html>", "data: {\n\n", ": ping\n\n"), ContentType: "text/html"}
	default:
		return &script.Fault{Do: "drip", Bytes: 1 + d.IntN(50)}
	}
}

// trial is one random script, run with random kills, resumed each time.
type trial struct {
	*dice
	w      *world
	acks   *acks
	before []byte
	story  []string // what happened, for messages
}

func newTrial(t testing.TB, seed, number uint64) *trial {
	return newTrialOf(t, seed, number, (*dice).scenario)
}

func newTrialOf(t testing.TB, seed, number uint64, made func(*dice) *script.Scenario) *trial {
	d := &dice{Rand: rand.New(rand.NewPCG(seed, number))}
	// An endless stall ends after a fifth of a second; three retries at most.
	w := newWorld(t, made(d), "API_FORCE_IDLE_TIMEOUT=200", "CLAUDE_CODE_MAX_RETRIES=3")
	if err := os.WriteFile(filepath.Join(w.proj, "a.txt"), []byte("alpha\nbeta\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return &trial{dice: d, w: w, acks: &acks{w: w}}
}

// run plays the trial. Its error says what does not hold.
func (tr *trial) run() error {
	for range 1 + tr.IntN(3) {
		if err := tr.round(tr.chance(75)); err != nil {
			return err
		}
	}
	return tr.round(false)
}

// round is one process: started, perhaps killed, and looked at.
func (tr *trial) round(kill bool) error {
	asked := len(tr.w.turns())
	h, prompts := tr.launch(kill)
	code := h.wait()
	tr.story = append(tr.story, fmt.Sprintf("%v: exit code %d, %d lines", h.cmd.Args[1:], code, len(h.output())))
	turns := tr.w.turns()
	for _, r := range turns[asked:] {
		tr.story = append(tr.story, fmt.Sprintf("  request of %d messages to %s, prefix break %q: %d", gjson.GetBytes(r.Body, "messages.#").Int(), gjson.GetBytes(r.Body, "model"), r.Break, r.Status))
	}
	if len(turns) > asked {
		if err := tr.acks.lost(turns[asked].Body); err != nil {
			return err
		}
	}
	tr.acks = acknowledged(tr.w, h.output(), tr.acks)
	if answered(h.output()) {
		tr.acks.prompts = append(tr.acks.prompts, prompts[0])
	}
	now, err := tr.w.intact(tr.before)
	if err != nil {
		return err
	}
	tr.before = now
	if err := tr.acks.missing(now); err != nil {
		return err
	}
	if v := tr.w.model.Violations(); len(v) > 0 {
		return fmt.Errorf("requests that are not valid:\n%s", strings.Join(v, "\n"))
	}
	if code < 0 {
		return nil // killed
	}
	return tr.clean(h, code)
}

func answered(output []string) bool {
	for _, l := range output {
		v := gjson.Parse(l)
		if v.Get("type").String() == "assistant" && v.Get("message.model").String() != "<synthetic>" {
			return true
		}
	}
	return false
}

// clean is what holds when hew has ended by itself.
func (tr *trial) clean(h *hew, code int) error {
	if h.termed.Load() && code == 128+int(syscall.SIGTERM) {
		code = 0
	}
	if code > 1 || !h.result().Exists() && !h.termed.Load() {
		return fmt.Errorf("ended with code %d and the result %s; stderr: %s", code, h.result(), h.stderr.String())
	}
	if strings.Contains(h.stderr.String(), "goroutine ") {
		return fmt.Errorf("a stack trace on stderr: %s", h.stderr.String())
	}
	if left := tr.w.leftovers(); len(left) > 0 {
		return fmt.Errorf("still running after a clean end: %v", left)
	}
	return nil
}

// launch starts hew with one prompt, or with up to three on a stream.
func (tr *trial) launch(kill bool) (*hew, []string) {
	args := append([]string{
		"-p", "--output-format", "stream-json", "--verbose",
		"--allowedTools", "Write,Edit,Bash(echo *),Bash(sleep *),Bash(seq *)",
	}, tr.w.begun()...)
	if tr.chance(30) {
		args = append(args, "--include-partial-messages")
	}
	if tr.chance(20) {
		args = append(args, "--model", pick(tr.dice, "claude-opus-4-1", "claude-haiku-4-5"))
	}
	if tr.chance(20) {
		args = append(args, "--fallback-model", "claude-haiku-4-5")
	}
	if tr.chance(20) {
		args = append(args, "--disallowedTools="+pick(tr.dice, "Grep", "TodoWrite"))
	}
	prompts := []string{tr.word()}
	stream := tr.chance(50)
	if stream {
		args = append(args, "--input-format", "stream-json", "--replay-user-messages")
		for range tr.IntN(3) {
			prompts = append(prompts, tr.word())
		}
	} else {
		args = append(args, prompts[0])
	}
	next, every, lines := 1, 1+tr.IntN(6), 0
	line, after := tr.IntN(25), time.Duration(tr.IntN(12))*time.Millisecond
	if tr.chance(50) {
		line, after = 0, time.Duration(tr.IntN(900))*time.Millisecond
	}
	stop := (*hew).kill
	if tr.chance(20) {
		stop = (*hew).term
	}
	interrupt := tr.IntN(60)
	h := tr.w.start(launch{args: args, seen: func(h *hew, v gjson.Result) {
		lines++
		if kill && lines == line {
			time.AfterFunc(after, func() { stop(h) })
		}
		if stream && lines == interrupt {
			h.say(map[string]any{"type": "control_request", "request_id": "i", "request": map[string]any{"subtype": "interrupt"}})
		}
		if stream && next < len(prompts) && (lines%every == 0 || v.Get("type").String() == "result") {
			h.say(user(prompts[next]))
			next++
		}
		if stream && next == len(prompts) {
			_ = h.in.Close() // nothing more to say; may be closed
		}
	}})
	if kill && line == 0 {
		time.AfterFunc(after, func() { stop(h) })
	}
	if stream {
		h.say(user(prompts[0]))
	} else {
		_ = h.in.Close() // no more input
	}
	return h, prompts
}

// trials runs n trials or as many as fit into the time, and tells how many.
func trials(t *testing.T, n int, most time.Duration) int {
	s := seed(t)
	began := time.Now()
	var mu sync.Mutex
	done := 0
	t.Run("trials", func(t *testing.T) {
		for i := range n {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				if time.Since(began) > most {
					return
				}
				tr := newTrial(t, s, uint64(i))
				if err := tr.run(); err != nil {
					data, _ := json.Marshal(checked(t, (&dice{Rand: rand.New(rand.NewPCG(s, uint64(i)))}).scenario()))
					t.Errorf("trial %d: %v\nstory:\n  %s\nscript: %s", i, err, strings.Join(tr.story, "\n  "), data)
				}
				mu.Lock()
				done++
				mu.Unlock()
			})
		}
	})
	t.Logf("%d trials in %s", done, time.Since(began).Round(time.Second))
	return done
}

// TestNothingAcknowledgedIsLost is the property of the loop and the transcript:
// whatever the model says, whatever fails and whenever hew is killed, every
// request is valid, nothing that was acknowledged is missing from the first
// request after a resume, the transcript only grows, and a clean end leaves no
// process behind.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	if trials(t, 30, 12*time.Second) == 0 {
		t.Error("there was no time for a single trial")
	}
}
