package compact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/feature"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// rig is a conversation with its shapers and a model that writes summaries.
type rig struct {
	t       testing.TB
	c       Config
	window  int
	ids     int
	asked   []Query
	answer  func(Query) (string, error)
	files   map[string]string
	bodies  []event.Body
	history []*msg.Message
	now     time.Time
}

func newRig(t testing.TB, window int) *rig {
	r := &rig{t: t, window: window, files: map[string]string{}, now: time.Unix(1e9, 0)}
	r.answer = func(Query) (string, error) { return "<summary>what was done</summary>", nil }
	r.c = Config{
		Limits: func(string) Limits { return NewLimits(window, window/20, 0, 0) },
		On:     Stages{Micro: true, Auto: true},
		Ask: func(_ context.Context, q Query) (string, error) {
			r.asked = append(r.asked, q)
			size := tokens(q.History) + textTokens(q.Text) + textTokens(q.System)
			if size+q.MaxTokens > window+256 {
				t.Errorf("a summary was asked for with %d + %d tokens, the window is %d", size, q.MaxTokens, window)
			}
			return r.answer(q)
		},
		Clearable: func(u *msg.ToolUse) (string, bool) { return u.Name + string(u.Input), u.Name == "Read" },
		Spill: func() Budget {
			return Budget{Keep: func(b []byte) (string, error) {
				p := "/spill/" + fsys.KeptName(b, ".txt")
				r.files[p] = string(b)
				return p, nil
			}}
		},
		Transcript: func() string { return "/t.jsonl" },
		Now:        func() time.Time { return r.now },
		NewID:      r.id,
	}
	return r
}

func (r *rig) id() string { r.ids++; return fmt.Sprint("m", r.ids) }

func (r *rig) say(text string) {
	r.history = append(r.history, msg.User(r.id(), r.now, text))
}

func (r *rig) reply(blocks ...msg.Block) {
	r.history = append(r.history, &msg.Message{ID: r.id(), Role: msg.RoleAssistant, Blocks: blocks, Time: r.now, Reply: &msg.Reply{ID: r.id()}})
}

// call adds a reply with a call and its result.
func (r *rig) call(name, input, result string) {
	use := r.id()
	r.reply(msg.NewText("next"), msg.NewToolUse(use, name, json.RawMessage(`{"file_path":"`+input+`"}`)))
	r.history = append(r.history, &msg.Message{ID: r.id(), Role: msg.RoleUser, Time: r.now, Blocks: []msg.Block{
		msg.NewToolResult(use, []msg.Block{msg.NewText(result)}, msg.OK),
	}})
}

func (r *rig) emit(b event.Body) { r.bodies = append(r.bodies, b) }

// shape shapes and checks what must hold after any shaping.
func (r *rig) shape(s loop.Shaper, why loop.Pressure, w loop.Window) (loop.Window, error) {
	r.t.Helper()
	w.Messages, w.Model = r.history, "m"
	if w.Used == 0 {
		w.Fresh = len(r.history)
	}
	out, err := s.Shape(context.Background(), w, why, r.emit)
	if err == nil {
		r.history = out.Messages
	}
	r.sound()
	return out, err
}

// sound checks that every call has its result in the message behind it.
func (r *rig) sound() {
	r.t.Helper()
	for i, m := range r.history {
		for _, u := range m.ToolUses() {
			found := false
			if i+1 < len(r.history) {
				for _, b := range r.history[i+1].Blocks {
					res, ok := b.(*msg.ToolResult)
					found = found || ok && res.ToolUseID == u.ID
				}
			}
			if !found {
				r.t.Fatalf("message %d: the call %s is parted from its result", i, u.ID)
			}
		}
		for _, b := range m.Blocks {
			if res, ok := b.(*msg.ToolResult); ok && (i == 0 || !calls(r.history[i-1], res.ToolUseID)) {
				r.t.Fatalf("message %d: a result without its call", i)
			}
		}
	}
}

func calls(m *msg.Message, id string) bool {
	for _, u := range m.ToolUses() {
		if u.ID == id {
			return true
		}
	}
	return false
}

func (r *rig) stages() (out []string) {
	for _, b := range r.bodies {
		if s, ok := b.(event.Shaped); ok {
			word := s.Stage
			if s.After < s.Before {
				word += "!"
			}
			out = append(out, word)
		}
	}
	return out
}

func words1000(n int) string { return strings.Repeat("some words of text ", n) }

// needStages leaves out what a build without the cheap stages cannot show.
func needStages(t *testing.T) {
	t.Helper()
	if !feature.HistorySnip || !feature.Microcompact || !feature.ContextCollapse {
		t.Skip("left out: all five stages (needs a build that has them)")
	}
}

