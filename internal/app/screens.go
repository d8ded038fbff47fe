package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	slash "github.com/hew-agent/hew/internal/core/command"
	"github.com/hew-agent/hew/internal/surface/tui"
	"github.com/hew-agent/hew/internal/surface/tui/dialog"
	"github.com/hew-agent/hew/internal/wiring"
)

// screens are the commands of the terminal that open a screen. Each is data; the
// terminal draws it.
func (t *terminal) screens() []tui.ScreenCommand {
	return []tui.ScreenCommand{
		{Name: "agents", About: "Show the agents that work can be given to", Open: opens(t.agentScreen)},
		{Name: "config", Aliases: []string{"settings"}, About: "Change how the terminal looks and behaves", Open: opens(t.configScreen)},
		{Name: "context", Hint: "[all]", About: "Show what fills the context window", Open: t.contextScreen, AtRest: true},
		{Name: "copy", About: "Copy the last reply to the clipboard", Open: t.copyReply},
		{Name: "doctor", About: "Check the installation and the settings", Open: opens(t.doctorScreen)},
		{Name: "exit", Aliases: []string{"quit"}, About: "Leave; the session can be resumed", Open: leaves},
		{Name: "export", Hint: "[file]", About: "Write the conversation to a Markdown file", Open: t.exportFile},
		{Name: "fork", Aliases: []string{"branch"}, About: "Go on in a copy of this session; the old one stays as it is", Open: t.forkSession, AtRest: true},
		{Name: "help", About: "Show the keys and the commands", Open: opens(t.helpScreen)},
		{Name: "hooks", About: "Show the hooks of this folder", Open: opens(t.hookScreen)},
		{Name: "mcp", Hint: "[reconnect <server>]", About: "Show the MCP servers, connect, switch on and off", Open: t.serverScreen},
		{Name: "memory", About: "Show and edit the files of instructions and memory", Open: opens(t.memoryScreen)},
		{Name: "model", Hint: "[name]", About: "Choose the model", Open: t.modelScreen},
		{Name: "permissions", Aliases: []string{"allowed-tools"}, Hint: "[allow|ask|deny RULE [scope]]", About: "Show, add and remove permission rules", Open: t.ruleScreen},
		{Name: "plugin", Aliases: []string{"plugins"}, About: "Show the plugins", Open: opens(t.pluginScreen)},
		{Name: "rename", Hint: "<title>", About: "Give this session a title", Open: t.rename},
		{Name: "resume", Aliases: []string{"continue"}, Hint: "[session]", About: "Go on with another session", Open: t.resumeScreen},
		{Name: "rewind", Aliases: []string{"checkpoint", "undo"}, About: "Go back to an earlier prompt: files, conversation or both", Open: opens(t.rewindScreen), AtRest: true},
		{Name: "sandbox", About: "Show what this machine can confine commands with", Open: opens(t.sandboxScreen)},
		{Name: "skills", About: "Show the skills and custom commands", Open: opens(t.skillScreen)},
		{Name: "statusline", About: "Show or set the command that draws the status line", Open: opens(t.statusLineScreen)},
		{Name: "tasks", Aliases: []string{"bashes"}, About: "Show background work; stop it or see its output", Open: opens(t.taskScreen)},
		{Name: "theme", About: "Choose the colours", Open: opens(t.themeScreen)},
		{Name: "tui", Hint: "[default|fullscreen]", About: "Draw inline, or use the whole window", Open: t.switchTUI},
	}
}

// opens makes a screen that takes no arguments.
func opens(screen func(ctx context.Context) (tui.Screen, error)) func(context.Context, string) (*tui.Screen, tui.Result, error) {
	return func(ctx context.Context, _ string) (*tui.Screen, tui.Result, error) {
		s, err := screen(ctx)
		if err != nil {
			return nil, tui.Result{}, err
		}
		if s.Reload == nil {
			s.Reload = screen
		}
		return &s, tui.Result{}, nil
	}
}

func leaves(context.Context, string) (*tui.Screen, tui.Result, error) {
	return nil, tui.Result{Leave: true}, nil
}

// told captures what a subcommand prints, as a page.
func (t *terminal) told(title string, run func(e Env) error) (tui.Screen, error) {
	var out bytes.Buffer
	e := t.e
	e.Stdout, e.Stderr, e.StdoutTTY = &out, &out, false
	var f *failure
	if err := run(e); err != nil && !errors.As(err, &f) {
		return tui.Screen{}, err
	}
	return tui.Screen{Title: title, Text: "```\n" + strings.TrimRight(out.String(), "\n") + "\n```"}, nil
}

