package wiring

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/action/builtin/agent"
	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/core/command"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/state/settings"
	"github.com/hew-agent/hew/internal/tool"
)

// hostHooks puts the hooks of the host in the place of those that it had.
func (h *hooks) hostHooks(raw json.RawMessage) {
	if h.leave != nil {
		h.leave()
	}
	h.leave = h.d.Register(hook.Source{Scope: hook.Host, Hooks: raw})
}

// SetHostHooks replaces the hooks of the host; see Options.HostHooks.
func (c *Conversation) SetHostHooks(raw json.RawMessage) error {
	if c.build.hooks == nil {
		return errors.New("a bare run has no hooks")
	}
	c.build.hooks.hostHooks(raw)
	return nil
}

// Hooks are all hooks that were found.
func (c *Conversation) Hooks() []hook.Hook {
	if c.build.hooks == nil {
		return nil
	}
	return c.build.hooks.d.List()
}

// AgentRow is a kind of subagent that can be started.
type AgentRow struct{ Name, Description, Model string }

// Agents lists the subagents.
func (c *Conversation) Agents() []AgentRow {
	crew := c.build.crew
	if crew == nil {
		return nil
	}
	var out []AgentRow
	for _, a := range crew.kinds().Agents {
		if !denied(c.build.gateRef.Snapshot(), a.Name) {
			out = append(out, AgentRow{a.Name, strings.Join(strings.Fields(a.Description), " "), a.Model})
		}
	}
	return out
}

// HostName is a tool's name in lists for hosts: the one that starts subagents is
// known there by the name that it had first.
func (c *Conversation) HostName(t tool.Spec) string {
	if own := agent.Spec(); t.Name == own.Name && len(own.Aliases) > 0 {
		return own.Aliases[0]
	}
	return t.Name
}

// Tasks are the changes of background work that no run has told of.
func (c *Conversation) Tasks() []event.TaskChanged { return c.build.taskChanges() }

// TaskEnded has a value after background work that Tasks told of has ended.
func (c *Conversation) TaskEnded() <-chan struct{} { return c.build.stirred }

// await says when work that has begun is over.
func (b *build) await(n task.Notice) {
	w, ok := b.background.Find(n.TaskID)
	if !ok || n.Status != event.TaskRunning || b.stirred == nil {
		return
	}
	go func() { // ends with the work, which ends with the session
		if w.Wait(context.Background()) != nil {
			return
		}
		select {
		case b.stirred <- struct{}{}:
		default:
		}
	}()
}

// StopWork ends all that runs in the background.
func (c *Conversation) StopWork() {
	for _, w := range c.build.background.All() {
		if st := w.Status(); !st.State.Final() && (st.Agent.Type == "" || !st.Agent.Foreground) {
			if err := w.Stop(); err != nil {
				c.build.notice(fmt.Sprintf("task %s cannot be stopped: %v", st.ID, err))
			}
		}
	}
}

// StopTask ends a piece of background work.
func (c *Conversation) StopTask(id string) error { return c.build.background.Stop(id) }

// TaskOutput is the end of what background work has printed, at most limit bytes,
// and how much there is.
func (c *Conversation) TaskOutput(id string, limit int) (text string, total int64, err error) {
	w, ok := c.build.background.Find(id)
	if !ok {
		return "", 0, errors.New(c.build.background.Missing(id))
	}
	st := w.Status()
	if !st.Stream {
		return tail(st.Report, limit), int64(len(st.Report)), nil
	}
	chunk, err := shell.ReadChunk(st.OutputFile, max(0, st.Size-int64(limit)), limit)
	if err != nil {
		return "", 0, fmt.Errorf("read what task %s has printed: %w", id, err)
	}
	return strings.ToValidUTF8(string(chunk.Data), "\ufffd"), chunk.Size, nil
}

func tail(s string, limit int) string {
	return strings.ToValidUTF8(s[max(0, len(s)-limit):], "\ufffd")
}

// SetThinking changes how models are asked to think: a budget in tokens, 0 for
// none, nil for what the session began with.
func (c *Conversation) SetThinking(budget *int) {
	t := c.build.thinking()
	if now := c.Engine.Thinking(); now.Display != "" {
		t.Display = now.Display
	}
	switch {
	case budget == nil:
	case *budget == 0:
		t = provider.Thinking{}
	default:
		t = provider.Thinking{Adaptive: true, Budget: *budget, Display: t.Display}
	}
	c.Engine.SetThinking(t)
}

// ShowThinking says what the server shows of thinking from now on, "" for what the
// session began with.
func (c *Conversation) ShowThinking(display string) {
	t := c.Engine.Thinking()
	if t == (provider.Thinking{}) {
		return // there is none to show
	}
	if t.Display = display; display == "" {
		t.Display = c.build.o.ThinkingDisplay
	}
	c.Engine.SetThinking(t)
}

// Rename gives the session a title.
func (c *Conversation) Rename(title string) error {
	if strings.TrimSpace(title) == "" {
		return errors.New("a title must not be empty")
	}
	if c.build.noted == nil {
		return errors.New("this session is not kept, so it has no title")
	}
	c.build.o.Name = title
	if c.build.hooks != nil && !c.build.hooks.begun.Load() { // written with the first prompt
		c.build.noted.title = title
		return nil
	}
	return c.build.noted.Title(title)
}

