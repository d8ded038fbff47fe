package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/state/plugin"
	"github.com/hew-agent/hew/internal/wiring"
)

const pluginUsage = `hew plugin takes:
  list [--json] [--available]               what is installed here, and what marketplaces offer
  details NAME [--json]                     what a plugin brings, runs and is granted
  install [-s user|project|local] [--config KEY=VALUE]… NAME[@MARKETPLACE]…
  uninstall [-s SCOPE] [--keep-data] NAME…
  enable | disable [-s SCOPE] NAME…
  update [--accept] [NAME…]                 without a name: all; what runs anew waits for --accept
  approve NAME                              agree to what the installed version runs
  configure NAME [KEY=VALUE…]               answer a plugin's questions, or show them
  init [DIR]                                begin a plugin of your own
  validate [--strict] [--json] [DIR]        what is wrong with a plugin or a marketplace
  tag [--dry-run] [DIR]                     name the commit of a release NAME--vVERSION in git
  prune                                     remove what nothing needs any more
  marketplace add [-s SCOPE] SOURCE | list [--json] | remove NAME | update [NAME]`

// runPlugin shows and changes plugins.
func runPlugin(e Env, args []string) error {
	verbs := map[string]func(Env, []string) error{
		"list": listPlugins, "details": detailPlugin, "install": installPlugins, "i": installPlugins, "uninstall": uninstallPlugins, "remove": uninstallPlugins,
		"enable": enablePlugins, "disable": disablePlugins, "update": updatePlugins, "approve": approvePlugin, "configure": configurePlugin,
		"init": initPlugin, "validate": validatePlugin, "tag": tagPlugin, "prune": prunePlugins, "marketplace": runMarketplace,
	}
	if len(args) == 0 || args[0] == "--help" || args[0] == "help" {
		if len(args) == 0 {
			return &usageError{pluginUsage}
		}
		_, err := fmt.Fprintln(e.Stdout, pluginUsage)
		return err
	}
	verb, ok := verbs[args[0]]
	if !ok {
		return &usageError{fmt.Sprintf("unknown command 'plugin %s'\n%s", fsys.Printable(args[0]), pluginUsage)}
	}
	return verb(e, args[1:])
}

func (e Env) plugins(do func(ctx context.Context, k *wiring.PluginBook) error) error {
	k, err := wiring.OpenPlugins(wiring.Options{
		Version: Version(), Environ: e.Environ, Cwd: e.Dir, Sources: "user,project,local", Notice: e.notice, Reaper: shell.ReaperCommand(),
	})
	if err != nil {
		return err
	}
	ctx, stop := signals(context.Background())
	defer stop()
	return errors.Join(do(ctx, k), k.Close())
}

// option takes "NAME VALUE" and "NAME=VALUE" out of the arguments.
func takeValues(args []string, names ...string) (rest, values []string, err error) {
	for i := 0; i < len(args); i++ {
		name, value, inline := strings.Cut(args[i], "=")
		match := false
		for _, n := range names {
			match = match || n == name
		}
		switch {
		case !match:
			rest = append(rest, args[i])
		case inline:
			values = append(values, value)
		case i+1 == len(args):
			return nil, nil, &usageError{fmt.Sprintf("option '%s' needs a value", name)}
		default:
			i++
			values = append(values, args[i])
		}
	}
	return rest, values, nil
}

// scoped takes the scope out of the arguments, and refuses options that are left.
func scoped(verb string, args []string) (words []string, scope string, err error) {
	words, scopes, err := takeValues(args, "-s", "--scope")
	if err != nil {
		return nil, "", err
	}
	if len(scopes) > 0 {
		scope = scopes[len(scopes)-1]
	}
	return words, scope, onlyWords(verb, words)
}

func onlyWords(verb string, words []string) error {
	for _, w := range words {
		if strings.HasPrefix(w, "-") {
			return &usageError{fmt.Sprintf("hew plugin %s: unknown option '%s'\n%s", verb, fsys.Printable(w), pluginUsage)}
		}
	}
	return nil
}

