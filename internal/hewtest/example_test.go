package hewtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"golang.org/x/tools/txtar"

	"github.com/hew-agent/hew/internal/backend/provider/script"
)

// example is the running example (row EX-1) in one language: a repository
// whose test really fails, and a model script that repairs it.
type example struct {
	name  string
	files []txtar.File
	sc    *script.Scenario
	test  []string // runs the tests
	risky string   // the command that the person refuses
	diff  []string // what the repair must change
	steps string   // of the straight run
}

const examplePrompt, exampleGoOn, exampleAgain = "Fix the failing test in auth.test", "Go on.", "Run the tests once more."

func loadExample(t testing.TB, name string) *example {
	t.Helper()
	a, err := txtar.ParseFile("../../testdata/example/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	x := &example{name: name, steps: "look at the net, test, read, repair, test the repair, report"}
	for _, f := range a.Files {
		if f.Name != "script.json" {
			x.files = append(x.files, f)
			continue
		}
		if x.sc, err = script.Parse(f.Data); err != nil {
			t.Fatal(err)
		}
	}
	switch name {
	case "go":
		x.test, x.risky = []string{"go", "test", "./..."}, "go get -u ./..."
		x.diff = []string{"-\treturn t.User != \"\" && now.Before(t.Expires)", "+\treturn t.User != \"\" && !now.After(t.Expires)"}
	case "node":
		x.test, x.risky = []string{"node", "--test", "--test-reporter=tap"}, "npm update"
		x.diff = []string{"-  return token.user !== '' && now < token.expires;", "+  return token.user !== '' && now <= token.expires;"}
	}
	return x
}

// repository lays the example out and commits it.
func (x *example) repository(w *world) {
	w.t.Helper()
	for _, f := range x.files {
		if err := os.WriteFile(filepath.Join(w.proj, f.Name), f.Data, 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "start"}} {
		w.program(append([]string{"git"}, args...)...)
	}
}

// program runs a program in the project, which must succeed.
func (w *world) program(argv ...string) string {
	w.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = w.proj, w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%v: %v\n%s", argv, err, out)
	}
	return string(out)
}

// killPoint is a moment of a run: that long after the line number line.
type killPoint struct {
	line  int
	after time.Duration
}

func (k killPoint) String() string { return fmt.Sprintf("line %d + %s", k.line, k.after) }

// person answers hew's questions: no to the risky command, yes to the tests
// for the rest of the session, yes to anything else.
type person struct {
	x     *example
	asked []string // in order
	lines int
	at    []time.Time // of each line
	kill  *killPoint
}

func (p *person) see(h *hew, line gjson.Result) {
	p.at = append(p.at, time.Now())
	if p.lines++; p.kill != nil && p.lines == p.kill.line {
		time.AfterFunc(p.kill.after, h.kill)
	}
	if line.Get("type").String() == "result" {
		_ = h.in.Close() // nothing more to say
	}
	r := line.Get("request")
	if r.Get("subtype").String() != "can_use_tool" {
		return
	}
	what := r.Get("tool_name").String()
	command := r.Get("input.command").String()
	if command != "" {
		what = command
	}
	p.asked = append(p.asked, what)
	answer := map[string]any{"behavior": "allow", "updatedInput": r.Get("input").Value()}
	switch command {
	case p.x.risky:
		answer = map[string]any{"behavior": "deny", "message": "not without me"}
	case strings.Join(p.x.test, " "):
		answer["updatedPermissions"] = []any{map[string]any{
			"type": "addRules", "behavior": "allow", "destination": "session",
			"rules": []any{map[string]any{"toolName": "Bash", "ruleContent": command}},
		}}
	}
	h.say(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "success", "request_id": line.Get("request_id").String(), "response": answer,
	}})
}

// host starts hew with somebody at the other end who answers questions.
func (w *world) host(p *person, prompt string, flags ...string) *hew {
	args := append([]string{
		"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--permission-prompt-tool", "stdio",
	}, append(flags, w.begun()...)...)
	h := w.start(launch{args: args, seen: p.see})
	h.say(user(prompt))
	return h
}

