package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/search"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/surface/tui"
	"github.com/hew-agent/hew/internal/surface/tui/editor"
	"github.com/hew-agent/hew/internal/surface/tui/files"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/paint"
	"github.com/hew-agent/hew/internal/surface/tui/term"
	"github.com/hew-agent/hew/internal/wiring"
)

// terminal is hew at a person's terminal.
type terminal struct {
	*headless
	w *wiring.Options
	// ground is the folder and its user as they were at the start.
	ground wiring.Ground
	// dev is the terminal device; leave is the session that was open at the end.
	dev   *term.Term
	leave string

	mu   sync.Mutex // guards what follows
	open *wiring.Conversation
	look tui.Prefs
}

func (t *terminal) conv() *wiring.Conversation {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open
}

func (t *terminal) now() tui.Prefs {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.look
}

func (t *terminal) setPrefs(p tui.Prefs) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.look = p
}

// interactive tells that the command line is for a person at a terminal.
func interactive(e Env, o *Options) bool {
	return !o.Print && !o.InitOnly && e.StdinTTY && e.StdoutTTY && o.Input != "stream-json" && o.Output == "text"
}

// runTerminal is the surface that people live in.
func runTerminal(e Env, o *Options) (err error) {
	t := &terminal{headless: &headless{e: e, o: o}}
	tr, err := openTrace(o.Trace)
	if err != nil {
		return err
	}
	defer tr.close()
	t.trace = tr
	secure()
	ctx, stop := signals(context.Background())
	defer stop()
	asker := tui.NewAsker()
	pick := o.Given("resume") && o.Resume == ""
	if t.w, err = t.wiring(nil); err != nil {
		return err
	}
	notices := make(chan string, 64)
	w := t.w
	w.Entrypoint, w.Defers, w.Asker, w.Forms, w.Interactive, w.AskServers = "cli", false, asker, asker, true, true
	w.Notice = func(text string) {
		if !t.fresh(text) {
			return
		}
		select {
		case notices <- text:
		default: // told often enough
		}
	}
	if t.ground, err = wiring.Survey(*t.quiet()); err != nil {
		return err
	}
	t.look = t.readPrefs(t.ground.Settings)
	in, out, ok := ends(e)
	if !ok {
		return errors.New("the terminal cannot be opened: standard input and output are no files; use hew -p")
	}
	home := t.ground.Terminal
	if t.dev, err = term.Open(term.Config{In: in, Out: out, Environ: e.Environ, State: home}); err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, t.dev.Close()); err == nil {
			t.goodbye()
		}
	}()
	drafts := draftFile{filepath.Join(home, "draft-"+session.Key(e.Dir)+".json")}
	found := make(chan struct{}, 1)
	finder := files.NewFinder(files.Config{
		Walk: func(ctx context.Context, add func(string)) error { return search.Files(ctx, e.Dir, add) },
		Changed: func() {
			select {
			case found <- struct{}{}:
			default: // not looked at yet
			}
		},
		Now: time.Now,
	})
	defer finder.Close()
	id, err := tui.Run(ctx, tui.Config{
		Device: device{t}, Paint: t.painter, Learned: t.dev.Learned(), Prefs: t.look, Asker: asker, Open: t.start, Before: t.gates(), Prompt: o.Prompt, Pick: pick,
		Version: Version(), Dir: tilde(e.Dir, e.getenv("HOME")), Greeting: t.dev.Notice(), Notices: notices,
		EditFile: t.editFile, ClipboardImage: t.clipboardImage, Files: t.named(finder), FilesChanged: found, Recall: t.recall(), Draft: drafts.load(), KeepDraft: drafts.save,
		Bindings: (&bindingsFile{path: filepath.Join(t.ground.Home, bindingsName)}).read,
		Now:      time.Now, NewID: session.NewID,
	})
	if err == nil {
		t.leave = id
	}
	if errors.Is(err, term.ErrGone) {
		return &failure{128 + int(syscall.SIGHUP)} // also where the signal came later, or not at all
	}
	return t.ended(ctx, err)
}

