package settings

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Settings is the merged result of one Load. It never changes and is safe for concurrent use; a path is a list of keys
// from the top.
type Settings struct {
	root    *node
	files   []File
	held    []HeldKey
	sources []source
}

// Raw returns the merged value of a key as JSON.
func (s *Settings) Raw(path ...string) (json.RawMessage, bool) {
	n := s.root.get(path)
	if n == nil {
		return nil, false
	}
	return rendered(n), true
}

func rendered(n *node) json.RawMessage {
	var b bytes.Buffer
	n.render(&b)
	return b.Bytes()
}

// Origin says which file decided a key; for an object or a list it is the strongest file that has a part in it.
func (s *Settings) Origin(path ...string) (Origin, bool) {
	n := s.root.get(path)
	if n == nil {
		return Origin{}, false
	}
	return n.from, true
}

// Elements returns a merged list with the origins of each element, weakest scope first; nil when the key is no list.
// The result is the caller's.
func (s *Settings) Elements(path ...string) []Element {
	n := s.root.get(path)
	if n == nil || n.kind != list {
		return nil
	}
	return slices.Clone(n.items)
}

// Keys lists the keys of an object in the order of their first appearance; without a path, those at the top.
func (s *Settings) Keys(path ...string) []string {
	n := s.root.get(path)
	if n == nil || n.kind != object {
		return nil
	}
	return slices.Clone(n.keys)
}

// Decode unmarshals the merged value of a key into out and reports whether the key is set.
func (s *Settings) Decode(out any, path ...string) (bool, error) {
	raw, ok := s.Raw(path...)
	if !ok {
		return false, nil
	}
	return true, json.Unmarshal(raw, out)
}

// Text returns a string, "" when it is not set.
func (s *Settings) Text(path ...string) string {
	v, _ := s.root.get(path).text()
	return v
}

// Bool returns a truth value and whether it is set.
func (s *Settings) Bool(path ...string) (v, ok bool) {
	ok = s.scalar(&v, path)
	return v, ok
}

// Number returns a number and whether it is set.
func (s *Settings) Number(path ...string) (v float64, ok bool) {
	ok = s.scalar(&v, path)
	return v, ok
}

func (s *Settings) scalar(out any, path []string) bool {
	n := s.root.get(path)
	return n != nil && n.kind == scalar && json.Unmarshal(n.raw, out) == nil
}

// Strings returns a list of strings; a lone string is a list of one.
func (s *Settings) Strings(path ...string) []string {
	n := s.root.get(path)
	if n == nil {
		return nil
	}
	if v, ok := n.text(); ok {
		return []string{v}
	}
	var out []string
	for _, e := range n.items {
		var v string
		if json.Unmarshal(e.Raw, &v) == nil {
			out = append(out, v)
		}
	}
	return out
}

// Files lists where settings were looked for, weakest scope first.
func (s *Settings) Files() []File { return slices.Clone(s.files) }

// Held lists what repository files ask for and the user has not granted by trusting the folder.
func (s *Settings) Held() []HeldKey { return slices.Clone(s.held) }

// Stale reports whether any file is no longer what it was when it was loaded: call Load again. It looks at each file
// once and reads none, so that it can be asked before every turn.
func (s *Settings) Stale() bool {
	for _, f := range s.files {
		if f.Path == "" {
			continue
		}
		now, err := fsys.Stat(f.Path)
		if err != nil {
			now = fsys.Status{}
		}
		if now.Kind != f.status.Kind || now.Size != f.status.Size || now.Inode != f.status.Inode || !now.ModTime.Equal(f.status.ModTime) {
			return true
		}
	}
	return false
}

func (s *Settings) boolOr(fallback bool, key string) bool {
	if v, ok := s.Bool(key); ok {
		return v
	}
	return fallback
}
