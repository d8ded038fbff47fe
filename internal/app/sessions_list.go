package app

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/wiring"
)

// sessionRow is a session for programs.
type sessionRow struct {
	ID         string    `json:"id"`
	Title      string    `json:"title,omitempty"`
	Tag        string    `json:"tag,omitempty"`
	FirstText  string    `json:"firstPrompt,omitempty"`
	LastText   string    `json:"lastPrompt,omitempty"`
	Cwd        string    `json:"cwd,omitempty"`
	Branch     string    `json:"gitBranch,omitempty"`
	Modified   time.Time `json:"modified"`
	Size       int64     `json:"size"`
	ForkOf     string    `json:"forkOf,omitempty"`
	Entrypoint string    `json:"entrypoint,omitempty"`
	Transcript string    `json:"transcript"`
	Problem    string    `json:"problem,omitempty"`
}

func rowOf(s session.Summary) sessionRow {
	return sessionRow{
		ID: s.ID, Title: s.Title, Tag: s.Tag, FirstText: s.FirstPrompt, LastText: s.LastPrompt, Cwd: s.Cwd, Branch: s.Branch,
		Modified: s.Modified, Size: s.Size, ForkOf: s.ForkOf, Entrypoint: s.Entrypoint, Transcript: s.Path, Problem: s.Problem,
	}
}

// summaries are the sessions of this project, or of all.
func summaries(s *wiring.Sessions, all bool) ([]session.Summary, error) {
	if all {
		return session.ListAll(s.Home)
	}
	return s.Store.List()
}

func listSessions(e Env, w *asked) error {
	if len(w.rest) > 0 {
		return &usageError{"hew sessions list takes options and nothing else; hew sessions search looks for words"}
	}
	limit, err := w.number("--limit", 0)
	if err != nil {
		return err
	}
	since, err := w.span("--since")
	if err != nil {
		return err
	}
	s, err := e.sessions()
	if err != nil {
		return err
	}
	found, err := summaries(s, w.has("--all"))
	if err != nil {
		return err
	}
	var list []session.Summary
	for _, sum := range found {
		if since > 0 && time.Since(sum.Modified) > since || w.has("--tag") && sum.Tag != w.opts["--tag"] {
			continue
		}
		if limit > 0 && len(list) == limit {
			break
		}
		list = append(list, sum)
	}
	if w.has("--json") {
		rows := make([]sessionRow, 0, len(list))
		for _, sum := range list {
			rows = append(rows, rowOf(sum))
		}
		return shownJSON(e.Stdout, rows, "  ")
	}
	if len(list) == 0 {
		hint := "; --all lists those of every directory"
		if w.has("--all") {
			hint = ""
		}
		_, err := fmt.Fprintf(e.Stderr, "no sessions%s\n", hint)
		return err
	}
	return writeSessions(e.Stdout, list, w.has("--all"))
}

// writeSessions prints the list as a tree: a fork stands below its source.
func writeSessions(out io.Writer, list []session.Summary, everywhere bool) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	there := map[string]bool{}
	forks := map[string][]session.Summary{}
	for _, s := range list {
		there[s.ID] = true
	}
	for _, s := range list {
		if there[s.ForkOf] && s.ForkOf != s.ID {
			forks[s.ForkOf] = append(forks[s.ForkOf], s)
		}
	}
	total, shown := int64(0), map[string]bool{}
	var write func(s session.Summary, depth int)
	write = func(s session.Summary, depth int) {
		if shown[s.ID] {
			return
		}
		shown[s.ID] = true
		total += s.Size
		place := ""
		if everywhere {
			place = fsys.Printable(s.Cwd) + "\t"
		}
		fmt.Fprintf(w, "%s%s\t%s\t%s\t%s%s\n", branch(depth), s.ID, s.Modified.Local().Format("2006-01-02 15:04"), sizeText(s.Size), place, label(s))
		for _, f := range forks[s.ID] {
			write(f, depth+1)
		}
	}
	for _, s := range list {
		if !there[s.ForkOf] || s.ForkOf == s.ID {
			write(s, 0)
		}
	}
	for _, s := range list { // forks of each other, in a damaged home
		write(s, 0)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%d sessions, %s of transcripts\n", len(list), sizeText(total))
	return err
}

func branch(depth int) string {
	if depth == 0 {
		return ""
	}
	return strings.Repeat("  ", depth-1) + "└ "
}

// label is what a person knows a session by.
func label(s session.Summary) string {
	text := s.Title
	switch {
	case s.Problem != "":
		text = "cannot be read: " + s.Problem
	case text == "" && s.FirstPrompt != "":
		text = s.FirstPrompt
	case text == "":
		text = s.LastPrompt
	}
	text = oneLine(text, 80)
	if s.Tag != "" {
		text += " [" + oneLine(s.Tag, 20) + "]"
	}
	return text
}

// oneLine is the beginning of s on one line, safe for a terminal.
func oneLine(s string, limit int) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > limit {
		r = append(r[:limit-1], '…')
	}
	return fsys.Printable(string(r))
}

// searchDefault is how many sessions a search shows when nobody says.
const searchDefault = 20

func searchSessions(e Env, w *asked) error {
	if len(w.rest) == 0 {
		return &usageError{"hew sessions search needs the words to look for"}
	}
	limit, err := w.number("--limit", searchDefault)
	if err != nil {
		return err
	}
	s, err := e.sessions()
	if err != nil {
		return err
	}
	list, err := summaries(s, w.has("--all"))
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	found, err := session.Search(ctx, list, session.Query{Text: strings.Join(w.rest, " "), Sessions: limit, PerSession: 5})
	if err != nil {
		return err
	}
	if w.has("--json") {
		return searchJSON(e.Stdout, found)
	}
	none := true
	for _, m := range found {
		if m.Problem != "" {
			e.notice("session " + m.ID + " was not looked through to its end: " + m.Problem)
		}
		if len(m.Hits) == 0 {
			continue
		}
		none = false
		fmt.Fprintf(e.Stdout, "%s  %s  %s\n", m.ID, m.Modified.Local().Format("2006-01-02 15:04"), label(m.Summary))
		for _, h := range m.Hits {
			fmt.Fprintf(e.Stdout, "    %d %s: %s\n", h.Line, fsys.Printable(h.Kind), fsys.Printable(h.Snippet))
		}
	}
	if none {
		fmt.Fprintln(e.Stderr, "nothing found")
		return &failure{exitError}
	}
	return nil
}

func searchJSON(out io.Writer, found []session.Match) error {
	type match struct {
		sessionRow
		Hits []session.Hit `json:"hits"`
	}
	rows := make([]match, 0, len(found))
	for _, m := range found {
		rows = append(rows, match{rowOf(m.Summary), append([]session.Hit{}, m.Hits...)})
	}
	return shownJSON(out, rows, "  ")
}