// goodbye says how to go on, once the terminal is a shell's again.
func (t *terminal) goodbye() {
	c := t.conv()
	if t.leave == "" || c == nil || c.Transcript == "" {
		return
	}
	if _, err := os.Stat(c.Transcript); err != nil {
		return // nothing was said
	}
	line := "go on with: hew --resume " + t.leave
	if usd := c.Engine.Costs().CostUSD; usd > 0 {
		line += fmt.Sprintf("  (cost so far: $%.4f)", usd)
	}
	fmt.Fprintln(t.e.Stdout, line)
}

// maxRecalled is how many earlier prompts are looked at.
const maxRecalled = 5000

// recall lists earlier prompts; it works before the conversation is open.
func (t *terminal) recall() func(scope string) []editor.Entry {
	return func(scope string) []editor.Entry {
		var out []editor.Entry
		n := 0
		for h, err := range session.OpenHistory(t.ground.Home).Newest() {
			if n++; err != nil || n > maxRecalled {
				break
			}
			if scope == "project" && h.Project != t.ground.Project {
				continue
			}
			if c := t.conv(); scope == "session" && (c == nil || h.SessionID != c.Engine.Session()) {
				continue
			}
			out = append(out, editor.Entry{Text: h.Display, Pastes: h.Texts(), Where: filepath.Base(h.Project)})
		}
		return out
	}
}

// fresh tells that a remark was not made before.
func (t *terminal) fresh(text string) bool {
	t.headless.mu.Lock()
	defer t.headless.mu.Unlock()
	if t.said == nil {
		t.said = map[string]bool{}
	}
	if t.said[text] {
		return false
	}
	t.said[text] = true
	return true
}

// named lists the files that fit a mention.
func (t *terminal) named(f *files.Finder) func(string) []string {
	return func(query string) []string {
		var out []string
		for _, m := range f.Ask(query) {
			out = append(out, m.Path)
		}
		return out
	}
}

// device is the terminal as the surface needs it.
type device struct{ t *terminal }

// Events are what the terminal sends.
func (d device) Events() <-chan input.Event { return d.t.dev.Events() }

// Suspend stops the program as ctrl+z does.
func (d device) Suspend() error { return d.t.dev.Suspend() }

// Call asks for the person's attention in the way that they have chosen.
func (d device) Call(title, text string) { d.t.dev.Notify(term.Channel(d.t.now().Notify), title, text) }

// Copy puts text into the clipboard.
func (d device) Copy(text string) { _ = d.t.dev.Copy(text) } // a terminal without clipboard: nothing to say

// draftFile keeps what stands in the editor, so that no crash loses it.
type draftFile struct{ path string }

func (f draftFile) load() editor.Draft {
	var d editor.Draft
	data, err := os.ReadFile(f.path)
	if err != nil || json.Unmarshal(data, &d) != nil {
		return editor.Draft{}
	}
	return d
}

