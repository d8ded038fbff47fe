package wiring

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/checkpoint"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/tool"
)

// fileHistory is the folder of before-images in the configuration home.
const fileHistory = "file-history"

// undo saves what calls change, and takes it back.
type undo struct {
	b    *build
	w    *session.Writer
	open func() (*checkpoint.Tracker, error)

	mu      sync.Mutex
	opened  *checkpoint.Tracker
	prompts []string        // that began; those that the tracker was told of are gone but the last
	told    map[string]bool // notices that were given
}

// checkpoints lets the engine save and undo. A user who keeps no session, or
// has switched checkpoints off, has none.
func (b *build) checkpoints(cfg *engine.Config) {
	off := b.env("CLAUDE_CODE_DISABLE_FILE_CHECKPOINTING") != "" || !b.settings.FileCheckpointingEnabled()
	if off || b.noted == nil {
		return
	}
	u := &undo{b: b, w: b.noted.Writer, told: map[string]bool{}}
	u.open = sync.OnceValues(func() (*checkpoint.Tracker, error) { return checkpoint.Open(b.tracking()) })
	b.conv.close = append(b.conv.close, u.close)
	cfg.Checkpoints, cfg.Rewinder = u, u
}

// tracking is what the checkpoints of this session follow.
func (b *build) tracking() checkpoint.Config {
	c := checkpoint.Config{
		Dir: filepath.Join(b.home.Dir, fileHistory, b.id), Roots: b.savedRoots(),
		Skip: []string{b.home.Dir, b.tasks}, Limits: checkpoint.DefaultLimits(), Now: b.o.Now, Watch: true,
		Git: func(ctx context.Context, root string) checkpoint.Git { return b.repository(ctx, root) },
	}
	if n := b.number("HEW_UNDO_MAX_MB"); n > 0 {
		c.Limits.Total = int64(n) << 20
		c.Limits.File = min(c.Limits.File, c.Limits.Total)
	}
	return c
}

// systemFolders belong to the system's packages: they are large, and what
// changes them there can be installed again.
var systemFolders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/opt", "/var", "/nix", "/System", "/Library", "/Applications", `C:\Windows`, `C:\Program Files`}

// savedRoots are the working directories that are saved before commands: not an
// additional one of the system's.
func (b *build) savedRoots() []string {
	out := []string{b.place.Roots[0]}
	for _, r := range b.place.Roots[1:] {
		system := slices.ContainsFunc(systemFolders, func(s string) bool { return fsys.Within(s, r) })
		if system {
			b.notice(fmt.Sprintf("the additional directory %s is the system's: it is not saved before commands, so a rewind brings nothing back there", fsys.Printable(r)))
			continue
		}
		out = append(out, r)
	}
	return out
}

func (u *undo) close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.opened == nil {
		return nil
	}
	return u.opened.Close()
}

// tracker opens what is known of the session, once something is to be saved or
// undone: most starts need none of it.
func (u *undo) tracker() (*checkpoint.Tracker, error) {
	t, err := u.open()
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, id := range u.prompts {
		if u.opened == nil || i > 0 {
			t.Prompt(id)
		}
	}
	u.opened, u.prompts = t, u.prompts[max(0, len(u.prompts)-1):]
	return t, nil
}

// Prompt begins the checkpoint of a prompt.
func (u *undo) Prompt(id string) error {
	u.mu.Lock()
	u.prompts = append(u.prompts, id)
	u.mu.Unlock()
	return u.w.Checkpoint(id)
}

// Before saves what a call may change.
func (u *undo) Before(ctx context.Context, a tool.Admitted, env tool.Env, emit func(event.Body)) *tool.Refusal {
	for _, n := range a.Call.Needs() {
		switch n.Kind {
		case tool.NeedEdit:
			if err := u.edit(ctx, a.Use.ID, n.Path, env); err != nil {
				u.tell(emit, "this edit cannot be undone: "+err.Error())
			}
		case tool.NeedExec:
			if r := u.command(ctx, a, env, n.Command, emit); r != nil {
				return r
			}
		case tool.NeedRead, tool.NeedFetch, tool.NeedUse:
		}
	}
	return nil
}

