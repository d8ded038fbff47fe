package wiring

import (
	"path"
	"slices"
	"strings"
)

// sketch is a file system made of names: "" is a file, anything else the
// target of a link. What it does not name has no links.
type sketch map[string]string

// newSketch reads entries such as "a/b.txt" and "x -> y", relative to the case's folder.
func newSketch(entries []string) sketch {
	s := sketch{}
	for _, e := range entries {
		name, target, _ := strings.Cut(e, " -> ")
		s[absolute(name)] = target
	}
	return s
}

// maxHops is the number of links after which the kernel gives up.
const maxHops = 40

// Resolve follows the links as the kernel does.
func (s sketch) Resolve(p string) (string, bool) {
	at, hops := "/", 0
	rest := strings.Split(p, "/")
	for len(rest) > 0 {
		seg := rest[0]
		rest = rest[1:]
		switch seg {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, seg)
		target := s[next]
		if target == "" {
			at = next
			continue
		}
		if hops++; hops > maxHops {
			return "", false
		}
		if strings.HasPrefix(target, "/") {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return at, true
}

// Glob lists the names that an absolute pattern matches, folders included.
func (s sketch) Glob(pattern string) []string {
	var out []string
	for name := range s {
		for n := name; n != "/"; n = path.Dir(n) {
			if ok, err := path.Match(pattern, n); ok && err == nil && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return out
}