// repaired checks the end of a repair, whichever way it came about.
func (x *example) repaired(w *world, h *hew, code int) (diff string) {
	w.t.Helper()
	res := h.result()
	if code != 0 || res.Get("is_error").Bool() || !strings.HasPrefix(res.Get("result").String(), "Fixed") {
		w.t.Fatalf("exit code %d, result %s\nstderr: %s", code, res, h.stderr.String())
	}
	if v := w.model.Violations(); len(v) > 0 {
		w.t.Fatalf("requests that are not valid:\n%s", strings.Join(v, "\n"))
	}
	diff = w.program("git", "diff")
	for _, l := range x.diff {
		if !strings.Contains(diff, l+"\n") {
			w.t.Fatalf("the diff lacks %q:\n%s", l, diff)
		}
	}
	if s := w.program("git", "status", "--porcelain"); len(strings.Fields(s)) != 2 {
		w.t.Fatalf("more than one file has changed:\n%s", s)
	}
	return diff
}

// straight runs the example without a kill and shows each station on the way.
func (x *example) straight(t *testing.T) (diff string, at []time.Time) {
	w := newWorld(t, x.sc)
	x.repository(w)
	began := time.Now()
	p := &person{x: x}
	h := w.host(p, examplePrompt)
	diff = x.repaired(w, h, h.wait())
	at = append([]time.Time{began}, p.at...)
	w.program(x.test...)

	test := strings.Join(x.test, " ")
	if got, want := strings.Join(p.asked, ", "), strings.Join([]string{x.risky, test, "Edit"}, ", "); got != want {
		t.Errorf("asked for %s, want %s: the second test run is granted by the first", got, want)
	}
	var steps []string
	for _, r := range w.turns() {
		steps = append(steps, r.Step)
	}
	if got, want := strings.Join(steps, ", "), x.steps; got != want {
		t.Errorf("the steps were %s, want %s", got, want)
	}
	x.grantless(w)
	if left := w.leftovers(); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
	return diff, at
}

// grantless resumes with nobody to ask: the session's grants are gone, so the
// tests may not run.
func (x *example) grantless(w *world) {
	w.t.Helper()
	before := w.bytes()
	h := w.start(launch{args: append([]string{"-p", exampleAgain, "--output-format", "json"}, w.begun()...)})
	_ = h.in.Close() // no more input
	code := h.wait()
	res := h.result()
	if code != 0 || res.Get("result").String() != "I may not run the tests here." {
		w.t.Errorf("exit code %d, result %s\nstderr: %s", code, res, h.stderr.String())
	}
	if n := len(res.Get("permission_denials").Array()); n != 1 {
		w.t.Errorf("%d calls were refused, want 1: %s", n, res)
	}
	if _, err := w.intact(before); err != nil {
		w.t.Error(err)
	}
	if v := w.model.Violations(); len(v) > 0 {
		w.t.Errorf("requests that are not valid:\n%s", strings.Join(v, "\n"))
	}
}

// leftovers are children that outlive their hew by two seconds.
func (w *world) leftovers() []string {
	end := time.Now().Add(2 * time.Second)
	_ = until(func() bool { return len(w.children()) == 0 || time.Now().After(end) })
	return w.children()
}

// killed runs the example, kills hew at k and resumes. It reports whether
// there was a run to kill.
func (x *example) killed(t testing.TB, k killPoint) (diff string, hit bool) {
	t.Helper()
	w := newWorld(t, x.sc)
	x.repository(w)
	p := &person{x: x, kill: &k}
	h := w.host(p, examplePrompt)
	if k.line == 0 {
		time.AfterFunc(k.after, h.kill)
	}
	if code := h.wait(); code >= 0 {
		return x.repaired(w, h, code), false
	}
	_ = h.in.Close() // hew is gone
	before := w.bytes()
	if err := acknowledged(w, h.output(), nil).missing(before); err != nil {
		t.Fatalf("after the kill: %v", err)
	}
	again, prompt := &person{x: x}, exampleGoOn
	if w.begun()[0] != "--resume" {
		prompt = examplePrompt // killed before there was a session
	}
	h2 := w.host(again, prompt)
	diff = x.repaired(w, h2, h2.wait())
	if _, err := w.intact(before); err != nil {
		t.Fatal(err)
	}
	test := strings.Join(x.test, " ")
	if ran := strings.Contains(strings.Join(h2.output(), ""), `"name":"Bash"`); ran && !strings.Contains(strings.Join(again.asked, "\n"), test) {
		t.Fatalf("the tests ran after the resume on a grant of the killed run; asked: %v", again.asked)
	}
	return diff, true
}

