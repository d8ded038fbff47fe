package dialog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/hew-agent/hew/internal/surface/tui/markdown"
	"github.com/hew-agent/hew/internal/surface/tui/style"
	"github.com/hew-agent/hew/internal/tool"
)

// show draws what a call is about to do. Text that will act, or land in a file,
// is exact; part stands out in it.
func show(v tool.View, part string, width int) []style.Line {
	switch v := v.(type) {
	case tool.TerminalView:
		return exact(v.Command, part, style.Plain, width)
	case tool.TextView:
		return exact(v.Text, part, style.Plain, width)
	case tool.DiffView:
		if width < 24 || hides(v) {
			return exactDiff(v, width)
		}
		return markdown.Diff(v, width, markdown.Options{})
	case tool.ListView:
		out := exact(v.Title, "", style.Bold, width)
		for _, it := range v.Items {
			out = append(out, indented(exact(it.Text, "", style.Plain, width-2), 2)...)
		}
		return out
	case tool.TableView:
		out := exact(strings.Join(v.Header, " · "), "", style.Bold, width)
		for _, r := range v.Rows {
			out = append(out, exact(strings.Join(r, " · "), "", style.Plain, width)...)
		}
		return out
	case tool.NestedView:
		var out []style.Line
		if v.Title != "" {
			out = exact(v.Title, "", style.Bold, width)
		}
		for _, n := range v.Views {
			out = append(out, show(n, part, width)...)
		}
		return out
	}
	return nil
}

// hides tells whether a change holds what a drawing for readers would not show:
// blanks that push text away, and characters without a sign.
func hides(v tool.DiffView) bool {
	for _, h := range v.Hunks {
		for _, l := range h.Lines {
			text := strings.TrimLeft(l[min(1, len(l)):], " \t")
			if len(l)-len(text) > deepIndent || strings.Contains(text, strings.Repeat(" ", longRun)) || strings.Contains(text, "\t\t\t\t") ||
				strings.IndexFunc(text, blank) >= 0 {
				return true
			}
		}
	}
	return false
}

// exactDiff draws the change of a file sign by sign: its name, then the lines with
// their numbers.
func exactDiff(v tool.DiffView, width int) []style.Line {
	added, removed := 0, 0
	hunks := v.Hunks
	if len(hunks) == 0 && v.New != v.Old {
		hunks = []tool.Hunk{{OldStart: 1, NewStart: 1, Lines: append(marked("-", v.Old), marked("+", v.New)...)}}
	}
	var body []style.Line
	for i, h := range hunks {
		if i > 0 {
			body = append(body, style.Text(style.Dim, "  …"))
		}
		was, is := h.OldStart, h.NewStart
		digits := len(strconv.Itoa(max(was+len(h.Lines), is+len(h.Lines))))
		for _, l := range h.Lines {
			n, role, sign := is, style.Plain, " "
			switch {
			case strings.HasPrefix(l, "+"):
				added, role, sign, is = added+1, style.Added, "+", is+1
			case strings.HasPrefix(l, "-"):
				removed, role, sign, n, was = removed+1, style.Removed, "-", was, was+1
			default:
				is, was = is+1, was+1
			}
			if l != "" {
				l = l[1:]
			}
			body = append(body, numbered(fmt.Sprintf("%*d ", digits, n), sign, l, role, width)...)
		}
	}
	what := fmt.Sprintf("  +%d -%d", added, removed)
	if v.Created {
		what = fmt.Sprintf("  new file, %s", count(added, "line"))
	}
	head := exact(v.Path, "", style.Bold, width)
	head = append(head, style.Text(style.Dim, strings.TrimSpace(what)))
	return append(head, body...)
}

func numbered(number, sign, text string, role style.Role, width int) []style.Line {
	lead := style.Line{{Text: number, Role: style.LineNumber}, {Text: sign + " ", Role: role}}
	room := width - lead.Width()
	if room < 8 { // the number is not worth the room
		lead, room = style.Line{{Text: sign + " ", Role: role}}, width-2
	}
	lines := exact(text, "", role, room)
	for i, l := range lines {
		if i > 0 {
			lead = style.Text(style.Plain, strings.Repeat(" ", lead.Width()))
		}
		lines[i] = append(lead[:len(lead):len(lead)], l...)
	}
	return lines
}

// marked are the lines of a text with a sign before each.
func marked(sign, text string) []string {
	var out []string
	for l := range strings.Lines(text) {
		out = append(out, sign+strings.TrimSuffix(l, "\n"))
	}
	return out
}

// object draws JSON as it was sent, spread over lines.
func object(raw json.RawMessage, width int) []style.Line {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return exact(string(raw), "", style.Plain, width)
	}
	return exact(b.String(), "", style.Plain, width)
}
