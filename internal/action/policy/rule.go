package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/tool"
)

// Rule is one compiled rule.
type Rule struct {
	// Text is the rule as written.
	Text     string
	Behavior tool.Behavior
	Origin   Origin
	// Tool is the name before the parentheses, Specifier what stands between
	// them; "" when the rule covers every use.
	Tool, Specifier string

	// unused rules with a specifier are accepted but never consulted.
	unused  bool
	glob    bool
	param   string
	command commandPattern
	path    pathPattern
	host    string
}

// Warning is something that the author of a rule should know.
type Warning struct {
	Rule     string
	Behavior tool.Behavior
	Origin   Origin
	Text     string
}

// split separates Tool(specifier). ok is false for text that is no rule.
func split(text string) (name, spec string, whole, ok bool) {
	text = strings.TrimSpace(text)
	open := strings.IndexByte(text, '(')
	if open < 0 {
		return text, "", true, validName(text)
	}
	if !strings.HasSuffix(text, ")") || !validName(text[:open]) {
		return "", "", false, false
	}
	spec = strings.TrimSpace(text[open+1 : len(text)-1])
	if spec == "" {
		return "", "", false, false
	}
	return text[:open], spec, spec == "*", true
}

func validName(s string) bool {
	if s == "" {
		return false
	}
	for _, r := range s {
		if r <= ' ' || r == '(' || r == ')' || r == ',' || r == 0x7f {
			return false
		}
	}
	return true
}

// compile turns text into a rule. The second result is a warning; with a nil
// rule it says why the rule is skipped.
func (s *Snapshot) compile(text string, b tool.Behavior, o Origin) (*Rule, string) {
	name, spec, whole, ok := split(text)
	if !ok {
		return nil, "malformed: a rule is Tool or Tool(specifier)"
	}
	r := &Rule{Text: strings.TrimSpace(text), Behavior: b, Origin: o, Tool: name}
	if !whole {
		r.Specifier = spec
	}
	if strings.Contains(name, "*") {
		r.glob = true
		if b == tool.Allow && !serverGlob(name) {
			return nil, "an allow rule may use * in the tool name only after mcp__server__"
		}
	}
	warning := s.linkTool(r)
	if r.Specifier == "" || r.unused {
		return r, warning
	}
	if why := s.compileSpecifier(r); why != "" {
		return nil, why
	}
	return r, warning
}

func serverGlob(name string) bool {
	rest, ok := strings.CutPrefix(name, "mcp__")
	if !ok {
		return false
	}
	server, _, ok := strings.Cut(rest, "__")
	return ok && server != "" && !strings.Contains(server, "*")
}

// linkTool replaces a legacy name by the one that is in use and warns about
// names and forms that never match.
func (s *Snapshot) linkTool(r *Rule) string {
	if r.glob || strings.HasPrefix(r.Tool, "mcp__") || len(s.cfg.Tools) == 0 {
		return ""
	}
	for _, t := range s.cfg.Tools {
		if t.Name != r.Tool && !slices.Contains(t.Aliases, r.Tool) {
			continue
		}
		head := t.RuleFamily == "" || t.RuleFamily == t.Name
		if t.Name != r.Tool && head {
			r.Tool = t.Name
		}
		field, _, isParam := parameterRule(r.Specifier)
		if r.Specifier != "" && !head && !(isParam && hasField(t.Schema, field)) {
			r.unused = true
			return "never consulted: " + t.RuleFamily + "(…) rules judge this tool"
		}
		return ""
	}
	f := s.cfg.Families
	if r.Tool == f.Read || r.Tool == f.Edit || r.Tool == f.Exec || r.Tool == f.Fetch || strings.Contains(r.Tool, "_") {
		return ""
	}
	return "no tool has this name"
}

