package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/surface/acp"
	"github.com/hew-agent/hew/internal/wiring"
)

// serveACP makes hew an agent of the Agent Client Protocol on standard input and output.
func serveACP(e Env, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.Prompt != "" || o.Resume != "" || o.Continue {
		return &usageError{"hew acp takes options such as --model, --permission-mode and --allowedTools; prompts and sessions come from the editor"}
	}
	secure()
	ctx, stop := signals(context.Background())
	defer stop()
	tr, err := openTrace(o.Trace)
	if err != nil {
		return err
	}
	defer tr.close()
	r := &headless{e: e, o: o, trace: tr}
	w, err := r.wiring(nil)
	if err != nil {
		return err
	}
	first := make(chan string, 1)
	first <- w.SessionID
	w.Entrypoint, w.Defers, w.Lends = "acp", false, true
	s := &editors{e: e, w: w, first: first}
	err = acp.Serve(ctx, acp.Config{
		In: e.Stdin, Out: e.Stdout, Version: Version(), Open: s.open, List: s.list, Remove: s.remove, Warn: r.warn, Abandoned: e.abandoned,
		Patience: r.patience(), Now: time.Now, NewID: session.NewID,
	})
	return r.ended(ctx, err)
}

// editors opens the sessions of an editor.
type editors struct {
	e Env
	w *wiring.Options
	// first holds the id of the first new session, "" for any.
	first chan string
}

func (s *editors) open(ctx context.Context, q acp.Request) (*acp.Live, error) {
	w := *s.w
	w.Cwd, w.Resume, w.SessionID = q.Cwd, q.Resume, ""
	if q.Resume == "" {
		select {
		case w.SessionID = <-s.first:
		default:
		}
	}
	w.AddDirs = slices.Concat(w.AddDirs, q.Directories)
	if q.Servers != "" {
		w.Servers = append(slices.Clone(w.Servers), q.Servers)
	}
	w.Asker, w.Forms, w.Interactive = q.Editor, q.Editor, true
	conv, err := s.await(ctx, &w)
	var none *wiring.NoSession
	if errors.As(err, &none) {
		return nil, fmt.Errorf("%w: %w", acp.ErrNoSession, err)
	}
	if err != nil {
		return nil, err
	}
	return &acp.Live{
		Engine: conv.Engine, Commands: conv.Commands, Ready: conv.Ready, Close: conv.Close,
		Next:  func(ctx context.Context) *msg.Message { return conv.Next(ctx, wiring.Endless) },
		Modes: s.modes(), Models: choices(),
	}, nil
}

// An editor that starts its agent anew does not wait for the old one, which may
// hold the session a moment longer.
const (
	successor = 5 * time.Second
	lookAgain = 50 * time.Millisecond
)

// await opens a session as soon as the process before this one has let it go.
func (s *editors) await(ctx context.Context, w *wiring.Options) (*wiring.Conversation, error) {
	for waited := time.Duration(0); ; waited += lookAgain {
		conv, err := wiring.Open(ctx, w)
		var busy *session.Busy
		if !errors.As(err, &busy) || waited >= successor || w.Sleep(ctx, lookAgain) != nil {
			return conv, err
		}
	}
}

// modes are the permission modes that a person may choose; all may be left out
// by the one who starts hew, and the last must be allowed.
func (s *editors) modes() []acp.Mode {
	out := []acp.Mode{
		{ID: "default", Name: "Default", About: "ask before edits and commands that no rule allows"},
		{ID: "acceptEdits", Name: "Accept edits", About: "edit files in the working directories without asking"},
		{ID: "plan", Name: "Plan", About: "look, and make a plan, but change nothing"},
	}
	if s.w.AllowSkip || s.w.SkipPermissions {
		out = append(out, acp.Mode{ID: "bypassPermissions", Name: "Bypass permissions", About: "ask for nothing"})
	}
	return out
}

func choices() []acp.Choice {
	var out []acp.Choice
	for _, m := range provider.Models() {
		out = append(out, acp.Choice{Value: m.ID, Name: m.ID, About: fmt.Sprintf("window %d tokens, replies up to %d", m.Window, m.MaxOutput)})
	}
	return out
}

// sessions finds the sessions of a folder.
func (s *editors) sessions(cwd string) (*wiring.Sessions, error) {
	if cwd == "" {
		cwd = s.e.Dir
	}
	return wiring.OpenSessions(wiring.Options{Version: Version(), Environ: s.e.Environ, Cwd: cwd, Sources: s.w.Sources, Settings: s.w.Settings, Notice: s.w.Notice})
}

func (s *editors) list(cwd string) ([]acp.Past, error) {
	k, err := s.sessions(cwd)
	if err != nil {
		return nil, err
	}
	all, err := session.ListAll(k.Home)
	if err != nil {
		return nil, err
	}
	var out []acp.Past
	for _, p := range all {
		if p.Problem != "" || p.Cwd == "" || cwd != "" && p.Cwd != k.Cwd {
			continue
		}
		title := p.Title
		for _, t := range []string{p.FirstPrompt, p.LastPrompt} {
			if title == "" {
				title = t
			}
		}
		out = append(out, acp.Past{ID: p.ID, Cwd: p.Cwd, Title: title, Updated: p.Modified})
	}
	return out, nil
}

func (s *editors) remove(id string) error {
	k, err := s.sessions("")
	if err != nil {
		return err
	}
	if !session.ValidID(id) {
		return acp.ErrNoSession
	}
	sum, err := k.Store.Find(id)
	if errors.Is(err, fs.ErrNotExist) {
		return acp.ErrNoSession
	}
	if err != nil {
		return err
	}
	all, err := session.ListAll(k.Home)
	if err != nil {
		return err
	}
	return session.Remove(sum, all)
}