func (t *terminal) doctorScreen(context.Context) (tui.Screen, error) {
	return t.told("Doctor", func(e Env) error { return runDoctor(e, nil) })
}

func (t *terminal) sandboxScreen(context.Context) (tui.Screen, error) {
	return t.told("Sandbox", func(e Env) error { return runSandbox(e, []string{"status"}) })
}

func (t *terminal) agentScreen(context.Context) (tui.Screen, error) {
	list, err := wiring.ListAgents(*t.w)
	if err != nil {
		return tui.Screen{}, err
	}
	s := tui.Screen{Title: "Agents", Intro: "Start one with `@agent-NAME` or by asking for it. Files: `.claude/agents/NAME.md` here or in your home.", Empty: "There are no agents here."}
	for _, a := range list.Agents {
		s.Rows = append(s.Rows, tui.Row{
			Label: a.Name, Detail: firstLine(a.Description), Right: a.Model, Section: a.Scope,
			Preview: func(context.Context) string { return "**" + a.Name + "**\n\n" + a.Description + "\n\n" + a.File },
			Actions: editAction(a.File),
		})
	}
	s.Intro += problems(list.Problems)
	return s, nil
}

func problems(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "\n\nWrong:\n- " + strings.Join(list, "\n- ")
}

func editAction(file string) []tui.Action {
	if file == "" {
		return nil
	}
	return []tui.Action{{Key: "enter", Name: "edit", Do: func(context.Context, string) (tui.Result, error) { return tui.Result{Edit: file}, nil }}}
}

func (t *terminal) skillScreen(context.Context) (tui.Screen, error) {
	list, err := wiring.ListSkills(*t.w)
	if err != nil {
		return tui.Screen{}, err
	}
	s := tui.Screen{Title: "Skills and commands", Empty: "There are no skills and no custom commands here."}
	for _, k := range list.Skills {
		name := k.Name
		if k.ForUser {
			name = "/" + name
		}
		s.Rows = append(s.Rows, tui.Row{
			Label: name, Detail: firstLine(k.Description), Right: k.Scope, Section: k.Kind + "s",
			Preview: func(context.Context) string {
				return "**" + k.Name + "** " + k.Hint + "\n\n" + k.Description + "\n\n" + k.File
			},
			Actions: append([]tui.Action{{Key: "enter", Name: "use", Do: func(context.Context, string) (tui.Result, error) {
				return tui.Result{Insert: "/" + k.Name + " ", Close: true}, nil
			}}}, tui.Action{Key: "e", Name: "edit", Do: func(context.Context, string) (tui.Result, error) { return tui.Result{Edit: k.File}, nil }}),
		})
	}
	s.Intro = strings.TrimSpace(problems(list.Problems))
	return s, nil
}

func (t *terminal) hookScreen(context.Context) (tui.Screen, error) {
	book, err := wiring.OpenHooks(*t.w)
	if err != nil {
		return tui.Screen{}, err
	}
	s := tui.Screen{Title: "Hooks", Empty: "There are no hooks. Settings of the key `hooks` add them; docs/hooks.md shows how."}
	for _, h := range book.List() {
		mark := tui.On
		if h.Off != "" {
			mark = tui.Off
		}
		s.Rows = append(s.Rows, tui.Row{
			Label: strings.TrimSpace(h.Matcher + " " + h.If), Detail: firstLine(h.Runs), Right: h.Scope, Section: h.Event, Mark: mark,
			Preview: func(context.Context) string {
				text := fmt.Sprintf("**%s** %s\n\n```\n%s\n```\n%s:%d", h.Event, h.Matcher, h.Runs, h.File, h.Line)
				if h.Off != "" {
					text += "\n\nIt does not run: " + h.Off
				}
				return text
			},
			Actions: editAction(h.File),
		})
	}
	return s, book.Close()
}

func (t *terminal) pluginScreen(context.Context) (tui.Screen, error) {
	s := tui.Screen{Title: "Plugins", Empty: "There are no plugins. `hew plugin install NAME@MARKETPLACE` adds one."}
	for _, p := range t.conv().Plugins() {
		s.Rows = append(s.Rows, tui.Row{Label: p.Name, Detail: p.Source, Right: p.Version, Mark: tui.On, Preview: func(context.Context) string { return "**" + p.Name + "** " + p.Version + "\n\n" + p.Path }})
	}
	return s, nil
}