// explorer is the example in which the model has the code looked for before it
// reads it.
func (x *example) explorer() *example {
	const question, found = "Where is it decided whether a token is valid?", "The code under test stands beside it."
	sc := *x.sc
	sc.Steps = nil
	for _, s := range x.sc.Steps {
		if s.Name == "read" {
			read, ask := s, s
			read.Match, ask.Name = script.Match{Result: found}, "explore"
			ask.Reply = []script.Reply{{Tool: "Agent", Input: json.RawMessage(fmt.Sprintf(`{"description":"Find the code","prompt":%q,"subagent_type":"Explore"}`, question))}}
			sc.Steps = append(sc.Steps, read, ask)
			continue
		}
		sc.Steps = append(sc.Steps, s)
	}
	none, one := 0, 1
	sc.Lanes = []script.Lane{{Name: "explorer", Match: script.Match{User: question}, Steps: []script.Step{
		{Match: script.Match{Replies: &none}, Reply: []script.Reply{{Tool: "Grep", Input: json.RawMessage(`{"pattern":"valid","output_mode":"content"}`)}}},
		{Match: script.Match{Replies: &one, Result: "auth"}, Reply: []script.Reply{{Text: found}}},
	}}}
	out := *x
	out.sc, out.steps = &sc, "look at the net, test, explore, , , read, repair, test the repair, report"
	return &out
}

// compacted stops after the code was read, has the conversation summarised and
// goes on.
func (x *example) compacted(t testing.TB) (diff string) {
	sc := *x.sc
	sc.Side = map[string][]script.Step{"compact": {{Reply: []script.Reply{{Text: "<summary>A test of auth fails; the code was read.</summary>"}}, Loop: true}}}
	w := newWorld(t, &sc)
	x.repository(w)
	h := w.host(&person{x: x}, examplePrompt, "--max-turns", "3")
	if code := h.wait(); code == 0 || !strings.Contains(h.result().Raw, "max_turns") {
		t.Fatalf("three turns were not the end: exit code %d, %s", code, h.result())
	}
	w.program(append([]string{"hew", "-p", "/compact"}, w.begun()...)...)
	if !bytes.Contains(w.bytes(), []byte("compact_boundary")) {
		t.Fatal("nothing was summarised")
	}
	h = w.host(&person{x: x}, exampleGoOn)
	return x.repaired(w, h, h.wait())
}

// point picks a moment of the straight run: any line, any time up to the next.
func point(rnd *rand.Rand, at []time.Time) killPoint {
	i := rnd.IntN(len(at) - 1)
	gap := at[i+1].Sub(at[i])
	return killPoint{line: i, after: time.Duration(rnd.Int64N(int64(gap) + 1))}
}

// seed is HEW_SEED, or a fixed one: what the check says of a commit must not
// depend on luck. make soak sets new ones.
func seed(t testing.TB) uint64 {
	t.Helper()
	s := uint64(20261130)
	if v := os.Getenv("HEW_SEED"); v != "" {
		var err error
		if s, err = strconv.ParseUint(v, 10, 64); err != nil {
			t.Fatalf("HEW_SEED: %v", err)
		}
	}
	t.Logf("HEW_SEED=%d runs the same again", s)
	return s
}

func needNode(t testing.TB) {
	t.Helper()
	out, err := exec.Command("node", "--version").Output()
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), ".")
	if n, convErr := strconv.Atoi(major); err != nil || convErr != nil || n < 20 {
		t.Skip("left out: the running example in JavaScript (needs Node 20)")
	}
}

// TestRunningExample is rows EX-1 and V3: straight, with an exploration by a
// subagent, with a compaction in the middle, and with a kill -9 at a random
// point and --resume; the diff is the same.
func TestRunningExample(t *testing.T) {
	for _, name := range []string{"go", "node"} {
		t.Run(name, func(t *testing.T) {
			if name == "node" {
				needNode(t)
			}
			rnd := rand.New(rand.NewPCG(seed(t), 1))
			x := loadExample(t, name)
			want, at := x.straight(t)
			if t.Failed() {
				return
			}
			// One language shows each: a run takes seconds.
			var other string
			if name == "go" {
				other, _ = x.explorer().straight(t)
			} else {
				other = x.compacted(t)
			}
			if other != want {
				t.Errorf("explored by a subagent, or compacted: the diff is\n%s\nwant\n%s", other, want)
			}
			k := point(rnd, at)
			got, hit := x.killed(t, k)
			if got != want {
				t.Errorf("killed at %s (%v): the diff is\n%s\nwant\n%s", k, hit, got, want)
			}
		})
	}
}
