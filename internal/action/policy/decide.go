package policy

import (
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/tool"
)

// finding is what one step of the chain found about one need.
type finding struct {
	rule *Rule
	// why is a sentence about the part that decided.
	why  string
	part string
}

// chain is one decision in the making.
type chain struct {
	*locator
	r     Request
	needs []judged
	steps []tool.Step
}

// judged is one need, with whatever was read out of it once.
type judged struct {
	tool.Need
	place place
	shell *shellCall
	host  string
	plain bool
}

// Decide answers one request. It is a function of its arguments and of what
// Request.Paths says; calling it has no effect.
func (s *Snapshot) Decide(r Request) Decision {
	c := &chain{locator: s.locator(r), r: r, steps: make([]tool.Step, 0, 8)}
	c.read()
	d := c.run()
	d.Trace = c.steps
	d.Input = r.Input
	return d
}

// read prepares the needs. A call that names no need but has a main field is
// matched by that field.
func (c *chain) read() {
	for _, n := range c.r.Needs {
		j := judged{Need: n}
		switch n.Kind {
		case tool.NeedRead, tool.NeedEdit:
			j.place = c.file(n.Path)
		case tool.NeedExec:
			j.shell = c.shellCall(n.Command)
		case tool.NeedFetch:
			j.host, j.plain = fetchHost(n.URL)
		case tool.NeedUse:
		}
		c.needs = append(c.needs, j)
	}
}

func (c *chain) step(name, outcome string, f finding) {
	st := tool.Step{Name: name, Outcome: outcome, Detail: f.why}
	if f.part != "" {
		st.Detail = strings.TrimSpace(f.part + ": " + f.why)
	}
	if f.rule != nil {
		st.Rule, st.File = f.rule.Text, f.rule.Origin.File
	}
	c.steps = append(c.steps, st)
}

func (c *chain) run() Decision {
	if c.r.Hook == tool.Deny {
		return c.finish(tool.Deny, "hook", "hooks", finding{why: reasonOr(c.r.HookReason, "a hook refused the call")})
	}
	if f, ok := c.denied(); ok {
		return c.finish(tool.Deny, "rule", "deny", f)
	}
	c.step("deny", "none", finding{})
	if f, layer, ok := c.mustAsk(); ok {
		return c.question(layer, "ask", f, true)
	}
	c.step("ask", "none", finding{})
	if f, forced, ok := c.unsafe(); ok {
		return c.question("safety", "safety", f, forced)
	}
	c.step("safety", "none", finding{})
	if d, ok := c.byMode(); ok {
		return d
	}
	f, ok := c.allowed()
	if ok {
		layer := "rule"
		if f.rule == nil {
			layer = "builtin"
		}
		return c.finish(tool.Allow, layer, "allow", f)
	}
	if c.r.Hook == tool.Allow {
		return c.finish(tool.Allow, "hook", "hooks", finding{why: reasonOr(c.r.HookReason, "a hook allowed the call")})
	}
	return c.question("default", "question", f, false)
}

func reasonOr(reason, other string) string {
	if reason == "" {
		return other
	}
	return reason
}

// finish closes the chain.
func (c *chain) finish(b tool.Behavior, layer, step string, f finding) Decision {
	f.why, f.part = visible(f.why), visible(f.part)
	c.step(step, string(b), f)
	d := Decision{Part: f.part}
	d.Behavior, d.Layer, d.Reason = b, layer, f.why
	if f.rule != nil {
		d.Rule, d.File = f.rule.Text, f.rule.Origin.File
		if d.Reason == "" {
			d.Reason = fmt.Sprintf("the %s rule %s of %s", b, f.rule.Text, f.rule.Origin.label())
		}
	}
	return d
}

func (o Origin) label() string {
	if o.File == "" {
		return string(o.Scope) + " settings"
	}
	return o.File
}

// question ends the chain with a question, or with what the mode makes of it.
func (c *chain) question(layer, step string, f finding, forced bool) Decision {
	mode := c.s.mode()
	if f.why == "" && f.rule != nil {
		f.why = fmt.Sprintf("the ask rule %s of %s", f.rule.Text, f.rule.Origin.label())
	}
	if mode == DontAsk {
		f.why = "it needs approval and the mode dontAsk refuses instead of asking: " + f.why
		d := c.finish(tool.Deny, "mode", step, f)
		return d
	}
	d := c.finish(tool.Ask, layer, step, f)
	d.Forced = forced
	d.NoPrompt = c.s.cfg.NoPrompts
	d.Classify = (mode == Auto || mode == Plan && c.s.cfg.ClassifyInPlan && c.commandOnly()) && layer != "rule" && !c.r.Traits.NeedsUser
	if !forced {
		d.Suggest = c.suggest()
	}
	return d
}

// commandOnly tells that all that the call needs is to run commands.
func (c *chain) commandOnly() bool {
	for _, n := range c.needs {
		if n.Kind != tool.NeedExec {
			return false
		}
	}
	return len(c.needs) > 0
}

// denied looks for a deny rule, on the tool, a parameter, or any need.
func (c *chain) denied() (finding, bool) {
	if f, ok := c.ruled(c.s.deny.general); ok {
		return f, true
	}
	for i := range c.needs {
		if f, ok := c.needDenied(&c.needs[i]); ok {
			return f, true
		}
	}
	return finding{}, false
}

