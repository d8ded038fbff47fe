package tui

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/surface/tui/editor"
)

func (u *ui) newEditor() *editor.Editor {
	c := editor.Config{Recall: u.c.Recall, Complete: u.complete, Now: u.c.Now, Remaps: u.prefs.VimRemaps}
	if u.prefs.Vim {
		c.Style = editor.Vim
	}
	return editor.New(c)
}

// complete finds what a word could become.
func (u *ui) complete(kind byte, query string) []editor.Candidate {
	if u.live == nil {
		if kind == '@' { // asked for early: what is asked for again is there by then
			u.c.Files(query)
		}
		return nil
	}
	switch kind {
	case '/':
		return u.commands(query)
	case '!':
		return u.shellCommands(query)
	}
	var out []editor.Candidate
	for _, m := range u.live.Mentions(query) {
		out = append(out, editor.Candidate{Text: "@" + m.Text, Label: m.Text, About: m.About})
	}
	for _, f := range u.c.Files(query) {
		out = append(out, editor.Candidate{Text: quoted(f), Label: f, Open: strings.HasSuffix(f, "/")})
	}
	return out
}

// shellCommands are earlier ones that begin as typed, and files that its last
// word could name.
func (u *ui) shellCommands(query string) []editor.Candidate {
	var out []editor.Candidate
	seen := map[string]bool{}
	for _, e := range u.c.Recall("project") {
		line, ok := strings.CutPrefix(e.Text, "!")
		if line = strings.TrimSpace(line); ok && !seen[line] && line != query && strings.HasPrefix(line, query) && !strings.Contains(line, "\n") {
			seen[line] = true
			out = append(out, editor.Candidate{Text: line, Label: line, About: "again"})
		}
		if len(out) == 8 {
			break
		}
	}
	at := strings.LastIndexByte(query, ' ') + 1
	if query[at:] == "" {
		return out
	}
	for _, f := range u.c.Files(query[at:]) {
		word := f
		if strings.ContainsAny(f, " \t\"'\\$`&|;<>()*?[]{}~#!") {
			word = "'" + strings.ReplaceAll(f, "'", `'\''`) + "'"
		}
		out = append(out, editor.Candidate{Text: query[:at] + word, Label: f, Open: strings.HasSuffix(f, "/")})
	}
	return out
}

// quoted is a mention of a file; names with blanks stand in quotation marks.
func quoted(name string) string {
	if strings.ContainsAny(name, " \t\"'") {
		return `@"` + name + `"`
	}
	return "@" + name
}

// commands are those whose name, alias or a word of the name begins as typed.
func (u *ui) commands(query string) []editor.Candidate {
	q := plainName(query)
	type row struct{ name, hint, about string }
	all := map[string]row{}
	aliases := map[string][]string{}
	for _, c := range u.live.Commands.List() {
		all[c.Name], aliases[c.Name] = row{c.Name, c.Hint, c.About}, c.Aliases
	}
	for _, c := range u.live.Screens {
		all[c.Name], aliases[c.Name] = row{c.Name, c.Hint, c.About}, c.Aliases
	}
	var first, second []editor.Candidate
	for _, name := range sortedKeys(all) {
		r := all[name]
		c := editor.Candidate{
			Text: "/" + name, Label: strings.TrimSpace("/" + name + " " + r.hint), About: firstLine(r.about),
			Whole: !strings.HasPrefix(r.hint, "<") || name == query,
		}
		switch {
		case slices.Contains(aliases[name], query):
			c.Text, c.Whole = "/"+query, true
			first = append([]editor.Candidate{c}, first...)
		case strings.HasPrefix(plainName(name), q):
			first = append(first, c)
		case inner(name, q) || anyPrefix(aliases[name], q):
			second = append(second, c)
		}
	}
	return append(first, second...)
}

// plainName leaves out what people need not type (interactive.md §6).
func plainName(s string) string {
	return strings.NewReplacer(":", "", "_", "", "-", "").Replace(strings.ToLower(s))
}

func inner(name, q string) bool {
	for _, w := range strings.FieldsFunc(name, func(r rune) bool { return r == ':' || r == '-' || r == '_' }) {
		if strings.HasPrefix(strings.ToLower(w), q) {
			return true
		}
	}
	return false
}

func anyPrefix(list []string, q string) bool {
	for _, a := range list {
		if strings.HasPrefix(plainName(a), q) {
			return true
		}
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// pictures takes dropped or pasted names of picture files as attachments.
func (u *ui) pictures(text string) bool {
	names := editor.Dropped(text)
	for _, n := range names {
		if !filepath.IsAbs(n) || !editor.IsPicture(n) {
			return false
		}
	}
	for _, n := range names {
		u.ed.AddImage(n)
	}
	return len(names) > 0
}

// keepDraft writes the draft down, so that nothing kills it.
func (u *ui) keepDraft() {
	if u.c.KeepDraft == nil {
		return
	}
	d := u.ed.Draft()
	select {
	case u.drafts <- d:
	default: // the one that waits is overtaken
		select {
		case <-u.drafts:
		default:
		}
		select {
		case u.drafts <- d:
		default:
		}
	}
}

// writeDrafts writes the newest draft, one after the other, until ctx ends.
func (u *ui) writeDrafts(ctx context.Context) {
	for {
		select {
		case d := <-u.drafts:
			if err := u.c.KeepDraft(d); err != nil {
				u.post(func() { u.hint = "the draft cannot be kept: " + err.Error() })
			}
		case <-ctx.Done():
			return
		}
	}
}