func (t *terminal) memoryScreen(context.Context) (tui.Screen, error) {
	list, err := wiring.ListMemory(*t.w)
	if err != nil {
		return tui.Screen{}, err
	}
	s := tui.Screen{Title: "Memory", Intro: "Instructions that stand before every conversation. A prompt that begins with # adds a line.", Empty: "No file of instructions is in use here."}
	for _, m := range list {
		mark := tui.On
		if m.State != "loaded" {
			mark = tui.Off
		}
		s.Rows = append(s.Rows, tui.Row{Label: m.Path, Detail: m.Why, Right: string(m.Scope), Mark: mark, Actions: editAction(m.Path)})
	}
	for _, p := range t.conv().MemoryPlaces() {
		if !p.Exists {
			s.Rows = append(s.Rows, tui.Row{Label: p.Path, Detail: "is not there yet", Right: string(p.Scope), Mark: tui.Off, Actions: editAction(p.Path)})
		}
	}
	return s, nil
}

func (t *terminal) helpScreen(context.Context) (tui.Screen, error) {
	var keys strings.Builder
	keys.WriteString(tui.KeyHelp())
	commands := tui.Screen{Title: "Commands"}
	for _, c := range t.commandRows() {
		label := strings.TrimSpace("/" + c.Name + " " + c.Hint)
		commands.Rows = append(commands.Rows, tui.Row{Label: label, Detail: c.About, Actions: []tui.Action{{
			Key: "enter", Name: "use", Do: func(context.Context, string) (tui.Result, error) {
				return tui.Result{Insert: "/" + c.Name + " ", Close: true}, nil
			},
		}}})
	}
	return tui.Screen{Title: "Help", Tabs: []tui.Screen{{Title: "Keys", Text: keys.String()}, commands}}, nil
}

// commandRows are all commands that can be used here, by name.
func (t *terminal) commandRows() []slash.Command {
	rows := map[string]slash.Command{}
	for _, c := range t.conv().Commands.List() {
		rows[c.Name] = c
	}
	for _, s := range t.screens() {
		rows[s.Name] = slash.Command{Name: s.Name, Aliases: s.Aliases, Hint: s.Hint, About: s.About}
	}
	var out []slash.Command
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		out = append(out, rows[name])
	}
	return out
}

func (t *terminal) taskScreen(context.Context) (tui.Screen, error) {
	s := tui.Screen{Title: "Background work", Empty: "Nothing runs in the background."}
	for _, k := range t.conv().Work() {
		mark, actions := tui.NoMark, []tui.Action{{Key: "enter", Name: "output", Do: func(context.Context, string) (tui.Result, error) {
			text, total, err := t.conv().TaskOutput(k.ID, 64<<10)
			if err != nil {
				return tui.Result{}, err
			}
			return tui.Result{Next: &tui.Screen{Title: fmt.Sprintf("%s (%d bytes)", k.Title, total), Text: "```\n" + text + "\n```"}}, nil
		}}}
		if k.Running {
			mark = tui.Current
			actions = append(actions, tui.Action{Key: "x", Name: "stop", Do: func(context.Context, string) (tui.Result, error) {
				return tui.Result{Say: "stopped " + k.ID}, t.conv().StopTask(k.ID)
			}})
		}
		s.Rows = append(s.Rows, tui.Row{Label: firstLine(k.Title), Detail: k.Status, Right: k.ID, Mark: mark, Actions: actions})
	}
	return s, nil
}

func (t *terminal) serverScreen(_ context.Context, args string) (*tui.Screen, tui.Result, error) {
	if args != "" {
		return nil, tui.Result{}, nil // as elsewhere
	}
	s, err := t.servers()
	return s, tui.Result{}, err
}

