package policy

import (
	"strings"

	"github.com/hew-agent/hew/internal/tool"
)

// allowed reports whether every need is allowed, and what allowed or stopped it.
func (c *chain) allowed() (finding, bool) {
	if r := c.s.wholeAllow(c); r != nil {
		return finding{rule: r}, true
	}
	if len(c.needs) == 0 {
		if serverName(c.r.Spec.Origin) != "" || strings.HasPrefix(c.r.Spec.Name, "mcp__") {
			return finding{why: "no rule allows this tool"}, false
		}
		return finding{why: "the call touches nothing that needs approval"}, true
	}
	var last finding
	for i := range c.needs {
		f, ok := c.needAllowed(&c.needs[i])
		if !ok {
			return f, false
		}
		if last.rule == nil {
			last = f
		}
	}
	return last, true
}

// wholeAllow finds a plain allow rule for the call as a whole. Shell commands
// and fetches have conditions of their own; see needAllowed.
func (s *Snapshot) wholeAllow(c *chain) *Rule {
	for i := range c.needs {
		if k := c.needs[i].Kind; k == tool.NeedExec || k == tool.NeedFetch {
			return nil
		}
	}
	if f, ok := c.ruled(s.allow.general); ok {
		return f.rule
	}
	return nil
}

func (c *chain) needAllowed(n *judged) (finding, bool) {
	switch n.Kind {
	case tool.NeedRead:
		return c.readAllowed(n)
	case tool.NeedEdit:
		return c.editAllowed(n)
	case tool.NeedExec:
		return n.shell.allowed()
	case tool.NeedFetch:
		return c.fetchAllowed(n)
	case tool.NeedUse:
		return finding{why: "no rule allows this tool"}, false
	}
	return finding{why: "a kind of access that is not known"}, false
}

func (c *chain) readAllowed(n *judged) (finding, bool) {
	if c.inside(n.place) {
		return finding{why: "reading inside the working directories"}, true
	}
	if c.output(n.place) {
		return finding{why: "reading what this session keeps for the model"}, true
	}
	if r := c.readRule(n.place); r != nil {
		return finding{rule: r}, true
	}
	if n.place.lost {
		return finding{why: unresolved(n)}, false
	}
	return finding{why: n.Path + " is outside the working directories"}, false
}

// unresolved is the reason for a place that cannot be judged because it cannot be followed.
func unresolved(n *judged) string {
	return n.Path + " cannot be followed to its end: permission denied on the way, or a link that leads in a circle"
}

// readRule finds an allow rule for reading; leave to edit implies it.
func (c *chain) readRule(pl place) *Rule {
	if pl.lost {
		return nil
	}
	if r := c.rulesOn(c.s.allow.read, pl, true); r != nil {
		return r
	}
	return c.rulesOn(c.s.allow.edit, pl, true)
}

func (c *chain) editAllowed(n *judged) (finding, bool) {
	if c.within(n.place, c.s.cfg.Notes) != nil {
		return finding{why: "writing the model's own notes"}, true
	}
	if (c.s.mode() == AcceptEdits || c.s.mode() == Auto) && c.inside(n.place) {
		return finding{why: "the mode " + string(c.s.mode()) + " accepts edits inside the working directories"}, true
	}
	if r := c.rulesOn(c.s.allow.edit, n.place, true); r != nil && !n.place.lost {
		return finding{rule: r}, true
	}
	if n.place.lost {
		return finding{why: unresolved(n)}, false
	}
	return finding{why: "no rule allows editing " + n.Path}, false
}

func (c *chain) fetchAllowed(n *judged) (finding, bool) {
	for _, r := range c.s.allow.general {
		if r.unused || !r.names(c.r.Spec) || !n.plain {
			continue
		}
		if r.whole() && metadataHost(n.host) {
			continue
		}
		if r.whole() || r.host != "" && hostMatch(r.host, n.host) {
			return finding{rule: r}, true
		}
	}
	for _, h := range c.s.cfg.DocHosts {
		if n.plain && hostMatch(h, n.host) {
			return finding{why: n.host + " is a documentation site"}, true
		}
	}
	if !n.plain {
		return finding{why: "the address is not a plain http or https one"}, false
	}
	return finding{why: "no rule allows fetching from " + n.host}, false
}
