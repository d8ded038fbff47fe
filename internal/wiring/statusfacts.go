package wiring

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/state/settings"
	"github.com/hew-agent/hew/internal/tool"
)

// statusFacts are what the status line tells of a session and nothing else keeps.
type statusFacts struct {
	mu             sync.Mutex
	added, removed int       // lines of edits
	last           msg.Usage // of the newest request of the main conversation
	repo           func() map[string]string
}

// follow keeps account of a run for the status line, where there is one.
func (b *build) follow(ctx context.Context, cfg *engine.Config) {
	if _, set := b.settings.Raw("statusLine"); !set {
		return
	}
	f := &statusFacts{repo: sync.OnceValue(func() map[string]string { return b.remote(context.WithoutCancel(ctx)) })}
	b.drawn = f
	next := cfg.Trace
	cfg.Trace = func(e event.Event) {
		f.hear(e)
		if next != nil {
			next(e)
		}
	}
}

func (f *statusFacts) hear(e event.Event) {
	switch body := e.Body.(type) {
	case event.ModelCall:
		if e.Origin.Agent != "" || body.Side != "" || body.Err != "" {
			return
		}
		f.mu.Lock()
		f.last = body.Usage
		f.mu.Unlock()
	case event.ToolFinished:
		d, ok := body.Result.View.(tool.DiffView)
		if !ok || body.Result.IsError {
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, h := range d.Hunks {
			for _, l := range h.Lines {
				switch {
				case strings.HasPrefix(l, "+"):
					f.added++
				case strings.HasPrefix(l, "-"):
					f.removed++
				}
			}
		}
	case event.TurnStarted, event.Retrying, event.Delta, event.Retracted, event.ToolProgress, event.Decided, event.HookRan, event.Message,
		event.ToolStarted, event.Asked, event.Answered, event.Shaped, event.Compacting, event.Compacted, event.CommandRan, event.TaskChanged,
		event.Notice, event.Step, event.Done:
	}
}

// remote is where the repository's remote origin is, nil without one.
func (b *build) remote(ctx context.Context) map[string]string {
	run := b.runGit()
	if run == nil || !b.inRepository() {
		return nil
	}
	for _, r := range prompt.ReadRemotes(ctx, run) {
		if at, ok := strings.CutPrefix(r, "origin "); ok {
			return repoOf(at)
		}
	}
	return nil
}

// repoOf splits the address of a repository: https://host/owner/name.git or
// host:owner/name; nil for a path.
func repoOf(address string) map[string]string {
	host, path := "", ""
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		host, path = u.Hostname(), u.Path
	} else if h, p, ok := strings.Cut(address, ":"); ok && !strings.ContainsAny(h, `/\`) {
		host, path = h[strings.LastIndexByte(h, '@')+1:], p
	}
	owner, name, ok := strings.Cut(strings.Trim(strings.TrimSuffix(path, ".git"), "/"), "/")
	if host == "" || !ok {
		return nil
	}
	if i := strings.LastIndexByte(name, '/'); i >= 0 { // groups within groups
		owner, name = owner+"/"+name[:i], name[i+1:]
	}
	return map[string]string{"host": host, "owner": owner, "name": name}
}

// linkedTree is the name of the linked worktree that holds a folder, "" in a main
// checkout or outside of git.
func linkedTree(cwd string) string {
	root := settings.CheckoutRoot(cwd)
	raw, err := os.ReadFile(filepath.Join(root, ".git")) // a folder, in a main checkout
	if err != nil {
		return ""
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(raw)), "gitdir: ")
	if !ok || filepath.Base(filepath.Dir(dir)) != "worktrees" {
		return ""
	}
	return filepath.Base(dir)
}
