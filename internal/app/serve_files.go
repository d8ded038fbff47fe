package app

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/backend/search"
)

// maxListed is how many files of a folder are looked at.
const maxListed = 50_000

// suggest lists the files of a folder whose path holds the letters that were
// typed, in their order: those first whose own name begins with them, or holds them.
func suggest(ctx context.Context, root, typed string) ([]string, error) {
	found, err := search.Engine{}.Glob(ctx, search.GlobQuery{Root: root, Pattern: "**", Rules: search.IgnoreLikeGrep, Order: search.NewestFirst, Limit: maxListed})
	if err != nil {
		return nil, err
	}
	type hit struct {
		path string
		rank int
	}
	var hits []hit
	typed = strings.ToLower(typed)
	for _, p := range found.Paths {
		rel, err := filepath.Rel(root, p)
		if err != nil {
			continue
		}
		rel = filepath.ToSlash(rel)
		if r := fits(strings.ToLower(rel), typed); r >= 0 {
			hits = append(hits, hit{rel, r})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(len(a.path), len(b.path))) })
	var out []string
	for _, h := range hits[:min(len(hits), maxSuggestions)] {
		out = append(out, h.path)
	}
	return out, nil
}

// fits ranks a path, 0 the best; -1 is no match.
func fits(p, typed string) int {
	base := path.Base(p)
	switch {
	case typed == "":
		return strings.Count(p, "/")
	case strings.HasPrefix(base, typed):
		return 0
	case strings.HasPrefix(p, typed):
		return 1
	case strings.Contains(base, typed):
		return 2
	case strings.Contains(p, typed):
		return 3
	}
	at := 0
	for _, r := range typed {
		i := strings.IndexRune(p[at:], r)
		if i < 0 {
			return -1
		}
		at += i + len(string(r))
	}
	return 4
}
