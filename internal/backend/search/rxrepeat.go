package search

import "strings"

// maxRepeat bounds a single counted repetition.
const maxRepeat = 100_000

func (p *rxParser) quantifiers(n *node) *node {
	for {
		p.skipVerbose()
		at := p.pos
		lo, hi := 0, -1
		switch p.peek() {
		case '*':
			p.pos++
		case '+':
			p.pos++
			lo = 1
		case '?':
			p.pos++
			hi = 1
		case '{':
			lo, hi = p.counted()
		default:
			return n
		}
		if hi >= 0 && lo > hi {
			p.fail(at, "invalid repetition count range, the start must be <= the end")
		}
		lazy := p.eat("?") != p.flags.swap
		n = &node{op: opRepeat, sub: []*node{n}, min: lo, max: hi, lazy: lazy}
	}
}

func (p *rxParser) counted() (lo, hi int) {
	open := p.pos
	p.pos++ // {
	end := strings.IndexByte(p.src[open:], '}')
	if end < 0 {
		p.fail(open, "unclosed counted repetition")
	}
	body := p.src[open+1 : open+end]
	low, high, ranged := strings.Cut(body, ",")
	if strings.TrimSpace(low) == "" && !ranged || strings.TrimSpace(low) == "" && strings.TrimSpace(high) == "" {
		p.fail(open+1, "repetition quantifier expects a valid decimal (write \\{ for a literal brace)")
	}
	lo = p.decimal(low, open+1)
	hi = lo
	if ranged {
		hi = -1
		if strings.TrimSpace(high) != "" {
			hi = p.decimal(high, open+1+len(low)+1)
		}
	}
	p.pos = open + end + 1
	return lo, hi
}

func (p *rxParser) decimal(s string, at int) int {
	s = strings.TrimSpace(s)
	if s == "" {
		p.fail(at, "repetition quantifier expects a valid decimal (write \\{ for a literal brace)")
	}
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' {
			p.fail(at, "repetition quantifier expects a valid decimal (write \\{ for a literal brace)")
		}
		if n = n*10 + int(c-'0'); n > maxRepeat {
			p.fail(at, "repetition count is larger than %d", maxRepeat)
		}
	}
	return n
}
