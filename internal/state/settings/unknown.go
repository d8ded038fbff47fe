package settings

import (
	"slices"
	"strings"
)

// Unknown is a key that hew does nothing with.
type Unknown struct {
	Key    string // dotted
	Origin Origin
	// Near is a known key that may have been meant, "" when none is.
	Near string
}

// Unknown lists the keys that are in no table: those of the top level, and those
// in objects of which every key is known. They may be another tool's.
func (s *Settings) Unknown() []Unknown {
	return unknown(s.root, "")
}

func unknown(n *node, path string) []Unknown {
	var out []Unknown
	for _, key := range n.keys {
		at := join(path, key)
		_, known := keyRules()[at]
		switch v := n.fields[key]; {
		case key == "$schema" && path == "":
		case !known:
			out = append(out, Unknown{at, v.from, near(at)})
		case v.kind == object && closed(at):
			out = append(out, unknown(v, at)...)
		}
	}
	return out
}

// closed tells that the keys below path are in the table.
func closed(path string) bool {
	for key := range keyRules() {
		if strings.HasPrefix(key, path+".") {
			return true
		}
	}
	return false
}

// near finds the known key of the same object that is at most two letters off.
func near(at string) string {
	best, least := "", 3
	depth := strings.Count(at, ".")
	var names []string
	for key := range keyRules() {
		names = append(names, key)
	}
	slices.Sort(names)
	for _, key := range names {
		if strings.Count(key, ".") != depth {
			continue
		}
		if d := distance(at, key, least); d < least {
			best, least = key, d
		}
	}
	return best
}

// distance is how many letters to change, add or take away lead from a to b, as
// far as that is below limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
