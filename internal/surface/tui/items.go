package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/surface/tui/markdown"
	"github.com/hew-agent/hew/internal/surface/tui/style"
	"github.com/hew-agent/hew/internal/surface/view"
	"github.com/hew-agent/hew/internal/tool"
)

// gutter is the indent of what the model says and does; marks stand in it.
const gutter = 2

// sheet renders items for one width.
type sheet struct {
	width int
	// whole shows results, thoughts and long texts without folding.
	whole bool
}

// item is the lines of a finished item, with the blank line that stands before it.
func (s sheet) item(it view.Item) []style.Line {
	switch it := it.(type) {
	case view.Prompt:
		return spaced(s.prompt(it))
	case view.Reply:
		return spaced(indent(markdown.Render(it.Text, s.inner())))
	case view.Thought:
		return s.thought(it)
	case view.Call:
		return s.call(it)
	case view.Note:
		return s.note(it)
	case view.Command:
		return s.command(it)
	case view.Compaction:
		return spaced([]style.Line{style.Text(style.Dim, fmt.Sprintf(
			"%s the conversation was summarised: %s tokens before, %s now", strings.Repeat("─", 4), count(it.Before), count(it.After)))})
	case view.Ending:
		return s.ending(it)
	}
	return nil // the union is sealed
}

func (s sheet) inner() int { return max(10, s.width-gutter) }

func spaced(lines []style.Line) []style.Line {
	if len(lines) == 0 {
		return nil
	}
	return append([]style.Line{nil}, lines...)
}

func indent(lines []style.Line) []style.Line { return hang(lines, "  ", "  ", style.Plain) }

// hang puts a mark before the first line and an indent before the others.
func hang(lines []style.Line, first, rest string, r style.Role) []style.Line {
	out := make([]style.Line, len(lines))
	for i, l := range lines {
		lead := rest
		if i == 0 {
			lead = first
		}
		if len(l) == 0 && strings.TrimSpace(lead) == "" {
			continue
		}
		out[i] = append(style.Line{{Text: lead, Role: r}}, l...)
	}
	return out
}

// texts wraps foreign text of one role.
func texts(r style.Role, text string, width int) []style.Line {
	var out []style.Line
	for l := range strings.SplitSeq(strings.TrimRight(plain.Text(text), "\n"), "\n") {
		out = append(out, style.Wrap(style.Text(r, strings.ReplaceAll(l, "\t", "    ")), width)...)
	}
	return out
}

func (s sheet) prompt(p view.Prompt) []style.Line {
	text := p.Text
	if p.Images > 0 {
		text = strings.TrimSpace(text + fmt.Sprintf("\n[%s]", plural(p.Images, "attachment")))
	}
	lines := texts(style.User, text, s.inner())
	if max := 200; len(lines) > max && !s.whole {
		lines = append(lines[:max], style.Text(style.Dim, fmt.Sprintf("… +%d lines (ctrl+o shows all)", len(lines)-max)))
	}
	return hang(lines, "❯ ", "  ", style.Accent)
}

func (s sheet) thought(t view.Thought) []style.Line {
	if s.whole {
		return spaced(indent(markdown.Thinking(t.Text, s.inner(), 0)))
	}
	return spaced(indent([]style.Line{style.Text(style.Dim, "✻ thought").Cut(s.inner())}))
}

// mark is the sign of a call's state and its role.
func mark(st view.Status) (string, style.Role) {
	switch st {
	case view.Pending:
		return "○ ", style.Dim
	case view.Running:
		return "● ", style.Accent
	case view.Done:
		return "✓ ", style.Success
	case view.Failed:
		return "✗ ", style.Failure
	case view.Refused:
		return "⊘ ", style.Warning
	}
	return "  ", style.Plain
}

// head is the one line of a call.
func (s sheet) head(c view.Call, now time.Time) style.Line {
	m, role := mark(c.Status)
	titleRole := style.Plain
	if c.Status == view.Pending {
		titleRole = style.Dim
	}
	l := style.Line{{Text: m, Role: role}, {Text: plain.Line(firstLine(c.Title)), Role: titleRole}}
	if t, ok := c.Preview.(tool.TerminalView); ok && t.Command != c.Title {
		l = append(l, style.Span{Text: "  " + plain.Line(firstLine(t.Command)), Role: style.Dim})
	}
	if a := aside(c, now); a != "" {
		l = append(l, style.Span{Text: "  " + a, Role: style.Dim})
	}
	return l.Cut(s.width)
}

// aside is what stands dim behind a call's title.
func aside(c view.Call, now time.Time) string {
	var parts []string
	if d, ok := c.View.(tool.DiffView); ok {
		parts = append(parts, strings.TrimSpace(markdown.Counts(d).String()))
	}
	if t, ok := c.View.(tool.TerminalView); ok && t.ExitCode != 0 && c.Status != view.Refused {
		parts = append(parts, fmt.Sprintf("exit %d", t.ExitCode))
	}
	if c.WithinN > 0 {
		parts = append(parts, plural(c.WithinN, "call"))
	}
	took := c.Took
	if c.Status == view.Running && !c.Began.IsZero() {
		took = now.Sub(c.Began)
	}
	if took >= time.Second {
		parts = append(parts, took.Round(time.Second).String())
	}
	return strings.Join(parts, " · ")
}

