package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/tool"
)

// shellCall is one command text under judgement.
type shellCall struct {
	c     *chain
	facts *shellread.Facts
	spots [][]spot // per part, the places of its paths
	start directory
}

// spot is one path of a part with everything it may stand for.
type spot struct {
	arg    shellread.PathArg
	places []place
	// open is set when the path, or part of it, is only known at run time.
	open bool
	// globs are the absolute patterns, split, of a path that globs.
	globs [][]string
}

func (c *chain) shellCall(command string) *shellCall {
	sc := &shellCall{c: c, facts: c.s.cfg.Reader.Read(command, c.r.Shell)}
	sc.start = c.directories(shellread.Dirs{})[0]
	sc.spots = make([][]spot, len(sc.facts.Parts))
	for i := range sc.facts.Parts {
		p := &sc.facts.Parts[i]
		if len(p.Paths) == 0 {
			continue
		}
		dirs := []directory{sc.start}
		if p.Dirs.Moved() {
			dirs = c.directories(p.Dirs)
		}
		sc.spots[i] = make([]spot, 0, len(p.Paths))
		for _, a := range p.Paths {
			sc.spots[i] = append(sc.spots[i], sc.spot(p, a, dirs))
		}
	}
	return sc
}

// maxMatches bounds how many names of one glob are judged one by one; more ask.
const maxMatches = 1000

func (sc *shellCall) spot(p *shellread.Part, a shellread.PathArg, dirs []directory) spot {
	s := spot{arg: a}
	text := a.Word.Text
	if a.Word.Holes&shellread.FromProc != 0 && strings.HasPrefix(text, "/dev/fd/") {
		return s
	}
	if strings.IndexByte(text, shellread.Hole) >= 0 {
		s.open = true
		text = strings.ReplaceAll(text, string(shellread.Hole), "")
	}
	if p.Dirs.Unknown && !strings.HasPrefix(text, "/") && !a.Word.Tilde {
		s.open = true
	}
	for _, d := range dirs {
		if a.Word.Pattern != "" {
			sc.expand(&s, d)
			continue
		}
		s.places = append(s.places, sc.c.at(d.logical, d.physical, text, a.Word.Tilde))
	}
	return s
}

// expand adds the names that a glob matches now, and the pattern itself, which
// stands for those it may match when the command runs.
func (sc *shellCall) expand(s *spot, d directory) {
	w := s.arg.Word
	abs := sc.c.join(escapeDir(d.logical), w.Pattern, w.Tilde)
	if strings.IndexByte(abs, shellread.Hole) >= 0 || strings.Contains(afterWildcard(abs), "..") {
		s.open = true
	}
	s.globs = append(s.globs, segments(sc.c.s.fold(path.Clean(abs))))
	fixed := path.Dir(beforeWildcard(w.Text))
	s.places = append(s.places, sc.c.at(d.logical, d.physical, fixed, w.Tilde))
	if sc.c.paths == nil {
		return
	}
	found := sc.c.paths.Glob(abs)
	if len(found) > maxMatches {
		s.open = true
		found = found[:maxMatches]
	}
	for _, n := range found {
		s.places = append(s.places, sc.c.at("/", "/", n, false))
	}
}

func escapeDir(d string) string {
	segs := strings.Split(d, "/")
	for i := range segs {
		segs[i] = escapeSegment(segs[i])
	}
	return strings.Join(segs, "/")
}

// beforeWildcard is the part of a glob up to its first wildcard.
func beforeWildcard(s string) string {
	if i := strings.IndexAny(s, "*?["); i >= 0 {
		return s[:i] + "x"
	}
	return s
}

func afterWildcard(s string) string {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return s[i:]
		}
	}
	return ""
}

// denied looks at every part, shadows included.
func (sc *shellCall) denied() (finding, bool) {
	deny := &sc.c.s.deny
	for i := range sc.facts.Parts {
		p := &sc.facts.Parts[i]
		for _, r := range deny.exec {
			if !r.whole() && r.param == "" && matchAny(r, p.Forms.Deny) {
				return finding{rule: r, part: p.Line()}, true
			}
		}
		for j := range sc.spots[i] {
			s := &sc.spots[i][j]
			for _, pl := range s.places {
				if r := sc.pathDenial(s, pl); r != nil {
					return finding{rule: r, part: p.Line()}, true
				}
			}
		}
	}
	return finding{}, false
}

func matchAny(r *Rule, forms []string) bool {
	return slices.ContainsFunc(forms, r.command.match)
}

func (sc *shellCall) pathDenial(s *spot, pl place) *Rule {
	if s.arg.Access == shellread.AccessRead {
		return sc.c.rulesOn(sc.c.s.deny.read, pl, false)
	}
	return sc.c.editDenial(pl)
}

// mustAsk looks for ask rules that match, and for deny or ask rules that could
// match once run-time text is known.
func (sc *shellCall) mustAsk() (finding, bool) {
	s := sc.c.s
	for i := range sc.facts.Parts {
		p := &sc.facts.Parts[i]
		for _, r := range s.ask.exec {
			if !r.whole() && r.param == "" && matchAny(r, p.Forms.Deny) {
				return finding{rule: r, part: p.Line()}, true
			}
		}
		for j := range sc.spots[i] {
			if r := sc.pathAsk(&sc.spots[i][j]); r != nil {
				return finding{rule: r, part: p.Line()}, true
			}
		}
	}
	return finding{}, false
}

func (sc *shellCall) pathAsk(sp *spot) *Rule {
	rules := sc.c.s.ask.edit
	if sp.arg.Access == shellread.AccessRead {
		rules = sc.c.s.ask.read
	}
	for _, pl := range sp.places {
		if r := sc.c.rulesOn(rules, pl, false); r != nil {
			return r
		}
	}
	return nil
}

