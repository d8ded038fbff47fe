package wiring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hew-agent/hew/internal/action/builtin/agent"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/state/session"
)

// meta is what the ecosystem keeps of a subagent beside its transcript.
type meta struct {
	Type        string `json:"agentType"`
	BuiltIn     bool   `json:"isBuiltIn"`
	Description string `json:"description"`
	Name        string `json:"name,omitempty"`
	Use         string `json:"toolUseId"`
	Depth       int    `json:"spawnDepth"`
	Shape       string `json:"requestShape"`
	Model       string `json:"model"`
	Finished    bool   `json:"finished"`
	// Status says how the last run ended; Stopped that somebody has stopped it.
	Status  string `json:"status,omitempty"`
	Stopped bool   `json:"stopped,omitempty"`
	// Cwd, Mode, Worktree, Branch and Base are where and how it goes on.
	Cwd      string `json:"cwd,omitempty"`
	Mode     string `json:"permissionMode,omitempty"`
	Worktree string `json:"worktreePath,omitempty"`
	Branch   string `json:"worktreeBranch,omitempty"`
	Base     string `json:"worktreeBase,omitempty"`
}

func metaPath(transcript string) string {
	return strings.TrimSuffix(transcript, ".jsonl") + ".meta.json"
}

// record opens the sidechain: the subagent's own transcript, and beside it what
// it is.
func (c *child) record(cfg *engine.Child, past *session.Conversation) error {
	b := c.s.b
	if past == nil && c.task.Kind != nil && !c.task.Kind.Bare {
		cfg.Start = func() (*msg.Message, error) { return c.context(), nil }
	}
	c.describe()
	if b.log == nil {
		return nil
	}
	log, err := b.store.OpenSidechain(b.id, c.id())
	if err != nil { // a channel of its own: the work goes on without it
		b.notice("the subagent " + c.id() + " leaves no transcript and cannot be resumed: " + err.Error())
		return nil
	}
	c.log, c.ends = log, append(c.ends, log.Close)
	log.Mirror(b.o.Mirror)
	if err := c.note(); err != nil {
		return err
	}
	branch := "HEAD"
	if g := b.git(); g != nil {
		branch = g.Branch
	}
	w := session.NewWriter(session.WriterConfig{
		Log: log, Mode: c.gate.Mode(), Now: b.o.Now, NewID: b.o.NewID, From: past,
		Stamp: session.Stamp{Session: b.id, Cwd: c.cwd(), Version: b.o.Version, Branch: branch, Entrypoint: b.o.Entrypoint, Agent: c.id()},
	})
	cfg.Store, cfg.Sync = w, log.Sync
	if cfg.Start != nil {
		cfg.Start = func() (*msg.Message, error) {
			m := c.context()
			if m == nil {
				return nil, nil
			}
			return m, w.Context(m, nil)
		}
	}
	return nil
}

// context is the message that stands before the subagent's conversation.
func (c *child) context() *msg.Message {
	b := c.s.b
	files := b.files()
	if c.book != nil {
		f, note, ok := c.book.Read()
		if note != nil {
			b.tell(*note)
		}
		if ok {
			files = append(files[:len(files):len(files)], f)
		}
	}
	return prompt.Context(b.o.NewID(), b.o.Now(), files)
}

func (c *child) describe() {
	c.meta = meta{
		Type: c.kind(), BuiltIn: c.task.Kind == nil || c.task.Kind.Origin.Scope == catalog.Bundled, Description: c.task.Description,
		Name: c.task.Name, Use: c.task.Use, Depth: c.home.depth + 1, Shape: "foreground", Model: c.model(), Cwd: c.task.Cwd, Mode: c.task.Mode,
	}
	if c.task.Background {
		c.meta.Shape = "background"
	}
	if c.meta.Model == "" {
		c.meta.Model = c.home.engine().Model().ID
	}
	if c.tree != nil {
		c.meta.Worktree, c.meta.Branch, c.meta.Base = c.tree.t.Dir, c.tree.t.Branch, c.tree.t.Base
	}
}

