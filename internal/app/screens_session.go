package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/surface/tui"
	"github.com/hew-agent/hew/internal/wiring"
)

func (t *terminal) sessions() (*wiring.Sessions, error) {
	return wiring.OpenSessions(wiring.Options{Version: Version(), Environ: t.e.Environ, Cwd: t.e.Dir, Sources: t.w.Sources, Settings: t.w.Settings, Notice: t.w.Notice})
}

// resumeScreen is the picker of past sessions, or goes straight to the one that is named.
func (t *terminal) resumeScreen(ctx context.Context, name string) (*tui.Screen, tui.Result, error) {
	k, err := t.sessions()
	if err != nil {
		return nil, tui.Result{}, err
	}
	if name != "" {
		sum, err := k.Store.Resolve(name)
		return nil, tui.Result{Switch: sum.ID}, err
	}
	s := tui.Screen{Title: "Sessions"}
	here, err := k.Store.List()
	if err != nil {
		return nil, tui.Result{}, err
	}
	all, err := session.ListAll(k.Home)
	if err != nil {
		return nil, tui.Result{}, err
	}
	s.Tabs = []tui.Screen{t.pastSessions("This folder", k, here), t.pastSessions("All", k, all)}
	s.Reload = func(ctx context.Context) (tui.Screen, error) {
		n, _, err := t.resumeScreen(ctx, "")
		if err != nil {
			return s, err
		}
		return *n, nil
	}
	return &s, tui.Result{}, nil
}

func (t *terminal) pastSessions(title string, k *wiring.Sessions, list []session.Summary) tui.Screen {
	s := tui.Screen{Title: title, Empty: "There are no sessions."}
	for _, sum := range list {
		if sum.ID == t.conv().Engine.Session() {
			continue
		}
		detail := sum.LastPrompt
		if sum.Problem != "" {
			detail = "cannot be read: " + sum.Problem
		}
		s.Rows = append(s.Rows, tui.Row{
			Label: titleOf(sum), Detail: firstLine(detail), Right: age(time.Since(sum.Modified)),
			Preview: func(ctx context.Context) string { return t.sessionPreview(sum) },
			Actions: []tui.Action{
				{Key: "enter", Name: "resume", Do: func(context.Context, string) (tui.Result, error) { return tui.Result{Switch: sum.ID}, nil }},
				{Key: "ctrl+f", Name: "fork", Do: func(context.Context, string) (tui.Result, error) {
					id := session.NewID()
					err := (session.Store{Home: k.Home, Project: sum.Store.Project}).Fork(sum.Path, id)
					return tui.Result{Switch: id}, err
				}},
				{Key: "ctrl+r", Name: "rename", Input: "Title", Value: sum.Title, Do: func(_ context.Context, text string) (tui.Result, error) {
					return tui.Result{Say: "renamed"}, sum.Rename(session.CleanTitle(text))
				}},
				{Key: "ctrl+d", Name: "delete", Confirm: "Delete this session and its transcript for good?", Do: func(context.Context, string) (tui.Result, error) {
					all, err := session.ListAll(k.Home)
					if err != nil {
						return tui.Result{}, err
					}
					return tui.Result{Say: "deleted"}, session.Remove(sum, all)
				}},
			},
		})
	}
	return s
}

// sessionPreview is the end of a conversation.
func (t *terminal) sessionPreview(sum session.Summary) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s · %s · %s\n\n", sum.Modified.Local().Format("2006-01-02 15:04"), sum.Cwd, size(sum.Size))
	c, _, err := session.Load(sum.Path)
	if err != nil {
		return b.String() + err.Error()
	}
	from := max(0, len(c.Messages)-8)
	for _, m := range c.Messages[from:] {
		text := strings.TrimSpace(m.Text())
		if m.Meta || text == "" {
			continue
		}
		if m.Role == msg.RoleUser {
			text = "**❯ " + plain.Cut(firstLine(text), 400) + "**"
		}
		b.WriteString(plain.Cut(text, 1500) + "\n\n")
	}
	return b.String()
}

