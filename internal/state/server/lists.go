package server

import (
	"encoding/json"
	"slices"

	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/state/settings"
)

// rule is one element of allowedMcpServers or deniedMcpServers; one of its
// fields is set.
type rule struct {
	Name    string   `json:"serverName"`
	URL     string   `json:"serverUrl"` // * stands for any text
	Command []string `json:"serverCommand"`
}

// lists are what administrators and users allow and deny.
type lists struct {
	limited       bool // there is a list of what is allowed
	allowed, deny []rule
}

func readLists(s *settings.Settings) lists {
	var l lists
	managedOnly, _ := s.Bool("allowManagedMcpServersOnly")
	_, l.limited = s.Raw("allowedMcpServers")
	for _, e := range s.Elements("allowedMcpServers") {
		if !managedOnly || e.Top().Scope == settings.Managed {
			l.allowed = append(l.allowed, readRule(e.Raw))
		}
	}
	l.limited = l.limited || managedOnly
	for _, e := range s.Elements("deniedMcpServers") {
		l.deny = append(l.deny, readRule(e.Raw))
	}
	return l
}

// Forbids says why the settings forbid a server that comes while the session
// runs, "" when they do not.
func Forbids(c Config, e mcp.Entry) string { return readLists(c.Values).denies(e) }

// readRule never fails: a rule that cannot be read matches nothing.
func readRule(raw json.RawMessage) rule {
	var r rule
	_ = json.Unmarshal(raw, &r)
	return r
}

func (r rule) matches(e mcp.Entry) bool {
	switch {
	case r.Name != "":
		return r.Name == e.Name
	case r.URL != "":
		return e.Remote() && wild(r.URL, e.URL)
	case len(r.Command) > 0:
		return e.Transport == mcp.Stdio && slices.Equal(r.Command, append([]string{e.Command}, e.Args...))
	}
	return false
}

// denies says why a server may not be used, "" when it may. Once commands or
// URLs are on the list of what is allowed, a name alone does not let a server of
// that kind pass: anybody can take a name.
func (l lists) denies(e mcp.Entry) string {
	if slices.ContainsFunc(l.deny, func(r rule) bool { return r.matches(e) }) {
		return "denied by deniedMcpServers"
	}
	if !l.limited || e.Scope == mcp.ScopeManaged {
		return ""
	}
	exact := slices.ContainsFunc(l.allowed, func(r rule) bool {
		return e.Transport == mcp.Stdio && len(r.Command) > 0 || e.Remote() && r.URL != ""
	})
	ok := slices.ContainsFunc(l.allowed, func(r rule) bool { return (!exact || r.Name == "") && r.matches(e) })
	if !ok {
		return "not among allowedMcpServers"
	}
	return ""
}

// wild matches a whole text; * stands for any characters.
func wild(pattern, s string) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
