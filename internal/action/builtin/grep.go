package builtin

import (
	"context"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/backend/search"
	"github.com/hew-agent/hew/internal/tool"
)

const grepName = "Grep"

// defaultHead is the number of lines or files that one call returns when the
// model states no limit.
const defaultHead = 250

// maxGrepLine is where lines are cut: one minified file must not fill a result.
const maxGrepLine = 2000

type grepInput struct {
	Pattern    string  `json:"pattern"`
	Path       string  `json:"path"`
	Glob       string  `json:"glob"`
	Type       string  `json:"type"`
	OutputMode string  `json:"output_mode"`
	After      float64 `json:"-A"`
	Before     float64 `json:"-B"`
	Around     float64 `json:"-C"`
	Context    float64 `json:"context"`
	Numbers    *bool   `json:"-n"`
	IgnoreCase bool    `json:"-i"`
	Only       bool    `json:"-o"`
	Multiline  bool    `json:"multiline"`
	// HeadLimit 0 means all; nil the default.
	HeadLimit *float64 `json:"head_limit"`
	Offset    float64  `json:"offset"`
}

func newGrep(c *Config) tool.Tool {
	spec := tool.Spec{Name: grepName, RuleFamily: readName, MainField: "pattern", Always: true, Act: tool.ActSearch}
	return define("grep", spec, func(in grepInput, env tool.Env) (tool.Call, error) {
		root, err := searchRoot(env, in.Path)
		if err != nil {
			return nil, err
		}
		return &tool.Func{
			Facts: tool.Traits{ReadOnly: true, ConcurrencySafe: true},
			Wants: []tool.Need{{Kind: tool.NeedRead, Path: root}},
			Line:  fmt.Sprintf("%s %s", grepName, oneLine(in.Pattern)),
			Do: func(ctx context.Context, _ func(tool.Progress)) tool.Result {
				q := in.query(root)
				q.Exclude = c.Hidden(env)
				r, err := c.Search.Grep(ctx, q)
				if err != nil {
					return c.searchFailed(env, root, err)
				}
				return (&grepped{in: in, env: env, q: q, r: r}).result()
			},
		}, nil
	})
}

// count makes a whole number of what a model may write as 3.0; huge ones are cut.
func count(f float64) int { return int(min(f, 1_000_000)) }

func (in grepInput) query(root string) search.GrepQuery {
	q := search.GrepQuery{
		Root: root, Pattern: in.Pattern, Type: in.Type, IgnoreCase: in.IgnoreCase, OnlyMatching: in.Only,
		Multiline: in.Multiline, HeadLimit: defaultHead, Offset: count(in.Offset), MaxLineBytes: maxGrepLine,
		Before: count(max(in.Before, in.Around, in.Context)), After: count(max(in.After, in.Around, in.Context)),
	}
	if in.Before > 0 {
		q.Before = count(in.Before)
	}
	if in.After > 0 {
		q.After = count(in.After)
	}
	if in.HeadLimit != nil {
		q.HeadLimit = count(*in.HeadLimit)
	}
	if in.Glob != "" {
		q.Globs = globs(in.Glob)
	}
	switch in.OutputMode {
	case "content":
		q.Mode = search.ModeContent
	case "count":
		q.Mode = search.ModeCount
	}
	return q
}

// globs splits a list such as "*.ts *.tsx" or "*.ts,*.tsx"; commas inside braces stay.
func globs(s string) []string {
	var out []string
	depth, from := 0, 0
	for i, r := range s {
		switch {
		case r == '{':
			depth++
		case r == '}':
			depth--
		case depth <= 0 && (r == ',' || r == ' '):
			out = append(out, s[from:i])
			from = i + 1
		}
	}
	out = append(out, s[from:])
	kept := out[:0]
	for _, g := range out {
		if g != "" {
			kept = append(kept, g)
		}
	}
	return kept
}

// grepped writes one result in the ecosystem's forms.
type grepped struct {
	in  grepInput
	env tool.Env
	q   search.GrepQuery
	r   search.GrepResult
}

func (g *grepped) result() tool.Result {
	switch g.q.Mode {
	case search.ModeContent:
		return g.content()
	case search.ModeCount:
		return g.counts()
	case search.ModeFiles:
	}
	return g.files()
}

