package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hew-agent/hew/internal/state/settings"
	"github.com/hew-agent/hew/internal/surface/tui"
	"github.com/hew-agent/hew/internal/surface/tui/paint"
)

// pref is a setting of the terminal: its key in the user's settings and its values.
type pref struct {
	key, about string
	values     []string
	now        func(p tui.Prefs) string
	set        func(p *tui.Prefs, value string)
}

func truth(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

// prefs is the table of /config.
func (t *terminal) prefs() []pref {
	yes := []string{"false", "true"}
	return []pref{
		{"theme", "colours", t.themes(), func(p tui.Prefs) string { return p.Theme }, func(p *tui.Prefs, v string) { p.Theme = v }},
		{
			"tui", "inline keeps the terminal's own scrollback; fullscreen uses the whole window",
			[]string{"default", "fullscreen"},
			func(p tui.Prefs) string {
				if p.Fullscreen {
					return "fullscreen"
				}
				return "default"
			},
			func(p *tui.Prefs, v string) { p.Fullscreen = v == "fullscreen" },
		},
		{
			"editorMode", "how the input is edited",
			[]string{"normal", "vim"},
			func(p tui.Prefs) string {
				if p.Vim {
					return "vim"
				}
				return "normal"
			},
			func(p *tui.Prefs, v string) { p.Vim = v == "vim" },
		},
		{"verbose", "show results and thoughts whole", yes, func(p tui.Prefs) string { return truth(p.Verbose) }, func(p *tui.Prefs, v string) { p.Verbose = v == "true" }},
		{"prefersReducedMotion", "no moving signs", yes, func(p tui.Prefs) string { return truth(p.ReducedMotion) }, func(p *tui.Prefs, v string) { p.ReducedMotion = v == "true" }},
		{"axScreenReader", "plain lines, no cursor movement; from the next start", yes, func(p tui.Prefs) string { return truth(p.ScreenReader) }, func(*tui.Prefs, string) {}},
		{"respondToBashCommands", "the model answers to the output of ! commands", []string{"true", "false"}, func(p tui.Prefs) string { return truth(!p.QuietBash) }, func(p *tui.Prefs, v string) { p.QuietBash = v == "false" }},
		{
			"preferredNotifChannel", "how hew calls you when it waits and you look elsewhere",
			[]string{"auto", "terminal_bell", "iterm2", "kitty", "ghostty", "notifications_disabled"},
			func(p tui.Prefs) string { return p.Notify }, func(p *tui.Prefs, v string) { p.Notify = v },
		},
	}
}

// themes are the names to choose from.
func (t *terminal) themes() []string {
	return slices.Concat([]string{"auto"}, paint.Themes(), paint.Custom(t.themeFolder()))
}

// readPrefs takes the preferences from the settings in force.
func (t *terminal) readPrefs(in *settings.Settings) tui.Prefs {
	p := tui.Prefs{Theme: "auto", Notify: "auto", ScreenReader: t.e.getenv("CLAUDE_AX_SCREEN_READER") != "" || t.o.ScreenReader}
	for _, f := range t.prefs() {
		raw, ok := in.Raw(f.key)
		if !ok {
			continue
		}
		var v any
		if json.Unmarshal(raw, &v) != nil {
			continue
		}
		f.set(&p, fmt.Sprint(v))
		if f.key == "axScreenReader" && v == true {
			p.ScreenReader = true
		}
	}
	if raw, ok := in.Raw("vimInsertModeRemaps"); ok {
		_ = json.Unmarshal(raw, &p.VimRemaps) // hew config lint says what is wrong
	}
	return p
}

func (t *terminal) configScreen(context.Context) (tui.Screen, error) {
	s := tui.Screen{Title: "Config", Intro: "Written to your own settings file. `hew config lint` checks them."}
	for _, f := range t.prefs() {
		now := f.now(t.now())
		s.Rows = append(s.Rows, tui.Row{
			Label: f.key, Detail: f.about, Right: now,
			Actions: []tui.Action{{Key: "enter", Name: "change", Do: func(ctx context.Context, _ string) (tui.Result, error) {
				return t.choose(ctx, f, f.values[(slices.Index(f.values, now)+1)%len(f.values)])
			}}},
		})
	}
	return s, nil
}

// choose writes a preference into the user's settings and puts it in force.
func (t *terminal) choose(ctx context.Context, f pref, value string) (tui.Result, error) {
	var v any = value
	if value == "true" || value == "false" {
		v = value == "true"
	}
	if err := t.conv().SetPreference(ctx, f.key, v); err != nil {
		return tui.Result{}, err
	}
	p := t.now()
	f.set(&p, value)
	t.setPrefs(p)
	return tui.Result{Prefs: &p}, nil
}

func (t *terminal) themeScreen(context.Context) (tui.Screen, error) {
	s := tui.Screen{Title: "Theme"}
	f := t.prefs()[0]
	for i, name := range f.values {
		row := tui.Row{Label: name, Actions: []tui.Action{{Key: "enter", Name: "use", Do: func(ctx context.Context, _ string) (tui.Result, error) {
			r, err := t.choose(ctx, f, name)
			r.Close = true
			return r, err
		}}}}
		if name == t.now().Theme {
			row.Mark, s.Chosen = tui.Current, i
		}
		s.Rows = append(s.Rows, row)
	}
	return s, nil
}

func (t *terminal) switchTUI(ctx context.Context, arg string) (*tui.Screen, tui.Result, error) {
	f := t.prefs()[1]
	if arg == "inline" {
		arg = "default"
	}
	if arg == "" {
		arg = f.values[(slices.Index(f.values, f.now(t.now()))+1)%2]
	}
	if !slices.Contains(f.values, arg) {
		return nil, tui.Result{}, fmt.Errorf("/tui takes default, inline or fullscreen, not %q", arg)
	}
	r, err := t.choose(ctx, f, arg)
	return nil, r, err
}

func (t *terminal) statusLineScreen(context.Context) (tui.Screen, error) {
	s := tui.Screen{Title: "Status line", Intro: "A command of yours whose output stands under the input. It reads the session's facts as JSON on its standard input; `hew statusline --json` shows them."}
	effective, _ := t.conv().SettingsNow()
	var now struct{ Command string }
	_ = json.Unmarshal(effective["statusLine"], &now) // absent or wrong: nothing is set
	s.Rows = []tui.Row{{
		Label: "command", Detail: now.Command,
		Actions: []tui.Action{{Key: "enter", Name: "set", Input: "Command (empty for none)", Value: now.Command, Do: func(ctx context.Context, text string) (tui.Result, error) {
			var v any
			if text != "" {
				v = map[string]string{"type": "command", "command": text}
			}
			return tui.Result{Say: "the status line is set; it counts from the next start"}, t.conv().SetPreference(ctx, "statusLine", v)
		}}},
	}}
	return s, nil
}
