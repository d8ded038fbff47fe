package wiring

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/picture"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/state/settings"
	"github.com/hew-agent/hew/internal/state/trust"
)

// Work is a piece of background work.
type Work struct {
	ID, Kind, Title string
	// Status is how it is with it in words.
	Status  string
	Running bool
}

// Work lists what runs in the background, or did in this session.
func (c *Conversation) Work() []Work {
	var out []Work
	for _, w := range c.build.background.All() {
		st := w.Status()
		title := st.Title
		if title == "" {
			title = st.Command
		}
		out = append(out, Work{st.ID, st.Kind, title, st.Ending, !st.State.Final()})
	}
	return out
}

// maxTyped bounds what a command of the person tells the model, in bytes of each output.
const maxTyped = 30_000

// Shell runs a command of the person, who needs no permission, and returns the
// message that tells the conversation of it, in the tags of the ecosystem.
func (c *Conversation) Shell(ctx context.Context, command string) (*msg.Message, string, error) {
	b := c.build
	res, err := b.runner.Exec(ctx, shell.Program{
		Argv: []string{b.runner.Shell(), "-c", command}, Dir: c.Engine.Place().Cwd, MaxOutput: maxTyped, Unconfined: true,
	})
	if err != nil {
		return nil, "", fmt.Errorf("run %s: %w", command, err)
	}
	out, errs := shell.Sanitize(res.Stdout), shell.Sanitize(res.Stderr)
	switch {
	case res.Interrupted:
		errs += "\n(interrupted)"
	case res.ExitCode != 0:
		errs += fmt.Sprintf("\n(exit code %d)", res.ExitCode)
	}
	text := "<bash-input>" + command + "</bash-input>\n<bash-stdout>" + out + "</bash-stdout>\n<bash-stderr>" + strings.TrimSpace(errs) + "</bash-stderr>"
	shown := strings.TrimRight(out+"\n"+strings.TrimSpace(errs), "\n")
	return msg.User(b.o.NewID(), b.o.Now(), text), shown, nil
}

// maxPicture bounds a picture that is attached to a prompt, in bytes of the file.
const maxPicture = 64 << 20

// Attach reads a picture for a prompt, fitted into the limits of the model API.
func (c *Conversation) Attach(path string) (msg.Block, error) {
	at, err := fsys.Locate(c.Engine.Place().Cwd, path)
	if err != nil {
		return nil, err
	}
	data, _, err := fsys.ReadRaw(at.Real, fsys.Limits{MaxBytes: maxPicture})
	if err != nil {
		return nil, fmt.Errorf("attach %s: %w", path, err)
	}
	img, err := picture.Fit(data)
	if err != nil {
		return nil, fmt.Errorf("attach %s: %w", path, err)
	}
	return msg.NewImage(img.MediaType, base64.StdEncoding.EncodeToString(img.Bytes)), nil
}

// RemoveRule takes a permission rule out of the settings that hold it.
func (c *Conversation) RemoveRule(_ context.Context, r LiveRule) error {
	to, ok := map[string]policy.Destination{
		"local": policy.ToLocal, "project": policy.ToProject, "user": policy.ToUser, "session": policy.ToSession,
	}[c.scopeOf(r.Source)]
	if !ok {
		return fmt.Errorf("the rule %s stands in %s, which hew does not change", r.Rule, r.Source)
	}
	rule := event.Rule{Tool: r.Rule}
	if name, content, ok := strings.Cut(r.Rule, "("); ok {
		rule = event.Rule{Tool: name, Content: strings.TrimSuffix(content, ")")}
	}
	return c.build.gateRef.Update([]event.Suggestion{{
		Type: string(policy.RemoveRules), Behavior: r.Behavior, Destination: string(to), Rules: []event.Rule{rule},
	}})
}

// scopeOf is the scope of a rule's source: a file, or the scope's own name.
func (c *Conversation) scopeOf(source string) string {
	for _, l := range c.build.gateRef.Snapshot().Config().Layers {
		if l.Origin.File == source || string(l.Origin.Scope) == source {
			return string(l.Origin.Scope)
		}
	}
	return ""
}

// Typed notes a prompt in the history that the arrow keys recall.
func (c *Conversation) Typed(shown string, pastes map[int]string) error {
	b := c.build
	if b.o.NoPersist {
		return nil
	}
	t := session.Typed{Display: shown, Timestamp: b.o.Now().UnixMilli(), Project: b.place.Project, SessionID: c.Engine.Session()}
	for n, text := range pastes {
		raw, err := json.Marshal(map[string]any{"id": n, "type": "text", "content": text})
		if err != nil {
			return err // plain values: cannot fail
		}
		if t.Pasted == nil {
			t.Pasted = map[string]json.RawMessage{}
		}
		t.Pasted[strconv.Itoa(n)] = raw
	}
	return session.OpenHistory(b.home.Dir).Add(t)
}

// SetPreference writes a key of the person's own settings, nil to take it out. It
// is for the terminal: a person's act, never a program's.
func (c *Conversation) SetPreference(ctx context.Context, key string, value any) error {
	b := c.build
	if !b.sourced(settings.User) {
		return fmt.Errorf("the session was started without your settings (--setting-sources), so %s is not written", key)
	}
	if value == nil {
		return b.settingsConfig.Unset(ctx, settings.User, key)
	}
	return b.settingsConfig.Set(ctx, settings.User, value, key)
}

// KeepSetup writes what a first start has chosen into the person's settings:
// a theme, and variables by which a model is reached. The file is for nobody
// else's eyes.
func KeepSetup(ctx context.Context, o Options, theme string, variables map[string]string) error {
	b := &build{o: &o, conv: &Conversation{}}
	if err := b.locate(); err != nil {
		return err
	}
	if theme == "" {
		theme = "auto"
	}
	if err := b.settingsConfig.Set(ctx, settings.User, theme, "theme"); err != nil {
		return err
	}
	for name, value := range variables {
		if err := b.settingsConfig.Set(ctx, settings.User, value, "env", name); err != nil {
			return err
		}
	}
	return os.Chmod(b.home.Settings(), 0o600)
}

// Ground is what is known of a folder and its user before a session opens there.
type Ground struct {
	// Home is the configuration home, Terminal the folder of what the terminal
	// remembers between two starts, Project the folder that sessions belong to.
	Home, Terminal, Project string
	Settings                *settings.Settings
	// Trust is what the folder asks for and whether the user agreed.
	Trust trust.Verdict
}

// Survey reads the ground once; it changes nothing.
func Survey(o Options) (Ground, error) {
	b := &build{o: &o, conv: &Conversation{}}
	if err := b.locate(); err != nil {
		return Ground{}, err
	}
	return Ground{b.home.Dir, b.home.Own("terminal"), b.place.Project, b.settings, b.trust}, nil
}
