package wiring

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/action/builtin/skill"
	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/core/command"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/tool"
)

// bundledAliases are further names of hew's own skills.
var bundledAliases = map[string][]string{"code-review": {"review"}}

// commands are the skills and custom commands that a person may type, and what
// shows and reloads them.
func (c *skillset) commands() []command.Command {
	if c == nil {
		return nil
	}
	out := []command.Command{
		{Name: "skills", About: "List the skills and custom commands", Run: func(context.Context, string, func(event.Event)) (string, error) {
			return c.list(), nil
		}},
		{Name: "reload-skills", About: "Read skills, commands, agents and output styles again", Run: func(context.Context, string, func(event.Event)) (string, error) {
			c.s.b.defs.reload()
			k := c.s.b.defs.now()
			return fmt.Sprintf("%d skills and commands, %d agents and %d output styles.", len(k.Skills), len(k.Agents), len(k.Styles)), nil
		}},
	}
	for _, k := range c.s.b.defs.now().All() {
		out = append(out, c.command(k))
	}
	return out
}

func (c *skillset) command(k *catalog.Skill) command.Command {
	cmd := command.Command{
		Name: k.Name, Hint: k.ArgumentHint, About: strings.Join(strings.Fields(k.Listing()), " "),
		Hidden: !k.ForUser || c.s.shown(k.Name) == catalog.ShownOff, Stacks: !k.Fork,
	}
	if k.Origin.Scope == catalog.Bundled {
		cmd.Aliases = bundledAliases[k.Name]
	}
	if k.Fork {
		cmd.Run = func(ctx context.Context, args string, emit func(event.Event)) (string, error) {
			return c.fork(ctx, k, args, emit)
		}
		return cmd
	}
	cmd.Expand = func(ctx context.Context, args string, emit func(event.Event)) ([]msg.Block, error) {
		return c.expand(ctx, k, args, emit)
	}
	return cmd
}

// expand loads a skill because a person has typed its name.
func (c *skillset) expand(ctx context.Context, k *catalog.Skill, args string, emit func(event.Event)) ([]msg.Block, error) {
	hear := func(body event.Body) { emit(event.Event{Body: body}) }
	added, err := c.announced(ctx, k, args, hear)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	first := c.expected == nil
	c.mu.Unlock()
	if first { // the next of a stack must keep what the first was lent
		c.over()
	}
	blocks, err := c.book.Load(ctx, k, args, skill.User, hear)
	if err != nil {
		c.mu.Lock()
		c.expected = nil
		c.mu.Unlock()
		c.over()
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if first {
		c.expected = blocks[0]
	}
	return append(blocks, added...), nil
}

// announced tells hooks of a command before it is expanded; one may stop it or
// add to it.
func (c *skillset) announced(ctx context.Context, k *catalog.Skill, args string, emit func(event.Body)) ([]msg.Block, error) {
	h := c.s.b.hooks
	if h == nil || !h.d.Wants("UserPromptExpansion") {
		return nil, nil
	}
	o := h.fire(ctx, hook.UserPromptExpansion{
		Type: "slash_command", Command: k.Name, Args: args, Source: string(k.Origin.Scope), Prompt: strings.TrimSpace("/" + k.Name + " " + args),
	}, emit)
	if r, blocked := dropped(o); blocked {
		return nil, errors.New(r.Reason)
	}
	var out []msg.Block
	for _, t := range o.Context {
		out = append(out, msg.NewText(hook.Reminder("UserPromptExpansion", t)))
	}
	return out, nil
}

// fork runs a skill as a subagent for a person and shows its report, which the
// conversation hears of with the next prompt.
func (c *skillset) fork(ctx context.Context, k *catalog.Skill, args string, emit func(event.Event)) (string, error) {
	hear := func(body event.Body) { emit(event.Event{Body: body}) }
	if _, err := c.announced(ctx, k, args, hear); err != nil {
		return "", err
	}
	f, err := c.book.Fork(ctx, k, args, skill.User, hear)
	if err != nil {
		return "", err
	}
	e := c.h.engine()
	res := c.delegate(ctx, f, func(tool.Progress) { e.Unshown(emit) })
	e.Unshown(emit)
	text := resultText(res)
	if v, ok := res.View.(tool.TextView); ok && !res.IsError {
		text = v.Text
	}
	if res.IsError {
		return "", errors.New(text)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reports = append(c.reports, "The user ran /"+strings.TrimSpace(k.Name+" "+args)+", which worked in a subagent.\n"+harmlessTags(resultText(res)))
	return text, nil
}

// list is /skills.
func (c *skillset) list() string {
	var b strings.Builder
	for _, k := range c.s.b.defs.now().All() {
		fmt.Fprintf(&b, "- `/%s` (%s)", k.Name, k.Origin.Scope)
		if how := c.s.shown(k.Name); how != catalog.ShownOn {
			fmt.Fprintf(&b, " [%s]", how)
		}
		b.WriteString(": " + strings.Join(strings.Fields(k.Listing()), " ") + "\n")
	}
	if b.Len() == 0 {
		return "There are no skills and no custom commands here."
	}
	return strings.TrimSpace(b.String())
}