func (t *terminal) servers() (*tui.Screen, error) {
	s := &tui.Screen{Title: "MCP servers", Empty: "There are no MCP servers. `hew mcp add NAME URL` or `hew mcp add NAME -- COMMAND` adds one."}
	s.Reload = func(context.Context) (tui.Screen, error) {
		n, err := t.servers()
		return *n, err
	}
	c := t.conv()
	for _, v := range c.ServerStates() {
		mark := map[string]tui.Mark{"connected": tui.On, "failed": tui.Bad, "disabled": tui.Off, "needs-auth": tui.Warn}[v.State]
		var tools []string
		for _, k := range v.Tools {
			tools = append(tools, "- `"+k.Name+"` "+firstLine(k.Description))
		}
		acts := []tui.Action{
			{Key: "enter", Name: "connect anew", Do: func(context.Context, string) (tui.Result, error) {
				return tui.Result{Say: "connecting " + v.Name}, c.ReconnectServer(v.Name)
			}},
			{Key: "d", Name: "switch off", Do: func(context.Context, string) (tui.Result, error) {
				return tui.Result{Say: v.Name + " is switched off"}, c.SwitchOff(v.Name)
			}},
			{Key: "e", Name: "switch on", Do: func(context.Context, string) (tui.Result, error) {
				return tui.Result{Say: v.Name + " is switched on"}, c.SwitchOn(v.Name)
			}},
		}
		s.Rows = append(s.Rows, tui.Row{
			Label: v.Name, Detail: strings.TrimSpace(v.State + " " + v.Detail), Right: v.Scope, Mark: mark, Actions: acts,
			Preview: func(context.Context) string {
				return "**" + v.Name + "** · " + v.Entry.Runs() + "\n\n" + strings.Join(tools, "\n")
			},
		})
	}
	return s, nil
}

func (t *terminal) modelScreen(_ context.Context, args string) (*tui.Screen, tui.Result, error) {
	if args != "" {
		return nil, tui.Result{}, nil // as elsewhere
	}
	now := t.conv().Engine.Model().ID
	s := &tui.Screen{Title: "Model", Intro: "The prompt cache is of no use to another model. `/model NAME` takes any name, also `provider/name`."}
	own, err := wiring.OwnModels(*t.w)
	if err != nil {
		return nil, tui.Result{}, err
	}
	seen := false
	for _, m := range slices.Concat(wiring.Models(t.e.getenv), own) {
		row := tui.Row{
			Label: m.ID, Detail: strings.Join(m.Aliases, ", "), Right: fmt.Sprintf("%dk · $%g/$%g", m.Window/1000, m.Price.Input, m.Price.Output),
			Actions: []tui.Action{{Key: "enter", Name: "use", Do: func(context.Context, string) (tui.Result, error) {
				return tui.Result{Submit: "/model " + m.ID, Close: true}, nil
			}}},
		}
		if m.ID == now {
			row.Mark, s.Chosen, seen = tui.Current, len(s.Rows), true
		}
		s.Rows = append(s.Rows, row)
	}
	if !seen {
		s.Rows = append([]tui.Row{{Label: now, Detail: "in use", Mark: tui.Current}}, s.Rows...)
	}
	return s, tui.Result{}, nil
}

func (t *terminal) ruleScreen(_ context.Context, args string) (*tui.Screen, tui.Result, error) {
	if args != "" {
		return nil, tui.Result{}, nil // as elsewhere
	}
	s, err := t.rules(context.Background())
	return &s, tui.Result{}, err
}

// rules are the permission rules as three tabs.
func (t *terminal) rules(context.Context) (tui.Screen, error) {
	s := tui.Screen{Title: "Permissions", Reload: t.rules}
	all := t.conv().Rules()
	for _, behavior := range []string{"allow", "ask", "deny"} {
		tab := tui.Screen{Title: strings.ToUpper(behavior[:1]) + behavior[1:], Empty: "No rules. Press a to add one."}
		for _, r := range all {
			if r.Behavior != behavior {
				continue
			}
			tab.Rows = append(tab.Rows, tui.Row{Label: r.Rule, Detail: r.Source, Actions: []tui.Action{{
				Key: "d", Name: "delete", Confirm: "Remove the rule " + r.Rule + " from " + r.Source + "?",
				Do: func(ctx context.Context, _ string) (tui.Result, error) {
					return tui.Result{Say: "removed " + r.Rule}, t.conv().RemoveRule(ctx, r)
				},
			}}})
		}
		tab.Actions = []tui.Action{{
			Key: "a", Name: "add", Input: "Rule, such as Bash(go test *) or Edit(src/**); it goes into the local settings of this project",
			Do: func(_ context.Context, text string) (tui.Result, error) {
				return tui.Result{Submit: "/permissions " + behavior + " " + strings.TrimSpace(text)}, nil
			},
		}}
		s.Tabs = append(s.Tabs, tab)
	}
	return s, nil
}

func (t *terminal) contextScreen(_ context.Context, args string) (*tui.Screen, tui.Result, error) {
	r := t.conv().Context()
	s := &tui.Screen{Title: "Context", Text: r.Markdown(args)}
	for _, src := range r.Sources {
		s.Meter = append(s.Meter, dialog.Share{Name: strings.ReplaceAll(src.Name, "_", " "), Tokens: src.Tokens})
	}
	s.Whole = r.Window
	return s, tui.Result{}, nil
}
