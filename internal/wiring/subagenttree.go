package wiring

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/action/builtin/agent"
	"github.com/hew-agent/hew/internal/action/gate"
	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/backend/worktree"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/state/settings"
	"github.com/hew-agent/hew/internal/tool"
)

const isolationWorktree = "worktree"

// treePatience bounds one command of git on a worktree: a checkout of a large
// repository takes its time.
const treePatience = 10 * time.Minute

// tree is the worktree of a subagent.
type tree struct {
	s *subagents
	c *child
	t *worktree.Tree
	// removed tells that hew has taken it away, because nothing was done in it;
	// made that a hook has made it.
	removed, made bool
	in            bool // it is locked by this run
	dirty         bool // the checkout had changes that are not in it
}

// worktrees tells whether isolation can be offered: there is a repository, or a
// hook that makes worktrees.
func (s *subagents) worktrees() bool {
	_, hooked := s.b.settings.Raw("hooks", "WorktreeCreate")
	return hooked || s.b.inRepository()
}

// git runs git for worktrees, starting nothing that the repository names.
func (s *subagents) git(ctx context.Context, dir string, args ...string) (string, error) {
	b := s.b
	path, err := shell.LookPath("git", b.o.Environ)
	if err != nil {
		return "", fmt.Errorf("worktrees need git: %w", err)
	}
	run := func(ctx context.Context, args ...string) (string, error) {
		res, err := b.runner.Exec(ctx, shell.Program{
			Argv: append([]string{path}, args...), Dir: dir, Env: prompt.GitEnv(), Unconfined: true, Tidy: true, MaxOutput: maxIndex, Timeout: treePatience,
		})
		if err = exitError(res, err); err != nil {
			if said := strings.TrimSpace(string(res.Stderr)); said != "" {
				err = fmt.Errorf("git: %s", fsys.Printable(said))
			}
		}
		return string(res.Stdout), err
	}
	safe, err := prompt.SafeGit(ctx, run)
	if err != nil {
		return "", err
	}
	return safe(ctx, args...)
}

func (t *tree) dir() string { return t.t.Dir }

// openTree makes the subagent's worktree.
func (c *child) openTree(ctx context.Context) error {
	if c.tree != nil {
		return nil // a resumed one has it
	}
	c.tree = &tree{s: c.s, c: c}
	c.s.trees.Lock()
	defer c.s.trees.Unlock()
	name := "agent-" + c.id()
	if h := c.s.b.hooks; h != nil && h.d.Wants("WorktreeCreate") {
		return c.tree.byHook(ctx, name)
	}
	root := settings.CheckoutRoot(c.home.engine().Place().Cwd)
	if !underGit(root) {
		c.tree = nil
		return errors.New("isolation in a worktree needs a git repository, and this folder is in none; leave isolation out")
	}
	t, err := worktree.Create(ctx, c.s.treeConfig(root, name, c.id()))
	if err != nil {
		c.tree = nil
		return err
	}
	c.tree.t, c.tree.in = t, true
	out, err := c.s.git(ctx, root, "status", "--porcelain", "--ignore-submodules=all")
	c.tree.dirty = err != nil || out != ""
	return nil
}

func (s *subagents) treeConfig(root, name, id string) worktree.Config {
	start := worktree.Fresh
	if s.b.settings.Text("worktree", "baseRef") == string(worktree.Head) {
		start = worktree.Head
	}
	return worktree.Config{Git: s.git, Root: root, Name: name, Start: start, Reason: s.reason(id)}
}

// byHook lets a hook make the worktree; its folder must lie in the project and
// be no link out of it.
func (t *tree) byHook(ctx context.Context, name string) error {
	t.c.tree = nil
	root := settings.CheckoutRoot(t.c.home.engine().Place().Cwd)
	made, err := t.s.hooked(ctx, hook.WorktreeCreate{Agent: hook.Agent{ID: t.c.id(), Type: t.c.kind()}, Name: name}, root)
	if err != nil {
		return err
	}
	t.t, t.made, t.c.tree = made, true, t
	return nil
}

// hooked lets a hook make a worktree for a checkout.
func (s *subagents) hooked(ctx context.Context, in hook.WorktreeCreate, root string) (*worktree.Tree, error) {
	o := s.b.hooks.fire(ctx, in, func(event.Body) {})
	if o.Blocked || o.Stopped || o.Worktree == "" {
		return nil, errors.New("the hook WorktreeCreate has made no worktree: " + o.Reason)
	}
	at, err := fsys.Locate(root, o.Worktree)
	if err != nil {
		return nil, fmt.Errorf("the worktree of the hook WorktreeCreate: %w", err)
	}
	if strings.Contains(filepath.ToSlash(o.Worktree), "..") || at.Real != at.Name && fsys.Within(root, at.Name) || fsys.KindOf(at.Real) != fsys.KindDir {
		return nil, fmt.Errorf("the worktree of the hook WorktreeCreate, %s, is a link, has .. in its path or is no folder", fsys.Printable(o.Worktree))
	}
	return &worktree.Tree{Root: root, Dir: at.Real}, nil
}

