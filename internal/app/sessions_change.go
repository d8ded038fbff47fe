package app

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/wiring"
)

// named opens the sessions and finds the one that the words name.
func (e Env) named(name string) (*wiring.Sessions, session.Summary, error) {
	s, err := e.sessions()
	if err != nil {
		return nil, session.Summary{}, err
	}
	sum, err := s.Store.Resolve(name)
	return s, sum, err
}

func forkSession(e Env, w *asked) error {
	name, err := w.one("session")
	if err != nil {
		return err
	}
	s, sum, err := e.named(name)
	if err != nil {
		return err
	}
	id := w.opts["--id"]
	if id == "" {
		id = session.NewID()
	}
	if err := (session.Store{Home: s.Home, Project: sum.Store.Project}).Fork(sum.Path, id); err != nil {
		return err
	}
	if w.has("--json") {
		return shownJSON(e.Stdout, map[string]string{"id": id, "forkOf": sum.ID}, "  ")
	}
	_, err = fmt.Fprintln(e.Stdout, id)
	return err
}

func renameSession(e Env, w *asked) error {
	if len(w.rest) == 0 || len(w.rest) == 1 && !w.has("--tag") {
		return &usageError{"hew sessions rename takes a session and its new name, or --tag"}
	}
	_, sum, err := e.named(w.rest[0])
	if err != nil {
		return err
	}
	if title := session.CleanTitle(strings.Join(w.rest[1:], " ")); title != "" {
		if err := sum.Rename(title); err != nil {
			return err
		}
		fmt.Fprintf(e.Stdout, "%s is now called %q\n", sum.ID, title)
	}
	if tag, ok := w.opts["--tag"]; ok {
		if err := sum.SetTag(tag); err != nil {
			return err
		}
		fmt.Fprintf(e.Stdout, "%s is tagged %q\n", sum.ID, session.CleanTitle(tag))
	}
	return nil
}

// prunedRow is a session of a prune, for programs.
type prunedRow struct {
	sessionRow
	Bytes   int64  `json:"bytes"`
	Why     string `json:"why"`
	Kept    string `json:"kept,omitempty"`
	Removed bool   `json:"removed"`
}

func pruneSessions(e Env, w *asked) error {
	s, err := e.sessions()
	if err != nil {
		return err
	}
	all, err := session.ListAll(s.Home)
	if err != nil {
		return err
	}
	plan, err := pruning(s, w, all)
	if err != nil {
		return err
	}
	rows := make([]prunedRow, 0, len(plan))
	var failed []error
	for _, d := range plan {
		r := prunedRow{sessionRow: rowOf(d.Summary), Bytes: d.Bytes, Why: d.Why, Kept: d.Kept}
		if w.has("--yes") && d.Kept == "" {
			if err := session.Remove(d.Summary, all); err != nil {
				r.Kept = err.Error()
				failed = append(failed, err)
			}
			r.Removed = err == nil && r.Kept == ""
		}
		rows = append(rows, r)
	}
	if w.has("--json") {
		err = shownJSON(e.Stdout, rows, "  ")
	} else {
		err = writePruned(e, rows, len(all), w.has("--yes"))
	}
	if len(failed) > 0 && err == nil {
		return &failure{exitError}
	}
	return err
}

// pruning is what the words ask to remove.
func pruning(s *wiring.Sessions, w *asked, all []session.Summary) ([]session.Doomed, error) {
	age, err := w.span("--older-than")
	if err != nil {
		return nil, err
	}
	size, err := w.bytes("--max-size")
	if err != nil {
		return nil, err
	}
	bounds := s.Retention(time.Now())
	if w.has("--older-than") || w.has("--max-size") {
		bounds.Age, bounds.Size = age, size
	}
	if len(w.rest) == 0 {
		return bounds.Plan(all), nil
	}
	if w.has("--older-than") || w.has("--max-size") {
		return nil, &usageError{"hew sessions prune takes sessions or bounds, not both"}
	}
	var plan []session.Doomed
	for _, name := range w.rest {
		sum, err := s.Store.Resolve(name)
		var bad *session.Unreadable
		if errors.As(err, &bad) {
			sum, err = bad.Summary, nil
		}
		if err != nil {
			return nil, err
		}
		plan = append(plan, session.Doomed{Summary: sum, Bytes: sum.Weight(), Why: "asked"})
	}
	return plan, nil
}

func writePruned(e Env, rows []prunedRow, of int, done bool) error {
	t := tabwriter.NewWriter(e.Stdout, 0, 4, 2, ' ', 0)
	n, bytes := 0, int64(0)
	for _, r := range rows {
		verb := "would remove"
		switch {
		case r.Kept != "":
			verb = "keeps"
		case r.Removed:
			verb = "removed"
		}
		if r.Kept == "" {
			n++
			bytes += r.Bytes
		}
		why := r.Why
		if r.Kept != "" {
			why = r.Kept
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", verb, r.ID, r.Modified.Local().Format("2006-01-02"), sizeText(r.Bytes), fsys.Printable(why))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	hint := ""
	if !done && n > 0 {
		hint = "; --yes removes them for good"
	}
	_, err := fmt.Fprintf(e.Stdout, "%d of %d sessions, %s%s\n", n, of, sizeText(bytes), hint)
	return err
}

func redactSession(e Env, w *asked) error {
	if len(w.rest) != 2 || w.rest[1] == "" {
		return &usageError{"hew sessions redact takes a session and the text to take out"}
	}
	pattern := regexp.QuoteMeta(w.rest[1])
	if w.has("--regexp") {
		pattern = w.rest[1]
	}
	what, err := regexp.Compile(pattern)
	if err != nil || what.MatchString("") {
		return &usageError{fmt.Sprintf("'%s' is no regular expression that can be taken out: it must be valid and match more than nothing", fsys.Printable(w.rest[1]))}
	}
	s, sum, err := e.named(w.rest[0])
	if err != nil {
		return err
	}
	all, err := session.ListAll(s.Home)
	if err != nil {
		return err
	}
	forks := forksOf(sum, all)
	r, err := sum.Redact(what, all)
	if err != nil {
		return err
	}
	if w.has("--forks") {
		for _, f := range forks {
			more, err := f.Redact(what, all)
			if err != nil {
				return err
			}
			r.Places, r.Files = r.Places+more.Places, r.Files+more.Files
		}
	}
	if w.has("--json") {
		return shownJSON(e.Stdout, map[string]int{"places": r.Places, "files": r.Files, "forks": len(forks)}, "  ")
	}
	fmt.Fprintf(e.Stdout, "%d places in %d files\n", r.Places, r.Files)
	if len(forks) > 0 && !w.has("--forks") {
		e.notice(fmt.Sprintf("%d forks of this session may hold the same words; --forks takes them out there, too", len(forks)))
	}
	e.notice("before-images of files in file-history are left as they are: a rewind puts them back byte for byte; prune removes them")
	return nil
}

// forksOf are the sessions that come from s, also by way of others.
func forksOf(s session.Summary, all []session.Summary) []session.Summary {
	from := map[string]bool{s.ID: true}
	var out []session.Summary
	for more := true; more; {
		more = false
		for _, f := range all {
			if from[f.ForkOf] && !from[f.ID] {
				from[f.ID], more = true, true
				out = append(out, f)
			}
		}
	}
	return out
}
