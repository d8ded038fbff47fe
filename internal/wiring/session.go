package wiring

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/session"
)

// NoSession says that the session to go on with does not exist.
type NoSession struct{ Name string }

// Error tells how to find the sessions that do.
func (n *NoSession) Error() string {
	if n.Name == "" {
		return "no conversation found to continue in this directory"
	}
	return "No conversation found with session ID: " + n.Name
}

// projectKey is the name of the folder that the project's sessions are in.
func (b *build) projectKey() (string, error) {
	name := b.o.getenv("CLAUDE_CODE_PROJECT_DIR_NAME")
	if name == "" || !b.home.Moved {
		return session.Key(b.place.Project), nil
	}
	return session.ChosenKey(name)
}

// session opens the transcript: a new one, one to go on with, or a copy.
func (b *build) session(ctx context.Context) error {
	key, err := b.projectKey()
	if err != nil {
		return err
	}
	b.store = session.Store{Home: b.home.Dir, Project: key}
	if b.o.SessionID != "" && !session.ValidID(b.o.SessionID) {
		return fmt.Errorf("invalid session ID %q: it must be a UUID", b.o.SessionID)
	}
	b.id = b.o.SessionID
	if err := b.resume(ctx); err != nil {
		return err
	}
	if b.id == "" {
		b.id = session.NewID()
	}
	b.place.SpillDir = b.store.Results(b.id)
	if b.o.NoPersist || b.log != nil {
		return nil
	}
	log, err := b.store.Create(b.id)
	if unwritable(err) {
		b.notice("this session is not kept and cannot be resumed: " + err.Error() + "; the run goes on without a transcript (repair the folder, or move the home by CLAUDE_CONFIG_DIR)")
		b.unkept = true
		return nil
	}
	if err != nil {
		return err
	}
	b.opened(log)
	return nil
}

// unwritable tells that nothing can be written in the configuration home. The
// channels of persistence are independent: the run itself needs none of them.
func unwritable(err error) bool {
	if err == nil {
		return false
	}
	c := fsys.CauseOf(err)
	return c == fsys.CausePermission || c == fsys.CauseReadOnlyFS || c == fsys.CauseNotDir
}

func (b *build) opened(log *session.Log) {
	b.log, b.closeLog = log, sync.OnceValue(log.Close)
	log.Mirror(b.o.Mirror)
	if !b.o.Bare {
		b.conv.close = append(b.conv.close, b.clean)
	}
	b.conv.close = append(b.conv.close, b.closeLog)
	if w := log.Warning(); w != "" {
		b.notice(w)
	}
}

// resume finds the session to go on with, if one is asked for, and loads it.
func (b *build) resume(ctx context.Context) error {
	found, err := b.find()
	if err != nil || found == nil {
		return err
	}
	past, reports, err := b.read(ctx, found)
	if err != nil {
		return err
	}
	for _, r := range reports {
		b.notice("session " + found.ID + ": " + r.String())
	}
	b.past = past
	if b.o.NoPersist {
		b.id = found.ID
		return nil
	}
	if b.o.Fork {
		return b.fork(found)
	}
	if b.o.SessionID != "" && b.o.SessionID != found.ID {
		return errors.New("--session-id can only be combined with --continue or --resume if --fork-session is given")
	}
	b.id, b.store = found.ID, found.Store
	log, err := b.store.Open(b.id)
	if err != nil {
		return err
	}
	b.opened(log)
	return nil
}

// CannotResume says why a session cannot be gone on with as it was asked.
type CannotResume struct{ Text string }

// Error is the text.
func (c *CannotResume) Error() string { return c.Text }

// read is load until ctx ends: a transcript of gigabytes takes its time, and a
// signal is heard meanwhile. What load had begun then ends beside.
func (b *build) read(ctx context.Context, found *session.Summary) (*session.Conversation, []session.Report, error) {
	var past *session.Conversation
	var reports []session.Report
	done := make(chan error, 1)
	go func() {
		c, r, err := b.load(found)
		past, reports = c, r
		done <- err
	}()
	select {
	case err := <-done:
		return past, reports, err
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("read session %s: %w", found.ID, context.Cause(ctx))
	}
}

// load reads the session to go on with, up to the message that was asked for.
func (b *build) load(found *session.Summary) (*session.Conversation, []session.Report, error) {
	at := b.o.ResumeAt
	past, reports, err := session.Load(found.Path)
	if err != nil {
		return nil, nil, fmt.Errorf("read session %s: %w", found.ID, err)
	}
	if at == "" {
		return past, reports, nil
	}
	cut, reports, err := session.LoadAt(found.Path, at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, &CannotResume{"No message found with message.uuid of: " + at}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read session %s: %w", found.ID, err)
	}
	if drops := b.o.DropsTurn; drops != "" {
		prompts, notices := past.Dropped(cut)
		if len(notices) > 0 || len(prompts) > 1 || len(prompts) == 1 && prompts[0] != drops {
			return nil, nil, &CannotResume{fmt.Sprintf("Resume rejected by --resume-drops-turn: behind message %s stand %d prompts and %d notices, which are not all of turn %s", at, len(prompts), len(notices), drops)}
		}
	}
	return cut, reports, nil
}

func (b *build) find() (*session.Summary, error) {
	var s session.Summary
	var err error
	switch {
	case b.o.Resume != "":
		s, err = b.store.Find(b.o.Resume)
	case b.o.Continue:
		from := session.Headless
		if b.o.Interactive {
			from = session.Interactive
		}
		s, err = b.store.Latest(b.place.Project, from)
	default:
		return nil, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NoSession{b.o.Resume}
	}
	if err != nil {
		return nil, err
	}
	return &s, nil
}

// fork copies the session under a new id and goes on with the copy.
func (b *build) fork(from *session.Summary) error {
	if b.id == "" {
		b.id = session.NewID()
	}
	if err := b.store.Fork(from.Path, b.id); err != nil {
		return fmt.Errorf("fork session %s: %w", from.ID, err)
	}
	log, err := b.store.Open(b.id)
	if err != nil {
		return err
	}
	b.opened(log)
	return b.mirrorAll(log.Path())
}

// tasksDir is where background commands of the session write.
func (b *build) tasksDir(tmp string, uid int) string {
	return filepath.Join(tmp, fmt.Sprintf("claude-%d", uid), b.store.Project, b.id, "tasks")
}
