package policy

import (
	"strings"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
)

// globMatch reports whether text matches pattern, where * stands for any
// characters, also none, and \* for itself.
func globMatch(pattern, text string) bool {
	if !strings.ContainsAny(pattern, `*\`) {
		return pattern == text
	}
	p, t := 0, 0
	star, mark := -1, 0
	for t < len(text) {
		c, width, isStar := globToken(pattern, p)
		switch {
		case isStar:
			star, mark = p, t
			p++
		case width > 0 && c == text[t]:
			p += width
			t++
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

func globToken(pattern string, p int) (c byte, width int, star bool) {
	if p >= len(pattern) {
		return 0, 0, false
	}
	if pattern[p] == '*' {
		return 0, 1, true
	}
	if pattern[p] == '\\' && p+1 < len(pattern) && (pattern[p+1] == '*' || pattern[p+1] == '\\') {
		return pattern[p+1], 2, false
	}
	return pattern[p], 1, false
}

// maxIntersect bounds the work of globMeet; a larger question is answered with
// yes, which at worst asks once too often.
const maxIntersect = 1 << 20

// globMeet reports whether some value of text, where every Hole stands for
// unknown characters, matches pattern.
func globMeet(pattern, text string) bool {
	if len(pattern)*len(text) > maxIntersect {
		return true
	}
	// row[j] tells whether pattern[:i] can match text[:j].
	row := make([]bool, len(text)+1)
	next := make([]bool, len(text)+1)
	row[0] = true
	spread(row, text)
	for p := 0; p < len(pattern); {
		c, width, star := globToken(pattern, p)
		clear(next)
		for j := range row {
			if !row[j] {
				continue
			}
			switch {
			case star:
				// The star takes everything from here on.
				for k := j; k < len(next); k++ {
					next[k] = true
				}
			case j < len(text) && text[j] == shellread.Hole:
				next[j] = true
			case j < len(text) && text[j] == c:
				next[j+1] = true
			}
			if star {
				break
			}
		}
		spread(next, text)
		row, next = next, row
		p += width
	}
	return row[len(text)]
}

// spread lets every hole stand for nothing.
func spread(row []bool, text string) {
	for j := range len(text) {
		if row[j] && text[j] == shellread.Hole {
			row[j+1] = true
		}
	}
}

// commandPattern is the compiled specifier of a command rule.
type commandPattern struct {
	text string
	// prefix patterns also match the text that stands before their final " *".
	prefix string
	hasEnd bool
	stars  bool
	// lead is literal text that every match starts with.
	lead string
}

func compileCommand(spec string) commandPattern {
	if s, ok := strings.CutSuffix(spec, ":*"); ok && s != "" {
		spec = s + " *"
	}
	p := commandPattern{text: spec, stars: strings.Contains(strings.ReplaceAll(spec, `\*`, ""), "*")}
	if s, ok := strings.CutSuffix(spec, " *"); ok {
		p.prefix, p.hasEnd = s, true
		spec = s
	}
	p.lead = spec
	if i := strings.IndexAny(spec, `*\`); i >= 0 {
		p.lead = spec[:i]
	}
	return p
}

// match compares with one spelling. A rule that ends in " *" needs a word
// boundary and covers the bare prefix too.
func (p *commandPattern) match(text string) bool {
	if !strings.HasPrefix(text, p.lead) {
		return false
	}
	if p.hasEnd && globMatch(p.prefix, text) {
		return true
	}
	return globMatch(p.text, text)
}

func (p *commandPattern) meet(text string) bool {
	return p.hasEnd && globMeet(p.prefix, text) || globMeet(p.text, text)
}
