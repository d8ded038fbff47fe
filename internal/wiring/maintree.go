package wiring

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hew-agent/hew/internal/action/builtin"
	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/worktree"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/state/settings"
)

// mainTree moves the main conversation into a worktree and back.
type mainTree struct {
	b  *build
	mu sync.Mutex
	// t is where the session is, nil for its own checkout; made tells that hew has
	// made it now, hooked that a hook has.
	t            *worktree.Tree
	made, hooked bool
	back         engine.Place
}

// trees are the moves that the tools offer, nil where there can be no worktree.
func (b *build) trees() *builtin.Trees {
	if b.o.Bare || !(&subagents{b: b}).worktrees() {
		return nil
	}
	b.away = &mainTree{b: b}
	return &builtin.Trees{Own: b.away.own, Enter: b.away.enter, Exit: b.away.exit}
}

func (m *mainTree) root() string { return settings.CheckoutRoot(m.b.place.Project) }

// own tells a path among the worktrees that hew makes for this checkout.
func (m *mainTree) own(path string) bool {
	real, err := fsys.Real(path)
	return err == nil && fsys.Within(filepath.Join(m.root(), filepath.FromSlash(worktree.Folder)), real)
}

// treeName is what worktrees may be called; those of subagents have a prefix of
// their own.
var treeName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

func (m *mainTree) enter(ctx context.Context, name, path string) (builtin.TreeMove, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.b.crew.trees.Lock()
	defer m.b.crew.trees.Unlock()
	if m.t != nil {
		return builtin.TreeMove{}, fmt.Errorf("the session is in the worktree %s already; leave it first", m.t.Dir)
	}
	if name == "" && path == "" {
		name = "w" + shortID(m.b.o.NewID)()[:8]
	}
	if name != "" && (!treeName().MatchString(name) || strings.Contains(name, "..") || strings.HasPrefix(name, "agent-")) {
		return builtin.TreeMove{}, fmt.Errorf("%q cannot be the name of a worktree: use up to 64 letters, digits, . _ and -, and do not begin with agent-", fsys.Printable(name))
	}
	t, made, err := m.find(ctx, name, path)
	if err != nil {
		return builtin.TreeMove{}, err
	}
	m.back = m.b.conv.Engine.Place()
	to := t.Dir
	if rel, err := filepath.Rel(m.root(), m.back.Cwd); err == nil && filepath.IsLocal(rel) && fsys.KindOf(filepath.Join(t.Dir, rel)) == fsys.KindDir {
		to = filepath.Join(t.Dir, rel)
	}
	if !slices.ContainsFunc(m.back.Roots, func(r string) bool { return fsys.Within(r, t.Dir) }) {
		if err := m.b.addRoot(ctx, t.Dir, "worktree", func(event.Event) {}); err != nil {
			return builtin.TreeMove{}, err
		}
	}
	m.t, m.made = t, made
	move := builtin.TreeMove{Cwd: to, Home: t.Dir, Worktree: t.Dir, Branch: t.Branch}
	move.Note = fmt.Sprintf("The session is in the worktree %s now", t.Dir)
	if t.Branch != "" {
		move.Note += ", on the branch " + t.Branch
	}
	move.Note += fmt.Sprintf(". The current directory is %s. Read files again before you edit them: they are other files than those of %s.", to, m.root())
	if out, err := m.b.crew.git(ctx, m.root(), "status", "--porcelain", "--ignore-submodules=all"); made && !m.hooked && (err != nil || out != "") {
		move.Note += " The checkout has changes that are not committed; they are not in the worktree."
	}
	return move, nil
}

// find finds or makes the worktree.
func (m *mainTree) find(ctx context.Context, name, path string) (t *worktree.Tree, made bool, err error) {
	root, s := m.root(), m.b.crew
	if h := m.b.hooks; path == "" && h != nil && h.d.Wants("WorktreeCreate") {
		t, err := s.hooked(ctx, hook.WorktreeCreate{Name: name}, root)
		m.hooked = err == nil
		return t, true, err
	}
	m.hooked = false
	if !underGit(root) {
		return nil, false, errors.New("worktrees need a git repository, and this folder is in none")
	}
	if path == "" {
		path = filepath.Join(root, filepath.FromSlash(worktree.Folder), name)
		if fsys.KindOf(path) == fsys.KindMissing {
			cfg := s.treeConfig(root, name, "")
			t, err = worktree.Create(ctx, cfg)
			return t, true, err
		}
	}
	real, err := fsys.Real(path)
	if err != nil {
		return nil, false, fmt.Errorf("the worktree %s: %w", fsys.Printable(path), err)
	}
	list, err := worktree.List(ctx, s.git, root)
	if err != nil {
		return nil, false, err
	}
	for i, e := range list {
		if at, err := fsys.Real(e.Dir); err != nil || at != real {
			continue
		}
		if i == 0 {
			return nil, false, fmt.Errorf("%s is the repository's main checkout, no worktree", e.Dir)
		}
		if e.Locked && strings.HasPrefix(e.Reason, "hew ") && s.held(e.Reason) {
			return nil, false, fmt.Errorf("the worktree %s is in use (%s)", e.Dir, e.Reason)
		}
		return &worktree.Tree{Root: root, Dir: real, Branch: e.Branch, Base: e.Head}, false, nil
	}
	return nil, false, fmt.Errorf("%s is no worktree of this repository; git worktree list names them", fsys.Printable(path))
}