// paging names the limit and offset that took effect; "" when all is shown.
func (g *grepped) paging() string {
	var parts []string
	if g.r.Truncated {
		parts = append(parts, fmt.Sprintf("limit: %d", g.shownLimit()))
	}
	if g.q.Offset > 0 {
		parts = append(parts, fmt.Sprintf("offset: %d", g.q.Offset))
	}
	return strings.Join(parts, ", ")
}

func (g *grepped) shownLimit() int {
	if g.q.HeadLimit > 0 {
		return g.q.HeadLimit
	}
	return max(len(g.r.Lines), len(g.r.Files))
}

// data is the structured form that all modes share.
func (g *grepped) data(mode string, names []string) map[string]any {
	d := map[string]any{"mode": mode, "numFiles": len(names), "filenames": names}
	if g.r.Truncated {
		d["appliedLimit"] = g.shownLimit()
	}
	if g.q.Offset > 0 {
		d["appliedOffset"] = g.q.Offset
	}
	return d
}

func (g *grepped) finish(text string, data map[string]any, view tool.View) tool.Result {
	return done(text+skipped(g.env, g.r.Skips, g.r.SkipCount), data, view)
}

func (g *grepped) files() tool.Result {
	names := []string{}
	for _, f := range g.r.Files {
		names = append(names, short(g.env, f.Path))
	}
	text := "No files found"
	if g.r.TotalFiles > 0 {
		text = fmt.Sprintf("Found %s", plural(g.r.TotalFiles, "file"))
		if p := g.paging(); p != "" {
			text += " (" + p + ")"
		}
		text += "\n" + strings.Join(names, "\n")
	}
	return g.finish(strings.TrimRight(text, "\n"), g.data("files_with_matches", names), fileView(plural(g.r.TotalFiles, "file"), names))
}

func (g *grepped) counts() tool.Result {
	names, lines := []string{}, []string{}
	for _, f := range g.r.Files {
		names = append(names, short(g.env, f.Path))
		lines = append(lines, fmt.Sprintf("%s:%d", names[len(names)-1], f.Count))
	}
	text := "No matches found"
	if g.r.TotalFiles > 0 {
		text = strings.Join(lines, "\n") + fmt.Sprintf("\n\nFound %s in %s", plural(g.r.TotalMatches, "match"), plural(g.r.TotalFiles, "file"))
		if p := g.paging(); p != "" {
			text += " (" + p + ")"
		}
	}
	d := g.data("count", names)
	d["numMatches"], d["content"] = g.r.TotalMatches, strings.Join(lines, "\n")
	return g.finish(strings.TrimLeft(text, "\n"), d, fileView(plural(g.r.TotalMatches, "match"), lines))
}

func (g *grepped) content() tool.Result {
	var lines []string
	files := map[string]bool{}
	for _, l := range g.r.Lines {
		lines = append(lines, g.line(l))
		if l.Path != "" {
			files[l.Path] = true
		}
	}
	body := strings.Join(lines, "\n")
	text := body
	switch {
	case len(lines) == 0 && g.q.Offset > 0:
		text = fmt.Sprintf("No matches found after the first %d lines", g.q.Offset)
	case len(lines) == 0:
		text = "No matches found"
	case g.paging() != "":
		text += "\n\n(Showing a part of the results: " + g.paging() + ")"
	}
	d := g.data("content", []string{})
	d["numFiles"], d["content"], d["numLines"] = len(files), body, len(lines)
	return g.finish(text, d, tool.TextView{Text: body})
}

// line writes "path:number:text", with "-" in place of ":" for context.
func (g *grepped) line(l search.Line) string {
	sep := ":"
	switch l.Kind {
	case search.LineBreak:
		return "--"
	case search.LineBinary:
		return fmt.Sprintf("%s: binary file matches", short(g.env, l.Path))
	case search.LineContext:
		sep = "-"
	case search.LineMatch:
	}
	text := strings.ToValidUTF8(strings.TrimSuffix(l.Text, "\r"), "\uFFFD")
	if l.Omitted > 0 {
		text += fmt.Sprintf("… (%d bytes more)", l.Omitted)
	}
	if g.in.Numbers != nil && !*g.in.Numbers {
		return short(g.env, l.Path) + sep + text
	}
	return fmt.Sprintf("%s%s%d%s%s", short(g.env, l.Path), sep, l.Number, sep, text)
}

func plural(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "ch"):
		return fmt.Sprintf("%d %ses", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}
