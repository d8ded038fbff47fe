package wiring

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/action/builtin/skill"
	"github.com/hew-agent/hew/internal/action/gate"
	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/tool"
)

// commandTime bounds a command in the text of a skill (extensions.md §1).
const commandTime = 2 * time.Minute

// exec runs a command in the text of a skill: the whole permission chain judges
// the text as it would run, arguments filled in, and nobody is asked. Whatever
// is not allowed by that is an error.
func (c *skillset) exec(ctx context.Context, in skill.Command, emit func(event.Body)) (string, error) {
	t, err := c.shell(in.Skill)
	if err != nil {
		return "", err
	}
	input, err := msg.Marshal(map[string]any{
		"command": in.Text, "timeout": commandTime.Milliseconds(), "description": "Command in the skill " + in.Skill.Name,
	})
	if err != nil {
		return "", err
	}
	p, err := c.planned(t, input)
	if err != nil {
		return "", err
	}
	if err := c.heard(ctx, p, in, emit); err != nil {
		return "", err
	}
	res, err := c.admitted(ctx, p, emit)
	if err != nil {
		return "", err
	}
	if res.IsError {
		return "", errors.New("it failed: " + resultText(res))
	}
	return resultText(res), nil
}

// shell is the tool that runs a skill's commands, when the conversation has it.
func (c *skillset) shell(k *catalog.Skill) (tool.Tool, error) {
	name := c.bash.Spec().Name
	if k.Shell == "powershell" {
		name = "PowerShell"
	}
	for _, t := range c.h.pool() {
		if t.Spec().Name == name {
			if k.Shell == "powershell" {
				return t, nil
			}
			return c.bash, nil
		}
	}
	return nil, fmt.Errorf("the tool %s, which runs it, is not offered here", name)
}

func (c *skillset) planned(t tool.Tool, input json.RawMessage) (tool.Planned, error) {
	b := c.s.b
	env := c.h.engine().Env()
	env.Use = "skill_" + b.o.NewID()
	call, err := t.Plan(input, env)
	if err != nil {
		return tool.Planned{}, err
	}
	return tool.Planned{Tool: t, Use: msg.NewToolUse(env.Use, t.Spec().Name, input), Call: call, Env: env}, nil
}

// heard asks the hooks that hear of commands of skills. Anything but an allow
// keeps the command from running.
func (c *skillset) heard(ctx context.Context, p tool.Planned, in skill.Command, emit func(event.Body)) error {
	h := c.s.b.hooks
	if h == nil || !h.d.Wants("PreSkillShellCommand") {
		return nil
	}
	o := h.fire(ctx, hook.PreSkillShellCommand{
		ToolCall: hook.ToolCall{Name: p.Use.Name, Input: p.Use.Input, Planned: p}, UseID: p.Use.ID,
		Command: in.Skill.Name, Source: string(in.Skill.Origin.Scope), By: string(in.By),
	}, emit)
	switch {
	case o.Stopped:
		return errors.New("a hook stopped it: " + o.StopReason)
	case o.Blocked, o.Behavior != "" && o.Behavior != tool.Allow:
		return errors.New("a hook did not allow it: " + o.Reason)
	case o.Input != nil:
		return errors.New("a hook changed it, which the commands of skills do not take")
	}
	return nil
}

// admitted puts a call through the gate, where nobody is asked, and runs it.
func (c *skillset) admitted(ctx context.Context, p tool.Planned, emit func(event.Body)) (tool.Result, error) {
	g := c.h.gate().Child(gate.ChildConfig{Lent: true, Shape: func(s *policy.Snapshot) *policy.Snapshot { return s }})
	a, refusal := g.Admit(ctx, p, emit)
	if refusal != nil {
		why := refusal.Decision.Reason
		if why == "" {
			why = resultText(refusal.Result)
		}
		return tool.Result{}, errors.New("it is not allowed (" + why + ")")
	}
	if !bytes.Equal(a.Use.Input, p.Use.Input) {
		return tool.Result{}, errors.New("a hook changed it, which is not taken here")
	}
	ctx, cancel := context.WithTimeout(ctx, commandTime+5*time.Second)
	defer cancel()
	return a.Call.Run(ctx, func(tool.Progress) {}), nil
}

// resultText joins the texts of a result.
func resultText(r tool.Result) string {
	var out []string
	for _, b := range r.Content {
		if t, ok := b.(*msg.Text); ok {
			out = append(out, t.Text)
		}
	}
	return strings.Join(out, "\n")
}

// attach reads a file that a skill names, as the tool that reads files would
// for the model: through the gate, and known from then on. What does not exist
// is no file but a word with an @ before it.
func (c *skillset) attach(ctx context.Context, path string) (string, bool) {
	place := c.h.engine().Place()
	at, err := fsys.Abs(place.Cwd, path)
	if err != nil || fsys.KindOf(at) != fsys.KindRegular {
		return "", false
	}
	for _, t := range c.h.pool() {
		if t.Spec().Name != families.Read {
			continue
		}
		input, err := msg.Marshal(map[string]string{"file_path": at})
		if err != nil {
			return "", false
		}
		p, err := c.planned(t, input)
		if err != nil {
			return "It cannot be read: " + err.Error(), true
		}
		res, err := c.admitted(ctx, p, func(event.Body) {})
		if err != nil {
			return "It was not read: " + err.Error(), true
		}
		return resultText(res), true
	}
	return "", false
}
