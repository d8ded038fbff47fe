// Package classify holds auto mode's two-stage classifier as a side query.
//
// It answers what the fixed rules would ask a person. A model judges, but it is
// told only what the user said and what the agent did; everything that could
// have been written to persuade it is kept away. What is not a clear yes is a
// block or a question, never a pass.
package classify

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/tool"
)

// Labels of the two side queries.
const (
	LabelQuick = "classify"
	LabelSlow  = "classify_reason"
)

// Bounds of the fallback: so many blocks in a row, or in all, and people are asked
// again until one of them approves a call.
const (
	maxInRow = 3
	maxInAll = 20
)

const (
	defaultTimeout = time.Minute
	maxReason      = 400 // runes of a model's reasons that are shown
)

// Config makes a Classifier. Fields without a comment that says otherwise are required.
type Config struct {
	// Ask makes a side query with a label and returns the reply's text. It must end with ctx.
	Ask func(ctx context.Context, label, system, user string) (string, error)
	// Rules are as configured; see Rules.Resolve.
	Rules      Rules
	Transcript *Transcript
	// Guidance are the instruction files. Optional.
	Guidance func() []Guidance
	// Git tells facts about the repository, a JSON value a line; it is asked
	// before commands are judged. Optional.
	Git func(ctx context.Context) string
	// Timeout bounds one judgement; 0 is a minute.
	Timeout time.Duration
}

// Classifier judges calls. It is safe for concurrent use.
type Classifier struct {
	c      Config
	system func() string // made when first needed: most sessions need none

	mu    sync.Mutex
	inRow int
	inAll int
}

// New makes a classifier. It asks nothing yet.
func New(c Config) *Classifier {
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	return &Classifier{c: c, system: sync.OnceValue(func() string { return system(c.Rules.Resolve()) })}
}

// Verdict is the outcome of one judgement: Allow, Deny, or Ask when the judge
// could not answer or is not to be heard.
type Verdict struct {
	Behavior tool.Behavior
	// Reason is one line for people and for the model.
	Reason string
	// Failed tells that a judgement was tried and did not come about.
	Failed bool
	// Paused tells that people are asked for now, since too much was blocked.
	Paused bool
}

// Judge judges one call; why says what stopped it so far. A failure is a verdict
// too, and counts for nothing.
func (c *Classifier) Judge(ctx context.Context, p tool.Planned, why string) Verdict {
	if reason := c.paused(); reason != "" {
		return Verdict{Behavior: tool.Ask, Reason: reason, Paused: true}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.c.Timeout, errTimeout)
	defer cancel()
	v, err := c.judge(ctx, p, why)
	if err != nil {
		if errors.Is(context.Cause(ctx), errTimeout) {
			err = errTimeout
		}
		return Verdict{Behavior: tool.Ask, Reason: "the auto-mode classifier gave no verdict: " + Shown(err.Error(), maxReason), Failed: true}
	}
	c.count(v.Behavior)
	return v
}

var errTimeout = errors.New("it did not answer in time")

func (c *Classifier) judge(ctx context.Context, p tool.Planned, why string) (Verdict, error) {
	git := ""
	if c.c.Git != nil && runs(p) {
		git = c.c.Git(ctx)
	}
	facts, err := c.facts(p, why, git)
	if err != nil {
		return Verdict{}, err
	}
	reply, err := c.c.Ask(ctx, LabelQuick, c.system(), facts+quick)
	if err != nil {
		return Verdict{}, err
	}
	pass, err := parseQuick(reply)
	if err != nil {
		return Verdict{}, err
	}
	if pass {
		return Verdict{Behavior: tool.Allow, Reason: "the auto-mode classifier finds the call in line with what was asked"}, nil
	}
	if reply, err = c.c.Ask(ctx, LabelSlow, c.system(), facts+slow); err != nil {
		return Verdict{}, err
	}
	r, err := parseSlow(reply)
	if err != nil {
		return Verdict{}, err
	}
	reason := "auto-mode classifier (" + r.rule + "): " + Shown(r.reasons, maxReason)
	if r.decision == wordAllow {
		return Verdict{Behavior: tool.Allow, Reason: reason}, nil
	}
	return Verdict{Behavior: tool.Deny, Reason: reason}, nil
}

// runs tells whether a call runs a command.
func runs(p tool.Planned) bool {
	for _, n := range p.Call.Needs() {
		if n.Kind == tool.NeedExec {
			return true
		}
	}
	return false
}

// paused says why people are asked for now, "" when they are not.
func (c *Classifier) paused() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.inRow >= maxInRow:
		return fmt.Sprintf("the auto-mode classifier blocked %d calls in a row, so a person decides until one is approved", c.inRow)
	case c.inAll >= maxInAll:
		return fmt.Sprintf("the auto-mode classifier blocked %d calls, so a person decides until one is approved", c.inAll)
	}
	return ""
}

func (c *Classifier) count(b tool.Behavior) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch b {
	case tool.Allow:
		c.inRow = 0
	case tool.Deny:
		c.inRow++
		c.inAll++
	case tool.Ask:
	}
}

// Approved tells that a person approved a call: the judge is heard again.
func (c *Classifier) Approved() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inRow, c.inAll = 0, 0
}

// Noted tells what a user's hook said for the judge to know.
func (c *Classifier) Noted(text string) { c.c.Transcript.Note(text) }

// Ran tells that a call was admitted; later judgements see it.
func (c *Classifier) Ran(p tool.Planned) { c.c.Transcript.Ran(p) }
