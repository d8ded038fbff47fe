package search

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// wildcard is one compiled glob in the dialect of gitignore files as ripgrep
// reads them: '*', '?' and classes stop at '/', a whole segment '**' spans
// directories, and {a,b} alternates.
type wildcard struct {
	alternatives [][]segment
}

// segment is what one path component must look like.
type segment struct {
	deep    bool   // '**'
	literal bool   // text is compared as it is
	text    string // the glob, escapes included, or the literal
}

// maxAlternatives bounds what {a,b}{c,d}… may expand to.
const maxAlternatives = 1024

var errGlobTooBig = errors.New("too many {…} alternatives")

// GlobError is a glob that could not be used.
type GlobError struct {
	Glob string
	Err  error
}

func (e *GlobError) Error() string { return fmt.Sprintf("error parsing glob '%s': %v", e.Glob, e.Err) }

func (e *GlobError) Unwrap() error { return e.Err }

func compileWildcard(glob string) (*wildcard, error) {
	flat, err := expandBraces(glob)
	if err != nil {
		return nil, &GlobError{glob, err}
	}
	w := &wildcard{}
	for _, g := range flat {
		var segs []segment
		for _, text := range splitSegments(g) {
			if err := checkSegment(text); err != nil {
				return nil, &GlobError{glob, err}
			}
			deep := text == "**"
			if deep && len(segs) > 0 && segs[len(segs)-1].deep {
				continue
			}
			literal := !strings.ContainsAny(text, `*?[\`)
			segs = append(segs, segment{deep: deep, literal: literal, text: text})
		}
		w.alternatives = append(w.alternatives, segs)
	}
	return w, nil
}

// splitSegments cuts at '/' outside of classes and escapes.
func splitSegments(g string) []string {
	var out []string
	start := 0
	for i := 0; i < len(g); i++ {
		switch g[i] {
		case '\\':
			i++
		case '[':
			i += classLength(g[i:]) - 1
		case '/':
			out = append(out, g[start:i])
			start = i + 1
		}
	}
	return append(out, g[start:])
}

// classLength returns the length of the class that s begins with, or 1 when
// it is not closed.
func classLength(s string) int {
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i++
	}
	if i < len(s) && s[i] == ']' {
		i++
	}
	for ; i < len(s); i++ {
		if s[i] == ']' {
			return i + 1
		}
	}
	return 1
}

func checkSegment(g string) error {
	for i := 0; i < len(g); i++ {
		switch g[i] {
		case '\\':
			if i++; i >= len(g) {
				return errors.New("dangling '\\'")
			}
		case '[':
			n := classLength(g[i:])
			if n == 1 {
				return errors.New("unclosed character class; missing ']'")
			}
			if err := checkClass(g[i : i+n]); err != nil {
				return err
			}
			i += n - 1
		}
	}
	return nil
}

func checkClass(class string) error {
	for rest := classBody(class); rest != ""; {
		var lo, hi rune
		if lo, hi, rest = classRange(rest); lo > hi {
			return fmt.Errorf("invalid range; '%c' > '%c'", lo, hi)
		}
	}
	return nil
}

// expandBraces returns g with every alternation written out.
func expandBraces(g string) ([]string, error) {
	open := -1
	for i := 0; i < len(g) && open < 0; i++ {
		switch g[i] {
		case '\\':
			i++
		case '[':
			i += classLength(g[i:]) - 1
		case '{':
			open = i
		case '}':
			return nil, errors.New("unopened alternate group; missing '{'")
		}
	}
	if open < 0 {
		return []string{g}, nil
	}
	options, end, err := braceOptions(g, open)
	if err != nil {
		return nil, err
	}
	tails, err := expandBraces(g[end:])
	if err != nil {
		return nil, err
	}
	var out []string
	for _, o := range options {
		inner, err := expandBraces(o)
		if err != nil {
			return nil, err
		}
		for _, in := range inner {
			for _, t := range tails {
				if out = append(out, g[:open]+in+t); len(out) > maxAlternatives {
					return nil, errGlobTooBig
				}
			}
		}
	}
	return out, nil
}

// maxBraceDepth bounds the recursion of expandBraces.
const maxBraceDepth = 16

// braceOptions splits the group that opens at open; end is past its '}'.
func braceOptions(g string, open int) (options []string, end int, err error) {
	depth, start := 0, open+1
	for i := open; i < len(g); i++ {
		switch g[i] {
		case '\\':
			i++
		case '[':
			i += classLength(g[i:]) - 1
		case '{':
			if depth++; depth > maxBraceDepth {
				return nil, 0, errGlobTooBig
			}
		case ',':
			if depth == 1 {
				options = append(options, g[start:i])
				start = i + 1
			}
		case '}':
			if depth--; depth == 0 {
				return append(options, g[start:i]), i + 1, nil
			}
		}
	}
	return nil, 0, errors.New("unclosed alternate group; missing '}'")
}

// match reports whether the whole of path, with '/' between components,
// matches.
func (w *wildcard) match(path string) bool {
	for _, segs := range w.alternatives {
		if matchSegments(segs, path) {
			return true
		}
	}
	return false
}

// matchSegments walks both sides once and, at a mismatch, lets the last '**'
// swallow one more component: enough, because an earlier '**' could only
// swallow what a later one can as well.
func matchSegments(segs []segment, path string) bool {
	retry, retryPath := -1, ""
	i, done := 0, false
	for {
		switch {
		case i < len(segs) && segs[i].deep:
			if i == len(segs)-1 {
				return !done
			}
			retry, retryPath = i, path
			i++
			continue
		case done:
			return i == len(segs)
		case i < len(segs):
			head, rest, more := strings.Cut(path, "/")
			if segs[i].match(head) {
				i++
				path, done = rest, !more
				continue
			}
		}
		if retry < 0 {
			return false
		}
		_, after, more := strings.Cut(retryPath, "/")
		if !more {
			return false
		}
		retryPath, path, i = after, after, retry+1
	}
}

func (s segment) match(name string) bool {
	if s.literal {
		return s.text == name
	}
	return matchGlob(s.text, name)
}

// matchGlob matches one component against a glob without '/'.
func matchGlob(g, name string) bool {
	star, starName := -1, 0
	i, j := 0, 0
	for i < len(g) || j < len(name) {
		if i < len(g) {
			if g[i] == '*' {
				star, starName = i, j
				i++
				continue
			}
			if gn, nn, ok := matchOne(g[i:], name[j:]); ok {
				i += gn
				j += nn
				continue
			}
		}
		if star < 0 || starName >= len(name) {
			return false
		}
		_, n := utf8.DecodeRuneInString(name[starName:])
		starName += n
		i, j = star+1, starName
	}
	return true
}

// matchOne matches the first element of g against the first rune of name and
// returns how much of both it used.
func matchOne(g, name string) (gn, nn int, ok bool) {
	if name == "" {
		return 0, 0, false
	}
	r, n := utf8.DecodeRuneInString(name)
	switch g[0] {
	case '?':
		return 1, n, true
	case '[':
		gn := classLength(g)
		return gn, n, classContains(g[:gn], r)
	case '\\':
		want, wn := utf8.DecodeRuneInString(g[1:])
		return 1 + wn, n, want == r
	}
	return 1, 1, g[0] == name[0]
}

func classBody(class string) string {
	body := class[1 : len(class)-1]
	if body != "" && (body[0] == '!' || body[0] == '^') {
		body = body[1:]
	}
	return body
}

// classRange reads "a" or "a-z" off a class body.
func classRange(s string) (lo, hi rune, rest string) {
	lo, n := utf8.DecodeRuneInString(s)
	s = s[n:]
	if len(s) > 1 && s[0] == '-' {
		hi, n = utf8.DecodeRuneInString(s[1:])
		return lo, hi, s[1+n:]
	}
	return lo, lo, s
}

func classContains(class string, r rune) bool {
	negated := class[1] == '!' || class[1] == '^'
	for rest := classBody(class); rest != ""; {
		var lo, hi rune
		if lo, hi, rest = classRange(rest); lo <= r && r <= hi {
			return !negated
		}
	}
	return negated
}
