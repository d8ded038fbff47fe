package settings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// source is one file, parsed and cleared of everything that does not count.
type source struct {
	from Origin
	root *node
	repo bool // its content may be the repository's: keys that need trust are held
}

// HeldKey is a value from a repository that counts only once the user trusts the folder.
type HeldKey struct {
	Key    string // dotted
	Raw    json.RawMessage
	Origin Origin
}

// checker clears one source.
type checker struct {
	src      source
	trust    Trust
	urls     Confirmed
	tracked  func() bool // asked of a local file: did it come with the repository
	problems []Problem
	held     []HeldKey
}

func (c *checker) complain(sev Severity, at Origin, key, format string, args ...any) {
	c.problems = append(c.problems, Problem{
		Severity: sev, Scope: c.src.from.Scope, File: c.src.from.File, Line: at.Line, Key: key, Text: fmt.Sprintf(format, args...),
	})
}

// object judges the keys of n, whose dotted path is path, and drops what does not count.
func (c *checker) object(n *node, path string) {
	for _, key := range slices.Clone(n.keys) {
		v, at := n.fields[key], join(path, key)
		if strings.Contains(key, ".") { // its dotted path would look like another key's
			continue
		}
		rule, known := keyRules()[at]
		if !known {
			continue
		}
		if keep := c.key(v, at, rule); keep == nil {
			n.drop(key)
		} else {
			n.fields[key] = keep
		}
	}
}

// key returns the value as it counts, nil when it does not.
func (c *checker) key(v *node, at string, rule keyRule) *node {
	scope := c.src.from.Scope
	if !rule.who.allows(scope) || rule.who == notProject && scope == Local && c.tracked() {
		c.complain(NotAllowed, v.from, at, "a %s file cannot set this key; it is ignored", scope)
		return nil
	}
	if why := rule.misfit(v); why != "" {
		if scope == Managed && rule.strict != "" {
			c.complain(EntrySkipped, v.from, at, "%s; the strictest value %s counts instead", why, rule.strict)
			return c.strictest(rule, v.from)
		}
		c.complain(EntrySkipped, v.from, at, "%s; the entry is ignored", why)
		return nil
	}
	if at == "permissions.defaultMode" && !c.mayStartIn(v, at) {
		return nil
	}
	if c.holds(rule.hold) {
		c.holdBack(v, at)
		return nil
	}
	c.parts(v, at, rule.want)
	return v
}

// misfit says what is wrong with a value, "" when nothing is.
func (r keyRule) misfit(v *node) string {
	if !r.want.fits(v) {
		return "must be " + r.want.String()
	}
	if s, _ := v.text(); r.choice != nil && !slices.Contains(r.choice, s) {
		return fmt.Sprintf("%q is none of %s", s, strings.Join(r.choice, ", "))
	}
	return ""
}

func (c *checker) strictest(rule keyRule, from Origin) *node {
	if rule.strict == "[]" {
		return &node{kind: list, from: from}
	}
	return &node{kind: scalar, raw: json.RawMessage(rule.strict), from: from}
}

func (c *checker) holds(h hold) bool {
	switch h {
	case untilAny:
		return c.src.repo && c.trust == Untrusted
	case untilOwn:
		return c.src.repo && c.trust != Trusted
	case free:
	}
	return false
}

func (c *checker) holdBack(v *node, at string) {
	c.held = append(c.held, HeldKey{Key: at, Raw: rendered(v), Origin: v.from})
	c.complain(Held, v.from, at, "ignored until this folder is trusted (hasTrustDialogAccepted in the global state file)")
}

// mayStartIn: a repository never starts a session in auto or bypass mode, and in a freer one only when it is trusted.
func (c *checker) mayStartIn(v *node, at string) bool {
	mode, _ := v.text()
	switch {
	case mode == "auto" && c.src.from.Scope.fromRepo():
		c.complain(NotAllowed, v.from, at, "a %s file cannot start auto mode; it is ignored", c.src.from.Scope)
		return false
	case mode == "bypassPermissions" && (c.src.from.Scope == Project || c.src.from.Scope == Local && c.tracked()):
		c.complain(NotAllowed, v.from, at, "a repository cannot switch permissions off; it is ignored")
		return false
	case slices.Contains(freer, mode) && c.holds(untilOwn):
		c.holdBack(v, at)
		return false
	}
	return true
}

