package wiring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// asks lets servers ask: the person, when somebody can be asked or hooks may
// answer, and a model, when a person can agree to it. Otherwise servers are not
// told that they could.
func (b *build) asks(c *mcp.Config) {
	hooks := b.hooksFor("Elicitation")
	if b.o.Forms != nil || hooks {
		c.Elicit = b.elicit
	}
	if b.o.Asker != nil {
		c.Sample = b.sample
	}
}

// hooksFor tells whether settings have hooks for an event; the hooks themselves
// are made later.
func (b *build) hooksFor(event string) bool {
	if b.o.Bare {
		return false
	}
	_, ok := b.settings.Raw("hooks", event)
	return ok
}

func (b *build) fire(ctx context.Context, in hook.Input) hook.Outcome {
	if b.hooks == nil {
		return hook.Outcome{}
	}
	return b.hooks.fire(ctx, in, b.hooks.afterwards)
}

func (b *build) elicit(ctx context.Context, r mcp.Request) (mcp.Reply, error) {
	o := b.fire(ctx, hook.Elicitation{Server: r.Server, Message: r.Message, Mode: r.Mode, URL: r.URL, ID: r.ID, Schema: r.Schema})
	if o.Blocked || o.Stopped {
		return mcp.Reply{Action: "decline"}, nil
	}
	a := event.FormAnswer{Action: o.Action, Content: o.Content}
	if a.Action == "" {
		if b.o.Forms == nil {
			return mcp.Reply{Action: "decline"}, nil
		}
		var err error
		a, err = b.o.Forms.Fill(ctx, event.Form{Server: r.Server, Message: r.Message, Mode: r.Mode, URL: r.URL, ID: r.ID, Schema: r.Schema})
		if err != nil {
			return mcp.Reply{Action: "cancel"}, nil // nobody answered: for the server that is a cancel
		}
	}
	o = b.fire(ctx, hook.ElicitationResult{Server: r.Server, Action: a.Action, Content: a.Content, Mode: r.Mode, ID: r.ID})
	switch {
	case o.Blocked || o.Stopped:
		return mcp.Reply{Action: "decline"}, nil
	case o.Action != "":
		a.Action = o.Action
	}
	if len(o.Content) > 0 {
		a.Content = o.Content
	}
	return reply(a)
}

func reply(a event.FormAnswer) (mcp.Reply, error) {
	out := mcp.Reply{Action: a.Action}
	switch a.Action {
	case "accept":
		if len(a.Content) == 0 {
			return out, nil
		}
		if err := json.Unmarshal(a.Content, &out.Content); err != nil {
			return mcp.Reply{}, fmt.Errorf("the answer is no object: %w", err)
		}
	case "decline", "cancel":
	default:
		return mcp.Reply{}, errors.New("the answer is none of accept, decline, cancel")
	}
	return out, nil
}

// sample asks the conversation's model in a server's name, once the person has
// seen the words and agreed.
func (b *build) sample(ctx context.Context, r mcp.Sampling) (mcp.Sampled, error) {
	var text strings.Builder
	for _, m := range r.Messages {
		if m.Part.Data != nil {
			return mcp.Sampled{}, errors.New("hew samples text only")
		}
		fmt.Fprintf(&text, "%s: %s\n\n", m.Role, m.Part.Text)
	}
	words := strings.TrimSpace(text.String())
	name := mcp.FullName(mcp.Normal(r.Server), "sampling")
	input, err := json.Marshal(map[string]any{"server": r.Server, "systemPrompt": r.System, "messages": words})
	if err != nil {
		return mcp.Sampled{}, err
	}
	id := b.o.NewID()
	a, err := b.o.Asker.Ask(ctx, event.Question{
		ID: id, Kind: event.AskPermission, Use: msg.NewToolUse(id, name, input), Tool: name,
		Title:    "The MCP server " + r.Server + " wants to ask the model, at your cost",
		Preview:  tool.TextView{Text: shell.Sanitize([]byte(strings.TrimSpace(r.System + "\n\n" + words)))},
		Decision: tool.Decision{Behavior: tool.Ask, Layer: "server", Reason: "an MCP server asks for a reply of the model"},
	})
	if err != nil {
		return mcp.Sampled{}, err
	}
	if a.Behavior != tool.Allow {
		return mcp.Sampled{}, errors.New("the user refused")
	}
	if len(r.Messages) == 1 {
		words = r.Messages[0].Part.Text
	}
	said, err := b.conv.Engine.Query(ctx, "mcp", "", r.System, words)
	if err != nil {
		return mcp.Sampled{}, err
	}
	return mcp.Sampled{Text: said, Model: b.conv.Engine.Model().ID}, nil
}