// couldMatch finds a deny or ask rule that some value of the run-time text in
// the command would match. Where every program may run anyway (bypass), files
// that a command may come across are left to the sandbox: names in commands and
// globs still count.
func (sc *shellCall) couldMatch(bypass bool) (finding, bool) {
	s := sc.c.s
	for _, set := range []*ruleSet{&s.deny, &s.ask} {
		for i := range sc.facts.Parts {
			p := &sc.facts.Parts[i]
			for _, r := range set.exec {
				if r.whole() || r.param != "" {
					continue
				}
				if slices.ContainsFunc(p.Forms.Possible, r.command.meet) {
					return finding{rule: r, part: p.Line(), why: "the rule " + r.Text + " could match what this becomes when it runs"}, true
				}
			}
			for j := range sc.spots[i] {
				if bypass && len(sc.spots[i][j].globs) == 0 {
					continue
				}
				if r := sc.couldReach(set, &sc.spots[i][j]); r != nil {
					return finding{rule: r, part: p.Line(), why: "it could reach what the rule " + r.Text + " is about"}, true
				}
			}
		}
	}
	return finding{}, false
}

// couldReach judges globs, trees and paths that are only known at run time
// against path rules.
func (sc *shellCall) couldReach(set *ruleSet, sp *spot) *Rule {
	if len(sp.globs) == 0 && !sp.arg.Recursive && !sp.open {
		return nil
	}
	lists := [][]*Rule{set.read}
	if sp.arg.Access != shellread.AccessRead {
		lists = append(lists, set.edit)
	}
	for _, rules := range lists {
		for _, r := range rules {
			if r.whole() || r.unused || r.param != "" {
				continue
			}
			if sp.open {
				return r
			}
			for _, g := range sc.patterns(sp) {
				if r.path.meet(g, sp.arg.Recursive, sp.arg.SkipHidden) {
					return r
				}
			}
		}
	}
	return nil
}

// patterns are the names of a spot as patterns.
func (sc *shellCall) patterns(sp *spot) [][]string {
	if len(sp.globs) > 0 {
		return sp.globs
	}
	var out [][]string
	for _, pl := range sp.places {
		for _, n := range pl.names {
			segs := segments(sc.c.s.fold(n))
			for i := range segs {
				segs[i] = escapeSegment(segs[i])
			}
			out = append(out, segs)
		}
	}
	return out
}

// unsafe holds the checks that precede modes and allow rules.
func (sc *shellCall) unsafe(bypass bool) (f finding, forced, ok bool) {
	if why := sc.facts.Opaque(); why != "" {
		return finding{why: why}, true, true
	}
	for i := range sc.facts.Parts {
		p := &sc.facts.Parts[i]
		if target := sc.c.criticalRemoval(p); target != "" {
			return finding{part: p.Line(), why: "removing " + target + " could not be undone, so a person must approve it"}, true, true
		}
	}
	if f, ok := sc.couldMatch(bypass); ok {
		return f, true, true
	}
	if bypass {
		return finding{}, false, false
	}
	if f, ok := sc.protectedWrite(); ok {
		return f, false, true
	}
	if f, ok := sc.outsideBlocked(); ok {
		return f, true, true
	}
	return finding{}, false, false
}

// protectedWrite finds a part that writes where only a person may allow it.
func (sc *shellCall) protectedWrite() (finding, bool) {
	for i := range sc.facts.Parts {
		p := &sc.facts.Parts[i]
		for j := range sc.spots[i] {
			sp := &sc.spots[i][j]
			if sp.arg.Access == shellread.AccessRead {
				continue
			}
			if slices.ContainsFunc(sp.places, sc.c.s.protected) {
				return finding{part: p.Line(), why: sp.arg.Word.Source + " decides what runs later, so writing it needs a person's approval"}, true
			}
			if sp.open && sp.arg.Redirect {
				return finding{part: p.Line(), why: "the target of a redirect is only known at run time"}, true
			}
		}
	}
	return finding{}, false
}

// contained reports whether a spot lies in the working directories for certain.
func (sc *shellCall) contained(sp *spot) bool {
	if sp.open {
		return false
	}
	for _, pl := range sp.places {
		if !sc.c.inside(pl) {
			return false
		}
	}
	return true
}

// elsewhere reports whether a part may run in another directory than the one
// the call started in.
func (sc *shellCall) elsewhere(p *shellread.Part) bool {
	if !p.Dirs.Moved() {
		return false
	}
	if p.Dirs.Unknown {
		return true
	}
	for _, d := range sc.c.directories(p.Dirs) {
		if d.logical != sc.start.logical || d.physical != sc.start.physical {
			return true
		}
	}
	return false
}

// covering finds an allow rule for the shell as a whole.
func (sc *shellCall) covering() *Rule {
	for _, r := range sc.c.s.allow.exec {
		if r.whole() && !sc.c.suspended(r) {
			return r
		}
	}
	// A rule that names the tool itself, when its commands are judged by another family.
	for _, r := range sc.c.s.allow.general {
		if r.whole() && r.names(sc.c.r.Spec) && !sc.c.suspended(r) {
			return r
		}
	}
	return nil
}

// suspended rules are not used while the classifier judges: they would approve
// arbitrary code.
func (c *chain) suspended(r *Rule) bool {
	if c.s.mode() != Auto || r.Behavior != tool.Allow {
		return false
	}
	return r.whole() || c.s.cfg.ClassifyAllShell || broadCommand(r.command)
}