func (s *Snapshot) compileSpecifier(r *Rule) string {
	f := s.cfg.Families
	if name, value, ok := parameterRule(r.Specifier); ok && s.namesParameter(r, name) {
		return s.compileParameter(r, name, value)
	}
	switch r.Tool {
	case f.Exec:
		r.command = compileCommand(r.Specifier)
	case f.Read, f.Edit:
		p, why := s.compilePath(r)
		if why != "" {
			return why
		}
		r.path = p
	case f.Fetch:
		host, ok := strings.CutPrefix(r.Specifier, "domain:")
		if !ok {
			return "malformed: use " + f.Fetch + "(domain:HOST)"
		}
		if r.host = normalHost(host); r.host == "" {
			return "malformed: no host after domain:"
		}
	default:
		r.command = compileCommand(r.Specifier)
	}
	return ""
}

// parameterRule splits "param:value". A colon in a command prefix (git:*) or a
// domain is not one; see namesParameter.
func parameterRule(spec string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(spec, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || value == "" || name == "" || strings.ContainsAny(name, " */.") {
		return "", "", false
	}
	return name, value, true
}

// namesParameter tells whether the word before the colon is a top-level field
// of the tool's input. Tools that are not known (those of servers) are taken at
// their word.
func (s *Snapshot) namesParameter(r *Rule, field string) bool {
	known := false
	for _, t := range s.cfg.Tools {
		if t.Name == r.Tool {
			known = true
			if t.MainField == field || hasField(t.Schema, field) {
				return true
			}
		}
	}
	f := s.cfg.Families
	return !known && r.Behavior != tool.Allow && r.Tool != f.Exec && r.Tool != f.Fetch && r.Tool != f.Read && r.Tool != f.Edit
}

func (s *Snapshot) compileParameter(r *Rule, name, value string) string {
	if r.Behavior == tool.Allow {
		return "a rule on a parameter can only deny or ask"
	}
	for _, t := range s.cfg.Tools {
		if t.Name == r.Tool && t.MainField == name {
			return "ignored: the field " + name + " is matched by the form without a parameter name"
		}
	}
	r.param = name
	r.command = commandPattern{text: value}
	if found := strings.Contains(value, "*"); !found {
		r.command.lead = value
	}
	return ""
}

// names reports whether the rule is about tools of this spec at all.
func (r *Rule) names(t tool.Spec) bool {
	switch {
	case r.Tool == t.Name, t.RuleFamily != "" && r.Tool == t.RuleFamily:
		return true
	case strings.HasPrefix(r.Tool, "mcp__") && strings.HasPrefix(t.Name, "mcp__"):
		return r.namesServer(t)
	case r.glob:
		return r.Behavior != tool.Allow && globMatch(r.Tool, t.Name)
	}
	return slices.Contains(t.Aliases, r.Tool)
}

// namesServer matches server and server-glob rules. The server of a tool is
// known by its origin; without one, an allow rule must leave no doubt where the
// server's name ends.
func (r *Rule) namesServer(t tool.Spec) bool {
	rest := strings.TrimPrefix(r.Tool, "mcp__")
	server := serverName(t.Origin)
	if r.Behavior != tool.Allow {
		return globMatch(r.Tool, t.Name) || strings.HasPrefix(t.Name, r.Tool+"__") && (server == "" || rest == server)
	}
	if server == "" {
		parts := strings.SplitN(strings.TrimPrefix(t.Name, "mcp__"), "__", 2)
		if len(parts) != 2 || strings.Contains(parts[1], "__") {
			return false
		}
		server = parts[0]
	}
	if !strings.HasPrefix(t.Name, "mcp__"+server+"__") {
		return false
	}
	if rest == server {
		return true
	}
	pattern, ok := strings.CutPrefix(r.Tool, "mcp__"+server+"__")
	return ok && globMatch(pattern, strings.TrimPrefix(t.Name, "mcp__"+server+"__"))
}

// serverName is the origin of a tool as it appears in tool names; "" for the
// tools that come with hew.
func serverName(origin string) string {
	if origin == "" || origin == "builtin" {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, origin)
}

// whole reports whether the rule covers every use of the tools it names.
func (r *Rule) whole() bool { return r.Specifier == "" }

func clean(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(p)
}
