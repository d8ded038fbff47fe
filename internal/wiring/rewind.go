package wiring

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/state/checkpoint"
	"github.com/hew-agent/hew/internal/state/session"
)

// RewindRequest says what of a session to take back.
type RewindRequest struct {
	// Session is an id or a name; To a prompt: its number, its id or how the id
	// begins, "" for the newest.
	Session, To         string
	Files, Conversation bool
	// Preview changes nothing; List only names the prompts.
	Preview, List bool
}

// RewindPrompt is a prompt that one can go back to.
type RewindPrompt struct {
	Number int       `json:"number"`
	ID     string    `json:"id"`
	Text   string    `json:"text"`
	Time   time.Time `json:"time"`
}

// RewindResult is what was done, or would be.
type RewindResult struct {
	Session string         `json:"session"`
	Cwd     string         `json:"cwd,omitempty"`
	Prompts []RewindPrompt `json:"prompts,omitempty"`
	// Prompt is undone, with all that came after it.
	Prompt *RewindPrompt      `json:"prompt,omitempty"`
	Plan   *checkpoint.Plan   `json:"plan,omitempty"`
	Files  *checkpoint.Report `json:"files,omitempty"`
	// Conversation tells that the conversation ends before the prompt now.
	Conversation bool `json:"conversation"`
}

// Rewind takes back what a session that nobody works in has changed.
func Rewind(ctx context.Context, o Options, r RewindRequest) (_ RewindResult, err error) {
	b := &build{o: &o, conv: &Conversation{}}
	if err := b.locate(); err != nil {
		return RewindResult{}, err
	}
	b.store = session.Store{Home: b.home.Dir, Project: session.Key(b.place.Project)}
	found, err := b.store.Find(r.Session)
	if errors.Is(err, fs.ErrNotExist) {
		err = &NoSession{r.Session}
	}
	if err != nil {
		return RewindResult{}, err
	}
	log, err := found.Store.Open(found.ID)
	if err != nil {
		return RewindResult{}, err
	}
	out, err := b.rewind(ctx, log, r)
	if err = errors.Join(err, log.Close()); err != nil || !r.Conversation || r.Preview || r.List || failedFiles(out.Files) {
		return out, err
	}
	// The lock was given back: the store takes it for itself.
	_, err = found.Store.Rewind(found.ID, out.Prompt.ID, session.Rewinding{Version: o.Version, Entrypoint: "cli", Now: o.Now, NewID: o.NewID})
	out.Conversation = err == nil
	return out, err
}

func failedFiles(r *checkpoint.Report) bool { return r != nil && len(r.Failed) > 0 }

// rewind finds the prompt and takes back the files.
func (b *build) rewind(ctx context.Context, log *session.Log, r RewindRequest) (out RewindResult, err error) {
	c, _, err := session.Load(log.Path())
	if err != nil {
		return out, err
	}
	out.Session, out.Cwd = log.ID(), c.Cwd
	if len(c.Points) == 0 {
		return out, fmt.Errorf("session %s has no prompt to go back to", log.ID())
	}
	for i, p := range c.Points {
		out.Prompts = append(out.Prompts, RewindPrompt{i + 1, p.ID, p.Text, p.Time})
	}
	if r.List {
		return out, nil
	}
	if r.To == "" {
		r.To = c.Points[len(c.Points)-1].ID
	}
	to, _, err := pointOf(c, r.To)
	if err != nil {
		return out, err
	}
	out.Prompt = &out.Prompts[len(to.Before)]
	out.Prompts = nil
	if !r.Files {
		return out, nil
	}
	t, done, err := b.offline(log.ID())
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, done()) }()
	if r.Preview {
		out.Plan, err = t.Plan(ctx, to)
	} else {
		out.Files, err = t.Rewind(ctx, to)
	}
	return out, err
}

// offline opens the checkpoints of a session without a conversation.
func (b *build) offline(id string) (_ *checkpoint.Tracker, done func() error, err error) {
	scratch, err := os.MkdirTemp("", "hew-rewind-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a folder for temporary files: %w", err)
	}
	b.runner = shell.New(shell.Config{Env: b.environ(), OutputDir: scratch, Notice: b.notice, NoSnapshot: true})
	t, err := checkpoint.Open(checkpoint.Config{
		Dir: filepath.Join(b.home.Dir, fileHistory, id), Skip: []string{b.home.Dir}, Limits: checkpoint.DefaultLimits(), Now: b.o.Now,
		Git: func(ctx context.Context, root string) checkpoint.Git { return b.repository(ctx, root) },
	})
	clean := func() error { return errors.Join(b.runner.Close(), os.RemoveAll(scratch)) }
	if err != nil {
		return nil, nil, errors.Join(err, clean())
	}
	return t, func() error { return errors.Join(t.Close(), clean()) }, nil
}
