package app

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/state/plugin"
	"github.com/hew-agent/hew/internal/wiring"
)

type pluginJSON struct {
	ID      string             `json:"id"`
	Version string             `json:"version"`
	Scope   string             `json:"scope"`
	Enabled bool               `json:"enabled"`
	Why     string             `json:"why,omitempty"`
	Path    string             `json:"installPath,omitempty"`
	Parts   wiring.PluginParts `json:"parts"`
}

func pluginRow(k *wiring.PluginBook, l plugin.Loaded) pluginJSON {
	r := pluginJSON{ID: l.ID.String(), Scope: l.Scope, Enabled: l.Off == "", Why: l.Off, Parts: k.Parts(l)}
	if l.Plugin != nil {
		r.Version, r.Path = l.Plugin.Version, l.Plugin.Root
	}
	return r
}

type offerJSON struct {
	ID          string `json:"id"`
	Version     string `json:"version,omitempty"`
	Description string `json:"description,omitempty"`
	Source      string `json:"source"`
	Refused     string `json:"refused,omitempty"`
}

func offers(e Env, k *wiring.PluginBook) ([]offerJSON, error) {
	markets, err := k.Markets()
	if err != nil {
		return nil, err
	}
	out := []offerJSON{}
	for _, known := range markets {
		m, _, err := k.Market(known.Name)
		if err != nil {
			e.notice(err.Error())
			continue
		}
		for _, l := range m.Plugins {
			o := offerJSON{ID: l.Name + "@" + m.Name, Version: l.Version, Description: l.Description, Source: l.Source.String()}
			if l.Err != nil {
				o.Refused = l.Err.Error()
			}
			out = append(out, o)
		}
	}
	return out, nil
}

func listPlugins(e Env, args []string) error {
	args, asJSON := take(args, "--json")
	args, available := take(args, "--available")
	if len(args) > 0 {
		return &usageError{"hew plugin list takes --json and --available"}
	}
	return e.plugins(func(_ context.Context, k *wiring.PluginBook) error {
		loaded, err := k.Loaded()
		if err != nil {
			return err
		}
		rows := []pluginJSON{}
		for _, l := range loaded {
			rows = append(rows, pluginRow(k, l))
		}
		var offered []offerJSON
		if available {
			if offered, err = offers(e, k); err != nil {
				return err
			}
		}
		if asJSON {
			if !available {
				return printJSON(e.Stdout, rows)
			}
			return printJSON(e.Stdout, struct {
				Installed []pluginJSON `json:"installed"`
				Available []offerJSON  `json:"available"`
			}{rows, offered})
		}
		return showPlugins(e.Stdout, rows, offered)
	})
}