// After notes what a call made of its files.
func (u *undo) After(a tool.Admitted) error {
	t, err := u.tracker()
	if err != nil {
		return nil // said before the call
	}
	for _, n := range a.Call.Needs() {
		switch n.Kind {
		case tool.NeedEdit:
			err = errors.Join(err, t.AfterEdit(a.Use.ID))
		case tool.NeedExec:
			err = errors.Join(err, t.After(checkpoint.End{Use: a.Use.ID, Open: u.b.working()}))
		case tool.NeedRead, tool.NeedFetch, tool.NeedUse:
		}
	}
	return err
}

// Settle books what commands have changed.
func (u *undo) Settle(ctx context.Context) error {
	u.mu.Lock()
	t := u.opened
	u.mu.Unlock()
	if t == nil {
		return nil
	}
	return t.Settle(ctx)
}

// edit saves a file that an edit tool is about to write.
func (u *undo) edit(ctx context.Context, use, path string, env tool.Env) error {
	t, err := u.tracker()
	if err != nil {
		return err
	}
	at, err := fsys.Locate(env.Cwd, path)
	if err != nil {
		return err
	}
	b, err := t.BeforeEdit(ctx, use, at.Real)
	if err != nil || !b.First {
		return err
	}
	shown := at.Real
	if rel, err := filepath.Rel(env.Cwd, at.Real); err == nil && filepath.IsLocal(rel) {
		shown = rel
	}
	u.mu.Lock()
	prompt := ""
	if len(u.prompts) > 0 {
		prompt = u.prompts[len(u.prompts)-1]
	}
	u.mu.Unlock()
	return u.w.FileBackup(session.FileBackup{
		Snapshot: prompt, UseID: use, Path: shown, Dir: filepath.Dir(at.Real), Name: b.Name, Version: b.Version, Time: b.Time,
	})
}

// tell gives a notice once.
func (u *undo) tell(emit func(event.Body), text string) {
	u.mu.Lock()
	again := u.told[text]
	u.told[text] = true
	u.mu.Unlock()
	if again {
		return
	}
	u.b.notice(text)
	emit(event.Notice{Level: event.Warning, Code: "checkpoint", Text: text})
}

// command takes the snapshot that a command needs. Where something would be
// lost for good, somebody must agree first.
func (u *undo) command(ctx context.Context, a tool.Admitted, env tool.Env, text string, emit func(event.Body)) *tool.Refusal {
	facts := u.b.facts.Read(text, u.b.dialect())
	losses := existing(policy.Losses(facts), env.Cwd)
	cover, err := u.snapshot(ctx, a.Use.ID, env.Cwd, text, facts, losses)
	if err != nil {
		if len(losses) == 0 {
			u.tell(emit, "what commands change cannot be undone: "+err.Error())
			return nil
		}
		return u.agree(ctx, a, env, []string{losses[0].Reason + ", and nothing can be saved before: " + err.Error()}, emit)
	}
	if cover.First && len(cover.LeftOut) > 0 {
		u.tell(emit, leftOutText(cover.LeftOut, env.Cwd))
	}
	if lost := u.lost(ctx, losses, cover.LeftOut, env); len(lost) > 0 {
		return u.agree(ctx, a, env, lost, emit)
	}
	return nil
}

// snapshot saves everything that the command may change.
func (u *undo) snapshot(ctx context.Context, use, cwd, text string, facts *shellread.Facts, losses []policy.Loss) (checkpoint.Cover, error) {
	if err := u.b.tooBroad(); err != nil {
		return checkpoint.Cover{}, err
	}
	t, err := u.tracker()
	if err != nil {
		return checkpoint.Cover{}, err
	}
	c := checkpoint.Command{Use: use, Text: text, Notes: policy.Beyond(facts), Names: named(facts, losses, cwd)}
	c.Pin = slices.ContainsFunc(losses, func(l policy.Loss) bool { return l.Repository && (l.Anywhere || len(repositories(l, cwd)) > 0) })
	return t.Before(ctx, c)
}

