package wiring

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hew-agent/hew/internal/backend/feature"
	"github.com/hew-agent/hew/internal/core/command"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/state/session"
)

// slash makes the slash commands of the conversation.
func (b *build) slash(ctx context.Context) *command.Book {
	e := b.conv.Engine
	var book *command.Book
	p := command.Ports{
		Clear: b.clear(ctx), AddDir: b.addDir, Rules: b.ruleLines, AddRule: b.addRule, Memory: b.memoryFiles, Costs: e.Costs, Status: b.status,
		Model: func() string { return e.Model().ID },
		SetModel: func(ctx context.Context, name string, emit func(event.Event)) error {
			return e.SetModel(ctx, name, "user", func(b event.Body) { emit(event.Event{Body: b}) })
		},
	}
	p.Context = func(_ context.Context, all string) (string, error) {
		return b.conv.Context().Markdown(all), nil
	}
	if e.Compacts() && b.env("DISABLE_COMPACT") == "" {
		p.Compact = b.compact
	}
	b.logins(&p)
	if b.o.NoCommands {
		return command.New(command.Config{Submit: b.mcp.mentioning(b.opening(e.Submit))})
	}
	book = command.New(command.Config{
		Builtin: command.Builtin(p, func() []command.Command { return book.List() }),
		Custom:  b.custom,
		Submit:  b.craft.submitting(b.mcp.mentioning(b.opening(e.Submit))), Record: func(c event.CommandRan) error { return e.Note(c) },
	})
	return book
}

// custom are the commands that are not in the fixed table.
func (b *build) custom() []command.Command {
	return slices.Concat(b.craft.commands(), []command.Command{b.styleCommand()}, b.mcp.commands())
}

// compact is /compact.
func (b *build) compact(ctx context.Context, instructions string, emit func(event.Event)) (string, error) {
	text := "Compacted the conversation."
	changed, err := b.conv.Engine.Compact(ctx, instructions, func(e event.Event) {
		if c, ok := e.Body.(event.Compacted); ok {
			text = fmt.Sprintf("Compacted the conversation: about %d tokens before, %d now.", c.PreTokens, c.PostTokens)
		}
		emit(e)
	})
	if err == nil && !changed {
		return "There is nothing to compact yet.", nil
	}
	return text, err
}

// memoryFiles are the files of instructions that stand before the conversation.
func (b *build) memoryFiles() []command.File {
	var out []command.File
	for _, f := range append(b.files(), b.indexes()...) {
		out = append(out, command.File{Path: f.Path, Scope: f.Scope.Label(), Bytes: len(f.Text)})
	}
	return out
}

// addDir is /add-dir.
func (b *build) addDir(ctx context.Context, name string, emit func(event.Event)) (string, error) {
	dir, err := b.dir(name)
	if err != nil {
		return "", fmt.Errorf("add a working directory: %w", err)
	}
	return dir, b.addRoot(ctx, dir, "slash_command", emit)
}

// status is what /status shows.
func (b *build) status() [][2]string {
	e := b.conv.Engine
	return [][2]string{
		{"Version", b.o.Version},
		{"Session", e.Session()},
		{"Name", b.o.Name},
		{"Folder", e.Place().Cwd},
		{"Model", e.Model().ID},
		{"Credential", b.conv.KeySource},
		{"Permission mode", e.Mode()},
		{"Transcript", b.conv.Transcript},
	}
}

// clear is /clear: the session ends and a new one begins in this process.
func (b *build) clear(open context.Context) func(context.Context, string, func(event.Event)) (string, error) {
	return func(ctx context.Context, title string, emit func(event.Event)) (string, error) {
		old := b.id
		err := b.hooks.cleared(ctx, func(body event.Body) { emit(event.Event{Body: body}) }, func() error { return b.renew(open, title) })
		if err != nil {
			return "", fmt.Errorf("begin a new session: %w", err)
		}
		if b.conv.Transcript == "" {
			return "The conversation is empty now.", nil
		}
		return "The conversation is empty now. The old one can be resumed: hew --resume " + old, nil
	}
}

// renew opens a session in the place of the one there is. What was fixed for
// the old one (instructions, the state of the repository) is read again.
func (b *build) renew(ctx context.Context, title string) error {
	old, id := b.id, session.NewID()
	var log *session.Log
	if !b.o.NoPersist && !b.unkept {
		var err error
		if log, err = b.store.Create(id); err != nil {
			return err
		}
	}
	if b.closeLog != nil {
		if err := b.closeLog(); err != nil {
			return errors.Join(err, log.Close())
		}
	}
	b.past, b.log, b.id, b.o.Name = nil, nil, id, title
	if log != nil {
		b.opened(log)
	}
	b.place = b.conv.Engine.Place()
	b.place.SpillDir = b.store.Results(id)
	b.forgetFiles()
	b.git = b.askGit(ctx)
	if b.craft != nil {
		b.craft.book.Forget()
		b.craft.over()
		b.defs.refresh(ctx, func(event.Body) {})
	}
	b.variables["CLAUDE_CODE_SESSION_ID"] = id
	for _, path := range b.seen.Paths() {
		b.seen.Forget(path)
	}
	var cfg engine.Config
	b.prompt(&cfg)
	if b.noted != nil && log != nil {
		if err := errors.Join(b.noted.Cleared(old), log.Sync()); err != nil {
			return err
		}
	}
	if feature.Classifier && b.judge != nil {
		b.said.Reset()
	}
	b.conv.Engine.Restart(engine.Fresh{
		Session: id, SpillDir: b.place.SpillDir, System: cfg.System, Start: cfg.Start, Store: cfg.Store, Sync: cfg.Sync,
	})
	return nil
}
