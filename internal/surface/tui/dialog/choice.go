package dialog

import (
	"strconv"

	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// option is one answer that a dialog offers.
type option struct {
	id, label string
	// notes stand under the label, drawn for a width; they are never cut. Optional.
	notes func(width int) []style.Line
	// blocked tells that it cannot be taken now, for the reason why, if that is not
	// said elsewhere.
	blocked bool
	why     string
	// mark stands before the label, such as a box to tick.
	mark string
}

// choice is the list of answers, numbered from 1.
type choice struct {
	opts []option
	at   int

	top   int
	rows  []int // the option of each line that was drawn last
	plain bool  // without numbers
	tight bool  // notes for the chosen option alone
}

func (c *choice) step(by int) { c.at = max(0, min(c.at+by, len(c.opts)-1)) }

// digit returns the option of a number key, -1 for another key.
func (c *choice) digit(key string) int {
	if c.plain || len(key) != 1 || key[0] < '1' || key[0] > '9' {
		return -1
	}
	if n := int(key[0] - '1'); n < len(c.opts) {
		return n
	}
	return -1
}

// clicked returns the option that a line shows, -1 for none.
func (c *choice) clicked(m input.Mouse, first int) int {
	if y := m.Y - first; y >= 0 && y < len(c.rows) && m.Kind == input.Click {
		return c.rows[y]
	}
	return -1
}

// all draws the options, whole.
func (c *choice) all(width int) (lines []style.Line, rows []int) {
	for i, o := range c.opts {
		for _, l := range c.option(i, o, width) {
			lines, rows = append(lines, l), append(rows, i)
		}
	}
	return lines, rows
}

func (c *choice) option(i int, o option, width int) []style.Line {
	lead := style.Span{Text: "   ", Role: style.Plain}
	role := style.Plain
	if i == c.at {
		lead, role = style.Span{Text: " › ", Role: style.Accent}, style.Selected
	}
	num := strconv.Itoa(i+1) + ". "
	if c.plain {
		num = ""
	}
	if o.blocked {
		role = style.Dim
	}
	text := style.Line{lead, {Text: num + o.mark, Role: style.Dim}, {Text: o.label, Role: role}}
	if o.why != "" {
		text = append(text, style.Span{Text: " (" + o.why + ")", Role: style.Dim})
	}
	under := style.Text(style.Plain, "      ")
	out := style.WrapUnder(text, width, under)
	if o.notes != nil && (i == c.at || !c.tight) {
		out = append(out, indented(o.notes(width-6), 6)...)
	}
	return out
}

// rooms is how many lines the options take: all of them, and as few as show
// every label and what the chosen one says of itself.
func (c *choice) rooms(width int) (all, few int) {
	c.tight = false
	lines, _ := c.all(width)
	c.tight = true
	least, _ := c.all(width)
	return len(lines), len(least)
}

// full is an option with all that it says of itself.
func (c *choice) full(i, width int) []style.Line {
	alone := choice{opts: c.opts, at: i, plain: c.plain}
	return alone.option(i, c.opts[i], width)
}

// view draws the options into at most room lines, those around the chosen one
// where there are more.
func (c *choice) view(width, room int) []style.Line {
	c.tight = false
	lines, rows := c.all(width)
	if len(lines) > room {
		c.tight = true
		lines, rows = c.all(width)
	}
	if len(lines) > room {
		first, last := len(rows), 0
		for i, r := range rows {
			if r == c.at {
				first, last = min(first, i), i
			}
		}
		c.top = max(c.top, last-room+1)
		c.top = max(0, min(c.top, first, len(lines)-room))
		lines, rows = lines[c.top:c.top+room], rows[c.top:c.top+room]
	} else {
		c.top = 0
	}
	c.rows = rows
	return lines
}
