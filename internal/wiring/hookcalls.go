package wiring

import (
	"context"
	"path/filepath"
	"time"

	"github.com/hew-agent/hew/internal/action/gate"
	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/state/settings"
	"github.com/hew-agent/hew/internal/state/trust"
	"github.com/hew-agent/hew/internal/tool"
)

// hear lets hooks take part in the admission of calls.
func (h *hooks) hear(c *gate.Config) {
	if h == nil {
		return
	}
	c.Hooks = &calls{h.d.ForGate(), h}
	if c.Asker != nil {
		c.Asker = &notifying{c.Asker, h, noticeAfter}
	}
}

// calls are the hooks around calls. What they do to a file that was just edited
// is no foreign change: the next edit must not be refused for it.
type calls struct {
	*hook.Calls
	h *hooks
}

// After runs the hooks after a call.
func (c *calls) After(ctx context.Context, a tool.Admitted, r tool.Result, took time.Duration, emit func(event.Body)) (tool.Result, tool.Verdict) {
	var known []string
	if c.h.d.Wants("PostToolUse") {
		known = c.known(a)
	}
	r, v := c.Calls.After(ctx, a, r, took, emit)
	for _, path := range known {
		if text, ok := c.reread(path); ok {
			r.Content = append(r.Content[:len(r.Content):len(r.Content)], text.Content...)
		}
	}
	return r, v
}

// known are the files that the call has written and the model knows whole.
func (c *calls) known(a tool.Admitted) []string {
	var out []string
	for _, n := range a.Call.Needs() {
		if n.Kind == tool.NeedEdit && n.Path != "" && c.h.b.seen.Check(n.Path) == fsys.Fresh {
			out = append(out, n.Path)
		}
	}
	return out
}

// reread takes a file as it is now for what the model knows, and tells the model
// that it is another one than it wrote.
func (c *calls) reread(path string) (tool.Result, bool) {
	if c.h.b.seen.Check(path) != fsys.Changed {
		return tool.Result{}, false
	}
	raw, st, err := fsys.ReadRaw(path, fsys.Limits{MaxBytes: maxReread})
	if err != nil {
		return tool.Result{}, false // gone or no longer text: the next edit says so
	}
	c.h.b.seen.Record(path, fsys.View{Status: st, Content: raw, Extent: fsys.Whole})
	return tool.Text(hook.Reminder("PostToolUse", "it has changed "+fsys.Printable(filepath.Base(path))+
		" after this call. Text that you give as old_string must be as the file is now.")), true
}

// maxReread bounds the files that are looked at again, in bytes.
const maxReread = 32 << 20

// noticeAfter is how long a question may stay open before hooks hear that
// somebody's attention is wanted (hooks.md §5).
const noticeAfter = 6 * time.Second

// notifying tells hooks of questions that nobody answers at once.
type notifying struct {
	gate.Asker
	h     *hooks
	after time.Duration
}

// Ask asks.
func (n *notifying) Ask(ctx context.Context, q event.Question) (event.Answer, error) {
	if !n.h.d.Wants("Notification") {
		return n.Asker.Ask(ctx, q)
	}
	late := context.WithoutCancel(ctx) // a notification that is on its way is not called back
	t := time.AfterFunc(n.after, func() {
		n.h.fire(late, hook.Notification{Message: "hew needs your permission to use " + q.Tool, Type: "permission_prompt"}, n.h.afterwards)
	})
	defer t.Stop()
	return n.Asker.Ask(ctx, q)
}

// watched are the settings files as they were when the hooks were read.
type watched map[string]fsys.Status

func watch(s *settings.Settings) watched {
	w := watched{}
	for _, f := range s.Files() {
		if f.Path != "" {
			w[f.Path] = status(f.Path)
		}
	}
	return w
}

func status(path string) fsys.Status {
	st, err := fsys.Stat(path)
	if err != nil {
		return fsys.Status{}
	}
	return st
}

// refresh reads the hooks again when a settings file has changed. The hooks in
// force hear of it first and may keep the change from counting, except one of
// the machine's administrator.
func (h *hooks) refresh(ctx context.Context, emit func(event.Body)) {
	changed, refused := false, false
	for _, f := range h.b.settings.Files() {
		if f.Path == "" {
			continue
		}
		now, was := status(f.Path), h.files[f.Path]
		if unchanged(was, now) {
			continue
		}
		h.files[f.Path], changed = now, true
		o := h.fire(ctx, hook.ConfigChange{Source: sourceOf(f.Scope), Path: f.Path}, emit)
		refused = refused || o.Blocked && f.Scope != settings.Managed
	}
	if changed && !refused {
		h.reload(emit)
	}
}

func sourceOf(s settings.Scope) string {
	switch s {
	case settings.User:
		return "user_settings"
	case settings.Project:
		return "project_settings"
	case settings.Local:
		return "local_settings"
	case settings.Managed, settings.Flag:
		return "policy_settings"
	}
	return "policy_settings"
}

// reload puts the hooks and rules of the settings as they are now in force. What the
// folder asks for anew is not trusted by what was there before.
func (h *hooks) reload(emit func(event.Body)) {
	cfg := h.b.settingsConfig
	v := trust.Check(trust.Config{Settings: cfg, Run: h.b.o.Consent, ReadOnly: true})
	cfg.Trust, cfg.BaseURLs = v.Level, v.BaseURLs
	s, problems := settings.Load(cfg)
	broken := false
	for _, p := range problems {
		if p.Severity != settings.Note {
			emit(event.Notice{Level: event.Warning, Code: "settings", Text: p.String()})
		}
		broken = broken || p.Severity == settings.FileIgnored
	}
	if broken { // a deny rule or a policy hook must not go because of a missing comma
		emit(event.Notice{Level: event.Warning, Code: "settings", Text: "the settings stay as they were before that change until every file can be read"})
		return
	}
	h.d.Load(h.b.hookSources(s))
	h.b.govern(s, func(text string) { emit(event.Notice{Level: event.Warning, Code: "permission_rule", Text: text}) })
}
