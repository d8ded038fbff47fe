package app

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/state/server"
	"github.com/hew-agent/hew/internal/state/trust"
	"github.com/hew-agent/hew/internal/surface/tui"
	"github.com/hew-agent/hew/internal/surface/tui/dialog"
	"github.com/hew-agent/hew/internal/surface/tui/paint"
	"github.com/hew-agent/hew/internal/wiring"
)

// gates are the dialogs before the conversation: a first start, what the folder
// would run, and the servers that it asks for.
func (t *terminal) gates() []tui.Gate {
	var out []tui.Gate
	var ask *dialog.Trust
	if t.w.Consent != trust.ConsentAll {
		if v := t.ground.Trust; v.State == trust.Unknown || v.State == trust.Changed { // what else is wrong is said when the session opens
			ask = t.trustDialog(v)
		}
	}
	switch {
	case t.firstStart():
		out = append(out, t.firstRun(ask))
	case ask != nil:
		out = append(out, tui.Gate{Widget: ask, Done: func() error { return t.trusted(ask.Choice()) }})
	}
	return append(out, tui.Gate{Later: t.approvals})
}

// quiet are the options for a look before the dialogs: what they are about to
// ask need not be remarked on, too.
func (t *terminal) quiet() *wiring.Options {
	w := *t.w
	w.Notice = func(string) {}
	return &w
}

// firstStart tells of a home in which nothing was ever chosen and no model can be
// reached by.
func (t *terminal) firstStart() bool {
	if strings.HasPrefix(t.o.Model, "script:") || t.o.Bare {
		return false
	}
	if _, err := os.Stat(filepath.Join(t.ground.Home, "settings.json")); err == nil {
		return false
	}
	st, err := wiring.Credential(*t.quiet())
	return err == nil && !st.LoggedIn
}

// firstRun leads through access, theme and trust, and keeps what was chosen.
func (t *terminal) firstRun(ask *dialog.Trust) tui.Gate {
	w := dialog.NewFirstRun(dialog.FirstRunConfig{Themes: slices.Concat([]string{"auto"}, paint.Themes()), Trust: ask}, dialog.Options{Now: time.Now})
	return tui.Gate{Widget: w, Done: func() error {
		if w.Left() {
			return tui.ErrLeft
		}
		s := w.Setup()
		keep := map[string]string{}
		if s.Key != "" {
			keep["ANTHROPIC_API_KEY"] = s.Key
		}
		if s.Address != "" {
			keep["ANTHROPIC_BASE_URL"] = s.Address
		}
		if err := wiring.KeepSetup(context.Background(), *t.quiet(), s.Theme, keep); err != nil {
			return err
		}
		if ask == nil {
			return nil
		}
		return t.trusted(s.Trust)
	}}
}

// trustDialog asks about what the folder brings.
func (t *terminal) trustDialog(v trust.Verdict) *dialog.Trust {
	var list []dialog.Group
	for _, it := range v.Items {
		i := slices.IndexFunc(list, func(g dialog.Group) bool { return g.Name == string(it.Kind) })
		if i < 0 {
			i, list = len(list), append(list, dialog.Group{Name: string(it.Kind)})
		}
		list[i].Items = append(list[i].Items, it.Name+": "+it.Text)
	}
	return dialog.NewTrust(v.Key, list, dialog.Options{Now: time.Now})
}

func (t *terminal) trusted(c dialog.TrustChoice) error {
	switch c {
	case dialog.Yes:
		_, err := wiring.AcceptFolder(context.Background(), *t.quiet())
		return err
	case dialog.NoGoOn:
		return nil
	case dialog.Exit:
	}
	return tui.ErrLeft
}

// approvals are the servers of the project that nobody has agreed to or refused.
func (t *terminal) approvals() []tui.Gate {
	k, err := wiring.OpenServers(*t.quiet())
	if err != nil {
		return nil // said when the session opens
	}
	defer func() { _ = k.Close() }() // nothing was started
	var out []tui.Gate
	all := false
	for _, f := range k.List() {
		if f.Choice != server.Waits {
			continue
		}
		w := dialog.NewApproval(serverShown(f), dialog.Options{Now: time.Now})
		out = append(out, tui.Gate{Widget: w, Skip: func() bool { return all }, Done: func() error {
			if all || w.Done() && w.Choice() != dialog.LeaveServer {
				all = all || w.Choice() == dialog.UseAll
				return k.Approve(context.Background(), f)
			}
			return k.Reject(context.Background(), f)
		}})
	}
	return out
}

func serverShown(f server.Found) dialog.Server {
	return dialog.Server{Name: f.Entry.Name, Command: f.Entry.Runs(), Env: slices.Sorted(maps.Keys(f.Entry.Env)), File: f.Entry.File}
}
