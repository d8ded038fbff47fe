// Package markdown is Markdown, code and diffs as styled lines, piece by piece while they arrive.
package markdown

import (
	"strings"
	"unicode/utf8"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// Stream turns Markdown into lines while it arrives. The zero Stream is ready.
// It is of one goroutine.
//
// However the text is cut into pieces, the lines are the same: a line comes from
// Finished once nothing that follows can change it, and from Open until then.
type Stream struct {
	p    parser
	lay  layout
	buf  string // a line without its end
	long bool   // the beginning of that line was read before
}

// Write takes the next piece of the text. A character may come in two pieces.
func (s *Stream) Write(delta string) {
	s.buf += delta
	for {
		most := s.limit()
		if n := strings.IndexByte(s.buf[:min(len(s.buf), most+1)], '\n'); n >= 0 {
			s.read(strings.TrimSuffix(s.buf[:n], "\r"))
			s.buf, s.long = s.buf[n+1:], false
			continue
		}
		if len(s.buf) <= most {
			return
		}
		n := strings.LastIndexByte(s.buf[most/2:most], ' ') + most/2
		if n < most/2 {
			n = edge(s.buf, most)
		}
		s.p.part = true
		s.read(s.buf[:n])
		s.p.part = false
		s.buf, s.long = s.buf[n:], true
	}
}

// limit is the length of a line above which its beginning is read before its
// end is there. It depends on the first maxText bytes alone.
func (s *Stream) limit() int {
	if t := s.buf[:min(len(s.buf), maxText)]; !s.long && (strings.IndexByte(t, '|') >= 0 || strings.HasPrefix(strings.TrimLeft(t, " >"), "#")) {
		return maxLine
	}
	return maxText
}

// edge is the last place at or before max where a character of s begins.
func edge(s string, max int) int {
	for n := max; n > max-utf8.UTFMax; n-- {
		if utf8.RuneStart(s[n]) {
			return n
		}
	}
	return max
}

func (s *Stream) read(line string) { s.p.feed(plain.Text(line), s.long) }

func (p *parser) feed(line string, long bool) {
	if long {
		p.more(line)
		return
	}
	p.line(line)
}

// Finished hands out the lines that became final since the last call.
func (s *Stream) Finished(width int) []style.Line {
	var out []style.Line
	for _, p := range s.p.out {
		out = s.lay.put(out, p, width)
	}
	s.p.out = nil
	return out
}

// Close ends the text and hands out the rest of the lines.
func (s *Stream) Close(width int) []style.Line {
	if s.buf != "" {
		s.read(strings.TrimSuffix(s.buf, "\r"))
	}
	s.buf, s.long = "", false
	s.p.end()
	return s.Finished(width)
}

// Open draws what is not final yet, behind the lines that Finished gave: its
// last lines if it is higher than height. What is half written is drawn as it
// will most likely be.
func (s *Stream) Open(width, height int) []style.Line {
	p, lay := s.p.clone(), s.lay
	p.tail = true
	if line := plain.Text(whole(s.buf)); s.long || !p.undecided(line) {
		p.feed(line, s.long)
	}
	p.end()
	var out []style.Line
	for _, c := range p.out {
		out = lay.put(out, c, width)
	}
	return out[max(len(out)-max(height, 0), 0):]
}

// whole is s without a character that has only begun, and without a carriage
// return that may be half of a line's end.
func whole(s string) string {
	s = strings.TrimSuffix(s, "\r")
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if c := s[len(s)-n]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(s[len(s)-n:]) {
				return s[:len(s)-n]
			}
			break
		}
	}
	return s
}

// undecided tells whether a line has begun with what may still be the mark of
// anything, so that it is better not drawn yet.
func (p *parser) undecided(s string) bool {
	if s == "" {
		return true
	}
	if p.leaf.kind == fenced {
		return false // codeLine knows
	}
	t := strings.TrimLeft(s, " \t>")
	if strings.Trim(t, "-*+=_#`~>| \t:") == "" {
		return true
	}
	if mark, ok := listMark(t); ok {
		t = strings.TrimLeft(t[len(mark):], " \t")
		return t == "" || len(t) < 5 && strings.Trim(t, "[] xX") == "" || len(t) < 3 && strings.Trim(t, "*_`~") == ""
	}
	return len(t) < 5 && strings.Trim(t, "0123456789.)") == ""
}

// Render is a whole document in lines of at most width cells.
func Render(doc string, width int) []style.Line {
	var s Stream
	s.Write(doc)
	return s.Close(width)
}
