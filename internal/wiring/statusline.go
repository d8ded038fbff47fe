package wiring

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/core/engine"
)

// StatusLine is the user's command that draws a line about the session.
type StatusLine struct {
	c       *Conversation
	command string
	began   time.Time
	// Padding is how many columns the line is set in; Refresh how often it is drawn
	// although nothing happened, 0 for never.
	Padding int
	Refresh time.Duration
}

// Bounds of the command: what a line needs, and how long changes are gathered.
const (
	statusPatience = 5 * time.Second
	statusDebounce = 300 * time.Millisecond // extensions.md §6
	maxStatusLine  = 64 << 10
)

// StatusLine is the status line that the settings ask for, nil when there is
// none, hooks are switched off, or it stands in a folder that is not trusted:
// the settings hold it back then.
func (c *Conversation) StatusLine() *StatusLine {
	b := c.build
	if b == nil || b.o.Bare || b.drawn == nil {
		return nil
	}
	if _, limits := hook.FromSettings(b.settings); limits.Disabled != hook.NotDisabled {
		return nil
	}
	var s struct {
		Type, Command string
		Padding       int
		Refresh       float64 `json:"refreshInterval"`
	}
	if ok, err := b.settings.Decode(&s, "statusLine"); !ok {
		return nil
	} else if err != nil || s.Type != "command" || s.Command == "" {
		b.notice(`statusLine must be {"type": "command", "command": …}; it is not used`)
		return nil
	}
	l := &StatusLine{c: c, command: s.Command, Padding: max(0, s.Padding), began: b.o.Now()}
	if s.Refresh >= 1 {
		l.Refresh = time.Duration(s.Refresh * float64(time.Second))
	}
	return l
}

// Run runs the command once and returns its lines, with whatever colours it
// prints: the one who draws them makes them harmless. A command that fails or
// says nothing is a blank line.
func (l *StatusLine) Run(ctx context.Context) (string, error) {
	in, err := l.Input()
	if err != nil {
		return "", err
	}
	b := l.c.build
	res, err := b.runner.Exec(ctx, shell.Program{
		Argv: []string{b.runner.Shell(), "-c", l.command}, Dir: l.c.Engine.Place().Cwd, Stdin: in, Timeout: statusPatience,
		MaxOutput: maxStatusLine, Unconfined: true, HideSecrets: b.env("CLAUDE_CODE_SUBPROCESS_ENV_SCRUB") != "",
		Env: map[string]string{"CLAUDE_PROJECT_DIR": b.place.Project},
	})
	if err == nil && res.TimedOut {
		err = errors.New("the status line command took too long")
	}
	if err = exitError(res, err); err != nil {
		return "", err
	}
	return strings.TrimRight(string(res.Stdout), "\r\n"), nil
}

// Input is what the command reads, as JSON.
func (l *StatusLine) Input() ([]byte, error) { return json.Marshal(l.input()) }

// Follow draws the line after changes until ctx ends: changes that come close
// together count once, and a run that is overtaken is called off.
func (l *StatusLine) Follow(ctx context.Context, changed <-chan struct{}, show func(string)) {
	done := make(chan struct{}, 1)
	running, stop := false, func() {}
	defer func() {
		if stop(); running {
			<-done
		}
	}()
	start := func() {
		if stop(); running {
			<-done
		}
		var run context.Context
		run, stop = context.WithCancel(ctx)
		running = true
		go func() {
			defer func() { done <- struct{}{} }()
			text, _ := l.Run(run) // a failure is a blank line
			if run.Err() == nil {
				show(text)
			}
		}()
	}
	wait := time.NewTimer(0)
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-done:
			running = false
			if l.Refresh > 0 {
				wait.Reset(l.Refresh)
			}
		case <-changed:
			wait.Reset(statusDebounce)
		case <-wait.C:
			start()
		}
	}
}

// input is the object that the command reads (extensions.md §6). What is not known
// is not there.
func (l *StatusLine) input() map[string]any {
	e, b := l.c.Engine, l.c.build
	model, place, costs := e.Model(), e.Place(), e.Costs()
	report := l.c.Context()
	u, f := costs.Usage, b.drawn
	f.mu.Lock()
	last, added, removed := f.last, f.added, f.removed
	f.mu.Unlock()
	transcript := l.c.Transcript
	if transcript == "" && b.past != nil {
		transcript = b.past.Path
	}
	workspace := map[string]any{"current_dir": place.Cwd, "project_dir": filepath.Clean(b.place.Project), "added_dirs": append([]string{}, place.Roots[1:]...)}
	in := map[string]any{
		"hook_event_name": "Status", "session_id": e.Session(), "transcript_path": transcript, "cwd": place.Cwd, "version": b.o.Version,
		"model": map[string]any{"id": model.ID, "display_name": model.ID}, "workspace": workspace,
		"output_style": map[string]any{"name": l.c.Style},
		"cost": map[string]any{
			"total_cost_usd": costs.CostUSD, "total_duration_ms": b.o.Now().Sub(l.began).Milliseconds(), "total_api_duration_ms": costs.API.Milliseconds(),
			"total_lines_added": added, "total_lines_removed": removed,
		},
		"context_window": map[string]any{
			"total_input_tokens": u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens, "total_output_tokens": u.OutputTokens,
			"context_window_size": report.Window, "used_percentage": report.Percent, "remaining_percentage": 100 - report.Percent,
			"current_usage": map[string]any{
				"input_tokens": last.InputTokens, "output_tokens": last.OutputTokens,
				"cache_creation_input_tokens": last.CacheCreationInputTokens, "cache_read_input_tokens": last.CacheReadInputTokens,
			},
		},
		"exceeds_200k_tokens": report.Used > 200_000,
		"thinking":            map[string]any{"enabled": e.Thinking() != (provider.Thinking{})},
		"fast_mode":           false,
	}
	l.optional(in, workspace, place)
	return in
}

// optional adds what only some sessions have.
func (l *StatusLine) optional(in, workspace map[string]any, place engine.Place) {
	b := l.c.build
	if b.o.Name != "" {
		in["session_name"] = b.o.Name
	}
	if b.hooks != nil {
		if id := b.hooks.prompt.Load(); id != nil {
			in["prompt_id"] = *id
		}
	}
	if level := b.effort(); level != "" {
		in["effort"] = map[string]any{"level": level}
	}
	if b.main != nil {
		in["agent"] = map[string]any{"name": b.main.Name}
	}
	if repo := b.drawn.repo(); repo != nil {
		workspace["repo"] = repo
	}
	if name := linkedTree(place.Cwd); name != "" {
		workspace["git_worktree"] = name
	}
	if m := b.away; m != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.t != nil {
			in["worktree"] = map[string]any{"name": filepath.Base(m.t.Dir), "path": m.t.Dir, "branch": m.t.Branch, "original_cwd": m.back.Cwd}
		}
	}
}
