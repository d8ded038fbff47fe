package shellread

import "strings"

const sedOptions = "-n -e= -E -r -s -u -z -l= --quiet --silent --expression= --regexp-extended --separate --unbuffered --null-data --line-length= --debug"

// judgeSed accepts scripts that only transform the stream.
func judgeSed(prog *program, words []Word) verdict {
	a, wrong := prog.split(words, false)
	if wrong != "" {
		return unknown(wrong)
	}
	ops, wrong := sedOperands(a)
	if wrong != "" {
		return unknown(wrong)
	}
	a.readAll(ops)
	return verdict{class: ReadOnly, why: prog.why, paths: a.paths}
}

// sedOperands checks every script and returns the files.
func sedOperands(a *args) ([]Word, string) {
	ops := a.operands
	if len(a.scripts) == 0 {
		if len(ops) == 0 || ops[0].Text == "" {
			return nil, "it has no script"
		}
		a.scripts, ops = ops[:1], ops[1:]
	}
	for _, s := range a.scripts {
		if !s.Literal() {
			return nil, "its script is only known at run time"
		}
		if !plainSed(s.Text) {
			return nil, "its script may write a file, read another one or run a program"
		}
	}
	return ops, ""
}

// plainSed reports whether a sed script consists of commands that act on the
// stream only: not r R w W e, nor the flags e and w of s.
func plainSed(script string) bool {
	s := &sedScan{s: script}
	for {
		s.skip(" \t\n;}")
		if s.done() {
			return true
		}
		if !s.address() {
			return false
		}
		if s.peek() == ',' {
			s.i++
			s.skip(" \t")
			if !s.secondAddress() {
				return false
			}
		}
		s.skip(" \t!")
		if s.done() || !s.command() {
			return false
		}
	}
}

type sedScan struct {
	s string
	i int
}

func (s *sedScan) done() bool { return s.i >= len(s.s) }

func (s *sedScan) peek() byte {
	if s.done() {
		return 0
	}
	return s.s[s.i]
}

func (s *sedScan) skip(set string) {
	for !s.done() && strings.IndexByte(set, s.s[s.i]) >= 0 {
		s.i++
	}
}

func (s *sedScan) number() { s.skip("0123456789") }

// address skips an optional first address.
func (s *sedScan) address() bool {
	switch c := s.peek(); {
	case c >= '0' && c <= '9':
		s.number()
		if s.peek() == '~' {
			s.i++
			s.number()
		}
	case c == '$':
		s.i++
	case c == '/':
		s.i++
		return s.regexp('/')
	case c == '\\':
		s.i++
		d := s.peek()
		if d == 0 || d == '\n' || d >= 0x80 {
			return false
		}
		s.i++
		return s.regexp(d)
	}
	s.skip(" \t")
	return true
}

func (s *sedScan) secondAddress() bool {
	if c := s.peek(); c == '+' || c == '~' {
		s.i++
		s.number()
		s.skip(" \t")
		return true
	}
	return s.address()
}

func (s *sedScan) regexp(delim byte) bool {
	if !s.until(delim) {
		return false
	}
	s.skip("IM")
	s.skip(" \t")
	return true
}

// until skips past the next delim that no backslash protects.
func (s *sedScan) until(delim byte) bool {
	for ; !s.done(); s.i++ {
		switch s.s[s.i] {
		case '\\':
			s.i++
		case delim:
			s.i++
			return true
		}
	}
	return false
}

func (s *sedScan) command() bool {
	c := s.peek()
	s.i++
	switch {
	case c == '{':
		return true
	case strings.IndexByte("=dDgGhHnNpPxzF", c) >= 0:
		return s.ended()
	case strings.IndexByte("lqQ", c) >= 0:
		s.skip(" \t")
		s.number()
		return s.ended()
	case c == '#':
		s.line()
		return true
	case strings.IndexByte(":btT", c) >= 0:
		s.skip(" \t")
		for !s.done() && strings.IndexByte(" \t\n;}", s.s[s.i]) < 0 {
			s.i++
		}
		return true
	case strings.IndexByte("aic", c) >= 0:
		s.text()
		return true
	case c == 's' || c == 'y':
		return s.substitute(c)
	}
	return false
}

// text skips the text of a, i and c: to the end of a line without a backslash.
func (s *sedScan) text() {
	for ; !s.done() && s.s[s.i] != '\n'; s.i++ {
		if s.s[s.i] == '\\' {
			s.i++
		}
	}
}

func (s *sedScan) line() {
	for !s.done() && s.s[s.i] != '\n' {
		s.i++
	}
}

func (s *sedScan) substitute(c byte) bool {
	d := s.peek()
	if d == 0 || d == '\n' || d == '\\' || d >= 0x80 {
		return false
	}
	s.i++
	pattern := s.until(d)
	replacement := s.until(d)
	if !pattern || !replacement {
		return false
	}
	if c == 's' {
		s.skip("gpiImM0123456789")
	}
	return s.ended()
}

// ended reports whether a command ends here; anything else would be a flag or
// an operand that is not known.
func (s *sedScan) ended() bool {
	s.skip(" \t")
	return s.done() || strings.IndexByte("\n;}#", s.peek()) >= 0
}