// tooBroad refuses to save a home folder before each command.
func (b *build) tooBroad() error {
	home, err := fsys.Real(b.o.userHome())
	if err != nil || b.o.userHome() == "" {
		return nil
	}
	for _, r := range b.place.Roots {
		if fsys.Within(r, home) {
			return fmt.Errorf("the working directory %s holds the home folder, too much to be saved before each command; start hew in a project folder", r)
		}
	}
	return nil
}

// named are the existing files that the command names.
func named(facts *shellread.Facts, losses []policy.Loss, cwd string) []string {
	var out []string
	add := func(name string) {
		path := placed(cwd, name)
		if st, err := os.Lstat(path); err == nil && st.Mode().IsRegular() && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	for i := range facts.Parts {
		for _, w := range facts.Parts[i].Words {
			if w.Literal() && w.Text != "" {
				add(w.Text)
			}
		}
	}
	for _, l := range losses {
		for _, name := range l.Targets {
			add(name)
		}
	}
	return out
}

func placed(cwd, name string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(cwd, name)
	}
	return filepath.Clean(name)
}

// existing drops losses of files that do not exist.
func existing(losses []policy.Loss, cwd string) []policy.Loss {
	return slices.DeleteFunc(losses, func(l policy.Loss) bool {
		if l.Anywhere || l.Entry != "" {
			return false
		}
		return !slices.ContainsFunc(l.Targets, func(name string) bool {
			_, err := os.Lstat(placed(cwd, name))
			return err == nil
		})
	})
}

// repositories are the targets that are a repository's own folder, lie in it
// or hold it.
func repositories(l policy.Loss, cwd string) []string {
	var out []string
	for _, name := range l.Targets {
		path := placed(cwd, name)
		inside := slices.Contains(strings.Split(filepath.ToSlash(path), "/"), ".git")
		if inside || fsys.KindOf(filepath.Join(path, ".git")) != fsys.KindMissing {
			out = append(out, name)
		}
	}
	return out
}

// lost words what the command would destroy that is not saved.
func (u *undo) lost(ctx context.Context, losses []policy.Loss, out []checkpoint.LeftOut, env tool.Env) []string {
	var lines []string
	for _, l := range losses {
		if l.Entry != "" {
			lines = append(lines, l.Entry+" ("+l.Reason+")")
		}
		if l.Repository {
			for _, name := range repositories(l, env.Cwd) {
				lines = append(lines, "the repository in "+name+", with its history, branches and stashes")
			}
		}
		reached := slices.DeleteFunc(slices.Clone(out), func(o checkpoint.LeftOut) bool { return !reaches(l, o.Path, env.Cwd) })
		if l.Tracked && len(reached) > 0 {
			reached = u.b.tracked(ctx, env.Cwd, reached)
		}
		for _, o := range reached {
			lines = append(lines, fmt.Sprintf("%s (%s)", relative(env.Cwd, o.Path), o.Why))
		}
	}
	return slices.Compact(lines)
}

func reaches(l policy.Loss, path, cwd string) bool {
	return l.Anywhere || slices.ContainsFunc(l.Targets, func(name string) bool {
		target := placed(cwd, name)
		return fsys.Within(target, path) || fsys.Within(path, target)
	})
}

