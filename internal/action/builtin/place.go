package builtin

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/tool"
)

// place makes an input path absolute; links stay, because rules are judged by
// both names and the gate resolves them itself.
func place(env tool.Env, path string) (string, error) {
	return fsys.Abs(env.Cwd, path)
}

// short is a path as people read it: relative to the current directory when it lies there.
func short(env tool.Env, path string) string {
	if rel, err := filepath.Rel(env.Cwd, path); err == nil && filepath.IsLocal(rel) {
		return fsys.Printable(rel)
	}
	return fsys.Printable(path)
}

// missing is the text for a file that is not there: where we are, and what was
// perhaps meant. Names come only from places that may be read unasked.
func (c *Config) missing(env tool.Env, path string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "File does not exist: %s. Current directory: %s.", fsys.Printable(path), fsys.Printable(env.Cwd))
	if near := c.similar(env, path); len(near) > 0 {
		fmt.Fprintf(&b, " Did you mean %s?", strings.Join(near, " or "))
	} else if dir := filepath.Dir(path); fsys.KindOf(dir) == fsys.KindMissing {
		fmt.Fprintf(&b, " The folder %s does not exist either.", fsys.Printable(dir))
	}
	return b.String()
}

// maxNames bounds how many names of a folder are compared.
const maxNames = 10_000

// similar lists up to three existing paths that resemble path.
func (c *Config) similar(env tool.Env, path string) []string {
	found := c.tails(env, path)
	dir, base := filepath.Split(path)
	type candidate struct {
		path string
		cost int
	}
	var list []candidate
	if c.Reading(env, filepath.Clean(dir)) == tool.Allow {
		for _, name := range listing(dir) {
			if cost := unlike(base, name); cost >= 0 {
				list = append(list, candidate{filepath.Join(dir, name), cost})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return a.cost - b.cost })
	for _, x := range list {
		if c.Reading(env, x.path) == tool.Allow {
			found = append(found, fsys.Printable(x.path))
		}
	}
	return found[:min(len(found), 3)]
}

// tails looks for the path's own end below the current directory: models drop
// or invent leading folders.
func (c *Config) tails(env tool.Env, path string) []string {
	parts := strings.Split(filepath.ToSlash(path), "/")
	for i := 1; i < len(parts); i++ {
		p := filepath.Join(append([]string{env.Cwd}, parts[i:]...)...)
		if p != path && c.Reading(env, p) == tool.Allow && fsys.KindOf(p) == fsys.KindRegular {
			return []string{fsys.Printable(p)}
		}
	}
	return nil
}

func listing(dir string) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	list, _ := d.Readdirnames(maxNames) // a listing cut short still helps
	_ = d.Close()
	slices.Sort(list)
	return list
}

// unlike is a distance between two names, -1 when they do not resemble each other.
func unlike(want, have string) int {
	a, b := strings.ToLower(want), strings.ToLower(have)
	if a == b {
		return 0
	}
	stem := func(s string) string { return strings.TrimSuffix(s, filepath.Ext(s)) }
	if sa := stem(a); len(sa) > 1 && sa == stem(b) {
		return 1
	}
	if d := distance(a, b); d <= max(1, len(a)/3) {
		return 1 + d
	}
	return -1
}

// distance is the number of single-character changes between two short names.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 || max(len(a)-len(b), len(b)-len(a)) > 16 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j]+1, diag+1)
		}
	}
	return row[len(b)]
}
