package compact

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// Bounds of automatic compaction.
const (
	// maxFailures is how many summaries in a row may fail before no more are
	// asked for (requirement CX-8).
	maxFailures = 3
	// maxRapid is how many compactions may follow each other with at most one
	// reply between them before the run ends: the window fills as fast as it is
	// emptied.
	maxRapid = 3
)

// Auto is the last stage: a summary stands in the place of history. It ends with
// a window that fits, whatever the model answers; only a person's or a hook's
// word keeps it from that.
type Auto struct {
	c        *Config
	failures int
	rapid    int
	dropped  int
}

// NewAuto makes the stage.
func NewAuto(c *Config) *Auto { return &Auto{c: c} }

// Failed is the error of a compaction that a person asked for and that left
// history as it was.
type Failed struct{ Err error }

// Error says what to do.
func (f *Failed) Error() string {
	return "the conversation was not compacted and is as it was: " + f.Err.Error()
}

// Unwrap returns the cause.
func (f *Failed) Unwrap() error { return f.Err }

// Blocked is the error of a compaction that a hook kept from happening.
type Blocked struct{ Reason string }

// Error is the hook's reason.
func (b *Blocked) Error() string { return "a PreCompact hook blocked the compaction: " + b.Reason }

var errNothing = errors.New("there is nothing to compact yet")

// errGivenUp stands for a summary that is not asked for any more.
var errGivenUp = fmt.Errorf("%d summaries in a row have failed", maxFailures)

// Shape compacts.
func (a *Auto) Shape(ctx context.Context, w loop.Window, why loop.Pressure, emit func(event.Body)) (loop.Window, error) {
	manual, byHand := why.(loop.Manual)
	if !byHand && !a.c.On.Auto {
		return idle(StageAuto, w, "off", emit), nil
	}
	w, _, act := a.c.aim(w, why)
	j := &job{a: a, w: w, l: a.c.Limits(w.Model), emit: emit, trigger: "auto", began: a.c.Now()}
	_, j.overflow = why.(loop.Overflow)
	if byHand {
		j.trigger, j.instructions = "manual", []string{manual.Instructions}
	}
	j.cut()
	switch {
	case !act && !byHand:
		return idle(StageAuto, w, "idle", emit), nil
	case len(j.old) == 0 && byHand:
		return w, &Failed{errNothing}
	case len(j.old) == 0:
		return idle(StageAuto, w, "nothing to take", emit), nil
	}
	if !byHand {
		if err := a.thrash(w); err != nil {
			return w, err
		}
	}
	return j.run(ctx)
}

// thrash ends a run whose window fills as fast as it is emptied. The next prompt
// may try again.
func (a *Auto) thrash(w loop.Window) error {
	replies, compacted := 0, false
	for _, m := range w.Messages {
		if isSummary(m) {
			replies, compacted = 0, true
		}
		if m.Role == msg.RoleAssistant {
			replies++
		}
	}
	// The newest reply before the summary may stand behind it, word for word.
	if !compacted || replies > 2 || a.dropped == 0 {
		a.rapid = 0
		return nil
	}
	if a.rapid++; a.rapid <= maxRapid {
		return nil
	}
	a.rapid = 0
	return &loop.Halt{Reason: event.RapidRefillBreaker, Detail: fmt.Sprintf(
		"the window was full again right after it was compacted, %d times in a row; the run is stopped. Look at hew context for what fills it, ask for smaller pieces, or begin anew with /clear", maxRapid+1)}
}

// job is one compaction.
type job struct {
	a                 *Auto
	w                 loop.Window
	l                 Limits
	emit              func(event.Body)
	trigger           string
	overflow          bool
	instructions      []string
	began             time.Time
	context           *msg.Message
	old, kept         []*msg.Message
	edits             []event.Edit
	available, before int
}

// run asks the hooks, gets a summary and puts the new window together.
func (j *job) run(ctx context.Context) (loop.Window, error) {
	if j.available < 100 {
		return j.w, &loop.Halt{Reason: event.BlockingLimit, Detail: fmt.Sprintf(
			"the system prompt, the tools and the instruction files alone fill the window of %d tokens; shorten them, or choose a model with a larger window", j.l.Window)}
	}
	if c := j.a.c; c.Hooks != nil {
		say := c.Hooks.Before(ctx, j.trigger, first(j.instructions), j.emit)
		if say.Blocked {
			return j.blocked(say.Reason)
		}
		j.instructions = append(j.instructions, say.Instructions...)
	}
	summary, err := j.summary(ctx)
	if err != nil || summary == "" {
		return j.w, err
	}
	if ctx.Err() != nil {
		return j.w, context.Cause(ctx)
	}
	return j.replace(ctx, summary)
}

func first(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}

func (j *job) blocked(reason string) (loop.Window, error) {
	err := &Blocked{reason}
	if j.trigger == "manual" {
		return j.w, err
	}
	j.emit(event.Notice{Level: event.Warning, Code: "compaction_blocked", Text: err.Error()})
	return idle(StageAuto, j.w, "blocked by a hook", j.emit), nil
}

// summary is the model's, or one made without a model where the run could not go
// on otherwise. "" without an error leaves history as it is.
func (j *job) summary(ctx context.Context) (string, error) {
	a, full := j.a, j.overflow || j.w.Size > j.l.Hard
	if a.failures >= maxFailures && !full && j.trigger == "auto" {
		idle(StageAuto, j.w, errGivenUp.Error(), j.emit)
		return "", nil
	}
	j.emit(event.Compacting{Trigger: j.trigger, Percent: j.before * 100 / j.l.Window})
	if j.trigger == "auto" {
		j.emit(event.Notice{Level: event.Info, Code: "compaction", Text: fmt.Sprintf("the window is %d%% full; older parts of the conversation are being summarised", j.before*100/j.l.Window)})
	}
	err := errGivenUp
	if a.failures < maxFailures || j.trigger == "manual" {
		var s string
		if s, err = a.summarise(ctx, j.w, j.l, j.instructions); err == nil {
			a.failures = 0
			return s, nil
		}
		if ctx.Err() != nil {
			j.over(err)
			return "", context.Cause(ctx)
		}
		a.failures++
	}
	if full {
		j.emit(event.Notice{Level: event.Warning, Code: "compaction_fallback", Text: "the summary was made without the model, because the window is full and the model gave none: " + err.Error()})
		return fallback(j.old, bytesOf(j.available*30/100)), nil
	}
	j.over(err)
	if j.trigger == "manual" {
		return "", &Failed{err}
	}
	text := "the conversation could not be summarised and is as it was: " + err.Error()
	if a.failures == maxFailures {
		text += "; no more summaries are asked for in this session: /compact tries again"
	}
	j.emit(event.Notice{Level: event.Warning, Code: "compaction_failed", Text: text})
	return "", nil
}

func (j *job) over(err error) {
	j.emit(event.Compacting{Trigger: j.trigger, Percent: j.before * 100 / j.l.Window, Over: true, Err: err.Error()})
}

// fallback is a summary of the old messages in at most n bytes, made without a model.
func fallback(old []*msg.Message, n int) string {
	text := "No model could be asked for this summary. What was said and called, a line each:\n"
	for _, m := range old {
		if isSummary(m) {
			text = "Of the time before, this was known:\n" + Clip(summaryOf(m), n/3) + "\n\n" + text
		}
	}
	return text + digest(old, max(200, n-len(text)))
}
