package wiring

import (
	"path/filepath"
	"runtime"
	"slices"

	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/state/session"
)

// prompt settles what stands before the conversation, and how it is recorded.
// A resumed session repeats what it was started with, byte for byte.
func (b *build) prompt(cfg *engine.Config) {
	layouter := new(prompt.Layouter)
	cfg.Layout, cfg.Quarantine = layouter.Layout, layouter
	git := b.git()
	if b.past != nil {
		cfg.History = b.past.Messages
		layouter.Withhold(b.past.Withheld...)
	}
	cfg.System = b.system()
	w := b.writer(cfg, git)
	if b.past != nil && len(cfg.History) > 0 && !b.unbegun() {
		b.resumed(cfg)
		return
	}
	system := cfg.System
	cfg.Start = func() (*msg.Message, error) { return b.start(system, w) }
}

// unbegun tells that the process died after the first prompt was written and
// before what stands in front of it was: nothing has been sent yet, and the
// session begins now.
func (b *build) unbegun() bool {
	if b.past.Context != nil || len(b.past.System) > 0 {
		return false
	}
	return !slices.ContainsFunc(b.past.Messages, func(m *msg.Message) bool { return m.Role == msg.RoleAssistant })
}

// resumed says when the first request cannot extend the last one before it.
func (b *build) resumed(cfg *engine.Config) {
	cfg.Sent = b.past.Prefix
	if !slices.Equal(cfg.System, b.past.System) || b.past.Prefix == "" {
		cfg.Break = "resume"
	}
	cfg.Deferred = b.past.Deferred
	if b.past.Rewound {
		cfg.Break = "rewind"
	}
}

// system is the system prompt: the recorded one unless the command line asks
// for another.
func (b *build) system() []string {
	b.conv.Style = defaultStyle
	asked := b.main != nil || b.o.SystemGiven || b.o.AppendPrompt != "" || b.o.Bare || b.o.SystemBlocks != nil || b.o.FreshPrompt
	if b.past != nil && len(b.past.System) > 0 && !asked {
		b.conv.Style = recalledStyle(b.past.System)
		return b.past.System
	}
	if b.main != nil && !b.o.SystemGiven && b.o.SystemBlocks == nil {
		return prompt.System(prompt.Config{Role: b.role(), Append: b.o.AppendPrompt, Env: b.surroundings()})
	}
	if b.o.SystemBlocks != nil {
		return append(slices.Clone(b.o.SystemBlocks), prompt.System(prompt.Config{Append: b.o.AppendPrompt})[2:]...)
	}
	if (b.o.Bare || b.o.Minimal) && !b.o.SystemGiven {
		text := "Working directory: " + b.place.Cwd + "\nToday's date: " + b.o.Now().Format("2006-01-02")
		return prompt.System(prompt.Config{Replace: text, Append: b.o.AppendPrompt})
	}
	c := prompt.Config{
		Replace: b.o.SystemPrompt, Append: b.o.AppendPrompt, Memory: b.aboutNotes(),
		Env: b.surroundings(),
	}
	b.styled(&c)
	return prompt.System(c)
}

// surroundings are what the model is told of the place.
func (b *build) surroundings() prompt.Environment {
	return prompt.Environment{
		Cwd: b.place.Cwd, Roots: b.place.Roots[1:], Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Shell: filepath.Base(b.runner.Shell()), Git: b.git(),
	}
}

// writer lets the engine record the conversation; nil when nothing is kept.
func (b *build) writer(cfg *engine.Config, git *prompt.Git) *session.Writer {
	if b.o.NoPersist || b.unkept {
		return nil
	}
	branch := "HEAD"
	if git != nil {
		branch = git.Branch
	} else if b.past != nil && b.past.Branch != "" {
		branch = b.past.Branch
	}
	w := session.NewWriter(session.WriterConfig{
		Log: b.log, Mode: b.gateRef.Mode(), Now: b.o.Now, NewID: b.o.NewID, From: b.past,
		Stamp: session.Stamp{Session: b.id, Cwd: b.place.Cwd, Version: b.o.Version, Branch: branch, Entrypoint: b.o.Entrypoint},
	})
	noted := &noting{Writer: w, title: b.o.Name, prefix: func() string { return b.conv.Engine.Prefix() }}
	if b.past != nil {
		noted.sent = b.past.Prefix
	}
	cfg.Store, cfg.Sync, b.noted = noted, b.log.Sync, noted
	b.conv.Transcript = b.log.Path()
	return w
}

// noting is a writer that also notes what is not an event: the session's name
// after the first prompt, so that a session nobody spoke in leaves no trace,
// and before a request what it begins with, when that is new.
type noting struct {
	*session.Writer
	title  string
	prefix func() string
	sent   string
	// fallen tells that this run is answered by another model than prefix says.
	fallen bool
}

// Prompt writes the prompt, what lists of sessions show of it, and the name.
func (n *noting) Prompt(m *msg.Message, p session.Prompt) error {
	n.fallen = false
	if err := n.Writer.Prompt(m, p); err != nil {
		return err
	}
	if err := n.LastPrompt(m.Text()); err != nil || n.title == "" {
		return err
	}
	title := n.title
	n.title = ""
	return n.Title(title)
}

// Record writes what an event leaves in the transcript.
func (n *noting) Record(body event.Body) error {
	now := n.sent
	if _, ok := body.(event.TurnStarted); ok && !n.fallen {
		now = n.prefix()
	}
	if b, ok := body.(event.Notice); ok && b.Code == event.ModelFallback {
		n.fallen, now = true, ""
	}
	if now != n.sent {
		if err := n.Writer.Prefix(now); err != nil {
			return err
		}
		n.sent = now
	}
	return n.Writer.Record(body)
}

// listings are what the model can ask for from the first prompt on. They stand
// before it, so that a person's words are the last thing the model reads.
func (b *build) listings() []prompt.Item {
	out := b.agentListing().items()
	if b.craft != nil {
		out = append(out, b.craft.listing()...)
	}
	return out
}

// start makes and records what stands before a new conversation.
func (b *build) start(system []string, w *session.Writer) (*msg.Message, error) {
	files := append(b.files(), b.indexes()...)
	var m *msg.Message
	if !b.o.Bare {
		m = prompt.Context(b.o.NewID(), b.o.Now(), files, b.listings()...)
	}
	if w == nil {
		return m, nil
	}
	if err := w.Snapshot(system); err != nil || m == nil {
		return m, err
	}
	sources := make([]session.Source, 0, len(files))
	for _, f := range files {
		sources = append(sources, session.Source{Path: f.Path, Type: string(f.Scope)})
	}
	return m, w.Context(m, sources)
}