// parts judges what is inside a value of the right type.
func (c *checker) parts(v *node, at string, w want) {
	switch w {
	case wantObject:
		c.object(v, at)
		if at == "sandbox.credentials" && c.src.from.Scope.fromRepo() {
			c.unmask(v, at)
		}
	case wantStrings, wantStringOrList:
		c.elements(v, at, func(e Element) string {
			if e.Raw[0] != '"' {
				return "must be a string"
			}
			return ""
		})
	case wantRules:
		c.elements(v, at, ruleFault)
	case wantStringObject:
		c.env(v, at)
	case wantListsInObject:
		for _, key := range slices.Clone(v.keys) {
			if f := v.fields[key]; f.kind != list {
				c.complain(EntrySkipped, f.from, join(at, key), "must be a list; the entry is ignored")
				v.drop(key)
			}
		}
	case wantAny, wantString, wantBool, wantNumber, wantList:
	}
}

// elements drops the elements that fault finds something wrong with.
func (c *checker) elements(v *node, at string, fault func(Element) string) {
	if v.kind != list {
		return
	}
	kept := &node{kind: list, from: v.from}
	for _, e := range v.items {
		if why := fault(e); why != "" {
			c.complain(EntrySkipped, e.Top(), at, "%s: %s; it is ignored", shorten(e.Raw), why)
			continue
		}
		kept.add(e)
	}
	*v = *kept
}

func (c *checker) env(v *node, at string) {
	for _, name := range slices.Clone(v.keys) {
		f := v.fields[name]
		switch {
		case f.kind != scalar:
			c.complain(EntrySkipped, f.from, join(at, name), "must be a string; the variable is not set")
		case name == "" || strings.ContainsAny(name, "=\x00"):
			c.complain(EntrySkipped, f.from, join(at, name), "is no name for a variable; it is not set")
		case c.src.from.Scope.fromRepo() && IsBaseURL(name):
			if c.urls {
				continue
			}
			c.holdBack(f, join(at, name))
		case envRefused(name, c.src.from.Scope):
			c.complain(NotAllowed, f.from, join(at, name), "a %s file cannot set this variable; it is ignored", c.src.from.Scope)
		default:
			continue
		}
		v.drop(name)
	}
}

// unmask drops credentials that a repository wants to be put in by the proxy: it could name the hosts that get them.
func (c *checker) unmask(v *node, at string) {
	for _, key := range v.keys {
		c.elements(v.fields[key], join(at, key), func(e Element) string {
			var entry struct{ Mode string }
			if json.Unmarshal(e.Raw, &entry) == nil && entry.Mode == "mask" {
				return fmt.Sprintf("a %s file cannot mask credentials", c.src.from.Scope)
			}
			return ""
		})
	}
}

// ruleFault judges the form of a permission rule: a name, or a name with content in parentheses up to the end. What
// the name and the content mean is for the policy to say.
func ruleFault(e Element) string {
	var rule string
	if e.Raw[0] != '"' || json.Unmarshal(e.Raw, &rule) != nil {
		return "a rule must be a string"
	}
	name, rest, open := strings.Cut(rule, "(")
	switch {
	case strings.TrimSpace(rule) == "":
		return "a rule must not be empty"
	case name == "" || strings.ContainsAny(name, ") \t\n"):
		return "a rule begins with a tool name, then the content in parentheses, if any"
	case open && !strings.HasSuffix(rest, ")"):
		return "the closing parenthesis is missing"
	case open && strings.TrimSpace(rest) == ")":
		return "the parentheses are empty; write the tool name alone for all its uses"
	}
	return ""
}

func shorten(raw []byte) string {
	if s := []rune(string(raw)); len(s) > 80 {
		return string(s[:79]) + "…"
	}
	return string(raw)
}
