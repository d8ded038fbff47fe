package gate

import (
	"path/filepath"
	"slices"

	"github.com/hew-agent/hew/internal/tool"
)

// places are the real names of the files that a call reads or writes, "" where
// one cannot be told. A question or a classifier takes time, in which another
// process can put a link in place of what was shown (attack A14): the answer
// holds only while the places are the same.
func (g *Gate) places(p tool.Planned) []string {
	var out []string
	for _, n := range p.Call.Needs() {
		if n.Path == "" || g.c.Paths == nil || n.Kind != tool.NeedRead && n.Kind != tool.NeedEdit {
			continue
		}
		at := n.Path
		if !filepath.IsAbs(at) {
			at = filepath.Join(p.Env.Cwd, at)
		}
		real, ok := g.c.Paths.Resolve(at)
		if !ok {
			real = ""
		}
		out = append(out, real)
	}
	return out
}

// moved reports whether the call would now end up elsewhere than at judged.
func (g *Gate) moved(p tool.Planned, judged []string) bool {
	return !slices.Equal(judged, g.places(p))
}

const movedText = "The place that this call names has become another one since it was judged (a link or folder was put there), so it was not run. " +
	"Look at what stands there now before you go on."
