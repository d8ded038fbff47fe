package wiring

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/core/compact"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// ServeMCP offers hew's own tools to another program on a stream, under the gate
// that sessions have. What would be asked is asked through the client, where it
// can ask its user; else it is refused.
func ServeMCP(ctx context.Context, o Options, in io.ReadCloser, out io.WriteCloser) error {
	asker := &clientAsker{}
	o.NoPersist, o.Resume, o.Continue, o.Fork, o.Interactive, o.Asker = true, "", false, false, false, asker
	o.StrictServers, o.Servers = true, nil // the client has servers of its own
	b := &build{o: &o, conv: &Conversation{}, facts: shellread.NewReader(rememberedCommands), keeps: true}
	conv, err := b.open(ctx)
	if err != nil {
		return errors.Join(err, b.conv.Close())
	}
	s := &served{b: b, cwd: b.place.Cwd}
	c := mcp.ServeConfig{Version: o.Version, In: in, Out: out, Begin: asker.begin}
	for _, t := range b.pool {
		spec := t.Spec()
		if !b.gateRef.Offered(spec) {
			continue
		}
		c.Offers = append(c.Offers, mcp.Offer{
			Name: spec.Name, Description: spec.Description, Schema: spec.Schema, Destructive: true,
			Call: func(ctx context.Context, in json.RawMessage, progress func(string)) mcp.Answer {
				return answerOf(s.call(ctx, t, in, progress))
			},
		})
	}
	return errors.Join(mcp.Serve(ctx, c), conv.Close())
}

// served is the state that calls of a client share.
type served struct {
	b   *build
	mu  sync.Mutex
	cwd string
}

func (s *served) env(id string) tool.Env {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.b.place
	return tool.Env{Cwd: s.cwd, Project: p.Project, Roots: p.Roots, Session: s.b.id, SpillDir: p.SpillDir, Use: id}
}

func (s *served) call(ctx context.Context, t tool.Tool, in json.RawMessage, progress func(string)) tool.Result {
	b := s.b
	if len(in) == 0 {
		in = json.RawMessage("{}")
	}
	use := msg.NewToolUse(b.o.NewID(), t.Spec().Name, in)
	env := s.env(use.ID)
	planned, err := t.Plan(in, env)
	var fault *tool.Fault
	if errors.As(err, &fault) {
		return tool.Failure(fault.Text)
	}
	if err != nil {
		return tool.Refused(err.Error())
	}
	emit := func(event.Body) {}
	a, refusal := b.gateRef.Admit(ctx, tool.Planned{Tool: t, Use: use, Call: planned, Env: env}, emit)
	if refusal != nil {
		return refusal.Result
	}
	began := b.o.Now()
	res := a.Call.Run(ctx, func(p tool.Progress) { progress(p.Text) })
	res, _ = b.gateRef.Review(ctx, a, res, b.o.Now().Sub(began), emit)
	for _, e := range res.Effects {
		if cd, ok := e.(tool.SetCwd); ok {
			s.mu.Lock()
			s.cwd = cd.Dir
			s.mu.Unlock()
		}
	}
	return compact.Budget{Keep: keepIn(b.place.SpillDir)}.Bound(t.Spec(), use, res)
}

func answerOf(r tool.Result) mcp.Answer {
	a := mcp.Answer{IsError: r.IsError}
	for _, block := range r.Content {
		switch c := block.(type) {
		case *msg.Text:
			a.Parts = append(a.Parts, mcp.Part{Text: c.Text})
		case *msg.Image:
			raw, err := base64.StdEncoding.DecodeString(gjson.GetBytes(c.JSON(), "source.data").String())
			if err != nil {
				continue // made by hew itself: always base64
			}
			a.Parts = append(a.Parts, mcp.Part{Data: raw, MIMEType: c.MediaType})
		case *msg.Document, *msg.Opaque, *msg.Thinking, *msg.ToolResult, *msg.ToolUse: // no tool of hew's answers with them
		}
	}
	return a
}

// clientAsker puts questions to the user of the program that uses hew.
type clientAsker struct {
	confirm func(ctx context.Context, message string) (bool, error)
}

func (a *clientAsker) begin(confirm func(context.Context, string) (bool, error)) { a.confirm = confirm }

// Ask asks.
func (a *clientAsker) Ask(ctx context.Context, q event.Question) (event.Answer, error) {
	text := "hew asks: may this run? " + q.Title
	if q.Decision.Reason != "" {
		text += "\n" + q.Decision.Reason
	}
	if v, ok := q.Preview.(tool.TextView); ok {
		text += "\n\n" + v.Text
	}
	yes, err := a.confirm(ctx, text)
	switch {
	case err != nil:
		return event.Answer{}, fmt.Errorf("nobody could be asked: %w", err)
	case yes:
		return event.Answer{Behavior: tool.Allow}, nil
	}
	return event.Answer{Behavior: tool.Deny, Message: "The user of the client refused this call."}, nil
}
