package script

import (
	"fmt"
)

// prefix is what the next request of a conversation must begin with.
type prefix struct {
	tools, system string
	messages      []string
	tokens        int
}

func prefixOf(r *request, tokens int) *prefix {
	p := &prefix{tools: r.toolsRaw, system: r.systemRaw, tokens: tokens}
	for _, m := range r.messages {
		p.messages = append(p.messages, m.raw)
	}
	return p
}

// extends says what of p a request has changed; "" when it extends p.
func (p *prefix) extends(r *request) string {
	switch {
	case p.tools != r.toolsRaw:
		return "tools changed " + firstDifference(p.tools, r.toolsRaw)
	case p.system != r.systemRaw:
		return "system changed " + firstDifference(p.system, r.systemRaw)
	case len(r.messages) < len(p.messages):
		return fmt.Sprintf("%d messages became %d", len(p.messages), len(r.messages))
	}
	for i, old := range p.messages {
		if old != r.messages[i].raw {
			return fmt.Sprintf("messages.%d changed %s", i, firstDifference(old, r.messages[i].raw))
		}
	}
	return ""
}

// firstDifference shows where two texts part.
func firstDifference(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	from := max(0, n-40)
	return fmt.Sprintf("at byte %d\n  was %q\n  is  %q", n, window(a, from), window(b, from))
}

func window(s string, from int) string {
	return s[min(from, len(s)):min(from+120, len(s))]
}