// known is the worktree of a subagent of an earlier process.
func (s *subagents) known(m meta) *tree {
	root := settings.CheckoutRoot(s.b.place.Project)
	t := &tree{s: s, t: &worktree.Tree{Root: root, Dir: m.Worktree, Branch: m.Branch, Base: m.Base}, made: m.Branch == ""}
	t.removed = !t.made && t.t.Lost() && filepath.Dir(m.Worktree) == filepath.Join(root, filepath.FromSlash(worktree.Folder))
	return t
}

// about tells the subagent where it is.
func (t *tree) about() string {
	s := "You work in a git worktree of your own, " + t.t.Dir + ", made of the checkout " + t.t.Root + ". Change files only in it, and never in that checkout. Do not remove the worktree; what you leave in it is kept."
	if t.t.Branch != "" {
		s += " Its branch is " + t.t.Branch + "."
	}
	if t.dirty {
		s += " The checkout has changes that are not committed; they are not in your worktree."
	}
	return s
}

// enter makes the worktree ready for a run.
func (t *tree) enter(ctx context.Context) error {
	if t.in {
		return nil
	}
	t.s.trees.Lock()
	defer t.s.trees.Unlock()
	if t.removed {
		if err := t.t.Again(ctx, t.s.treeConfig(t.t.Root, filepath.Base(t.t.Dir), t.c.id())); err != nil {
			return err
		}
		t.removed, t.in = false, true
		return nil
	}
	if t.t.Lost() && !t.made {
		return fmt.Errorf("the subagent's worktree %s is gone, so it cannot go on; its commits, if any, are on the branch %s", t.t.Dir, t.t.Branch)
	}
	t.in = true
	if t.made {
		return nil
	}
	// One that is still locked was in use when a process died; it is ours.
	_ = t.t.Lock(ctx, t.s.git, t.s.reason(t.c.id()))
	return nil
}

// leave frees the worktree: removed when nothing was done in it, else kept and named.
func (t *tree) leave(ctx context.Context, rest agent.Rest) agent.Rest {
	t.in = false
	t.s.trees.Lock()
	defer t.s.trees.Unlock()
	add := func(text string) agent.Rest {
		rest.Note = strings.TrimSpace(rest.Note + "\n" + text)
		return rest
	}
	if t.made {
		t.s.b.hooks.fire(ctx, hook.WorktreeRemove{Agent: hook.Agent{ID: t.c.id(), Type: t.c.kind()}, Path: t.t.Dir}, func(event.Body) {})
		return rest
	}
	if t.t.Lost() {
		_ = t.t.Unlock(ctx, t.s.git) // so that git's own prune takes the record away
		text := "Its worktree " + t.t.Dir + " was removed while it ran; what was not committed there is gone. Its branch was " + t.t.Branch + "."
		if fsys.KindOf(t.t.Dir) != fsys.KindMissing {
			text += " What lies at that place now came later and is no worktree."
		}
		return add(text)
	}
	changed, err := t.t.Changed(ctx, t.s.git)
	if err := t.t.Unlock(ctx, t.s.git); err != nil {
		t.s.b.notice("the worktree " + t.t.Dir + " stays locked: " + err.Error())
	}
	if !changed && err == nil {
		if err := t.t.Remove(ctx, t.s.git); err != nil {
			return add("Nothing was changed in its worktree, but it could not be removed: " + err.Error())
		}
		t.removed = true
		return rest
	}
	rest.Worktree, rest.Branch = t.t.Dir, t.t.Branch
	text := fmt.Sprintf("Its worktree holds changes and is kept: %s (branch %s, begun at %s). Nothing of it is in the user's checkout.", t.t.Dir, t.t.Branch, t.t.Base[:min(12, len(t.t.Base))])
	if err != nil {
		text = fmt.Sprintf("Its worktree is kept, because it is not known whether it holds changes: %s (%v).", t.t.Dir, err)
	}
	return add(text)
}

// walled is the gate of a subagent in a worktree: what would reach into the
// checkout behind it is refused, whatever rules and modes allow.
type walled struct {
	*gate.Gate
	t *tree
}

