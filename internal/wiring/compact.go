package wiring

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/core/compact"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/tool"
)

// shaping gives the conversation its shapers, and its past the shape that it had.
func (b *build) shaping(cfg *engine.Config) {
	budget := func() compact.Budget { return compact.Budget{Keep: keepIn(b.conv.Engine.Place().SpillDir)} }
	cfg.Bound = func(s tool.Spec, use *msg.ToolUse, r tool.Result) tool.Result { return budget().Bound(s, use, r) }
	on := b.stages()
	limits := b.limits(cfg.Model)
	b.conv.view = func() compact.Report {
		v := b.conv.Engine.View()
		v.Limits, v.On, v.Transcript = limits(v.Model), on, b.conv.Transcript
		if b.past != nil {
			v.Whole, v.Transcript = append(slices.Clone(b.past.Messages), v.Whole...), b.past.Path
		}
		if len(v.History) == 0 && !b.o.Bare {
			v.History = []*msg.Message{b.again()}
		}
		return compact.Describe(v)
	}
	if b.past != nil && len(cfg.History) > 0 && cfg.Start == nil {
		cfg.Used, cfg.Fresh = b.past.Used, b.past.Fresh
		b.reshape(cfg, on)
		cfg.Kinds = b.past.Kinds
		cfg.Shapings, cfg.Compacted = shapings(b.past)
		b.recallTodos(cfg.History)
		if b.craft != nil {
			b.craft.book.Recall(cfg.History)
		}
	}
	if truthy(b.env("DISABLE_COMPACT")) {
		return
	}
	c := compact.Config{
		Limits: limits, On: on, Spill: budget, Own: truthy(b.env("HEW_COMPACT_OWN_REQUEST")),
		Overhead: func() int { return b.conv.Engine.Overhead() },
		Count: func(ctx context.Context, model string, h []*msg.Message) (int, bool) {
			return b.conv.Engine.Count(ctx, model, h)
		},
		Ask:        func(ctx context.Context, q compact.Query) (string, error) { return b.conv.Engine.Summarise(ctx, q) },
		Live:       b.announce,
		Clearable:  b.clearable(cfg.Tools),
		Limit:      limitOf(cfg.Tools),
		Transcript: func() string { return b.conv.Transcript },
		CacheLife:  compact.CacheLifeOf(cfg.Model.CacheTTL),
		Now:        b.o.Now, NewID: b.o.NewID,
	}
	if !b.o.Bare {
		c.Context = b.again
	}
	if b.hooks != nil {
		c.Hooks = b.hooks
	}
	b.shapers = &c
	cfg.Shaper = compact.New(c)
}

// shaperOf makes a subagent's shaper: the conversation's rules over another
// history; nil where nothing is shaped.
func (b *build) shaperOf(c *child) loop.Shaper {
	if b.shapers == nil {
		return nil
	}
	s := *b.shapers
	s.Overhead = func() int { return c.e.Overhead() }
	s.Count = func(ctx context.Context, model string, h []*msg.Message) (int, bool) { return c.e.Count(ctx, model, h) }
	s.Ask = func(ctx context.Context, q compact.Query) (string, error) { return c.e.Summarise(ctx, q) }
	s.Live = func([]*msg.Message) []compact.Announcement { return working(&c.work) }
	s.Clearable, s.Limit = b.clearable(c.pool), limitOf(c.pool)
	s.Transcript, s.Context = c.Transcript, nil
	return compact.New(s)
}

// reshape shows the past as the last request showed it, where the stages that
// shaped it are still on.
func (b *build) reshape(cfg *engine.Config, on compact.Stages) {
	var edits []event.Edit
	for _, s := range b.past.Shapings {
		if s.Stage == compact.StageCollapse && !on.Collapse {
			if cfg.Break == "" {
				cfg.Break = compact.StageCollapse
			}
			cfg.Used, cfg.Fresh = 0, 0
			continue
		}
		edits = append(edits, s.Edits...)
	}
	if len(edits) > 0 {
		cfg.History = compact.Project(cfg.History, edits)
		cfg.Used = 0 // how many messages there are may have changed
	}
	if b.past.Reshaped != "" && cfg.Break == "" {
		cfg.Break = b.past.Reshaped
	}
}

// shapings are what the transcript records of the shapers, for reports.
func shapings(past *session.Conversation) ([]event.Shaped, []compact.Taken) {
	var out []event.Shaped
	for _, s := range past.Shapings {
		out = append(out, event.Shaped{Stage: s.Stage, Edits: s.Edits})
	}
	var gone []compact.Taken
	for _, x := range past.Boundaries {
		gone = append(gone, compact.Taken{
			Stage: compact.StageAuto, Tokens: max(0, x.Before-x.After),
			What: "the conversation up to the compaction " + x.ID + " (" + x.Trigger + ")",
		})
	}
	return out, gone
}

// shapersKey is the setting that names the stages which may be off: snip,
// microcompact, collapse.
const shapersKey = "contextShapers"

