package search

import (
	"strings"
)

// verdict is what a list of rules says about a path.
type verdict int8

const (
	undecided verdict = iota
	ignored
	allowed // by a '!' rule, or by a --glob
)

// ruleSet holds the rules of one ignore file. Later rules win. Plain names
// and "*.ext" rules, which are most of them, are found through a map.
type ruleSet struct {
	names map[string][]int // by file name
	exts  map[string][]int // by what follows the last '.'
	other []int            // indices of rules that need matching, ascending
	rules []ignoreRule
}

type ignoreRule struct {
	glob    *wildcard
	allow   bool
	dirOnly bool
}

// parseIgnore reads the text of an ignore file. Lines that are no valid glob
// are left out, as git and ripgrep do.
func parseIgnore(text string) *ruleSet {
	s := &ruleSet{names: map[string][]int{}, exts: map[string][]int{}}
	text = strings.TrimPrefix(text, "\ufeff")
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasPrefix(line, "#") {
			_ = s.add(line)
		}
	}
	return s
}

// add appends one gitignore line to s.
func (s *ruleSet) add(line string) error {
	if !strings.HasSuffix(line, `\ `) {
		line = strings.TrimRight(line, " \t\r\n\v\f")
	}
	if line == "" {
		return nil
	}
	var r ignoreRule
	anchored := false
	if strings.HasPrefix(line, `\!`) || strings.HasPrefix(line, `\#`) {
		line = line[1:]
	} else {
		line, r.allow = strings.CutPrefix(line, "!")
		line, anchored = strings.CutPrefix(line, "/")
	}
	line, r.dirOnly = strings.CutSuffix(line, "/")
	if line == "" {
		return nil
	}
	index := len(s.rules)
	glob := line
	if !anchored && !strings.Contains(line, "/") {
		glob = "**/" + line
	}
	if strings.HasSuffix(glob, "/**") {
		glob += "/*" // what is inside a directory, not the directory itself
	}
	w, err := compileWildcard(glob)
	if err != nil {
		return err
	}
	r.glob = w
	s.rules = append(s.rules, r)
	ext, isExt := strings.CutPrefix(line, "*.")
	switch special := `*?[]{}\/.`; {
	case anchored || strings.ContainsAny(line, "/"):
		s.other = append(s.other, index)
	case isExt && !strings.ContainsAny(ext, special):
		s.exts[ext] = append(s.exts[ext], index)
	case !strings.ContainsAny(line, special[:len(special)-1]):
		s.names[line] = append(s.names[line], index)
	default:
		s.other = append(s.other, index)
	}
	return nil
}

// match looks up path, relative to the folder of the ignore file.
func (s *ruleSet) match(path string, isDir bool) verdict {
	if s == nil || len(s.rules) == 0 {
		return undecided
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	best := -1
	applies := func(i int) bool { return i > best && (isDir || !s.rules[i].dirOnly) }
	for _, i := range s.names[name] {
		if applies(i) {
			best = i
		}
	}
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 && len(s.exts) > 0 {
		for _, i := range s.exts[name[dot+1:]] {
			if applies(i) {
				best = i
			}
		}
	}
	for k := len(s.other) - 1; k >= 0; k-- {
		i := s.other[k]
		if i < best {
			break
		}
		if applies(i) && s.rules[i].glob.match(path) {
			best = i
			break
		}
	}
	switch {
	case best < 0:
		return undecided
	case s.rules[best].allow:
		return allowed
	}
	return ignored
}

// selection is what a query asks for on top of ignore files: ripgrep's --glob
// and --type.
type selection struct {
	globs     *ruleSet
	including bool     // some glob is not a '!' one
	types     *ruleSet // matched on names
}

func newSelection(globs []string, fileType string) (*selection, error) {
	s := &selection{}
	if len(globs) > 0 {
		s.globs = &ruleSet{names: map[string][]int{}, exts: map[string][]int{}}
	}
	for _, g := range globs {
		before := len(s.globs.rules)
		if err := s.globs.add(g); err != nil {
			return nil, err
		}
		if n := len(s.globs.rules); n > before && !s.globs.rules[n-1].allow {
			s.including = true
		}
	}
	if fileType != "" {
		names, err := typeGlobs(fileType)
		if err != nil {
			return nil, err
		}
		s.types = parseIgnore(strings.Join(names, "\n"))
	}
	return s, nil
}

// byGlob decides with the globs alone. In a --glob the '!' has the opposite
// sense of the one in an ignore file.
func (s *selection) byGlob(path string, isDir bool) verdict {
	if s.globs == nil {
		return undecided
	}
	switch s.globs.match(path, isDir) {
	case ignored:
		return allowed
	case allowed:
		return ignored
	case undecided:
	}
	if s.including && !isDir {
		return ignored
	}
	return undecided
}

func (s *selection) byType(name string, isDir bool) verdict {
	if s.types == nil || isDir {
		return undecided
	}
	if s.types.match(name, false) == ignored {
		return allowed
	}
	return ignored
}