func showPlugins(w io.Writer, rows []pluginJSON, offered []offerJSON) error {
	var b strings.Builder
	if len(rows) == 0 {
		b.WriteString("no plugins; hew plugin marketplace add SOURCE, then hew plugin install NAME\n")
	}
	for _, r := range rows {
		mark := "on"
		if !r.Enabled {
			mark = "off: " + r.Why
		}
		fmt.Fprintf(&b, "%s %s (%s) %s\n", r.ID, r.Version, r.Scope, mark)
		p := r.Parts
		var servers []string
		for _, l := range p.Languages {
			servers = append(servers, l.Name)
		}
		for _, part := range []struct {
			kind  string
			names []string
		}{
			{"skills", p.Skills},
			{"agents", p.Agents},
			{"output styles", p.Styles},
			{"hooks", p.Hooks},
			{"MCP servers", p.Servers},
			{"language servers", servers},
			{"programs", p.Programs},
			{"problems", p.Problems},
		} {
			if len(part.names) > 0 {
				fmt.Fprintf(&b, "  %s: %s\n", part.kind, fsys.Printable(strings.Join(part.names, ", ")))
			}
		}
	}
	if len(offered) > 0 {
		b.WriteString("\navailable:\n")
	}
	for _, o := range offered {
		fmt.Fprintf(&b, "%s %s from %s\n", o.ID, o.Version, o.Source)
		if o.Description != "" {
			fmt.Fprintf(&b, "  %s\n", fsys.Printable(o.Description))
		}
		if o.Refused != "" {
			fmt.Fprintf(&b, "  cannot be installed: %s\n", o.Refused)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func detailPlugin(e Env, args []string) error {
	args, asJSON := take(args, "--json")
	if err := onlyWords("details", args); err != nil {
		return err
	}
	ids, err := pluginIDs("details", args)
	if err != nil {
		return err
	}
	return e.plugins(func(_ context.Context, k *wiring.PluginBook) error {
		id, err := known(k, ids[0])
		if err != nil {
			return err
		}
		l, err := k.One(id)
		if err != nil {
			return err
		}
		grants, err := l.Plugin.Grants()
		if err != nil {
			return err
		}
		row := pluginRow(k, l)
		if asJSON {
			return printJSON(e.Stdout, struct {
				pluginJSON
				Grants []catalog.Grant `json:"grants"`
			}{row, append([]catalog.Grant{}, grants...)})
		}
		if err := showPlugins(e.Stdout, []pluginJSON{row}, nil); err != nil {
			return err
		}
		return showGrants(e.Stdout, grants)
	})
}

func showGrants(w io.Writer, grants []catalog.Grant) error {
	var b strings.Builder
	for _, g := range grants {
		fmt.Fprintf(&b, "\n%s %s\n", g.Kind, fsys.Printable(g.Name))
		indent(&b, g.Text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func showChanges(w io.Writer, list []plugin.Change) {
	var b strings.Builder
	for _, c := range list {
		word := "new"
		if c.Old.Kind != "" {
			word = "changed"
		}
		fmt.Fprintf(&b, "\n%s %s %s\n", word, c.New.Kind, fsys.Printable(c.New.Name))
		indent(&b, c.Diff())
	}
	fmt.Fprint(w, b.String())
}

func updatePlugins(e Env, args []string) error {
	args, accept := take(args, "--accept")
	if err := onlyWords("update", args); err != nil {
		return err
	}
	consent := plugin.AskFirst
	if accept {
		if err := e.byPerson("hew plugin update --accept"); err != nil {
			return err
		}
		consent = plugin.Accept
	}
	return e.plugins(func(ctx context.Context, k *wiring.PluginBook) error {
		ids, err := updated(k, args)
		if err != nil {
			return err
		}
		waits := 0
		for _, id := range ids {
			d, err := k.Update(ctx, id, consent)
			if err != nil {
				return err
			}
			if sayUpdated(e.Stdout, d); len(d.Waits) > 0 {
				waits++
			}
		}
		if waits > 0 {
			return &failure{exitError}
		}
		return nil
	})
}

// updated are the plugins that an update is about: those named, or all.
func updated(k *wiring.PluginBook, args []string) ([]plugin.ID, error) {
	var out []plugin.ID
	if len(args) > 0 {
		ids, err := pluginIDs("update", args)
		for _, id := range ids {
			id, err := known(k, id)
			if err != nil {
				return nil, err
			}
			out = append(out, id)
		}
		return out, err
	}
	installed, err := k.Installed()
	seen := map[plugin.ID]bool{}
	for _, i := range installed {
		if !seen[i.ID] {
			out = append(out, i.ID)
		}
		seen[i.ID] = true
	}
	return out, err
}

func sayUpdated(w io.Writer, d plugin.Done) {
	switch {
	case len(d.Waits) > 0:
		fmt.Fprintf(w, "%s stays at %s: version %s would run or be granted something new\n", d.ID, d.From, d.To)
		showChanges(w, d.Waits)
		fmt.Fprintf(w, "\nhew plugin update --accept %s agrees to it\n", d.ID)
	case d.Same:
		fmt.Fprintf(w, "%s is up to date (%s)\n", d.ID, d.From)
	case plugin.Newer(d.From, d.To):
		fmt.Fprintf(w, "updated %s from %s to the OLDER version %s that its marketplace has now\n", d.ID, d.From, d.To)
	default:
		fmt.Fprintf(w, "updated %s from %s to %s\n", d.ID, d.From, d.To)
	}
}

func approvePlugin(e Env, args []string) error {
	if err := e.byPerson("hew plugin approve"); err != nil {
		return err
	}
	if err := onlyWords("approve", args); err != nil {
		return err
	}
	ids, err := pluginIDs("approve", args)
	if err != nil {
		return err
	}
	return e.plugins(func(ctx context.Context, k *wiring.PluginBook) error {
		id, err := known(k, ids[0])
		if err != nil {
			return err
		}
		changes, err := k.Waiting(id)
		if err == nil {
			showChanges(e.Stdout, changes)
		}
		if err := k.Approve(ctx, id); err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.Stdout, "approved %s: %d changes\n", id, len(changes))
		return err
	})
}

func configurePlugin(e Env, args []string) error {
	if err := onlyWords("configure", args); err != nil {
		return err
	}
	if len(args) == 0 {
		return &usageError{"hew plugin configure takes NAME and KEY=VALUE…"}
	}
	ids, err := pluginIDs("configure", args[:1])
	if err != nil {
		return err
	}
	return e.plugins(func(ctx context.Context, k *wiring.PluginBook) error {
		id, err := known(k, ids[0])
		if err != nil {
			return err
		}
		if len(args) > 1 {
			return answer(ctx, e, k, id, args[1:])
		}
		return showOptions(e.Stdout, k, id)
	})
}

func showOptions(w io.Writer, k *wiring.PluginBook, id plugin.ID) error {
	l, err := k.One(id)
	if err != nil {
		return err
	}
	options, err := plugin.Options(l.Plugin)
	if err != nil {
		return err
	}
	answers, _, err := k.Answers(id, l.Plugin)
	if err != nil {
		return err
	}
	for _, o := range options {
		value, set := answers[o.Key]
		switch {
		case !set:
			value = "(not set)"
		case o.Sensitive:
			value = "(set, not shown)"
		}
		fmt.Fprintf(w, "%s (%s) = %s\n  %s\n", o.Key, o.Type, fsys.Printable(value), fsys.Printable(strings.TrimSpace(o.Title+". "+o.Description)))
	}
	return nil
}

// pluginDir is the folder that a command is about: the argument, else this one.
func (e Env) pluginDir(verb string, args []string) (string, error) {
	if err := onlyWords(verb, args); err != nil {
		return "", err
	}
	switch len(args) {
	case 0:
		return e.Dir, nil
	case 1:
		return fsys.Abs(e.Dir, filepath.FromSlash(args[0]))
	}
	return "", &usageError{"hew plugin " + verb + " takes one folder"}
}

func validatePlugin(e Env, args []string) error {
	args, strict := take(args, "--strict")
	args, asJSON := take(args, "--json")
	dir, err := e.pluginDir("validate", args)
	if err != nil {
		return err
	}
	r := plugin.Validate(dir)
	bad := len(r.Errors) > 0 || strict && len(r.Warnings) > 0
	if asJSON {
		if err := printJSON(e.Stdout, r); err != nil {
			return err
		}
	} else {
		for _, t := range r.Errors {
			fmt.Fprintln(e.Stdout, "error: "+fsys.Printable(t))
		}
		for _, t := range r.Warnings {
			fmt.Fprintln(e.Stdout, "warning: "+fsys.Printable(t))
		}
		if !bad {
			fmt.Fprintf(e.Stdout, "the %s %s is valid\n", r.What, fsys.Printable(r.Name))
		}
	}
	if bad {
		return &failure{exitError}
	}
	return nil
}