// stages are the switches of the shapers: microcompact and compaction are on,
// the setting contextShapers or HEW_CONTEXT_SHAPERS names others.
func (b *build) stages() compact.Stages {
	on := compact.Stages{Micro: true, Auto: b.settings.AutoCompactEnabled() && !truthy(b.env("DISABLE_AUTO_COMPACT"))}
	names, set := b.settings.Strings(shapersKey), false
	if _, set = b.settings.Raw(shapersKey); !set && b.env("HEW_CONTEXT_SHAPERS") == "" {
		return built(on)
	}
	if v := b.env("HEW_CONTEXT_SHAPERS"); v != "" {
		names = strings.Split(v, ",")
	}
	on.Micro = false
	for _, n := range names {
		switch strings.TrimSpace(n) {
		case compact.StageSnip:
			on.Snip = true
		case compact.StageMicro:
			on.Micro = true
		case compact.StageCollapse:
			on.Collapse = true
		case "", "none":
		default:
			b.notice("there is no context shaper " + strconv.Quote(n) + ": use snip, microcompact, collapse or none")
		}
	}
	if has := built(on); has != on {
		b.notice("this build has not all context shapers that are switched on (hew features)")
	}
	return built(on)
}

// Bounds of the window that a person may choose, in tokens.
const minOwnWindow, maxOwnWindow = 100_000, 1_000_000

// limits are the bounds of the models' windows.
func (b *build) limits(m engine.Model) func(string) compact.Limits {
	own, percent := b.ownWindow(), b.percent()
	return func(name string) compact.Limits {
		model := m.Lookup(name)
		output := model.DefaultOutput
		if m.MaxOutput > 0 {
			output = m.MaxOutput
		}
		return compact.NewLimits(model.Window, output, own, percent)
	}
}

// ownWindow is the part of the window that may be used: the environment, then the
// command line, then the settings. "auto" and 0 are all of it.
func (b *build) ownWindow() int {
	setting := ""
	if raw, ok := b.settings.Raw("autoCompactWindow"); ok {
		setting = strings.Trim(string(raw), `"`)
	}
	for _, v := range []string{b.env("CLAUDE_CODE_AUTO_COMPACT_WINDOW"), b.o.AutoCompact, setting} {
		if v == "" {
			continue
		}
		n, err := compact.ParseWindow(v)
		if err != nil {
			b.notice("the window for compaction: " + err.Error())
			return 0
		}
		if n == 0 {
			return 0
		}
		own := min(max(n, minOwnWindow), maxOwnWindow)
		if own != n {
			b.notice(fmt.Sprintf("the window for compaction: %d tokens are out of bounds, from %d to %d; %d is used", n, minOwnWindow, maxOwnWindow, own))
		}
		return own
	}
	return 0
}

func (b *build) percent() int {
	v := b.env("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE")
	if v == "" {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(v))
	if err != nil || n < 1 || n > 100 {
		b.notice("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE is no percentage from 1 to 100: " + strconv.Quote(v))
		return 0
	}
	return n
}

func truthy(v string) bool { return v != "" && v != "0" && v != "false" }

// again makes the message of instruction files anew: what people changed since
// the session began counts from a compaction on.
func (b *build) again() *msg.Message {
	b.rereadFiles()
	b.lazy.reread()
	if b.recall != nil {
		b.recall.forget()
	}
	return prompt.Context(b.o.NewID(), b.o.Now(), append(b.files(), b.indexes()...))
}

// clearable tells which results can be had again: those of calls that look at
// something or run a command. Answers of people, plans and lists are not.
func (b *build) clearable(tools []tool.Tool) func(*msg.ToolUse) (string, bool) {
	fields := map[string]string{}
	for _, t := range tools {
		s := t.Spec()
		switch s.Name {
		case "Bash", "Read", "Grep", "Glob", "Edit", "Write", "NotebookEdit", "WebFetch", "WebSearch", "TaskOutput":
			fields[s.Name] = s.MainField
			for _, a := range s.Aliases {
				fields[a] = s.MainField
			}
		}
	}
	return func(u *msg.ToolUse) (string, bool) {
		field, ok := fields[u.Name]
		if !ok {
			return "", strings.HasPrefix(u.Name, "mcp__")
		}
		key := string(u.Input)
		if v := gjson.GetBytes(u.Input, field); field != "" && v.Exists() {
			key = v.String()
		}
		return u.Name + "\x00" + key, true
	}
}

func limitOf(tools []tool.Tool) func(string) int {
	limits := map[string]int{}
	for _, t := range tools {
		limits[t.Spec().Name] = t.Spec().MaxResult
	}
	return func(name string) int { return limits[name] }
}

// Before asks the PreCompact hooks.
func (h *hooks) Before(ctx context.Context, trigger, instructions string, emit func(event.Body)) compact.Consent {
	if !h.d.Wants("PreCompact") {
		return compact.Consent{}
	}
	o := h.fire(ctx, hook.PreCompact{Trigger: trigger, Instructions: instructions}, emit)
	r, blocked := dropped(o)
	return compact.Consent{Instructions: o.Context, Blocked: blocked, Reason: r.Reason}
}

// After tells the hooks of a session's start, and PostCompact, of a compaction.
func (h *hooks) After(ctx context.Context, trigger, summary string, emit func(event.Body)) []*msg.Message {
	var out []*msg.Message
	if h.d.Wants("SessionStart") {
		o := h.fire(ctx, hook.SessionStart{Source: "compact", Model: h.b.conv.Engine.Model().ID}, emit)
		out = h.reminders("SessionStart", o.Context)
	}
	if h.d.Wants("PostCompact") {
		h.fire(ctx, hook.PostCompact{Trigger: trigger, Summary: summary}, emit)
	}
	return out
}
