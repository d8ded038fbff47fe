package hook

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/tool"
)

const (
	// maxPattern bounds a matcher in bytes: longer ones cost stack to parse.
	maxPattern = 4096
	// matchLimit ends a regular expression that backtracks without end.
	matchLimit = 250 * time.Millisecond
)

// matcher is a compiled matcher. The zero value matches everything.
type matcher struct {
	text  string
	names []string
	re    *regexp2.Regexp
}

// newMatcher reads a matcher by the published rule: nothing or * is everything,
// plain names are exact (a list with | or ,), anything else is an unanchored
// JavaScript regular expression. The second result says why it is unusable.
func newMatcher(r *Row, pattern string) (matcher, string) {
	m := matcher{text: pattern}
	if pattern == "" || pattern == "*" || r.Matcher == "" {
		return m, ""
	}
	if len(pattern) > maxPattern {
		return m, "longer than 4096 bytes"
	}
	if plain(pattern, r.narrow) {
		m.names = strings.FieldsFunc(pattern, func(c rune) bool { return c == '|' || c == ',' })
		for i := range m.names {
			m.names[i] = strings.TrimSpace(m.names[i])
		}
		return m, ""
	}
	re, err := regexp2.Compile(pattern, regexp2.ECMAScript)
	if err != nil {
		return m, "no valid regular expression: " + err.Error()
	}
	re.MatchTimeout = matchLimit
	m.re = re
	return m, ""
}

// plain tells an exact matcher from a regular expression.
func plain(pattern string, narrow bool) bool {
	for _, c := range pattern {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '|':
		case !narrow && (c == '-' || c == ' ' || c == ','):
		default:
			return false
		}
	}
	return true
}

// matches compares with any of the names that the value goes by. late tells
// that the expression was given up: it then counts as a match, because a hook
// that guards something must not be dodged by an input that is slow to match.
func (m matcher) matches(values []string) (ok, late bool) {
	if m.names == nil && m.re == nil {
		return true, false
	}
	for _, v := range values {
		if slices.Contains(m.names, v) {
			return true, false
		}
		if m.re == nil {
			continue
		}
		hit, err := m.re.MatchString(v)
		if err != nil {
			return true, true
		}
		if hit {
			return true, false
		}
	}
	return false, false
}

// matched is what matchers of the event see: the value of the row's field, and
// for tools the names that they had before.
func (r *Row) matched(in Input, payload map[string]json.RawMessage) []string {
	if r.Matcher == "" {
		return nil
	}
	v, _ := textOf(payload[r.Matcher])
	if r.Event == "FileChanged" {
		v = path.Base(strings.ReplaceAll(v, `\`, "/"))
	}
	values := []string{v}
	if p := in.call(); p.Tool != nil {
		s := p.Tool.Spec()
		values = append(append(values, s.Name), s.Aliases...)
	}
	return values
}

// neverMatches warns about matchers that name what does not exist.
func (p *parser) neverMatches(r *Row, pattern string, m matcher) {
	if r.Matcher != "tool_name" {
		return
	}
	for _, name := range m.names {
		server, isServer := strings.CutPrefix(name, "mcp__")
		switch {
		case isServer && !strings.Contains(server, "__"):
			p.note(r.Event, "matcher %q names a server, not a tool, and matches nothing; write %s__.*", clip(pattern, 60), clip(name, 60))
		case isServer, len(p.d.c.If.Tools) == 0, name == "":
		case !slices.ContainsFunc(p.d.c.If.Tools, func(s tool.Spec) bool { return s.Name == name || slices.Contains(s.Aliases, name) }):
			p.note(r.Event, "matcher %q: no tool is called %s", clip(pattern, 60), clip(name, 60))
		}
	}
}

// condition is a compiled `if`.
type condition struct {
	tool string // the name before the parentheses
	// words tells that the rule looks further than a command's name.
	specific, words bool
	snap            *policy.Snapshot
	c               *Config
}

// newCondition compiles a rule. It is matched as a deny rule is: by every
// command of a line and by every path it may mean.
func (d *Dispatcher) newCondition(rule string) (*condition, string) {
	f := d.c.If.Families
	name, spec, _ := strings.Cut(strings.TrimSuffix(rule, ")"), "(")
	if (name == f.Read || name == f.Edit) && strings.Contains(strings.Trim(spec, "/"), "/") && !strings.HasPrefix(spec, "/") && !strings.HasPrefix(spec, "~") {
		rule = name + "(/" + strings.TrimPrefix(spec, "./") + ")" // anchored here
	}
	snap := policy.New(policy.Config{
		Layers: []policy.Layer{{
			Origin: policy.Origin{Scope: policy.ScopeSession, File: "if", Dir: d.c.Project}, Deny: []string{rule},
		}},
		Families: f, Tools: d.c.If.Tools, Project: d.c.Project, Home: d.c.If.Home, FS: d.c.If.FS, Reader: d.c.If.Reader,
	})
	warning := ""
	for _, w := range snap.Warnings() {
		warning = w.Text
	}
	words := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(spec), "*"), ":")
	c := &condition{tool: name, specific: spec != "" && spec != "*", words: strings.ContainsAny(strings.TrimSpace(words), " \t"), snap: snap, c: &d.c}
	return c, warning
}

// met judges a call. What cannot be judged runs the hook: `if` saves work, it
// does not enforce.
func (c *condition) met(in Input, name string, raw json.RawMessage, cwd string) bool {
	p := in.call()
	spec := tool.Spec{Name: name}
	if p.Tool != nil {
		spec = p.Tool.Spec()
	}
	if !c.about(spec) {
		return false
	}
	if !c.specific {
		return true
	}
	if p.Call == nil || c.c.If.Paths == nil {
		return true
	}
	if c.uncertain(p.Call.Needs()) {
		return true
	}
	d := c.snap.Decide(policy.Request{Spec: spec, Input: raw, Needs: p.Call.Needs(), Traits: p.Call.Traits(), Cwd: cwd, Paths: c.c.If.Paths})
	return d.Behavior == tool.Deny && d.Layer == "rule"
}

// about tells whether the rule is about a tool at all. Path rules judge what
// other tools touch too, which is not what a hook's author means.
func (c *condition) about(s tool.Spec) bool {
	if c.tool == s.Name || c.tool == s.RuleFamily || slices.Contains(s.Aliases, c.tool) {
		return true
	}
	if server, ok := strings.CutPrefix(c.tool, "mcp__"); ok && !strings.Contains(server, "__") {
		return strings.HasPrefix(s.Name, c.tool+"__")
	}
	ok, err := path.Match(c.tool, s.Name)
	return err == nil && ok && strings.Contains(c.tool, "*")
}

// uncertain tells that a shell line holds what is known only at run time, or
// cannot be read.
func (c *condition) uncertain(needs []tool.Need) bool {
	for _, n := range needs {
		if n.Kind != tool.NeedExec {
			continue
		}
		if c.words && strings.ContainsAny(n.Command, "$`") || c.c.If.Reader.Read(n.Command, 0).Opaque() != "" {
			return true
		}
	}
	return false
}
