// Package keys is which keys do what: hew's own table, and the person's file of changes to it.
package keys

import (
	"maps"
	"slices"
	"strings"
)

// Table maps keys to actions, by context. It is never changed.
type Table struct {
	// by context, then by the keys of a chord, joined by a space; "" for a key that
	// was unbound
	bound map[string]map[string]string
}

// With is the table with a person's changes.
func (t Table) With(changes Changes) Table {
	out := Table{map[string]map[string]string{}}
	for c, m := range t.bound {
		out.bound[c] = map[string]string{}
		maps.Copy(out.bound[c], m)
	}
	for _, c := range changes {
		if out.bound[c.Context] == nil {
			out.bound[c.Context] = map[string]string{}
		}
		out.bound[c.Context][c.Keys] = c.Action
	}
	return out
}

// Keys are those of an action in a context, the shortest first.
func (t Table) Keys(context, action string) []string {
	var out []string
	for k, a := range t.bound[context] {
		if a == action {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return out
}

// Meaning is what a key has led to.
type Meaning uint8

// The meanings.
const (
	Free    Meaning = iota // nothing is bound to it: it goes to whoever has the keyboard
	Act                    // it is an action
	Waiting                // it begins a chord: the next key tells
	Unbound                // the person took its meaning away: it does nothing
)

// Resolver finds the actions of keys. It remembers the keys of a chord that is
// not complete.
type Resolver struct {
	Table   Table
	pending []string
}

// Resolve tells what a key means in contexts, the innermost first. Contexts are
// named as in the file; Global is to be among them. A key that ends no chord
// counts by itself.
func (r *Resolver) Resolve(contexts []string, key string) (action string, m Meaning) {
	chord := strings.Join(append(r.pending, key), " ")
	began := len(r.pending) > 0
	for _, c := range contexts {
		bound := r.Table.bound[c]
		if a, ok := bound[chord]; ok {
			r.pending = nil
			if a == "" {
				return "", Unbound
			}
			return a, Act
		}
		for k, a := range bound {
			if a != "" && strings.HasPrefix(k, chord+" ") {
				r.pending = append(r.pending, key)
				return "", Waiting
			}
		}
	}
	r.pending = nil
	if began {
		return r.Resolve(contexts, key)
	}
	return "", Free
}

// Pending are the keys of a chord that is not complete, for the footer.
func (r *Resolver) Pending() string { return strings.Join(r.pending, " ") }
