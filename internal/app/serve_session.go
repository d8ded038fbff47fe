package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/state/trust"
	"github.com/hew-agent/hew/internal/surface/streamjson"
	"github.com/hew-agent/hew/internal/surface/view"
	"github.com/hew-agent/hew/internal/surface/web"
	"github.com/hew-agent/hew/internal/wiring"
)

// served opens the sessions of hew serve. Each is a stream-json surface whose
// lines go to the clients.
type served struct {
	r     *headless
	w     *wiring.Options
	audit *audit
}

// note keeps an act of a client; that it cannot be kept is told once.
func (v *served) note(a web.Act) {
	if err := v.audit.write(a); err != nil {
		v.r.warn(err.Error())
	}
}

// early keeps what a conversation has to say before it is open.
type early struct {
	mu   sync.Mutex
	told []string
	tell func(text string) // nil as long as it is not
}

func (n *early) notice(text string) {
	n.mu.Lock()
	tell := n.tell
	if tell == nil {
		n.told = append(n.told, text)
	}
	n.mu.Unlock()
	if tell != nil {
		tell(text)
	}
}

func (n *early) open(tell func(string)) {
	n.mu.Lock()
	told := n.told
	n.tell, n.told = tell, nil
	n.mu.Unlock()
	for _, t := range told {
		tell(t)
	}
}

func (v *served) open(ctx context.Context, q web.Request, out web.Outlet) (*web.Live, error) {
	host := streamjson.NewHost(session.NewID, v.r.patience())
	notices := &early{}
	w := *v.w
	w.Cwd, w.Resume, w.SessionID = q.Cwd, q.Resume, q.ID
	w.Asker, w.Forms, w.Interactive, w.Notice = host, host, true, notices.notice
	if q.Name != "" {
		w.Name = q.Name
	}
	if q.Model != "" {
		w.Model = q.Model
	}
	if q.Permission != "" {
		w.Mode = q.Permission
	}
	if q.Trusted {
		w.Consent = trust.ConsentAll
	}
	surface := streamjson.New(streamjson.Config{
		Out: out.Lines, Format: streamjson.StreamJSON, Partial: true, Verbose: true, Replay: true, Hooks: true, States: true,
		Host: host, Now: time.Now, NewID: session.NewID, Heard: out.Heard,
	})
	w.HookStarted = surface.HookStarted
	s := &sdk{r: v.r, host: host, w: &w, began: time.Now(), patience: wiring.Endless}
	ctx, cancel := context.WithCancel(ctx)
	live, err := s.open(ctx, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	live.Controls["list_commands"] = control(streamjson.InTurn, s.listCommands)
	live.Controls["list_settings"] = control(streamjson.BetweenRuns, s.listSettings)
	live.Controls["rewind"] = control(streamjson.BetweenRuns, s.takeBack)
	notices.open(func(text string) {
		surface.Tell(event.Notice{Level: event.Warning, Code: "notice", Text: text})
	})
	feed, ended := surface.Feed(), make(chan struct{})
	go func() {
		defer close(ended)
		if err := surface.Serve(ctx, live, feed); err != nil && ctx.Err() == nil {
			v.r.warn("session " + s.conv.Engine.Session() + ": " + err.Error())
		}
	}()
	e := s.conv.Engine
	return &web.Live{
		ID: e.Session, Say: feed.Line, Ended: ended,
		Facts: func() web.Facts {
			m := e.Model()
			return web.Facts{Mode: e.Mode(), Model: m.ID, Window: m.Window, CostUSD: e.Costs().CostUSD}
		},
		Outline: func(u *msg.ToolUse) view.Outline {
			o := e.Outline(u)
			return view.Outline{Title: o.Title, Act: o.Act, Preview: o.Preview}
		},
		Close: func() error {
			cancel()
			feed.Close()
			<-ended
			return s.close()
		},
	}, nil
}

// folder says what a folder asks for.
func (v *served) folder(cwd string) (web.Folder, error) {
	f, err := wiring.ReadFolder(v.options(cwd))
	if err != nil {
		return web.Folder{}, err
	}
	out := web.Folder{Key: f.Key}
	if v.w.Consent != trust.ConsentNone {
		return out, nil
	}
	for _, it := range f.Skipped(nil) {
		out.Open = true
		out.Items = append(out.Items, web.Item{Kind: string(it.Kind), Name: it.Name, File: it.File, Detail: it.Text})
	}
	return out, nil
}

func (v *served) accept(ctx context.Context, cwd string) error {
	_, err := wiring.AcceptFolder(ctx, v.options(cwd))
	return err
}

func (v *served) options(cwd string) wiring.Options {
	return wiring.Options{Environ: v.r.e.Environ, Cwd: cwd, Sources: v.w.Sources, Settings: v.w.Settings}
}

func (s *sdk) listCommands(context.Context, nothing) (any, error) {
	return map[string]any{"commands": rowsOf(s.conv.Commands.List())}, nil
}

// listSettings is each setting in force with where it comes from.
func (s *sdk) listSettings(context.Context, nothing) (any, error) {
	type row struct {
		Key    string          `json:"key"`
		Value  json.RawMessage `json:"value"`
		Origin string          `json:"origin"`
		File   string          `json:"file,omitempty"`
		Line   int             `json:"line,omitempty"`
	}
	rows, files := []row{}, []map[string]string{}
	list, read := s.conv.SettingsWithOrigin()
	for _, l := range list {
		if l.Key == "env" {
			l.Value = hidden(l.Value)
		}
		rows = append(rows, row{l.Key, l.Value, l.Origin.Scope.String(), l.Origin.File, l.Origin.Line})
	}
	for _, f := range read {
		files = append(files, map[string]string{"scope": f.Scope.String(), "path": f.Path})
	}
	return map[string]any{"settings": rows, "files": files}, nil
}

// hidden is an object without its values: variables are often secrets.
func hidden(raw json.RawMessage) json.RawMessage {
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil {
		return raw
	}
	for k := range m {
		m[k] = "…"
	}
	return msg.Encode(m)
}

// takeBack undoes a prompt and what came after it.
func (s *sdk) takeBack(ctx context.Context, in struct {
	To           string `json:"to"`
	Files        bool   `json:"files"`
	Conversation bool   `json:"conversation"`
	Preview      bool   `json:"preview"`
},
) (any, error) {
	if !in.Files && !in.Conversation {
		return nil, errors.New("say what to take back: files, conversation or both")
	}
	done, err := s.conv.Engine.Rewind(ctx, engine.Rewind{To: in.To, Files: in.Files, Conversation: in.Conversation, Preview: in.Preview})
	if err != nil {
		return nil, err
	}
	out := map[string]any{"conversation": in.Conversation && !in.Preview}
	if done.Plan != nil && in.Files {
		out["plan"] = done.Plan
	}
	if done.Report != nil {
		out["files"] = done.Report
	}
	return out, nil
}

// audit appends what clients of a server did to a file, a JSON object a line.
type audit struct {
	home string // the configuration home
	mu   sync.Mutex
}

func (a *audit) write(act web.Act) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	path := filepath.Join(a.home, "hew", "serve.log")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("the audit log: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("the audit log: %w", err)
	}
	return errors.Join(json.NewEncoder(f).Encode(act), f.Close())
}
