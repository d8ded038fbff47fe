package wiring

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// fastModel answers the questions of hooks that name no model.
const fastModel = "haiku"

// hooks connects a conversation with the user's hooks.
type hooks struct {
	b      *build
	d      *hook.Dispatcher
	files  watched
	prompt atomic.Pointer[string] // id of the prompt in work
	begun  atomic.Bool            // the session's start was told
	cwd    string                 // as hooks know it
	env    string                 // the file of variables that hooks may set
	made   bool                   // its folder is there
	title  string                 // the last one that a hook gave
	effort string
	work   sync.Mutex          // guards tasks
	tasks  []event.TaskChanged // what runs in the background
	opened string              // how the session began, when not as the process did
	leave  func()              // takes the host's hooks away
	with   []*msg.Message      // what hooks said at the start of a session that had no prompt yet
	seen   filesSeen           // what FileChanged is told of
	set    bool                // the Setup hooks have run
	heard  switched
}

// listen makes the hooks of a session. A bare run has none.
func (b *build) listen(ctx context.Context, specs []tool.Spec) {
	if b.o.Bare {
		return
	}
	h := &hooks{b: b, cwd: b.place.Cwd, env: b.hookVariables(), effort: b.effort()}
	c := b.hookConfig(specs)
	c.Session, c.EnvFile, c.Interactive = h.session, h.env, false
	c.Ask = func(ctx context.Context, q hook.Query) (string, error) {
		if q.Model == "" {
			q.Model = fastModel
		}
		return b.conv.Engine.Query(ctx, "hook", q.Model, "", q.Text)
	}
	c.Verify = h.verify
	if b.mcp != nil {
		c.CallTool = b.mcp.callTool
	}
	if told := b.o.HookStarted; told != nil {
		c.Started = func(s hook.Started) { told(s.ID, s.Event, s.Name) }
	}
	c.Host = b.o.HookCallback
	if b.crew != nil {
		c.AgentType = b.crew.kindOf
	}
	h.d = hook.New(c)
	h.d.Load(b.hookSources(b.settings))
	if b.o.HostHooks != nil {
		h.hostHooks(b.o.HostHooks)
	}
	if b.main != nil && b.main.Hooks != nil {
		h.d.Register(hook.Source{Scope: hook.AgentFile, File: b.main.Origin.File, Hooks: b.main.Hooks, Held: b.main.Held})
	}
	h.files = watch(b.settings)
	b.hooks = h
	b.conv.close = append(b.conv.close, func() error { return h.end(ctx) })
}

// hookConfig is what hooks need of a machine and a folder.
func (b *build) hookConfig(specs []tool.Spec) hook.Config {
	return hook.Config{
		Project: b.place.Project, Environ: b.environ(), HideSecrets: b.env("CLAUDE_CODE_SUBPROCESS_ENV_SCRUB") != "",
		SpillDir: b.place.SpillDir, Programs: b.runner, Now: b.o.Now, NewID: b.o.NewID,
		If: hook.Conditions{
			Families: families, Tools: specs, Home: b.o.userHome(), Paths: disk{}, Reader: b.facts,
			FS: policy.FileSystem{CaseInsensitive: runtime.GOOS != "linux", Normalizing: runtime.GOOS == "darwin"},
		},
	}
}

// hookVariables is the file in which hooks of a session's start leave variables
// for shell commands. It lies among hew's own files, which the model cannot write.
func (b *build) hookVariables() string {
	return filepath.Join(b.home.Own(), "session-env", b.id+".sh")
}

func (h *hooks) session() hook.Session {
	s := hook.Session{
		ID: h.b.id, Transcript: h.b.conv.Transcript, Cwd: h.b.conv.Engine.Place().Cwd,
		Mode: h.b.conv.Engine.Mode(), Effort: h.effort,
	}
	if id := h.prompt.Load(); id != nil {
		s.Prompt = *id
	}
	return s
}

func (h *hooks) fire(ctx context.Context, in hook.Input, emit func(event.Body)) hook.Outcome {
	o := h.d.Fire(ctx, in)
	o.Emit(emit)
	return o
}