func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%d kB", n>>10)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// age is how long ago something was, in one unit.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// rewindScreen lists the prompts that one can go back to, newest first.
func (t *terminal) rewindScreen(context.Context) (tui.Screen, error) {
	s := tui.Screen{Title: "Rewind", Intro: "Go back to before a prompt.", Empty: "There is no prompt to go back to."}
	for _, m := range t.conv().Engine.View().History {
		if m.Role != msg.RoleUser || m.Meta || strings.TrimSpace(m.Text()) == "" {
			continue
		}
		label := firstLine(m.Text())
		s.Rows = append([]tui.Row{{
			Label: label, Right: age(time.Since(m.Time)),
			Preview: func(ctx context.Context) string { return t.rewindPreview(ctx, m) },
			Actions: []tui.Action{
				{Key: "enter", Name: "files and conversation", Do: t.rewinds(m, true, true)},
				{Key: "c", Name: "conversation only", Do: t.rewinds(m, false, true)},
				{Key: "f", Name: "files only", Do: t.rewinds(m, true, false)},
			},
		}}, s.Rows...)
	}
	return s, nil
}

func (t *terminal) rewindPreview(ctx context.Context, m *msg.Message) string {
	text := "**❯ " + plain.Cut(m.Text(), 600) + "**\n\n"
	out, err := t.conv().Engine.Rewind(ctx, engine.Rewind{To: m.ID, Files: true, Preview: true})
	if err != nil {
		return text + "Files: " + err.Error()
	}
	var b strings.Builder
	printPlan(&b, wiring.RewindResult{Plan: out.Plan, Cwd: t.conv().Engine.Place().Cwd})
	return text + "```\n" + b.String() + "```"
}

func (t *terminal) rewinds(m *msg.Message, files, conversation bool) func(context.Context, string) (tui.Result, error) {
	return func(context.Context, string) (tui.Result, error) {
		return tui.Result{Close: true, Rest: func(ctx context.Context) (tui.Result, error) {
			out, err := t.conv().Engine.Rewind(ctx, engine.Rewind{To: m.ID, Files: files, Conversation: conversation})
			if err != nil {
				return tui.Result{}, err
			}
			r := tui.Result{Anew: conversation}
			var b strings.Builder
			if out.Report != nil {
				printReport(&b, wiring.RewindResult{Files: out.Report, Cwd: t.conv().Engine.Place().Cwd})
			}
			if conversation {
				b.WriteString("The conversation ends before this prompt now; what came later stays in the transcript.")
				r.Insert = m.Text()
			}
			r.Say = strings.TrimSpace(b.String())
			return r, nil
		}}, nil
	}
}

func (t *terminal) forkSession(context.Context, string) (*tui.Screen, tui.Result, error) {
	k, err := t.sessions()
	if err != nil {
		return nil, tui.Result{}, err
	}
	c := t.conv()
	if c.Transcript == "" {
		return nil, tui.Result{}, errors.New("this session is not kept, so it cannot be forked")
	}
	id := session.NewID()
	err = (session.Store{Home: k.Home, Project: k.Store.Project}).Fork(c.Transcript, id)
	return nil, tui.Result{Switch: id, Say: "this is a copy now; the session before is " + c.Engine.Session()}, err
}

func (t *terminal) rename(_ context.Context, title string) (*tui.Screen, tui.Result, error) {
	if title == "" {
		return nil, tui.Result{}, errors.New("name it: /rename TITLE")
	}
	return nil, tui.Result{Say: "the session is called " + title}, t.conv().Rename(title)
}

// exportFile writes the transcript as Markdown.
func (t *terminal) exportFile(_ context.Context, name string) (*tui.Screen, tui.Result, error) {
	k, err := t.sessions()
	if err != nil {
		return nil, tui.Result{}, err
	}
	id := t.conv().Engine.Session()
	sum, err := k.Store.Find(id)
	if err != nil {
		return nil, tui.Result{}, err
	}
	if name == "" {
		name = "session-" + id[:8] + ".md"
	}
	path, err := fsys.Abs(t.conv().Engine.Place().Cwd, name)
	if err != nil {
		return nil, tui.Result{}, err
	}
	quiet := t.e
	quiet.Stderr = io.Discard
	make := markdownExport
	switch filepath.Ext(path) {
	case ".html":
		make = htmlExport
	case ".json":
		make = jsonExport
	}
	if err := quiet.exportFile(path, sum, make); err != nil {
		return nil, tui.Result{}, err
	}
	return nil, tui.Result{Say: "written: " + path}, nil
}

func (t *terminal) copyReply(context.Context, string) (*tui.Screen, tui.Result, error) {
	h := t.conv().Engine.View().History
	for i := len(h) - 1; i >= 0; i-- {
		if text := h[i].Text(); h[i].Role == msg.RoleAssistant && text != "" {
			return nil, tui.Result{Copy: text, Say: "copied the last reply"}, nil
		}
	}
	return nil, tui.Result{}, errors.New("there is no reply to copy")
}