// Row SH-1: all five in order, each with its sizes; what an earlier stage
// achieves leaves the later ones idle.
func TestStagesRunInOrder(t *testing.T) {
	needStages(t)
	r := newRig(t, 10_000)
	r.say("hello")
	p := New(r.c)
	if _, err := r.shape(p, loop.Routine{}, loop.Window{}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.stages(), " "); got != "budget snip microcompact collapse compaction" {
		t.Error(got)
	}
	for stage, on := range map[string]Stages{
		StageSnip: {Snip: true, Micro: true, Collapse: true, Auto: true}, StageMicro: {Micro: true, Collapse: true, Auto: true},
		StageCollapse: {Collapse: true, Auto: true}, StageAuto: {Auto: true},
	} {
		t.Run(stage, func(t *testing.T) {
			r := newRig(t, 10_000)
			r.c.On = on
			r.say("the task")
			for i := range 30 {
				r.call("Read", fmt.Sprint("f", i), words1000(60))
			}
			out, err := r.shape(New(r.c), loop.Routine{}, loop.Window{})
			if err != nil || out.Break != stage {
				t.Fatalf("%v, break %q, %v", err, out.Break, r.stages())
			}
			if n := tokens(r.history); n > 6000 {
				t.Errorf("%d tokens are left", n)
			}
			acted := 0
			for _, s := range r.stages() {
				if strings.HasSuffix(s, "!") {
					acted++
				}
			}
			if acted != 1 || len(r.stages()) != 5 {
				t.Errorf("%v", r.stages())
			}
			if (stage == StageAuto) != (len(r.asked) == 1) {
				t.Errorf("%d summaries were asked for", len(r.asked))
			}
			if r.history[0].Text() != "the task" && !strings.Contains(r.history[0].Text(), "the task") {
				t.Error("the user's words are gone")
			}
			before := r.history
			if out, err := r.shape(New(r.c), loop.Routine{}, loop.Window{}); err != nil || out.Break != "" || len(before) != len(r.history) {
				t.Errorf("shaping again changed the window: %v %q", err, out.Break)
			}
		})
	}
}

// Rows CX-4, SH-5: of ten reads of one file only the newest keeps its content.
func TestRepeatedReadsGoFirst(t *testing.T) {
	r := newRig(t, 10_000)
	r.say("go")
	r.call("Read", "other", words1000(100))
	for range 10 {
		r.call("Read", "same", words1000(170))
	}
	out, err := r.shape(NewMicro(&r.c), loop.Routine{}, loop.Window{})
	if err != nil || out.Break != StageMicro {
		t.Fatal(err, out.Break)
	}
	whole := 0
	for _, m := range r.history {
		for _, b := range m.Blocks {
			if res, ok := b.(*msg.ToolResult); ok && strings.HasPrefix(resultText(res), "some words") {
				whole++
			}
		}
	}
	if whole > 6 || !strings.Contains(r.history[2].Blocks[0].(*msg.ToolResult).Content[0].(*msg.Text).Text, "some words") {
		t.Errorf("%d results are whole", whole)
	}
}

// A cold cache makes clearing free, so it is done early.
func TestColdCacheIsClearedEarly(t *testing.T) {
	needStages(t)
	r := newRig(t, 10_000)
	r.c.CacheLife = 5 * time.Minute
	r.say("go")
	for i := range 22 {
		r.call("Read", fmt.Sprint(i), words1000(60))
	}
	p := New(r.c)
	if out, _ := r.shape(p, loop.Routine{}, loop.Window{}); out.Break != "" {
		t.Fatal("a warm cache was broken", out.Break, out.Size)
	}
	r.now = r.now.Add(time.Hour)
	if out, _ := r.shape(p, loop.Routine{}, loop.Window{}); out.Break != StageMicro {
		t.Error("nothing was cleared", out.Size)
	}
}

// fill makes a history of n windows with one result of two windows in it.
func (r *rig) fill(n int) {
	r.say("the task: find the cinnabar")
	for tokens(r.history) < r.window*n/2 {
		r.call("Read", r.id(), words1000(80))
		r.reply(msg.NewText(words1000(20)))
		r.say("and then " + r.id())
	}
	r.call("Bash", "huge", words1000(r.window*2*35/10/19))
	for tokens(r.history) < r.window*(n+2) {
		r.call("Read", r.id(), words1000(80))
		r.reply(msg.NewText(words1000(20)))
		r.say("and then " + r.id())
	}
}

