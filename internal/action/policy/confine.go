package policy

import (
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
)

// outsideBlocked applies the settings that keep a session inside its folders.
func (sc *shellCall) outsideBlocked() (finding, bool) {
	cfg := &sc.c.s.cfg
	if !cfg.BlockReadsOutside && !cfg.BlockWritesOutside {
		return finding{}, false
	}
	for i := range sc.facts.Parts {
		p := &sc.facts.Parts[i]
		for j := range sc.spots[i] {
			sp := &sc.spots[i][j]
			blocked := cfg.BlockWritesOutside
			if sp.arg.Access == shellread.AccessRead {
				blocked = cfg.BlockReadsOutside
			}
			if blocked && !sc.contained(sp) {
				return finding{part: p.Line(), why: "it names a path outside the working directories, which is blocked"}, true
			}
		}
		if slices.ContainsFunc(p.Words, sc.namesOutside) {
			return finding{part: p.Line(), why: "it names a path outside the working directories, which is blocked"}, true
		}
	}
	return finding{}, false
}

// namesOutside guesses whether a word of an unknown program is a path that
// leads outside.
func (sc *shellCall) namesOutside(w shellread.Word) bool {
	t := w.Text
	if _, v, ok := strings.Cut(t, "="); ok {
		t = v
	}
	if !strings.HasPrefix(t, "/") && !w.Tilde && !strings.HasPrefix(t, "~/") && t != ".." && !strings.HasPrefix(t, "../") && !strings.Contains(t, "/../") {
		return false
	}
	return t != "/dev/null" && !sc.c.inside(sc.c.at(sc.start.logical, sc.start.physical, t, true))
}