// call is a finished call: its line, and a few lines of what came of it.
func (s sheet) call(c view.Call) []style.Line {
	out := []style.Line{s.head(c, time.Time{})}
	most := 6
	if s.whole {
		most = 0
	}
	var body []style.Line
	switch {
	case c.Status == view.Refused || c.Status == view.Failed:
		text := c.Text
		if t, ok := c.View.(tool.TerminalView); ok && c.Status == view.Failed {
			text = t.Output
		}
		body = folded(texts(style.Dim, strings.TrimSuffix(strings.TrimPrefix(text, "<tool_use_error>"), "</tool_use_error>"), s.inner()-2), most)
	case c.View != nil && shows(c.View):
		body = markdown.View(c.View, s.inner()-2, markdown.Options{Max: most, Bare: !s.whole})
	case s.whole || c.View == nil && c.Act != tool.ActRead && c.Act != tool.ActSearch:
		body = folded(texts(style.Dim, c.Text, s.inner()-2), most)
	}
	if s.whole && c.Preview != nil && c.View == nil {
		body = append(markdown.View(c.Preview, s.inner()-2, markdown.Options{Max: most}), body...)
	}
	out = append(out, hang(body, "  ⎿ ", "    ", style.Dim)...)
	return spaced(out)
}

// shows tells of a view that is worth its lines: the to-do list stands elsewhere.
func shows(v tool.View) bool {
	l, ok := v.(tool.ListView)
	if !ok {
		return true
	}
	for _, it := range l.Items {
		if it.State != "" {
			return false
		}
	}
	return true
}

// folded keeps the first lines of many; 0 keeps all.
func folded(lines []style.Line, most int) []style.Line {
	if most == 0 || len(lines) <= most+1 {
		return lines
	}
	n := len(lines) - most
	return append(lines[:most:most], style.Text(style.Dim, fmt.Sprintf("… +%d lines (ctrl+o shows all)", n)))
}

func (s sheet) note(n view.Note) []style.Line {
	role, sign := style.Dim, "· "
	switch n.Level {
	case event.Info:
	case event.Warning:
		role, sign = style.Warning, "! "
	case event.Failure:
		role, sign = style.Failure, "✗ "
	}
	return spaced(hang(texts(role, n.Text, s.inner()), sign, "  ", role))
}

func (s sheet) command(c view.Command) []style.Line {
	name := strings.TrimSpace("/" + c.Name + " " + firstLine(c.Args))
	out := []style.Line{style.Text(style.Accent, "❯ "+plain.Line(name)).Cut(s.width)}
	if c.Failed {
		return spaced(append(out, hang(texts(style.Failure, c.Output, s.inner()), "  ", "  ", style.Plain)...))
	}
	return spaced(append(out, indent(markdown.Render(c.Output, s.inner()))...))
}

func (s sheet) ending(e view.Ending) []style.Line {
	var out []style.Line
	switch e.Reason {
	case event.Completed:
	case event.AbortedStreaming, event.AbortedTools:
		out = append(out, hang(texts(style.Warning, "interrupted. What to do instead?", s.inner()), "⊘ ", "  ", style.Warning)...)
	case event.MaxTurns, event.BudgetExhausted, event.PromptTooLong, event.BlockingLimit, event.RapidRefillBreaker, event.ImageError, event.ModelError,
		event.APIError, event.MalformedToolUse, event.StopHookPrevented, event.HookStopped, event.ToolDeferred, event.DeferredUnavailable,
		event.BackgroundRequested, event.OutputExhausted, event.SetupFailed, event.Local:
		text := e.Detail
		if text == "" {
			text = string(e.Reason)
		}
		out = append(out, hang(texts(style.Failure, text, s.inner()), "✗ ", "  ", style.Failure)...)
	}
	for _, sig := range e.Signals {
		out = append(out, hang(texts(style.Warning, sig.Detail, s.inner()), "! ", "  ", style.Warning)...)
	}
	parts := []string{span(e.Took)}
	if e.Tokens > 0 {
		parts = append(parts, count(e.Tokens)+" tokens")
	}
	if e.CostUSD > 0 {
		parts = append(parts, dollars(e.CostUSD))
	}
	out = append(out, style.Text(style.Dim, "  "+strings.Join(parts, " · ")))
	return spaced(out)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// count is a number of tokens as people read it.
func count(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 100_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%dk", n/1000)
}

func dollars(usd float64) string {
	if usd < 0.995 {
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

// span is a duration in whole seconds, or less than one.
func span(d time.Duration) string {
	if d < time.Second {
		return "<1s"
	}
	return d.Round(time.Second).String()
}
