package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/tool"
	"golang.org/x/text/unicode/norm"
)

// pathPattern is a compiled path rule: a gitignore pattern below a folder.
type pathPattern struct {
	base []string
	segs []string
	// relative patterns start at the current directory; denials also look below
	// the directory that the conversation moved to.
	relative bool
	// strict patterns do not cover what lies below a match: an allow rule that
	// ends in a wildcard means the names of that level only.
	strict bool
}

// compilePath reads the specifier of a path rule. Anchors: //p the root of the
// file system, ~/p the home, /p the folder of the rule's source, p or ./p the
// start directory. In deny and ask rules a bare name, or one folder and /**,
// matches at any depth; in allow rules only a bare name without ./ does.
func (s *Snapshot) compilePath(r *Rule) (pathPattern, string) {
	spec, base := r.Specifier, s.cfg.Project
	p := pathPattern{}
	dotted, anchored := false, true
	switch {
	case strings.HasPrefix(spec, "!"):
		return p, "malformed: a path rule cannot be negated"
	case strings.HasPrefix(spec, "//"):
		spec, base = spec[2:], "/"
	case spec == "~" || strings.HasPrefix(spec, "~/"):
		spec, base = strings.TrimPrefix(spec[1:], "/"), s.home
	case strings.HasPrefix(spec, "/"):
		spec = spec[1:]
		if r.Origin.Dir != "" {
			base = r.Origin.Dir
		}
	default:
		anchored = false
		p.relative = true
		for strings.HasPrefix(spec, "./") {
			spec, dotted = spec[2:], true
		}
	}
	if drive := windowsDrive(spec); drive != "" {
		base, spec = "/", drive
	}
	p.base = segments(s.fold(clean(base)))
	p.segs = patternSegments(s.fold(spec))
	if slices.Contains(p.segs, "..") {
		return s.climbing(p)
	}
	allow := r.Behavior == tool.Allow
	bare := len(p.segs) == 1 && p.segs[0] != "**"
	folder := len(p.segs) == 2 && p.segs[1] == "**" && p.segs[0] != "**"
	if !anchored && (bare && !(allow && dotted) || folder && !allow) {
		p.segs = append([]string{"**"}, p.segs...)
	}
	if n := len(p.segs); allow && n > 0 && p.segs[n-1] != "**" && strings.ContainsAny(p.segs[n-1], "*?[") {
		p.strict = true
	}
	return p, ""
}

// climbing resolves leading .. of a pattern against its folder.
func (s *Snapshot) climbing(p pathPattern) (pathPattern, string) {
	for len(p.segs) > 0 && p.segs[0] == ".." {
		p.segs = p.segs[1:]
		p.base = p.base[:max(len(p.base)-1, 0)]
	}
	if slices.Contains(p.segs, "..") {
		return p, "malformed: .. may only stand at the start of a path rule"
	}
	p.relative = false
	return p, ""
}

