package hew

import (
	"context"
	"iter"
	"strings"

	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/wiring"
)

// Session is one conversation. One prompt runs at a time; everything but Query
// may be called meanwhile, from any goroutine.
type Session struct {
	conv *wiring.Conversation
	w    *wiring.Options
}

// ID is the session's id, by which Options.Resume finds it.
func (s *Session) ID() string { return s.conv.Engine.Session() }

// Transcript is the session's file, "" when nothing is written.
func (s *Session) Transcript() string { return s.conv.Transcript }

// Query runs one prompt. The last event is Done; leaving the loop early
// interrupts the run, which is brought to an orderly end first.
func (s *Session) Query(ctx context.Context, prompt string) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		if end, over := s.query(ctx, prompt, yield); !over {
			yield(end)
		}
	}
}

// query runs a prompt and returns its end; over tells that nobody listens.
func (s *Session) query(ctx context.Context, prompt string, yield func(Event) bool) (end Done, over bool) {
	var left []string
	for m := s.conv.Engine.Queued(); m != nil; m = s.conv.Engine.Queued() {
		left = append(left, m.Text())
	}
	prompt = strings.Join(append(left, prompt), "\n\n")
	return s.run(ctx, engine.Input{Message: s.w.User(prompt), Source: "sdk"}, yield)
}

func (s *Session) run(ctx context.Context, in engine.Input, yield func(Event) bool) (end Done, over bool) {
	for ev := range s.conv.Commands.Submit(ctx, in) {
		if d, ok := ev.Body.(event.Done); ok {
			return s.done(d.Terminal), false
		}
		if e := convert(ev); e != nil && !yield(e) {
			return Done{}, true
		}
	}
	return Done{}, true
}

// Steer says something to the run under way, which hears it before its next
// request. What no run has heard stands before the next prompt.
func (s *Session) Steer(text string) { s.conv.Engine.Steer(s.w.User(text)) }

// Interrupt ends the run under way; without one it does nothing.
func (s *Session) Interrupt() { s.conv.Engine.Interrupt() }

// Mode is the permission mode.
func (s *Session) Mode() string { return s.conv.Engine.Mode() }

// SetMode changes the permission mode.
func (s *Session) SetMode(mode string) error { return s.conv.Engine.SetMode(mode) }

// Model is the id of the model.
func (s *Session) Model() string { return s.conv.Engine.Model().ID }

// SetModel changes the model from the next request on.
func (s *Session) SetModel(ctx context.Context, name string) error {
	return s.conv.Engine.SetModel(ctx, name, "sdk", nil)
}

// Rewind brings the files back to how they were before the prompt with the id of
// Done.Prompt, and returns the files that it changed. The conversation stays. It
// must not be called during a run.
func (s *Session) Rewind(ctx context.Context, prompt string) ([]string, error) {
	done, err := s.conv.Engine.Rewind(ctx, engine.Rewind{To: prompt, Files: true})
	if err != nil {
		return nil, err
	}
	return append(done.Report.Restored, done.Report.Removed...), nil
}

// Close ends what runs in the background and frees the session.
func (s *Session) Close() error { return s.conv.Close() }
