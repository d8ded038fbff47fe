package wiring

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/action/builtin/lsptool"
	"github.com/hew-agent/hew/internal/backend/feature"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/lsp"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/tool"
)

// languages makes the tool that asks language servers, and the source that tells
// what they find after edits; nothing without a plugin that brings one.
func (b *build) languages(ctx context.Context) []tool.Tool {
	if !feature.LanguageServers || b.o.Bare {
		return nil
	}
	var servers []lsp.Server
	for _, l := range b.languageServers() {
		if s, ok := b.languageServer(l); ok {
			servers = append(servers, s)
		}
	}
	if len(servers) == 0 {
		return nil
	}
	set := lsp.NewSet(servers, func(ctx context.Context, s lsp.Server) (*lsp.Client, error) {
		return lsp.Start(ctx, lsp.Config{
			Runner: b.runner, Server: s, Root: b.place.Project, Version: b.o.Version, HideSecrets: b.env("CLAUDE_CODE_SUBPROCESS_ENV_SCRUB") != "",
		})
	})
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	d := &diagnoses{b: b, set: set, life: life}
	b.diagnoses = d
	b.conv.close = append(b.conv.close, func() error {
		end()
		err := set.Close()
		d.wg.Wait()
		return err
	})
	b.asksCode = lsptool.New(lsptool.Config{Servers: set, Family: "Read", Hidden: b.hidden})
	return []tool.Tool{b.asksCode}
}

// languageServer tells how the server of a plugin is started.
func (b *build) languageServer(l LanguageServer) (lsp.Server, bool) {
	name := l.Plugin + ":" + l.Name
	if l.Transport != "" && l.Transport != "stdio" {
		b.notice(fmt.Sprintf("the language server %s wants the transport %q, and hew speaks stdio with them; it is not used", name, l.Transport))
		return lsp.Server{}, false
	}
	path := l.Command
	if !filepath.IsAbs(path) {
		found, err := shell.LookPath(path, b.o.Environ)
		if err != nil {
			b.notice(fmt.Sprintf("the language server %s is not used: %v", name, err))
			return lsp.Server{}, false
		}
		path = found
	}
	s := lsp.Server{
		Name: name, Argv: append([]string{path}, l.Args...), Env: l.Env, Languages: map[string]string{}, Options: l.Options, Settings: l.Settings,
		StartUp: time.Duration(l.StartUp) * time.Millisecond,
	}
	for end, id := range l.Languages {
		s.Languages[strings.ToLower(end)] = id
	}
	return s, true
}

// diagnoses tells the model what language servers find after edits: each fault
// of a file once, until it changes.
type diagnoses struct {
	b    *build
	set  *lsp.Set
	life context.Context
	wg   sync.WaitGroup
}

// Name is the source's word for programs.
func (*diagnoses) Name() string { return "diagnostics" }

// Class says that diagnoses come while the work goes on.
func (*diagnoses) Class() prompt.Class { return prompt.Runtime }

// diagnosePatience is how long a server that runs may take to look at an edit
// before the next request goes out; what comes later is told with a later one.
const diagnosePatience = time.Second

// Delta tells the servers what was edited, and the model what they have found.
func (d *diagnoses) Delta(ctx context.Context, f prompt.Facts) ([]prompt.Item, error) {
	edited := slices.Compact(slices.Sorted(slices.Values(f.Edited)))
	wait, cancel := context.WithTimeout(ctx, diagnosePatience)
	defer cancel()
	for _, path := range edited {
		if d.set.Language(path) != "" && fsys.KindOf(path) == fsys.KindRegular {
			d.look(wait, path)
		}
	}
	var out []prompt.Item
	hidden := d.b.hidden(tool.Env{})
	for _, c := range d.set.Running() {
		for _, r := range c.Fresh() {
			if hidden != nil && hidden(r.Path) {
				continue
			}
			text := lsptool.Diagnosis(r, d.short(f.Cwd, r.Path), c.Column)
			if text == "" {
				text = d.short(f.Cwd, r.Path) + ": nothing is found any more"
			}
			out = append(out, prompt.Item{Text: "The language server's findings after the last changes. They are its words, not the user's:\n" + text})
		}
	}
	return out, nil
}

// look lets the server see an edited file. A server that must be started first
// is started beside the conversation.
func (d *diagnoses) look(wait context.Context, path string) {
	begin := func(ctx context.Context) {
		c, err := d.set.For(ctx, path)
		if err != nil {
			return // whoever asks it by the tool is told
		}
		text, err := lsptool.Text(path)
		if err != nil {
			return // it is gone already
		}
		if version, err := c.Sync(ctx, path, d.set.Language(path), text); err == nil {
			c.Judged(ctx, path, version)
		}
	}
	if len(d.set.Running()) > 0 {
		begin(wait)
		return
	}
	d.wg.Go(func() {
		ctx, cancel := context.WithTimeout(d.life, lsp.CallLimit)
		defer cancel()
		begin(ctx)
	})
}

func (d *diagnoses) short(cwd, path string) string {
	if rel, err := filepath.Rel(cwd, path); err == nil && filepath.IsLocal(rel) {
		return fsys.Printable(rel)
	}
	return fsys.Printable(path)
}
