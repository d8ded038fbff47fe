package wiring

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hew-agent/hew/internal/action/builtin"
	"github.com/hew-agent/hew/internal/action/builtin/agent"
	"github.com/hew-agent/hew/internal/action/builtin/bash"
	"github.com/hew-agent/hew/internal/action/builtin/lsptool"
	"github.com/hew-agent/hew/internal/action/builtin/mcptool"
	"github.com/hew-agent/hew/internal/action/builtin/skill"
	"github.com/hew-agent/hew/internal/action/builtin/web"
	"github.com/hew-agent/hew/internal/backend/credential"
	"github.com/hew-agent/hew/internal/backend/feature"
	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/modeltable"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/state/settings"

	"github.com/hew-agent/hew/internal/tool"
)

// ToolRow is one tool of the pool.
type ToolRow struct {
	Name      string   `json:"name"`
	Aliases   []string `json:"aliases,omitempty"`
	Origin    string   `json:"origin"`
	Always    bool     `json:"always"`
	Condition string   `json:"condition,omitempty"`
	Deferred  bool     `json:"deferred,omitempty"`
}

// Tools lists every tool that a session may offer.
func Tools() []ToolRow {
	r := shell.New(shell.Config{NoSnapshot: true})
	sh := bash.New(bash.Config{Runner: r})
	list := []tool.Tool{sh.Tool(), sh.Monitor(), sh.PowerShell("pwsh")}
	for _, c := range builtin.All(builtin.Config{Deferred: func() []tool.Spec { return nil }}) {
		list = append(list, c.Tool)
	}
	crew := agent.New(agent.Config{Deepest: 1, Background: true})
	list = append(append(list, crew.Tools()...), crew.List())
	list = append(list, skill.NewBook(skill.Config{}).Tool(), web.NewFetch(web.Config{}), web.NewSearch(web.Config{}))
	if feature.LanguageServers {
		list = append(list, lsptool.New(lsptool.Config{}))
	}
	var out []ToolRow
	for _, t := range list {
		s := t.Spec()
		out = append(out, ToolRow{s.Name, s.Aliases, "builtin", s.Always, s.Condition, s.Deferred})
	}
	for _, t := range mcptool.Resources(nil, mcptool.Config{Deferred: true}) {
		s := t.Spec()
		out = append(out, ToolRow{s.Name, s.Aliases, "builtin", s.Always, s.Condition, s.Deferred})
	}
	out = append(out, ToolRow{Name: builtin.StructuredOutputName, Origin: "builtin", Condition: "a JSON schema was given (--json-schema)"})
	return out
}

// Models lists the model table, with what the environment pins.
func Models(getenv func(string) string) []provider.Model {
	over := provider.OverridesFromEnv(getenv)
	var out []provider.Model
	for _, m := range provider.Models() {
		out = append(out, provider.Lookup(m.ID, over))
	}
	return out
}

// OwnModels lists the models of the user's settings, with what the catalogue
// knows of those at a provider that is named there or has a key in the environment.
func OwnModels(o Options) ([]provider.Model, error) {
	b := &build{o: &o, conv: &Conversation{}}
	if err := b.locate(); err != nil {
		return nil, err
	}
	out := b.ownModels()
	for _, name := range modeltable.Names() {
		e, ok := modeltable.FindEndpoint(name)
		if ok && name != "anthropic" && e.KeyVariable != "" && b.env(e.KeyVariable) != "" && (e.Compatible || name == "gemini") {
			out = append(out, modeltable.Models(name)...)
		}
	}
	return out, nil
}

// CredentialStatus is what may be told of the credential.
type CredentialStatus struct{ credential.Status }

// Sentence says it in words.
func (s CredentialStatus) Sentence() string {
	if s.LoggedIn {
		return fmt.Sprintf("a credential (%s) from %s would be used", s.Kind, s.Source)
	}
	return "no usable credential: " + s.Problem
}

// Credential tells which credential a run here would use.
func Credential(o Options) (CredentialStatus, error) {
	b := &build{o: &o, conv: &Conversation{}}
	if err := b.locate(); err != nil {
		return CredentialStatus{}, err
	}
	conf, err := b.credentials()
	if err != nil {
		return CredentialStatus{}, err
	}
	return CredentialStatus{credential.New(conf).Status(context.Background())}, nil
}

// Check is one line of the examination.
type Check struct {
	Name string
	OK   bool
	Text string
}

// Examine looks at everything that a run needs and changes nothing.
func Examine(o Options) ([]Check, error) {
	var notes []string
	o.Notice = func(s string) { notes = append(notes, s) }
	b := &build{o: &o, conv: &Conversation{}}
	if err := b.locate(); err != nil {
		return nil, err
	}
	out := []Check{{"version", true, o.Version}, {"directory", true, b.place.Cwd}, b.checkHome()}
	for _, f := range b.settings.Files() {
		if f.State != settings.Absent {
			out = append(out, Check{"settings", f.State == settings.Loaded, f.Scope.String() + " " + f.Path})
		}
	}
	for _, n := range notes {
		out = append(out, Check{"settings", false, n})
	}
	conf, err := b.credentials()
	if err != nil {
		return nil, err
	}
	st := CredentialStatus{credential.New(conf).Status(context.Background())}
	out = append(out, Check{"credential", st.LoggedIn, st.Sentence()})
	return append(out, b.programs()...), nil
}

func (b *build) checkHome() Check {
	st, err := os.Stat(b.home.Dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Check{"config home", true, b.home.Dir + " (will be made)"}
	case err != nil:
		return Check{"config home", false, err.Error()}
	case !st.IsDir():
		return Check{"config home", false, b.home.Dir + " is not a directory"}
	}
	probe := filepath.Join(b.home.Dir, "projects")
	if _, err := os.Stat(probe); err == nil && !writable(probe) {
		return Check{"config home", false, probe + " is not writable: sessions cannot be kept; use --no-session-persistence or repair its permissions"}
	}
	return Check{"config home", true, b.home.Dir}
}

func writable(dir string) bool {
	st, err := os.Stat(dir)
	return err == nil && st.Mode().Perm()&0o200 != 0
}

// programs says which helpers are found, and what their absence means.
func (b *build) programs() []Check {
	var out []Check
	for _, p := range []struct{ name, without string }{
		{"git", "no git state in the system prompt"},
		{"rg", "hew's own search engine is used"},
		{"pdftotext", "PDF files cannot be read by page"},
	} {
		path, err := shell.LookPath(p.name, b.o.Environ)
		if err != nil {
			path = "not found: " + p.without
		}
		out = append(out, Check{p.name, true, path})
	}
	r := shell.New(shell.Config{NoSnapshot: true, Env: b.o.Environ})
	return append(out, Check{"shell", r.Shell() != "", r.Shell()})
}