// ApplySettings puts settings above those of all files but the administrator's,
// key by key; null takes a key away. It must not be called while a run is under way.
func (c *Conversation) ApplySettings(ctx context.Context, changes map[string]json.RawMessage) error {
	b := c.build
	now, err := flagSettings(b.settingsConfig.FlagSettings)
	if err != nil {
		return err
	}
	for k, v := range changes {
		if string(v) == "null" {
			delete(now, k)
			continue
		}
		now[k] = v
	}
	raw, err := json.Marshal(now)
	if err != nil {
		return err // parts of JSON: cannot fail
	}
	cfg := b.settingsConfig
	cfg.FlagSettings = string(raw)
	_, problems := settings.Load(cfg)
	for _, p := range problems {
		if p.Scope == settings.Flag && p.Severity == settings.FileIgnored {
			return fmt.Errorf("these settings cannot be used: %s", p)
		}
	}
	b.settingsConfig = cfg
	if b.hooks != nil {
		b.hooks.reload(func(body event.Body) {
			if n, ok := body.(event.Notice); ok {
				b.notice(n.Text)
			}
		})
	}
	var model string
	if raw, ok := changes["model"]; ok && json.Unmarshal(raw, &model) == nil && model != "" {
		return c.Engine.SetModel(ctx, model, "sdk", nil)
	}
	return nil
}

// flagSettings reads settings of the command line: an object, or a file of one.
func flagSettings(given string) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	if strings.TrimSpace(given) == "" {
		return out, nil
	}
	raw := []byte(given)
	if !strings.HasPrefix(strings.TrimSpace(given), "{") {
		data, err := os.ReadFile(given)
		if err != nil {
			return nil, fmt.Errorf("the settings of the command line: %w", err)
		}
		raw = data
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("the settings of the command line: %w", err)
	}
	return out, nil
}

// SettingsNow is the value of each key of the settings in force, and the files
// that were read, weakest first.
func (c *Conversation) SettingsNow() (effective map[string]json.RawMessage, files []settings.File) {
	s, _ := settings.Load(c.build.settingsConfig)
	effective = map[string]json.RawMessage{}
	for _, k := range s.Keys() {
		if raw, ok := s.Raw(k); ok {
			effective[k] = raw
		}
	}
	return effective, s.Files()
}

// Seed lets an edit go on from a file that the host has seen as it was at a time,
// though the conversation holds no read of it. A file that has changed since
// stays unseen.
func (c *Conversation) Seed(path string, seen time.Time) error {
	at, err := fsys.Locate(c.Engine.Place().Cwd, path)
	if err != nil {
		return err
	}
	data, st, err := fsys.ReadRaw(at.Real, fsys.Limits{MaxBytes: maxSeed})
	if err != nil || st.ModTime.Truncate(time.Millisecond).After(seen) {
		return err
	}
	c.build.seen.Record(at.Real, fsys.View{Status: st, Content: data})
	return nil
}

// maxSeed bounds a file that is read to be known, in bytes.
const maxSeed = 32 << 20

// mirrorAll tells what a copied transcript already holds.
func (b *build) mirrorAll(path string) error {
	if b.o.Mirror == nil {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the copied transcript: %w", err)
	}
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			b.o.Mirror(path, line)
		}
	}
	return nil
}

// LiveRule is a permission rule in force and where it stands.
type LiveRule struct{ Behavior, Rule, Source string }

// Rules are the permission rules in force.
func (c *Conversation) Rules() []LiveRule {
	var out []LiveRule
	for _, l := range c.build.gateRef.Snapshot().Config().Layers {
		source := l.Origin.File
		if source == "" {
			source = string(l.Origin.Scope)
		}
		for behavior, list := range map[string][]string{"allow": l.Allow, "ask": l.Ask, "deny": l.Deny} {
			for _, r := range list {
				out = append(out, LiveRule{behavior, r, source})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b LiveRule) int { return strings.Compare(a.Behavior, b.Behavior) })
	return out
}

// ManagedRulesOnly tells that rules count only if the administrator has set them.
func (c *Conversation) ManagedRulesOnly() bool {
	return c.build.gateRef.Snapshot().Config().ManagedOnly
}

// MemoryFiles are the files of instructions that stand before the conversation.
func (c *Conversation) MemoryFiles() []command.File { return c.build.memoryFiles() }

// SettingRow is a key of the settings in force and where its value stands.
type SettingRow struct {
	Key    string
	Value  json.RawMessage
	Origin settings.Origin
}

// SettingsWithOrigin is the value of each key of the settings in force with the
// strongest place that sets it, and the files that were read, weakest first.
func (c *Conversation) SettingsWithOrigin() (rows []SettingRow, files []settings.File) {
	s, _ := settings.Load(c.build.settingsConfig)
	for _, k := range s.Keys() {
		raw, ok := s.Raw(k)
		if !ok {
			continue
		}
		o, _ := s.Origin(k)
		rows = append(rows, SettingRow{k, raw, o})
	}
	return rows, s.Files()
}