func (m *mainTree) exit(ctx context.Context, how builtin.TreeEnd) (builtin.TreeMove, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.b.crew.trees.Lock()
	defer m.b.crew.trees.Unlock()
	if m.t == nil {
		return builtin.TreeMove{}, errors.New("the session is in no worktree that EnterWorktree has entered")
	}
	t := m.t
	move := builtin.TreeMove{Cwd: m.back.Cwd, Home: m.back.Project, Worktree: t.Dir, Branch: t.Branch}
	if how == builtin.KeepTree {
		m.unlock(ctx)
		m.t = nil
		move.Note = fmt.Sprintf("The session is back in %s. The worktree %s and its branch %s are as they were left.", move.Cwd, t.Dir, t.Branch)
		return move, nil
	}
	if err := m.remove(ctx, how); err != nil {
		return builtin.TreeMove{}, err
	}
	m.t = nil
	move.Note = fmt.Sprintf("The session is back in %s. The worktree %s and its branch are removed.", move.Cwd, t.Dir)
	return move, nil
}

// remove takes the worktree away, which must be one that this session has made.
func (m *mainTree) remove(ctx context.Context, how builtin.TreeEnd) error {
	t, s := m.t, m.b.crew
	for _, w := range m.b.background.All() {
		if !w.Status().State.Final() {
			return errors.New("work still goes on in the background, and may need the worktree; wait for it or stop it first")
		}
	}
	switch {
	case m.hooked:
		m.b.hooks.fire(ctx, hook.WorktreeRemove{Path: t.Dir}, func(event.Body) {})
		return nil
	case !m.made:
		return fmt.Errorf("the worktree %s was there before this session; keep it, and let the user remove it", t.Dir)
	case t.Lost():
		return nil
	}
	changed, err := t.Changed(ctx, s.git)
	if how != builtin.DiscardTree && (changed || err != nil) {
		return fmt.Errorf("the worktree %s holds work that is nowhere else: %s. Keep it, or ask the user and say discard_changes", t.Dir, m.work(ctx))
	}
	m.unlock(ctx)
	if how == builtin.DiscardTree {
		return t.Discard(ctx, s.git)
	}
	return t.Remove(ctx, s.git)
}

// work says what would be lost.
func (m *mainTree) work(ctx context.Context) string {
	var parts []string
	if out, err := m.b.crew.git(ctx, m.t.Dir, "rev-list", "--count", m.t.Base+"..HEAD"); err == nil && strings.TrimSpace(out) != "0" {
		parts = append(parts, strings.TrimSpace(out)+" commits")
	}
	if out, err := m.b.crew.git(ctx, m.t.Dir, "status", "--porcelain", "--untracked-files=all", "--ignore-submodules=all"); err == nil && out != "" {
		parts = append(parts, fmt.Sprintf("%d changed files", strings.Count(out, "\n")))
	}
	if len(parts) == 0 {
		return "another branch, or a submodule"
	}
	return strings.Join(parts, ", ")
}

func (m *mainTree) unlock(ctx context.Context) {
	if !m.made || m.hooked {
		return
	}
	if err := m.t.Unlock(ctx, m.b.crew.git); err != nil {
		m.b.notice("the worktree " + m.t.Dir + " stays locked: " + err.Error())
	}
}

// close ends the session's stay: a worktree in which nothing was done goes, one
// with work is named.
func (m *mainTree) close(ctx context.Context) error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.t == nil || !m.made || m.hooked || m.t.Lost() {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	m.unlock(ctx)
	changed, err := m.t.Changed(ctx, m.b.crew.git)
	if changed || err != nil {
		m.b.notice(fmt.Sprintf("the worktree %s holds changes and is kept (branch %s)", m.t.Dir, m.t.Branch))
		return nil
	}
	return m.t.Remove(ctx, m.b.crew.git)
}
