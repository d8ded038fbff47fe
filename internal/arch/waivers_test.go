package arch

import (
	"flag"
	"path"
	"strings"
	"testing"
)

// TestWaiversAreNeeded runs last, by the order of file names: a waiver whose finding is gone is deleted with it.
func TestWaiversAreNeeded(t *testing.T) {
	if flag.Lookup("test.run").Value.String() != "" {
		return // only a whole run has seen every finding
	}
	dirs := mustLoad(t).dirs
	for w := range waivers {
		_, subject, _ := strings.Cut(w, " internal/")
		dir := "internal/" + strings.TrimSuffix(subject, path.Ext(subject))
		if _, arrived := dirs[dir]; arrived && !used[w] {
			t.Errorf("waiver %q: no such finding any more", w)
		}
	}
}