func (f draftFile) save(d editor.Draft) error {
	if d.Shown == "" {
		if err := os.Remove(f.path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := json.Marshal(d)
	if err != nil {
		return err // plain values: cannot fail
	}
	_, err = fsys.WriteFile(f.path, data, fsys.WriteOptions{Mode: 0o600})
	return err
}

// ends are the terminal's ends as files.
func ends(e Env) (in, out *os.File, ok bool) {
	in, ok = e.Stdin.(*os.File)
	if !ok {
		return nil, nil, false
	}
	out, ok = e.screen.(*os.File)
	return in, out, ok
}

// tilde is a folder as people write it.
func tilde(dir, home string) string {
	if rest, ok := strings.CutPrefix(dir, home); ok && home != "" && (rest == "" || rest[0] == '/') {
		dir = "~" + rest
	}
	return fsys.Printable(dir)
}

// start opens the conversation.
func (t *terminal) start(ctx context.Context) (*tui.Live, error) {
	w := *t.w
	return t.openWith(ctx, &w)
}

func (t *terminal) openWith(ctx context.Context, w *wiring.Options) (*tui.Live, error) {
	c, err := wiring.Open(ctx, w)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.open = c
	t.mu.Unlock()
	l := &tui.Live{
		Engine: c.Engine, Commands: c.Commands, Tasks: c.Tasks, TaskEnded: c.TaskEnded(), Screens: t.screens(), Close: c.Close, Switch: t.change,
		Next:         func(ctx context.Context) *msg.Message { return c.Next(ctx, wiring.Endless) },
		Message:      t.message,
		Shell:        c.Shell,
		Remember:     t.rememberScreen,
		Modes:        t.modes(),
		ToBackground: func() (int, error) { return c.ToBackground("") },
		StopWork:     c.StopWork,
		Typed:        func(d tui.Said) error { return c.Typed(d.Shown, d.Pastes) },
		Mentions:     t.mentions,
	}
	if line := c.StatusLine(); line != nil {
		l.StatusLine = line.Follow
	}
	return l, nil
}

// mentions are the agents and the resources of servers whose name holds the query.
func (t *terminal) mentions(query string) []tui.Mention {
	var out []tui.Mention
	q := strings.ToLower(query)
	for _, a := range t.conv().Agents() {
		if name := "agent-" + a.Name; q != "" && strings.Contains(name, q) {
			out = append(out, tui.Mention{Text: name, About: a.Description})
		}
	}
	return out
}

// change opens another session, and when that fails this one again.
func (t *terminal) change(ctx context.Context, id string) (*tui.Live, error) {
	w := *t.w
	w.Resume, w.Continue, w.Fork, w.SessionID, w.ResumeAt, w.DropsTurn = id, false, false, "", "", ""
	if k, err := t.sessions(); err == nil {
		if sum, err := k.Store.Find(id); err == nil && sum.Cwd != "" {
			if st, err := os.Stat(sum.Cwd); err == nil && st.IsDir() {
				w.Cwd = sum.Cwd
			}
		}
	}
	return t.openWith(ctx, &w)
}

func (t *terminal) message(_ context.Context, d tui.Said) (*msg.Message, []string) {
	m := t.w.User(d.Text)
	var notes []string
	for _, path := range d.Images {
		b, err := t.conv().Attach(path)
		if err != nil {
			notes = append(notes, err.Error())
			continue
		}
		m.Blocks = append(m.Blocks, b)
	}
	return m, notes
}

// modes are the permission modes that shift+tab goes through.
func (t *terminal) modes() []string {
	out := []string{"default", "acceptEdits", "plan"}
	if t.w.AllowSkip || t.w.SkipPermissions {
		out = append(out, "bypassPermissions")
	}
	return out
}

// rememberScreen asks where a line of memory goes.
func (t *terminal) rememberScreen(text string) *tui.Screen {
	s := &tui.Screen{Title: "Remember: " + firstLine(text)}
	for _, p := range t.conv().MemoryPlaces() {
		detail := ""
		if !p.Exists {
			detail = "will be made"
		}
		s.Rows = append(s.Rows, tui.Row{Label: tilde(p.Path, t.e.getenv("HOME")), Detail: detail, Right: string(p.Scope), Actions: []tui.Action{{
			Key: "enter", Name: "add it there", Do: func(ctx context.Context, _ string) (tui.Result, error) {
				path, err := t.conv().Remember(ctx, p.Scope, text)
				return tui.Result{Say: "remembered in " + path, Close: true}, err
			},
		}}})
	}
	return s
}

// themeFolder holds the person's own themes.
func (t *terminal) themeFolder() string { return filepath.Join(t.ground.Home, "themes") }

// painter draws as the preferences say.
func (t *terminal) painter(p tui.Prefs) tui.Painter {
	caps := t.dev.Caps()
	if p.ScreenReader || caps.Dumb {
		return paint.NewPlain(t.dev)
	}
	theme, err := paint.Load(t.themeFolder(), p.Theme, caps)
	if err != nil {
		t.w.Notice("the theme " + p.Theme + ": " + err.Error())
	}
	if p.Fullscreen {
		t.dev.Fullscreen()
		return tui.NewFull(paint.NewFull(t.dev, caps, theme), func() error { t.dev.Inline(); return nil })
	}
	return paint.NewInline(t.dev, caps, theme)
}