func pluginIDs(verb string, words []string) ([]plugin.ID, error) {
	if len(words) == 0 {
		return nil, &usageError{"hew plugin " + verb + " takes the name of a plugin: NAME@MARKETPLACE"}
	}
	var out []plugin.ID
	for _, w := range words {
		id, err := plugin.ParseID(w)
		if err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	return out, nil
}

// known completes the name of a plugin that is installed or lies in a folder of skills.
func known(k *wiring.PluginBook, id plugin.ID) (plugin.ID, error) {
	if id.Market != "" {
		return id, nil
	}
	installed, err := k.Installed()
	if err != nil {
		return id, err
	}
	found := map[plugin.ID]bool{}
	for _, i := range installed {
		if i.ID.Name == id.Name {
			found[i.ID] = true
		}
	}
	if len(found) == 0 {
		loaded, err := k.Loaded()
		if err != nil {
			return id, err
		}
		for _, l := range loaded {
			if l.ID.Name == id.Name {
				found[l.ID] = true
			}
		}
	}
	if len(found) == 1 {
		for one := range found {
			return one, nil
		}
	}
	if len(found) > 1 {
		return id, fmt.Errorf("%s is installed from several marketplaces: write %s@MARKETPLACE", id.Name, id.Name)
	}
	return id, fmt.Errorf("%s is not installed here: %w; hew plugin list shows what is", id.Name, plugin.ErrUnknown)
}

// byPerson refuses to take a yes from inside a session: a model does not agree in
// the user's place.
func (e Env) byPerson(what string) error {
	if e.getenv("CLAUDECODE") != "" || e.getenv("CLAUDE_CODE_SESSION_ID") != "" {
		return fmt.Errorf("%s is a person's word: run it in a terminal of your own, not from inside a session", what)
	}
	return nil
}

func installPlugins(e Env, args []string) error {
	args, configs, err := takeValues(args, "--config")
	if err != nil {
		return err
	}
	words, scopeName, err := scoped("install", args)
	if err != nil {
		return err
	}
	if err := e.byPerson("hew plugin install"); err != nil {
		return err
	}
	ids, err := pluginIDs("install", words)
	if err != nil {
		return err
	}
	scope, err := plugin.ParseScope(scopeName)
	if err != nil {
		return err
	}
	return e.plugins(func(ctx context.Context, k *wiring.PluginBook) error {
		for _, id := range ids {
			done, err := k.Install(ctx, id, scope)
			for _, d := range done {
				sayInstalled(e.Stdout, d, scope.String())
			}
			if err != nil {
				return err
			}
			if err := answer(ctx, e, k, done[len(done)-1].ID, configs); err != nil {
				return err
			}
		}
		return nil
	})
}

func sayInstalled(w io.Writer, d plugin.Done, scope string) {
	why := ""
	if d.Needed {
		why = ", which it needs"
	}
	fmt.Fprintf(w, "installed %s %s (%s)%s\n", d.ID, d.To, scope, why)
	if len(d.Grants) > 0 {
		fmt.Fprintf(w, "  with %s; hew plugin details %s shows each word for word\n", plugin.Summary(d.Grants), d.ID)
	}
}

// answer keeps answers of the command line, and says what is still wanted.
func answer(ctx context.Context, e Env, k *wiring.PluginBook, id plugin.ID, configs []string) error {
	answers := map[string]string{}
	for _, c := range configs {
		key, value, err := plugin.ParseAnswer(c)
		if err != nil {
			return err
		}
		answers[key] = value
	}
	l, err := k.One(id)
	if err != nil {
		return err
	}
	if len(answers) > 0 {
		if err := k.Configure(ctx, id, l.Plugin, answers); err != nil {
			return err
		}
	}
	options, err := plugin.Options(l.Plugin)
	if err != nil {
		return err
	}
	for _, o := range options {
		if _, given := answers[o.Key]; o.Required && o.Default == nil && !given {
			fmt.Fprintf(e.Stdout, "  it wants to be told %s (%s): hew plugin configure %s %s=…\n", o.Key, o.Title, id, o.Key)
		}
	}
	return nil
}

func uninstallPlugins(e Env, args []string) error {
	args, keep := take(args, "--keep-data")
	words, scopeName, err := scoped("uninstall", args)
	if err != nil {
		return err
	}
	ids, err := pluginIDs("uninstall", words)
	if err != nil {
		return err
	}
	scope, err := plugin.ParseScope(scopeName)
	if err != nil {
		return err
	}
	data := plugin.DropData
	if keep {
		data = plugin.KeepData
	}
	return e.plugins(func(ctx context.Context, k *wiring.PluginBook) error {
		for _, id := range ids {
			id, err := known(k, id)
			if err != nil {
				return err
			}
			if err := k.Uninstall(ctx, id, scope, data); err != nil {
				return err
			}
			fmt.Fprintf(e.Stdout, "uninstalled %s (%s)\n", id, scope)
		}
		return nil
	})
}

func enablePlugins(e Env, args []string) error {
	if err := e.byPerson("hew plugin enable"); err != nil {
		return err
	}
	return turnPlugins(e, "enable", args, plugin.On)
}

func disablePlugins(e Env, args []string) error { return turnPlugins(e, "disable", args, plugin.Off) }

func turnPlugins(e Env, verb string, args []string, to plugin.Switch) error {
	words, scopeName, err := scoped(verb, args)
	if err != nil {
		return err
	}
	ids, err := pluginIDs(verb, words)
	if err != nil {
		return err
	}
	scope, err := plugin.ParseScope(scopeName)
	if err != nil {
		return err
	}
	return e.plugins(func(ctx context.Context, k *wiring.PluginBook) error {
		for _, id := range ids {
			id, err := known(k, id)
			if err != nil {
				return err
			}
			if err := k.Turn(ctx, id, scope, to); err != nil {
				return err
			}
			fmt.Fprintf(e.Stdout, "%sd %s (%s)\n", verb, id, scope)
		}
		return nil
	})
}

func prunePlugins(e Env, args []string) error {
	if len(args) > 0 {
		return &usageError{"hew plugin prune takes no arguments"}
	}
	return e.plugins(func(ctx context.Context, k *wiring.PluginBook) error {
		gone, versions, err := k.Prune(ctx)
		for _, id := range gone {
			fmt.Fprintf(e.Stdout, "uninstalled %s, which nothing needs any more\n", id)
		}
		if err == nil {
			fmt.Fprintf(e.Stdout, "removed %d old versions\n", versions)
		}
		return err
	})
}
