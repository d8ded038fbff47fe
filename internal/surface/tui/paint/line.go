// Package paint puts lines on a terminal: finished ones once, a live region again and again, or a whole screen.
//
// A painter is the last barrier between text and terminal: what could steer it
// is escaped here, whatever a span holds. Each call writes at most once.
package paint

import (
	"net/url"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/surface/tui/style"
	"github.com/hew-agent/hew/internal/surface/tui/term"
)

const linkMost = 2000 // bytes of an address that terminals take

// ink turns lines into bytes.
type ink struct {
	sgr   [style.Roles]string
	backs [style.Roles]string // the background alone
	owns  [style.Roles]bool   // the role has a background
	links bool
}

func newInk(t Theme, c term.Caps) ink {
	k := ink{sgr: t.sgr(c.Colours), links: !c.Dumb}
	for i, l := range t.looks {
		k.backs[i] = paramOf(l.bg, c.Colours, 40)
		k.owns[i] = l.bg != nil
	}
	return k
}

// drawn is a line as bytes, and the cells it takes.
type drawn struct {
	text  string
	width int
	fill  string // the background of what is right of it
}

// erased is the line on a row that is cleared before, with its background.
func (d drawn) erased() string {
	if d.fill == "" {
		return eraseRight + d.text
	}
	return "\x1b[" + d.fill + "m" + eraseRight + "\x1b[m" + d.text
}

// line draws l in at most width cells.
func (k ink) line(l style.Line, width int) drawn {
	var b strings.Builder
	used := 0
	link := ""
	for i := 0; i < len(l) && used < width; i++ {
		s := l[i]
		for i+1 < len(l) && l[i+1].Alike(s) {
			i++
			s.Text += l[i].Text
		}
		text := Safe(s.Text)
		w := style.Width(text)
		if used+w > width {
			text = ansi.Truncate(text, width-used, "")
			w = style.Width(text)
		}
		used += w
		if to := k.link(s.Link); to != link {
			link = to
			b.WriteString("\x1b]8;;" + to + "\x1b\\")
		}
		if sgr := k.span(s); sgr != "" && text != "" {
			b.WriteString("\x1b[" + sgr + "m" + text + "\x1b[m")
		} else {
			b.WriteString(text)
		}
	}
	if link != "" {
		b.WriteString("\x1b]8;;\x1b\\")
	}
	d := drawn{text: b.String(), width: used}
	if n := len(l); n > 0 && l[n-1].Back < style.Roles {
		d.fill = k.backs[l[n-1].Back]
	}
	return d
}

// span is the look of a span: that of its role, over the background that it lies on.
func (k ink) span(s style.Span) string {
	sgr := k.role(s.Role)
	if s.Back >= style.Roles || s.Role < style.Roles && k.owns[s.Role] || k.backs[s.Back] == "" {
		return sgr
	}
	if sgr == "" {
		return k.backs[s.Back]
	}
	return sgr + ";" + k.backs[s.Back]
}

func (k ink) role(r style.Role) string {
	if r >= style.Roles {
		return ""
	}
	return k.sgr[r]
}

// link is an address that is safe to hand to a terminal, "" otherwise: what
// could run a program or end the sequence is none.
func (k ink) link(to string) string {
	if !k.links || to == "" || len(to) > linkMost {
		return ""
	}
	u, err := url.Parse(to)
	if err != nil {
		return ""
	}
	switch u.Scheme {
	case "http", "https", "mailto":
	case "file":
		if u.Host != "" && u.Host != "localhost" {
			return ""
		}
	default:
		return ""
	}
	out := u.String()
	for i := range len(out) {
		if out[i] <= ' ' || out[i] >= 0x7f {
			return ""
		}
	}
	return out
}

// Safe is text that a terminal can only show: controls and signs that reorder or
// hide text are escaped, tabs and line breaks are blanks.
func Safe(s string) string {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			s = plain.Text(s)
			if strings.ContainsAny(s, "\t\r\n") {
				s = strings.NewReplacer("\t", "    ", "\r", "", "\n", " ").Replace(s)
			}
			return s
		}
	}
	return s
}