// windowsDrive turns C:\x and C:/x into the form /c/x that is used inside.
func windowsDrive(spec string) string {
	if len(spec) > 2 && spec[1] == ':' && (spec[2] == '\\' || spec[2] == '/') {
		return strings.ToLower(spec[:1]) + "/" + strings.ReplaceAll(spec[3:], `\`, "/")
	}
	return ""
}

func patternSegments(spec string) []string {
	var out []string
	for seg := range strings.SplitSeq(spec, "/") {
		if seg == "" || seg == "." || seg == "**" && len(out) > 0 && out[len(out)-1] == "**" {
			continue
		}
		out = append(out, seg)
	}
	return out
}

func segments(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
}

// fold brings a name into the form in which names compare here.
func (s *Snapshot) fold(p string) string {
	if s.cfg.FS.Normalizing {
		p = norm.NFC.String(p)
	}
	if s.cfg.FS.CaseInsensitive {
		p = strings.ToLower(p)
	}
	return p
}

// match reports whether name, absolute, folded and split, falls under p.
func (p *pathPattern) match(name []string) bool {
	if len(name) < len(p.base) || !slices.Equal(name[:len(p.base)], p.base) {
		return false
	}
	return matchSegments(p.segs, name[len(p.base):], p.strict)
}

// matchSegments matches whole segments; a pattern that is used up covers what
// lies below, unless strict. A table keeps hostile patterns cheap.
func matchSegments(pat, name []string, strict bool) bool {
	n := len(name)
	var buf [64]bool
	// rest[j] tells whether the pattern from here on matches name[j:].
	rest := buf[:]
	if n+1 > len(buf) {
		rest = make([]bool, n+1)
	}
	rest = rest[:n+1]
	for j := range rest {
		rest[j] = j == n || !strict
	}
	for i := len(pat) - 1; i >= 0; i-- {
		switch {
		case pat[i] == "**" && i == len(pat)-1:
			for j := range rest {
				rest[j] = true
			}
		case pat[i] == "**":
			rest[n] = false
			for j := n - 1; j >= 0; j-- {
				rest[j] = rest[j] || rest[j+1]
			}
		default:
			for j := range n {
				rest[j] = rest[j+1] && segmentMatch(pat[i], name[j])
			}
			rest[n] = false
		}
	}
	return rest[0]
}

// segmentMatch matches one segment. A malformed class is taken literally.
func segmentMatch(pattern, name string) bool {
	if !strings.ContainsAny(pattern, `*?[\`) {
		return pattern == name
	}
	pattern = strings.ReplaceAll(pattern, "[!", "[^")
	ok, err := path.Match(pattern, name)
	return ok || err != nil && pattern == name
}

// meet reports whether some name that the shell pattern glob (absolute,
// split) can stand for falls under p. Wildcards at the start of a segment do not
// reach names that start with a dot. With tree everything below counts too;
// skipHidden leaves hidden names out of that.
func (p *pathPattern) meet(glob []string, tree, skipHidden bool) bool {
	full := make([]string, 0, len(p.base)+len(p.segs))
	for _, b := range p.base {
		full = append(full, escapeSegment(b))
	}
	full = append(full, p.segs...)
	if tree {
		glob = append(slices.Clip(glob), "**")
	}
	return meetSegments(full, glob, skipHidden)
}

// meetSegments fills a table from the end: row i, column j tells whether
// pat[i:] and glob[j:] can name the same file, or one inside a match of pat.
func meetSegments(pat, glob []string, skipHidden bool) bool {
	m := len(glob)
	below := make([]bool, m+1) // the row of pat[i+1:]
	row := make([]bool, m+1)
	for j := range below {
		below[j] = true
	}
	for i := len(pat) - 1; i >= 0; i-- {
		star := pat[i] == "**"
		row[m] = star && i == len(pat)-1
		for j := m - 1; j >= 0; j-- {
			switch {
			case star:
				row[j] = below[j] || row[j+1]
			case glob[j] == "**":
				row[j] = row[j+1] || below[j] && !(skipHidden && strings.HasPrefix(pat[i], "."))
			default:
				row[j] = below[j+1] && segmentMeet(pat[i], glob[j])
			}
		}
		below, row = row, below
	}
	return below[0]
}

// segmentMeet reports whether one name can match both patterns. Classes count
// as any character.
func segmentMeet(a, b string) bool {
	if strings.HasPrefix(a, ".") && b != "" && strings.IndexByte("*?[", b[0]) >= 0 {
		return false
	}
	x, y := tokens(a), tokens(b)
	// row[j] tells whether x[:i] and y[:j] can stand for the same characters.
	row := make([]bool, len(y)+1)
	next := make([]bool, len(y)+1)
	for i := 0; i <= len(x); i++ {
		for j := 0; j <= len(y); j++ {
			ok := i == 0 && j == 0
			if i > 0 && x[i-1] == anyText && row[j] || j > 0 && y[j-1] == anyText && next[j-1] {
				ok = true
			}
			if i > 0 && j > 0 && !ok {
				u, v := x[i-1], y[j-1]
				switch {
				case u == anyText:
					ok = next[j-1]
				case v == anyText:
					ok = row[j]
				case row[j-1]:
					ok = u == v || u == anyRune || v == anyRune
				}
			}
			next[j] = ok
		}
		row, next = next, row
		clear(next)
	}
	return row[len(y)]
}

const (
	anyText rune = -1
	anyRune rune = -2
)

// tokens splits one segment of a pattern into characters and wildcards.
func tokens(p string) []rune {
	var out []rune
	rs := []rune(p)
	for i := 0; i < len(rs); i++ {
		switch rs[i] {
		case '*', 0:
			out = append(out, anyText)
		case '?':
			out = append(out, anyRune)
		case '[':
			end := slices.Index(rs[i:], ']')
			if end < 0 {
				out = append(out, rs[i])
				continue
			}
			out = append(out, anyRune)
			i += end
		case '\\':
			if i+1 < len(rs) {
				i++
			}
			out = append(out, rs[i])
		default:
			out = append(out, rs[i])
		}
	}
	return out
}

// escapeSegment writes a name as a pattern that matches only it.
func escapeSegment(s string) string {
	if !strings.ContainsAny(s, `*?[]\`) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(`*?[]\`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