// A history of ten windows with one result of two windows ends usable by every
// way of compaction, and with every model.
func TestTenWindows(t *testing.T) {
	models := map[string]func(Query) (string, error){
		"good":     func(Query) (string, error) { return "<summary>fine</summary>", nil },
		"wordy":    func(Query) (string, error) { return "<summary>" + words1000(50_000) + "</summary>", nil },
		"no block": func(Query) (string, error) { return "plain words", nil },
		"silent":   func(Query) (string, error) { return "", nil },
		"broken":   func(Query) (string, error) { return "", errors.New("no route to host") },
		"refusing": func(Query) (string, error) { return "", &provider.Error{Class: provider.TooLong, Message: "too long"} },
	}
	for name, model := range models {
		for _, why := range []loop.Pressure{loop.Manual{Instructions: "keep"}, loop.Routine{}, loop.Overflow{}} {
			t.Run(fmt.Sprintf("%s/%T", name, why), func(t *testing.T) {
				r := newRig(t, 8_000)
				r.answer = model
				r.fill(10)
				out, err := r.shape(New(r.c), why, loop.Window{})
				if err != nil {
					t.Fatal(err)
				}
				if n := tokens(r.history); n > 8000*60/100 || out.Break != StageAuto {
					t.Fatalf("%d tokens are left, break %q", n, out.Break)
				}
				if !strings.Contains(r.history[0].Text(), "cinnabar") {
					t.Error("the task is lost")
				}
				last := r.history[len(r.history)-1]
				if last.Role != msg.RoleUser || !strings.HasPrefix(last.Text(), "and then") {
					t.Error("the newest prompt is not the last message")
				}
			})
		}
	}
}

// Thirty windows' worth of turns in one session.
func TestThirtyWindows(t *testing.T) {
	r := newRig(t, 8_000)
	p := New(r.c)
	r.say("the first words")
	spent := 0
	for spent < 30*8_000 {
		r.call("Read", r.id(), words1000(90))
		spent += 600
		out, err := r.shape(p, loop.Routine{}, loop.Window{})
		if err != nil {
			t.Fatalf("after %d tokens: %v", spent, err)
		}
		if n := tokens(r.history); n > 7_400 {
			t.Fatalf("%d tokens after shaping (%s)", n, out.Break)
		}
	}
	if len(r.asked) == 0 && !strings.Contains(strings.Join(r.stages(), " "), "microcompact!") {
		t.Error("nothing was ever shaped")
	}
	if !strings.Contains(r.history[0].Text(), "the first words") {
		t.Error("the first words are lost")
	}
}

// A provider whose figures are wrong does not end a session.
func TestUsageThatLies(t *testing.T) {
	for name, used := range map[string]int{"nothing": 1, "far too much": 1_000_000, "always full": 7_900} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 8_000)
			p := New(r.c)
			r.say("task")
			w := loop.Window{}
			for range 60 {
				r.call("Read", r.id(), words1000(60))
				out, err := r.shape(p, loop.Routine{}, w)
				if err != nil {
					t.Fatal(err)
				}
				if n := tokens(r.history); n > 7_400 {
					t.Fatalf("%d tokens after shaping (%q)", n, out.Break)
				}
				w = loop.Window{Used: used, Fresh: 2}
			}
		})
	}
}

// Rows CX-8 and the rule that a failure leaves history untouched: three
// failures, one notice, no fourth request.
func TestFailuresLeaveHistoryAlone(t *testing.T) {
	r := newRig(t, 8_000)
	r.c.On.Micro = false
	r.answer = func(Query) (string, error) { return "", errors.New("the server is away") }
	p := New(r.c)
	r.say("task")
	for tokens(r.history) < 7_450 {
		r.reply(msg.NewText(words1000(10)))
		r.say("more")
	}
	for range 6 {
		before := len(r.history)
		out, err := r.shape(p, loop.Routine{}, loop.Window{})
		if err != nil || out.Break != "" || len(r.history) != before {
			t.Fatal(err, out.Break)
		}
	}
	if len(r.asked) != maxFailures {
		t.Errorf("%d requests", len(r.asked))
	}
	// Where the run cannot go on there is a summary without a model.
	for tokens(r.history) < 8_100 {
		r.reply(msg.NewText(words1000(10)))
		r.say("more")
	}
	if out, err := r.shape(p, loop.Routine{}, loop.Window{}); err != nil || out.Break != StageAuto || tokens(r.history) > 4_800 {
		t.Fatal(err, out.Break, tokens(r.history))
	}
	// By hand the error is told and history is as it was.
	r = newRig(t, 8_000)
	r.answer = func(Query) (string, error) { return "", errors.New("the server is away") }
	r.say("task")
	r.reply(msg.NewText("hello"))
	_, err := r.shape(New(r.c), loop.Manual{}, loop.Window{})
	var f *Failed
	if !errors.As(err, &f) || len(r.history) != 2 {
		t.Fatal(err)
	}
}