// Prompt tells of a prompt, and before the first one of the session's start.
func (h *hooks) Prompt(ctx context.Context, in engine.Input, emit func(event.Body)) engine.Reception {
	h.refresh(ctx, emit)
	with := h.with
	h.with = nil
	if !h.begun.Swap(true) {
		r := h.start(ctx, emit)
		if r.Blocked {
			return r
		}
		with = r.With
	}
	if in.Message == nil { // a call that was put off is taken up
		return engine.Reception{With: append(with, h.late(emit)...)}
	}
	h.changed(ctx, emit)
	h.prompt.Store(&in.Message.ID)
	o := h.fire(ctx, hook.UserPromptSubmit{Prompt: in.Message.Text(), Source: in.Source}, emit)
	h.named(o.Title)
	if r, blocked := dropped(o); blocked {
		return r
	}
	with = append(with, h.late(emit)...)
	return engine.Reception{With: append(with, h.reminders("UserPromptSubmit", o.Context)...)}
}

// dropped is the reception of a prompt that a hook refuses.
func dropped(o hook.Outcome) (engine.Reception, bool) {
	reason := o.Reason
	if o.Stopped && o.StopReason != "" {
		reason = o.StopReason
	}
	if reason == "" {
		reason = "a hook stopped the prompt"
	}
	return engine.Reception{Blocked: true, Reason: reason}, o.Stopped || o.Blocked
}

// start tells of the session's start and of the files of instructions.
func (h *hooks) start(ctx context.Context, emit func(event.Body)) engine.Reception {
	b := h.b
	in := hook.SessionStart{Source: "startup", Model: b.conv.Engine.Model().ID, Title: b.o.Name}
	switch {
	case h.opened != "":
		in.Source = h.opened
	case b.past != nil && b.o.Fork:
		in.Source = "fork"
	case b.past != nil:
		in.Source = "resume"
		if n := len(b.past.Messages); n > 0 {
			in.Idle = int64(b.o.Now().Sub(b.past.Messages[n-1].Time).Seconds())
		}
	}
	with := h.setUp(ctx, emit)
	o := h.fire(ctx, in, emit)
	h.named(o.Title)
	h.watch(o)
	if r, blocked := dropped(o); blocked && o.Stopped {
		return r
	}
	if in.Source == "startup" || h.opened != "" {
		h.instructed(ctx, b.files(), emit)
	}
	with = append(with, h.reminders("SessionStart", o.Context)...)
	if o.InitialPrompt != "" {
		with = append(with, msg.User(b.o.NewID(), b.o.Now(), o.InitialPrompt))
	}
	return engine.Reception{With: with}
}

// cleared tells of the end of one session and, once it is there, of the start of
// the next. What hooks say for the model waits for the first prompt.
func (h *hooks) cleared(ctx context.Context, emit func(event.Body), next func() error) error {
	if h == nil {
		return next()
	}
	if h.begun.Load() {
		h.fire(ctx, hook.SessionEnd{Reason: "clear"}, emit)
	}
	if err := next(); err != nil {
		return err
	}
	h.begun.Store(true)
	h.opened, h.title = "clear", ""
	h.with = h.start(ctx, emit).With
	return nil
}

// named gives the session the title that a hook chose, unless the user chose one.
func (h *hooks) named(title string) {
	if title != "" && title != h.title && h.b.o.Name == "" && h.b.noted != nil {
		h.title, h.b.noted.title = title, title
	}
}

// reminders are the words of hooks for the model.
func (h *hooks) reminders(from string, texts []string) []*msg.Message {
	var out []*msg.Message
	for _, t := range texts {
		m := msg.User(h.b.o.NewID(), h.b.o.Now(), hook.Reminder(from, t))
		m.Meta = true
		out = append(out, m)
	}
	return out
}

// late is what hooks in the background have said since the last request.
func (h *hooks) late(emit func(event.Body)) []*msg.Message {
	var out []*msg.Message
	for _, l := range h.d.Late("") {
		for _, e := range l.Events {
			emit(e)
		}
		out = append(out, h.reminders("background", l.Context)...)
	}
	return append(out, h.reminders("PostModelSwitch", h.heard.take())...)
}

// Next tells of what has happened since the last request, and asks whether the
// next one may be made.
func (h *hooks) Next(ctx context.Context, ended []event.ToolFinished, emit func(event.Body)) engine.Pause {
	h.refresh(ctx, emit)
	h.moved(ctx, emit)
	h.changed(ctx, emit)
	h.instructed(ctx, h.b.lazy.told(), emit)
	p := engine.Pause{}
	if len(ended) > 0 && h.d.Wants("PostToolBatch") {
		o := h.fire(ctx, batch(ended), emit)
		if r, blocked := dropped(o); blocked {
			p.End, p.Detail = event.HookStopped, r.Reason
		}
		p.With = h.reminders("PostToolBatch", o.Context)
	}
	if why, detail := h.d.Halted(""); why != "" {
		p.End, p.Detail = why, detail
	}
	p.With = append(p.With, h.late(emit)...)
	return p
}