func relative(cwd, path string) string {
	if rel, err := filepath.Rel(cwd, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// shownLost bounds how many names a text lists.
const shownLost = 8

func listed(lines []string) string {
	if len(lines) > shownLost {
		lines = append(slices.Clone(lines[:shownLost]), fmt.Sprintf("and %d more", len(lines)-shownLost))
	}
	return strings.Join(lines, "; ")
}

// leftOutText says before the first command runs what a rewind could not bring back.
func leftOutText(out []checkpoint.LeftOut, cwd string) string {
	size := int64(0)
	lines := make([]string, len(out))
	for i, o := range out {
		size += o.Size
		lines[i] = fmt.Sprintf("%s (%s)", relative(cwd, o.Path), o.Why)
	}
	return fmt.Sprintf("%d files (%d MB) are not saved before commands change them, so a rewind cannot bring them back: %s", len(out), size>>20, listed(lines))
}

// agree asks whether something may be lost for good; without a person who can
// be asked the answer is no.
func (u *undo) agree(ctx context.Context, a tool.Admitted, env tool.Env, lost []string, emit func(event.Body)) *tool.Refusal {
	d := tool.Decision{Behavior: tool.Ask, Layer: "checkpoint", Reason: "this would be lost and could not be brought back: " + listed(lost)}
	refuse := func(text string, interrupt bool) *tool.Refusal {
		d.Behavior = tool.Deny
		emit(event.Decided{Use: a.Use, Decision: d})
		return &tool.Refusal{Result: tool.Failure(text), Decision: d, Interrupt: interrupt}
	}
	if !u.asks() {
		return refuse("The command was not run: "+d.Reason+". Nobody can be asked in this session. Leave these out of the command, or tell the user what is in the way.", false)
	}
	q := event.Question{
		ID: u.b.o.NewID(), Kind: event.AskPermission, Use: a.Use, Tool: a.Tool.Spec().Name, Title: a.Call.Title(), Preview: a.Call.Preview(),
		Decision: d, Origin: event.Origin{Agent: env.Agent},
	}
	emit(event.Asked{Question: q})
	answer, err := u.b.o.Asker.Ask(ctx, q)
	if err != nil {
		return refuse("The command was not run: "+d.Reason+". The question about it was not answered.", false)
	}
	emit(event.Answered{ID: q.ID, Answer: answer})
	if answer.Behavior != tool.Allow {
		text := answer.Message
		if text == "" {
			text = "The user does not want to lose this. The command was not run: " + d.Reason
		}
		return refuse(text, answer.Interrupt)
	}
	return nil
}

// asks tells whether a question would reach somebody.
func (u *undo) asks() bool {
	b := u.b
	if b.o.Asker == nil || b.o.NoPrompts || b.settings.Permissions().DenyInsteadOfAsking {
		return false
	}
	return policy.Mode(b.gateRef.Mode()) != policy.DontAsk
}

// Preview says what Files would do.
func (u *undo) Preview(ctx context.Context, to string) (*checkpoint.Plan, error) {
	t, p, err := u.point(to)
	if err != nil {
		return nil, err
	}
	return t.Plan(ctx, p)
}

// Files brings the files back to before a prompt.
func (u *undo) Files(ctx context.Context, to string) (*checkpoint.Report, error) {
	t, p, err := u.point(to)
	if err != nil {
		return nil, err
	}
	return t.Rewind(ctx, p)
}

func (u *undo) point(to string) (*checkpoint.Tracker, checkpoint.Point, error) {
	c, _, err := session.Load(u.b.log.Path())
	if err != nil {
		return nil, checkpoint.Point{}, err
	}
	p, _, err := pointOf(c, to)
	if err != nil {
		return nil, checkpoint.Point{}, err
	}
	t, err := u.tracker()
	return t, p, err
}

// pointOf finds a prompt of the conversation, and what stands before it.
func pointOf(c *session.Conversation, to string) (checkpoint.Point, session.Point, error) {
	p, err := c.Point(to)
	if err != nil {
		return checkpoint.Point{}, p, err
	}
	out := checkpoint.Point{Prompt: p.ID, Time: p.Time}
	for _, q := range c.Points {
		if q.ID == p.ID {
			break
		}
		out.Before = append(out.Before, q.ID)
	}
	return out, p, nil
}

// Conversation ends the conversation before a prompt.
func (u *undo) Conversation(to string) ([]*msg.Message, error) {
	c, _, err := session.Load(u.b.log.Path())
	if err != nil {
		return nil, err
	}
	p, err := c.Point(to)
	if err != nil {
		return nil, err
	}
	left := ""
	for _, q := range c.Points {
		if q.ID == p.ID {
			break
		}
		left = q.Text
	}
	if err := u.w.Rewind(p, left); err != nil {
		return nil, err
	}
	if c, _, err = session.Load(u.b.log.Path()); err != nil {
		return nil, err
	}
	return c.Messages, nil
}

// working tells whether something goes on in the background that may change
// files.
func (b *build) working() bool {
	return slices.ContainsFunc(b.background.All(), func(w task.Work) bool { return !w.Status().State.Final() })
}