// Images and parallel results that do not fit.
func TestImagesAndParallelResults(t *testing.T) {
	r := newRig(t, 8_000)
	r.say("look")
	var uses, results []msg.Block
	for i := range 12 {
		id := fmt.Sprint("u", i)
		uses = append(uses, msg.NewToolUse(id, "Read", json.RawMessage(`{}`)))
		results = append(results, msg.NewToolResult(id, []msg.Block{msg.NewImage("image/png", "AAAA"), msg.NewText(words1000(200))}, msg.OK))
	}
	r.reply(uses...)
	r.history = append(r.history, &msg.Message{ID: r.id(), Role: msg.RoleUser, Blocks: results})
	p := New(r.c)
	if _, err := r.shape(p, loop.Routine{}, loop.Window{}); err != nil {
		t.Fatal(err)
	}
	if n := tokens(r.history); n > 7_800 {
		t.Fatalf("%d tokens", n)
	}
}

// Whatever a history is: pairs stay together, it fits or the run is told why it
// cannot, recorded edits make the same view again, and a second shaping is idle.
func TestAnyHistory(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for trial := range 300 {
		r := newRig(t, 2_000+rnd.IntN(20_000))
		r.c.On = Stages{rnd.IntN(2) == 0, rnd.IntN(2) == 0, rnd.IntN(2) == 0, rnd.IntN(4) > 0}
		r.c.Own = rnd.IntN(3) == 0
		if rnd.IntN(3) == 0 {
			r.answer = func(Query) (string, error) { return "", errors.New("away") }
		}
		r.say("task")
		for range rnd.IntN(60) {
			switch rnd.IntN(4) {
			case 0:
				r.say(words1000(1 << rnd.IntN(9)))
			case 1:
				r.reply(msg.NewText(words1000(1 << rnd.IntN(8))))
			default:
				r.call([]string{"Read", "Bash"}[rnd.IntN(2)], fmt.Sprint(rnd.IntN(5)), words1000(1<<rnd.IntN(11)))
			}
		}
		whole := r.history
		p := New(r.c)
		why := []loop.Pressure{loop.Routine{}, loop.Overflow{}, loop.Manual{}}[rnd.IntN(3)]
		out, err := r.shape(p, why, loop.Window{})
		l := r.c.Limits("m")
		if _, routine := why.(loop.Routine); err == nil && routine && tokens(r.history) > l.Hard {
			t.Fatalf("trial %d: %d tokens of %d", trial, tokens(r.history), l.Hard)
		}
		var edits []event.Edit
		compacted := false
		for _, b := range r.bodies {
			switch b := b.(type) {
			case event.Shaped:
				edits = append(edits, b.Edits...)
			case event.Compacted:
				compacted = true
			default:
			}
		}
		if !compacted && err == nil {
			again := Project(whole, edits)
			if len(again) != len(r.history) {
				t.Fatalf("trial %d: a resume shows %d messages, not %d", trial, len(again), len(r.history))
			}
			for i := range again {
				if string(again[i].JSON()) != string(r.history[i].JSON()) {
					t.Fatalf("trial %d: a resume shows another message %d", trial, i)
				}
			}
		}
		if out.Break == StageAuto {
			n := len(r.asked)
			if out, err := r.shape(p, loop.Routine{}, loop.Window{}); err != nil || out.Break != "" || len(r.asked) != n {
				t.Fatalf("trial %d after %T: shaped again: %v %q, window %d\n%+v", trial, why, err, out.Break, r.window, r.bodies[len(r.bodies)-6:])
			}
		}
	}
}

// Idle shaping costs the messages that are new.
func TestIdleCostsWhatIsNew(t *testing.T) {
	r := newRig(t, 10_000_000)
	for range 5_000 {
		r.call("Read", "x", "short")
	}
	p := New(r.c)
	w := loop.Window{Messages: r.history, Model: "m", Used: 400_000, Fresh: 0}
	_, _ = p.Shape(context.Background(), w, loop.Routine{}, func(event.Body) {})
	allocs := testing.AllocsPerRun(50, func() {
		_, _ = p.Shape(context.Background(), w, loop.Routine{}, func(event.Body) {})
	})
	if allocs > 60 {
		t.Errorf("%.0f allocations for nothing to do", allocs)
	}
}

func TestParseWindow(t *testing.T) {
	for in, want := range map[string]int{"auto": 0, "500k": 500_000, "1M": 1_000_000, "200": 200_000, "150000": 150_000, "x": -1, "-5": -1, "": -1, "NaN": -1} {
		n, err := ParseWindow(in)
		if (err != nil) != (want < 0) || err == nil && n != want {
			t.Errorf("%q: %d %v", in, n, err)
		}
	}
}