func batch(ended []event.ToolFinished) hook.PostToolBatch {
	var out hook.PostToolBatch
	for _, f := range ended {
		var text strings.Builder
		for _, b := range f.Result.Content {
			if t, ok := b.(*msg.Text); ok {
				text.WriteString(t.Text)
			}
		}
		out.Calls = append(out.Calls, hook.BatchCall{Name: f.Use.Name, Input: f.Use.Input, UseID: f.Use.ID, Response: text.String()})
	}
	return out
}

// moved tells that commands have changed the current directory.
func (h *hooks) moved(ctx context.Context, emit func(event.Body)) {
	now := h.b.conv.Engine.Place().Cwd
	if now == h.cwd {
		return
	}
	in := hook.CwdChanged{Old: h.cwd, New: now}
	h.cwd = now
	h.watch(h.fire(ctx, in, emit))
}

// Stop tells that the agent is about to finish.
func (h *hooks) Stop(ctx context.Context, last *msg.Message, emit func(event.Body)) loop.Stop {
	h.instructed(ctx, h.b.lazy.told(), emit)
	end := hook.Ending{Last: last.Text()}
	h.work.Lock()
	tasks := slices.Clone(h.tasks)
	h.work.Unlock()
	for _, t := range tasks {
		raw, err := msg.Marshal(map[string]string{"task_id": t.ID, "task_type": t.Kind, "description": t.Summary})
		if err == nil { // texts: cannot fail
			end.Tasks = append(end.Tasks, raw)
		}
	}
	return loop.Stop(h.d.Stops(ctx, end, emit))
}

// follow keeps track of what runs in the background.
func (h *hooks) follow(t event.TaskChanged) {
	if h == nil {
		return
	}
	h.work.Lock()
	defer h.work.Unlock()
	h.tasks = slices.DeleteFunc(h.tasks, func(x event.TaskChanged) bool { return x.ID == t.ID })
	if t.Status == event.TaskRunning {
		h.tasks = append(h.tasks, t)
	}
}

// Failed tells of a run that the API has ended.
func (h *hooks) Failed(ctx context.Context, t event.Terminal, emit func(event.Body)) {
	var e *provider.Error
	if errors.As(t.Err, &e) {
		h.fire(ctx, hook.StopFailure{Error: failureKind(e.Class), Details: t.Detail, Last: t.Text}, emit)
	}
}

// failureKind is the published word for a class of failures.
func failureKind(c provider.Class) string {
	switch c {
	case provider.Auth, provider.Credential, provider.Forbidden:
		return "authentication_failed"
	case provider.Billing:
		return "billing_error"
	case provider.RateLimited:
		return "rate_limit"
	case provider.Overloaded:
		return "overloaded"
	case provider.Server:
		return "server_error"
	case provider.NotFound:
		return "model_not_found"
	case provider.OutputTooLarge:
		return "max_output_tokens"
	case provider.TooLong, provider.BodyTooLarge, provider.BadImage, provider.Invalid:
		return "invalid_request"
	case provider.Timeout, provider.Connection, provider.Truncated, provider.Stalled, provider.Certificate, provider.Protocol:
		return "unknown"
	}
	return "unknown"
}

// end tells of the session's end, whether or not ctx has been called off, and
// ends what hooks have left in the background.
func (h *hooks) end(ctx context.Context) error {
	if h.begun.Load() {
		h.fire(context.WithoutCancel(ctx), hook.SessionEnd{Reason: "other"}, h.afterwards)
	}
	for _, l := range h.d.Late("") {
		for _, e := range l.Events {
			h.afterwards(e)
		}
	}
	err := h.d.Close()
	if !h.made { // whatever stands in its place is not ours
		return err
	}
	if gone := os.Remove(h.env); gone != nil && !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// afterwards shows what happens when no run listens any more.
func (h *hooks) afterwards(body event.Body) {
	if n, ok := body.(event.Notice); ok {
		h.b.notice(n.Text)
	}
	if h.b.o.Trace != nil {
		h.b.o.Trace(event.Event{Body: body})
	}
}
