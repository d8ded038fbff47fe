package hew

import (
	"context"
	"encoding/json"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/tool"
)

// Question is a call that somebody must decide about.
type Question struct {
	Call Call
	// Agent is the id of the subagent that calls, "" for the conversation.
	Agent string
	// Title is one line for people; Reason says why it is asked.
	Title, Reason string
	// Rules would let calls of this shape run unasked; see Answer.Always.
	Rules []string
}

// Answer decides about a call. The zero value refuses it.
type Answer struct {
	Allow bool
	// Input replaces the call's input when not empty; it is judged again.
	Input json.RawMessage
	// Always takes up Question.Rules for the rest of the session.
	Always bool
	// Message tells the model why the call was refused.
	Message string
	// Stop ends the run.
	Stop bool
}

// asker puts the engine's questions to the caller.
type asker func(ctx context.Context, q Question) (Answer, error)

// Ask asks.
func (f asker) Ask(ctx context.Context, q event.Question) (event.Answer, error) {
	in := Question{Call: callOf(q.Use), Agent: q.Origin.Agent, Title: q.Title, Reason: q.Decision.Reason}
	for _, s := range q.Suggestions {
		for _, r := range s.Rules {
			text := r.Tool
			if r.Content != "" {
				text += "(" + r.Content + ")"
			}
			in.Rules = append(in.Rules, text)
		}
	}
	a, err := f(ctx, in)
	if err != nil {
		return event.Answer{}, err
	}
	out := event.Answer{Behavior: tool.Deny, Input: a.Input, Message: a.Message, Interrupt: a.Stop}
	if !a.Allow {
		return out, nil
	}
	out.Behavior = tool.Allow
	if a.Always {
		for _, s := range q.Suggestions {
			s.Destination = "session"
			out.Updates = append(out.Updates, s)
		}
	}
	return out, nil
}