// note writes what the subagent is beside its transcript.
func (c *child) note() error {
	raw, err := json.Marshal(c.meta)
	if err != nil {
		return err // plain values: cannot fail
	}
	if err := writeFile(metaPath(c.log.Path()), raw); err != nil {
		return fmt.Errorf("write what the subagent is: %w", err)
	}
	return nil
}

// finished notes that a run has ended, and how.
func (c *child) finished(end event.Terminal) error {
	if c.log == nil {
		return nil
	}
	c.meta.Finished, c.meta.Status = true, "completed"
	switch {
	case end.Reason == event.AbortedStreaming || end.Reason == event.AbortedTools:
		c.meta.Status, c.meta.Stopped = "killed", true
	case end.Err != nil:
		c.meta.Status = "failed"
	}
	return c.note()
}

// maxMeta bounds the file beside a transcript, in bytes.
const maxMeta = 64 << 10

// revive makes a subagent of an earlier process go on.
func (s *subagents) revive(ctx context.Context, h homeOf, to string) (agent.Child, agent.Task, error) {
	b := s.b
	var t agent.Task
	if b.log == nil {
		return nil, t, fmt.Errorf("there is no subagent %s", fsys.Printable(to))
	}
	path, m, err := s.sidechain(to)
	if err != nil {
		return nil, t, err
	}
	id := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "agent-"), ".jsonl")
	t = agent.Task{
		ID: id, Use: m.Use, Description: m.Description, Name: m.Name, Mode: m.Mode, Background: true, Depth: h.depth + 1,
	}
	if m.Worktree == "" {
		t.Cwd = m.Cwd
	} else {
		t.Isolation = isolationWorktree
	}
	if m.Type != "fork" {
		if t.Kind = s.kinds().Agent(m.Type); t.Kind == nil {
			return nil, t, fmt.Errorf("the subagent %s was of the type %s, which does not exist any more", id, fsys.Printable(m.Type))
		}
	}
	switch {
	case t.Kind != nil && t.Kind.OneShot:
		return nil, t, fmt.Errorf("an agent of type %s works once; start another one", t.Kind.Name)
	case m.Stopped:
		return nil, t, fmt.Errorf("the subagent %s was stopped and does not go on; start another one", id)
	}
	past, reports, err := session.LoadSidechain(path)
	if err != nil {
		return nil, t, fmt.Errorf("read the transcript of the subagent %s: %w", id, err)
	}
	for _, r := range reports {
		b.notice("subagent " + id + ": " + r.String())
	}
	c := &child{s: s, home: h, task: t}
	if m.Worktree != "" {
		c.tree = s.known(m)
	}
	made, err := s.begin(ctx, c, past)
	return made, c.task, err
}

// sidechain finds the transcript of a subagent of this session by id or name,
// the newest of a name.
func (s *subagents) sidechain(to string) (path string, m meta, err error) {
	b := s.b
	dir := filepath.Dir(b.store.Sidechain(b.id, "x"))
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", m, fmt.Errorf("look for the subagent: %w", err)
	}
	var newest int64
	for _, e := range entries {
		base, ok := strings.CutSuffix(e.Name(), ".meta.json")
		if !ok {
			continue
		}
		raw, st, err := fsys.ReadRaw(filepath.Join(dir, e.Name()), fsys.Limits{MaxBytes: maxMeta})
		var got meta
		if err != nil || json.Unmarshal(raw, &got) != nil {
			continue // somebody else's file; a subagent that it hides is not found
		}
		is := base == "agent-"+to || got.Name != "" && got.Name == to
		if when := st.ModTime.UnixNano(); is && (path == "" || when > newest) {
			path, m, newest = filepath.Join(dir, base+".jsonl"), got, when
		}
	}
	if path == "" {
		return "", m, fmt.Errorf("there is no subagent %s in this session", fsys.Printable(to))
	}
	return path, m, nil
}
