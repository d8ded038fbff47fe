package app

import (
	"context"
	"fmt"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/plugin"
	"github.com/hew-agent/hew/internal/wiring"
)

// runMarketplace shows and changes marketplaces.
func runMarketplace(e Env, args []string) error {
	if len(args) == 0 {
		return &usageError{pluginUsage}
	}
	verb, args := args[0], args[1:]
	switch verb {
	case "add":
		return addMarket(e, args)
	case "list":
		return listMarkets(e, args)
	case "remove", "rm":
		return removeMarket(e, args)
	case "update":
		return updateMarkets(e, args)
	}
	return &usageError{fmt.Sprintf("unknown command 'plugin marketplace %s'\n%s", fsys.Printable(verb), pluginUsage)}
}

func addMarket(e Env, args []string) error {
	words, scopeName, err := scoped("marketplace add", args)
	if err != nil {
		return err
	}
	if err := e.byPerson("hew plugin marketplace add"); err != nil {
		return err
	}
	if len(words) != 1 {
		return &usageError{"hew plugin marketplace add takes a folder, a file, owner/repo, or the address of a repository or list"}
	}
	scope, err := plugin.ParseScope(scopeName)
	if err != nil {
		return err
	}
	return e.plugins(func(ctx context.Context, k *wiring.PluginBook) error {
		src, name, err := marketSource(e, k, words[0])
		if err != nil {
			return err
		}
		m, err := k.AddMarket(ctx, src, name)
		if err != nil {
			return err
		}
		if scopeName != "" && scopeName != "user" {
			if err := k.Settings.Set(ctx, scope, map[string]any{"source": src}, "extraKnownMarketplaces", m.Name); err != nil {
				return err
			}
		}
		sayMarket(e, "added", m)
		return nil
	})
}

// marketSource reads a source, or the name of a marketplace that settings declare.
func marketSource(e Env, k *wiring.PluginBook, text string) (src plugin.Source, name string, err error) {
	markets, err := k.Markets()
	if err != nil {
		return plugin.Source{}, "", err
	}
	for _, m := range markets {
		if m.Declared && m.Name == text {
			return m.Source, m.Name, nil
		}
	}
	src, err = plugin.ParseMarketSource(e.Dir, text)
	return src, "", err
}

func sayMarket(e Env, verb string, m *plugin.Market) {
	for _, f := range m.Faults {
		e.notice("marketplace " + m.Name + ": " + f)
	}
	fmt.Fprintf(e.Stdout, "%s the marketplace %s with %d plugins\n", verb, m.Name, len(m.Plugins))
}

func listMarkets(e Env, args []string) error {
	args, asJSON := take(args, "--json")
	if len(args) > 0 {
		return &usageError{"hew plugin marketplace list takes --json and nothing else"}
	}
	return e.plugins(func(_ context.Context, k *wiring.PluginBook) error {
		list, err := k.Markets()
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(e.Stdout, append([]plugin.Known{}, list...))
		}
		for _, m := range list {
			note := ""
			if m.Declared {
				note = " (named by the settings, not added yet)"
			}
			fmt.Fprintf(e.Stdout, "%s from %s%s\n", m.Name, m.Source, note)
		}
		return nil
	})
}

func removeMarket(e Env, args []string) error {
	if err := onlyWords("marketplace remove", args); err != nil {
		return err
	}
	if len(args) != 1 {
		return &usageError{"hew plugin marketplace remove takes a name"}
	}
	return e.plugins(func(ctx context.Context, k *wiring.PluginBook) error {
		if err := k.RemoveMarket(ctx, args[0]); err != nil {
			return err
		}
		_, err := fmt.Fprintf(e.Stdout, "removed the marketplace %s\n", fsys.Printable(args[0]))
		return err
	})
}

func updateMarkets(e Env, args []string) error {
	if err := onlyWords("marketplace update", args); err != nil {
		return err
	}
	return e.plugins(func(ctx context.Context, k *wiring.PluginBook) error {
		names := args
		if len(names) == 0 {
			list, err := k.Markets()
			if err != nil {
				return err
			}
			for _, m := range list {
				if !m.Declared {
					names = append(names, m.Name)
				}
			}
		}
		for _, name := range names {
			m, err := k.UpdateMarket(ctx, name)
			if err != nil {
				return err
			}
			sayMarket(e, "updated", m)
		}
		return nil
	})
}