func (c *chain) needDenied(n *judged) (finding, bool) {
	switch n.Kind {
	case tool.NeedRead:
		if r := c.rulesOn(c.s.deny.read, n.place, false); r != nil {
			return finding{rule: r}, true
		}
		if c.s.cfg.BlockReadsOutside && !c.inside(n.place) && !c.output(n.place) {
			return finding{why: "reading outside the working directories is blocked"}, true
		}
	case tool.NeedEdit:
		if r := c.editDenial(n.place); r != nil {
			return finding{rule: r}, true
		}
		if c.s.cfg.BlockWritesOutside && !c.inside(n.place) {
			return finding{why: "writing outside the working directories is blocked"}, true
		}
	case tool.NeedExec:
		return n.shell.denied()
	case tool.NeedFetch, tool.NeedUse:
	}
	return finding{}, false
}

// editDenial finds the rule that keeps a place from being written: a denial of
// reading covers writing too.
func (c *chain) editDenial(pl place) *Rule {
	if r := c.rulesOn(c.s.deny.edit, pl, false); r != nil {
		return r
	}
	return c.rulesOn(c.s.deny.read, pl, false)
}

// ruled looks for a rule that covers the call as a whole, by a parameter, by the
// text between the parentheses, or by its host.
func (c *chain) ruled(rules []*Rule) (finding, bool) {
	for _, r := range rules {
		if r.unused || !r.names(c.r.Spec) {
			continue
		}
		if c.ruleApplies(r) {
			return finding{rule: r}, true
		}
	}
	return finding{}, false
}

func (c *chain) ruleApplies(r *Rule) bool {
	f := c.s.cfg.Families
	switch {
	case r.whole():
		return true
	case r.param != "":
		v, ok := scalar(c.r.Input, r.param)
		return ok && r.command.match(v)
	case r.Tool == f.Fetch:
		for _, n := range c.needs {
			if n.Kind == tool.NeedFetch && hostMatch(r.host, n.host) && (n.plain || r.Behavior != tool.Allow) {
				return true
			}
		}
		return false
	case r.Tool == f.Exec || r.Tool == f.Read || r.Tool == f.Edit:
		// Commands and paths are judged need by need.
		return false
	}
	return c.matchDetails(r)
}

// matchDetails compares a rule of a plain tool with what its call asks for: a
// grant must cover all of it, a denial or question one part.
func (c *chain) matchDetails(r *Rule) bool {
	found := false
	for _, n := range c.needs {
		if n.Kind != tool.NeedUse || n.Detail == "" {
			continue
		}
		found = true
		if r.command.match(n.Detail) != (r.Behavior == tool.Allow) {
			return r.Behavior != tool.Allow
		}
	}
	if !found {
		detail, ok := c.detail()
		return ok && r.command.match(detail)
	}
	return r.Behavior == tool.Allow
}

// detail is the text that the parentheses of a plain tool rule match.
func (c *chain) detail() (string, bool) {
	for _, n := range c.needs {
		if n.Kind == tool.NeedUse && n.Detail != "" {
			return n.Detail, true
		}
	}
	if c.r.Spec.MainField == "" {
		return "", false
	}
	return scalar(c.r.Input, c.r.Spec.MainField)
}

// mustAsk looks for what no allow rule, mode or hook may answer.
func (c *chain) mustAsk() (finding, string, bool) {
	if f, ok := c.ruled(c.askRules()); ok {
		return f, "rule", true
	}
	for i := range c.needs {
		n := &c.needs[i]
		var r *Rule
		switch n.Kind {
		case tool.NeedRead:
			r = c.rulesOn(c.s.ask.read, n.place, false)
		case tool.NeedEdit:
			r = c.rulesOn(c.s.ask.edit, n.place, false)
		case tool.NeedExec:
			if f, ok := n.shell.mustAsk(); ok {
				return f, "rule", true
			}
		case tool.NeedFetch, tool.NeedUse:
		}
		if r != nil {
			return finding{rule: r}, "rule", true
		}
	}
	if c.r.Traits.NeedsUser {
		return finding{why: "it is a question to a person"}, "tool", true
	}
	if c.r.Hook == tool.Ask {
		return finding{why: reasonOr(c.r.HookReason, "a hook wants a person to decide")}, "hook", true
	}
	return finding{}, "", false
}

// askRules leaves out the ask rule for the shell as a whole when the call runs
// in the sandbox: rules with content still ask.
func (c *chain) askRules() []*Rule {
	if !c.r.Sandboxed {
		return c.s.ask.general
	}
	var out []*Rule
	for _, r := range c.s.ask.general {
		if r.Tool != c.s.cfg.Families.Exec || !r.whole() {
			out = append(out, r)
		}
	}
	return out
}

// unsafe looks for what comes before modes and allow rules. forced findings are
// not lifted by the bypass mode either.
func (c *chain) unsafe() (f finding, forced, ok bool) {
	bypass := c.s.mode() == Bypass
	for i := range c.needs {
		n := &c.needs[i]
		switch n.Kind {
		case tool.NeedEdit:
			if !bypass && c.s.mode() != Plan && c.guarded(n.place) {
				return finding{why: n.Path + " decides what runs later, so writing it needs a person's approval"}, false, true
			}
		case tool.NeedExec:
			if f, forced, ok := n.shell.unsafe(bypass); ok {
				return f, forced, true
			}
		case tool.NeedRead, tool.NeedFetch, tool.NeedUse:
		}
	}
	return finding{}, false, false
}

// byMode answers by the mode alone.
func (c *chain) byMode() (Decision, bool) {
	switch c.s.mode() {
	case Bypass:
		return c.finish(tool.Allow, "mode", "mode", finding{why: "the mode bypassPermissions approves what no rule denies"}), true
	case Plan:
		for _, n := range c.needs {
			if n.Kind == tool.NeedEdit {
				return c.finish(tool.Deny, "mode", "mode", finding{why: "plan mode changes no files: finish the plan and have it approved first"}), true
			}
		}
	case Default, AcceptEdits, Auto, DontAsk:
	}
	c.step("mode", "none", finding{why: string(c.s.mode())})
	return Decision{}, false
}