// Admit refuses what leads out of the worktree into the checkout.
func (w *walled) Admit(ctx context.Context, p tool.Planned, emit func(event.Body)) (tool.Admitted, *tool.Refusal) {
	if why := w.t.refuses(p); why != "" {
		d := tool.Decision{Behavior: tool.Deny, Layer: "worktree", Reason: why}
		emit(event.Decided{Use: p.Use, Decision: d})
		return tool.Admitted{}, &tool.Refusal{Result: tool.Failure(why), Decision: d}
	}
	return w.Gate.Admit(ctx, p, emit)
}

// beyond tells a path of the checkout outside of the worktree.
func (t *tree) beyond(path string) bool {
	real, err := fsys.Real(path)
	if err != nil {
		real = filepath.Clean(path)
	}
	return fsys.Within(t.t.Root, real) && !fsys.Within(t.t.Dir, real)
}

// refuses says why a call may not be made, "" when it may.
func (t *tree) refuses(p tool.Planned) string {
	for _, n := range p.Call.Needs() {
		switch n.Kind {
		case tool.NeedEdit:
			if path := placed(p.Env.Cwd, n.Path); t.beyond(path) {
				return fmt.Sprintf("%s belongs to the user's checkout, not to your worktree. Change the file of the same name below %s.", fsys.Printable(path), t.t.Dir)
			}
		case tool.NeedExec:
			if why := t.command(p.Env.Cwd, n.Command); why != "" {
				return why + " Your worktree is " + t.t.Dir + ": work there, with plain commands whose folders can be read from the text."
			}
		case tool.NeedRead, tool.NeedFetch, tool.NeedUse:
		}
	}
	return ""
}

// command judges a shell text by where its parts run and what they write.
func (t *tree) command(cwd, text string) string {
	if t.beyond(cwd) {
		return "The current directory lies in the user's checkout."
	}
	f := t.s.b.facts.Read(text, t.s.b.dialect())
	if f.ReadOnly() {
		return ""
	}
	if why := f.Opaque(); why != "" {
		return "It cannot be told where this command works (" + why + ")."
	}
	for i := range f.Parts {
		if why := t.part(cwd, &f.Parts[i]); why != "" {
			return why
		}
	}
	return ""
}

func (t *tree) part(cwd string, p *shellread.Part) string {
	if p.Dirs.Unknown {
		return "It cannot be told in which folder " + fsys.Printable(p.Name) + " runs."
	}
	dirs := []string{cwd}
	for _, chain := range p.Dirs.Chains {
		dir := cwd
		for _, to := range chain {
			dir = placed(dir, to)
		}
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		if t.beyond(dir) {
			return fmt.Sprintf("This command would run in %s, a folder of the user's checkout.", fsys.Printable(dir))
		}
	}
	for _, a := range p.Assigns {
		if strings.HasPrefix(a.Name, "GIT_") {
			return "The variable " + fsys.Printable(a.Name) + " could lead git out of your worktree."
		}
	}
	if p.Name == "git" {
		if why := gitAside(p.Words[p.Start:]); why != "" {
			return why
		}
	}
	if p.Class == shellread.ReadOnly {
		return ""
	}
	return t.named(dirs, p)
}

// gitAside says which option would lead git elsewhere.
func gitAside(words []shellread.Word) string {
	for _, w := range words[min(1, len(words)):] {
		for _, o := range []string{"--git-dir", "--work-tree", "-C"} {
			if w.Text == o || strings.HasPrefix(w.Text, o+"=") || o == "-C" && strings.HasPrefix(w.Text, "-C") {
				return "The option " + o + " leads git elsewhere."
			}
		}
		if !strings.HasPrefix(w.Text, "-") && !strings.Contains(w.Text, "=") {
			return "" // the subcommand: what follows is its own
		}
	}
	return ""
}

// named refuses a part that is not known only to read and names a file of the checkout.
func (t *tree) named(dirs []string, p *shellread.Part) string {
	names := make([]string, 0, len(p.Words)+len(p.Paths))
	for _, a := range p.Paths {
		if a.Access != shellread.AccessRead || p.Class == shellread.Other {
			names = append(names, a.Word.Text)
		}
	}
	if p.Class == shellread.Other && p.Start < len(p.Words) {
		for _, w := range p.Words[p.Start+1:] {
			_, value, ok := strings.Cut(w.Text, "=")
			if ok {
				names = append(names, value)
			}
			names = append(names, w.Text)
		}
	}
	for _, n := range names {
		if !strings.ContainsRune(filepath.ToSlash(n), '/') && n != ".." || strings.ContainsRune(n, shellread.Hole) {
			continue
		}
		for _, dir := range dirs {
			if path := placed(dir, n); t.beyond(path) {
				return fmt.Sprintf("This command names %s, which belongs to the user's checkout.", fsys.Printable(path))
			}
		}
	}
	return ""
}
