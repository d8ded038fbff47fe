package engine

import (
	"context"
	"errors"
	"time"

	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/checkpoint"
	"github.com/hew-agent/hew/internal/tool"
)

// Checkpoints saves what calls are about to change, so that a rewind can bring
// it back; the wiring makes it of package checkpoint.
type Checkpoints interface {
	// Prompt begins the checkpoint of a prompt, by the id of its message.
	Prompt(id string) error
	// Before saves what an admitted call may change. It refuses the call when
	// something would be lost for good and nobody agrees to that.
	Before(ctx context.Context, a tool.Admitted, env tool.Env, emit func(event.Body)) *tool.Refusal
	// After notes what became of it.
	After(a tool.Admitted) error
	// Settle books the changes of the calls so far, at the end of a run.
	Settle(ctx context.Context) error
}

// saving is a gate that takes a checkpoint between the yes and the call.
type saving struct {
	loop.Gate
	c Checkpoints
}

// Admit is the gate's, and a snapshot of what the call may change.
func (s *saving) Admit(ctx context.Context, p tool.Planned, emit func(event.Body)) (tool.Admitted, *tool.Refusal) {
	a, refusal := s.Gate.Admit(ctx, p, emit)
	if refusal != nil || a.Call.Traits().ReadOnly {
		return a, refusal
	}
	if refusal = s.c.Before(ctx, a, p.Env, emit); refusal != nil {
		return tool.Admitted{}, refusal
	}
	return a, nil
}

// Review notes what the call made of its files, then is the gate's.
func (s *saving) Review(ctx context.Context, a tool.Admitted, r tool.Result, took time.Duration, emit func(event.Body)) (tool.Result, tool.Verdict) {
	if !a.Call.Traits().ReadOnly {
		if err := s.c.After(a); err != nil {
			emit(event.Notice{Level: event.Warning, Code: "checkpoint", Text: err.Error()})
		}
	}
	return s.Gate.Review(ctx, a, r, took, emit)
}

// saved is the gate of the loop.
func (e *Engine) saved() loop.Gate {
	if e.c.Checkpoints == nil {
		return e.c.Gate
	}
	return &saving{e.c.Gate, e.c.Checkpoints}
}

// checkpoint begins the one of a prompt; subagents work on their parent's.
func (e *Engine) checkpoint(prompt string) error {
	if e.c.Checkpoints == nil || e.up != nil {
		return nil
	}
	return e.c.Checkpoints.Prompt(prompt)
}

// settle ends the checkpoint of a run. That a run has ended is no reason to
// know less of what it changed.
func (e *Engine) settle(ctx context.Context) error {
	if e.c.Checkpoints == nil || e.up != nil {
		return nil
	}
	return e.c.Checkpoints.Settle(context.WithoutCancel(ctx))
}

// notKept tells of a checkpoint that could not be taken; the run goes on.
func (s *submission) notKept(err error) {
	if err != nil {
		s.hear(event.Notice{Level: event.Warning, Code: "checkpoint", Text: "what this run changes may not be undoable: " + err.Error()})
	}
}

// Rewinder takes things back; the wiring makes it of the session and its checkpoints.
type Rewinder interface {
	// Preview says what Files would do. to is the id of a prompt.
	Preview(ctx context.Context, to string) (*checkpoint.Plan, error)
	// Files brings the files back to before a prompt.
	Files(ctx context.Context, to string) (*checkpoint.Report, error)
	// Conversation ends the conversation before a prompt and returns what is left.
	Conversation(to string) ([]*msg.Message, error)
}

// Rewind says what to take back: the prompt To and all that came after it.
type Rewind struct {
	To                  string
	Files, Conversation bool
	// Preview only says what would be done.
	Preview bool
}

// Rewound is what a Rewind did, or would do.
type Rewound struct {
	Plan   *checkpoint.Plan
	Report *checkpoint.Report
	// Messages is the length of the conversation that is left.
	Messages int
}

// errNoRewind says that nothing was kept that could be brought back.
var errNoRewind = errors.New("this conversation is not kept, so nothing of it can be undone")

var errBusy = errors.New("a run is under way; interrupt it before a rewind")

// Rewind takes back what a prompt and all after it have changed. It must not be
// called while a run is under way. Files come first: when they fail, the
// conversation stays as it is.
func (e *Engine) Rewind(ctx context.Context, r Rewind) (Rewound, error) {
	var out Rewound
	e.mu.Lock()
	busy := e.cancel != nil
	e.mu.Unlock()
	switch {
	case e.c.Rewinder == nil:
		return out, errNoRewind
	case busy:
		return out, errBusy
	}
	var err error
	if r.Preview {
		out.Plan, err = e.c.Rewinder.Preview(ctx, r.To)
		return out, err
	}
	if r.Files {
		if out.Report, err = e.c.Rewinder.Files(ctx, r.To); err != nil {
			return out, err
		}
	}
	if r.Conversation {
		history, err := e.c.Rewinder.Conversation(r.To)
		if err != nil {
			return out, err
		}
		e.mu.Lock()
		e.history, e.broken = history, "rewind"
		e.used, e.seen = 0, 0 // what was known of the size is of another conversation
		e.mu.Unlock()
		out.Messages = len(history)
	}
	return out, nil
}
