package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
)

// allowed reports whether every part may run unasked, and what allowed the
// first part or stopped the one that may not.
func (sc *shellCall) allowed() (finding, bool) {
	if r := sc.covering(); r != nil && !sc.planWrites() {
		return finding{rule: r}, true
	}
	if sc.c.r.Sandboxed {
		return finding{why: "it runs in the sandbox"}, true
	}
	if why := sc.facts.Construct(); why != "" {
		return finding{why: "it uses " + why + ", whose effect is not followed"}, false
	}
	if len(sc.facts.Parts) == 0 {
		return finding{why: "there is nothing in it to judge"}, strings.TrimSpace(strings.Trim(sc.c.command(), "\n")) == ""
	}
	var first finding
	for i := range sc.facts.Parts {
		p := &sc.facts.Parts[i]
		if p.Shadow {
			continue
		}
		f, ok := sc.part(i)
		f.part = p.Line()
		if !ok {
			return f, false
		}
		if first.why == "" && first.rule == nil {
			first = f
		}
	}
	first.part = ""
	return first, true
}

func (c *chain) command() string {
	for i := range c.needs {
		if c.needs[i].shell != nil {
			return c.needs[i].Command
		}
	}
	return ""
}

// planWrites reports a known writer in plan mode, which runs none whatever the
// rules allow.
func (sc *shellCall) planWrites() bool {
	if sc.c.s.mode() != Plan {
		return false
	}
	for i := range sc.facts.Parts {
		if sc.facts.Parts[i].Writer || sc.redirects(i) {
			return true
		}
	}
	return false
}

func (sc *shellCall) redirects(i int) bool {
	for j := range sc.spots[i] {
		if a := sc.spots[i][j].arg; a.Redirect && a.Access != shellread.AccessRead {
			return true
		}
	}
	return false
}

// part judges one part: its command, then the files of its redirects.
func (sc *shellCall) part(i int) (finding, bool) {
	p := &sc.facts.Parts[i]
	f, ok := sc.partCommand(i)
	if !ok {
		return f, false
	}
	for j := range sc.spots[i] {
		sp := &sc.spots[i][j]
		if !sp.arg.Redirect {
			continue
		}
		if why := sc.redirectStops(sp, f.rule != nil); why != "" {
			return finding{why: why}, false
		}
	}
	if sc.repository(p) && sc.elsewhere(p) {
		return finding{why: "git in another directory could run what that directory configures"}, false
	}
	if sc.repository(p) && sc.plantsRepository() {
		return finding{why: "the same command writes names that git takes for a repository"}, false
	}
	return f, true
}

func (sc *shellCall) repository(p *shellread.Part) bool { return p.Name == "git" }

// programs says why a reading part could start a program of an untrusted repository.
func (sc *shellCall) programs(p *shellread.Part) string {
	ask := sc.c.s.cfg.GitPrograms
	if ask == nil || !sc.repository(p) {
		return ""
	}
	if w := p.Words[p.Start:]; len(w) == 2 && (w[1].Text == "--version" || w[1].Text == "version") {
		return ""
	}
	if why := ask(sc.start.physical); why != "" {
		return "git could run what this folder, which is not trusted, configures: " + why
	}
	return ""
}

// plantsRepository reports writes of the names that make a bare repository:
// git would then read its configuration from there.
func (sc *shellCall) plantsRepository() bool {
	for i := range sc.facts.Parts {
		for _, sp := range sc.spots[i] {
			if sp.arg.Access != shellread.AccessWrite {
				continue
			}
			switch path.Base(sp.arg.Word.Text) {
			case "HEAD", "config", "objects", "refs", "hooks", "commondir", "gitdir", "index", "info", "worktree":
				return true
			}
		}
	}
	return false
}

// partCommand judges the command of a part without its redirects.
func (sc *shellCall) partCommand(i int) (finding, bool) {
	p := &sc.facts.Parts[i]
	stop := p.Why
	switch p.Class {
	case shellread.ReadOnly:
		why := sc.outsideReads(i)
		if why == "" {
			why = sc.programs(p)
		}
		if why == "" {
			return finding{why: p.Why}, true
		}
		stop = why
	case shellread.FileEdit:
		if why := sc.editStops(i); why == "" {
			return finding{why: "the mode " + string(sc.c.s.mode()) + " accepts file commands inside the working directories"}, true
		} else if sc.c.s.mode() == AcceptEdits {
			stop = why
		} else {
			stop = "it changes files"
		}
	case shellread.Other:
	}
	if sc.c.s.mode() == Plan && p.Writer {
		return finding{why: "plan mode runs nothing that changes files"}, false
	}
	if r := sc.rule(p); r != nil {
		return finding{rule: r}, true
	}
	if p.Unruled != "" && p.Class == shellread.Other {
		stop += "; no pattern rule can cover it because " + p.Unruled
	}
	return finding{why: stop}, false
}

// outsideReads says which path keeps a read-only part from running unasked.
func (sc *shellCall) outsideReads(i int) string {
	for j := range sc.spots[i] {
		sp := &sc.spots[i][j]
		if sp.arg.Redirect {
			continue
		}
		if sp.open {
			return "the path " + shown(sp) + " is only known at run time"
		}
		for _, pl := range sp.places {
			if harmlessDevice(pl) || sc.c.inside(pl) || sc.c.output(pl) || len(sp.globs) == 0 && !sp.arg.Recursive && sc.c.readRule(pl) != nil {
				continue
			}
			return shown(sp) + " is outside the working directories"
		}
	}
	return ""
}

func shown(sp *spot) string {
	if sp.arg.Word.Source != "" {
		return sp.arg.Word.Source
	}
	return strings.ReplaceAll(sp.arg.Word.Text, string(shellread.Hole), "…")
}

// harmlessDevice lists files that hold nothing.
func harmlessDevice(pl place) bool { return pl.names[0] == "/dev/null" || pl.names[0] == "/dev/stdin" }

// editStops says why a file command may not run by the mode alone.
func (sc *shellCall) editStops(i int) string {
	if sc.c.s.mode() != AcceptEdits {
		return "the mode does not accept edits"
	}
	for j := range sc.spots[i] {
		sp := &sc.spots[i][j]
		if sp.arg.Redirect {
			continue
		}
		if !sc.contained(sp) {
			return shown(sp) + " is outside the working directories"
		}
	}
	return ""
}

// redirectStops says why the file of a redirect may not be opened unasked.
func (sc *shellCall) redirectStops(sp *spot, byRule bool) string {
	if sp.arg.Access == shellread.AccessRead {
		for _, pl := range sp.places {
			if sp.open || !harmlessDevice(pl) && !sc.c.inside(pl) && sc.c.readRule(pl) == nil {
				return shown(sp) + " is outside the working directories"
			}
		}
		return ""
	}
	if sc.c.s.mode() == Plan {
		return "plan mode runs nothing that changes files"
	}
	if sp.open || len(sp.globs) > 0 {
		return "the target of the redirect is only known at run time"
	}
	for _, pl := range sp.places {
		if sc.c.s.mode() == AcceptEdits && sc.c.inside(pl) {
			continue
		}
		if r := sc.c.rulesOn(sc.c.s.allow.edit, pl, true); r == nil || pl.lost {
			return "it writes " + shown(sp)
		}
	}
	return ""
}

// rule finds an allow rule that covers the command of a part.
func (sc *shellCall) rule(p *shellread.Part) *Rule {
	for _, r := range sc.c.s.allow.exec {
		if r.whole() || r.param != "" || sc.c.suspended(r) {
			continue
		}
		if covers(&r.command, p) {
			return r
		}
	}
	return nil
}

// covers reports whether an allow pattern covers a part. Words are compared
// after parsing: two spellings of the same words are the same command, which is
// more than byte equality and no less safe.
func covers(c *commandPattern, p *shellread.Part) bool {
	if p.Unruled != "" {
		return false
	}
	if !c.stars {
		return matches(c, p.Forms.Exact) || len(p.Assigns) > 0 && matches(c, p.Forms.Allow)
	}
	if p.ExactOnly {
		return false
	}
	if p.Forms.Assigned != "" && assigns(c.text) {
		return c.match(p.Forms.Assigned)
	}
	return matches(c, p.Forms.Allow)
}

func matches(c *commandPattern, forms []string) bool {
	return slices.ContainsFunc(forms, c.match)
}

// assigns reports whether a pattern starts with NAME=.
func assigns(text string) bool {
	first, _, _ := strings.Cut(text, " ")
	name, _, ok := strings.Cut(first, "=")
	return ok && name != "" && !strings.ContainsAny(name, "*-./")
}

// interpreters and runners execute code that their arguments name.
const interpreters = " bash sh zsh dash fish ksh python python2 python3 node deno bun ruby perl php lua osascript env xargs eval exec sudo doas su ssh npx bunx uvx pipx tsx ts-node Rscript julia awk gawk make just task nix docker podman "

// broadCommand reports patterns that would approve arbitrary code.
func broadCommand(c commandPattern) bool {
	if !c.stars {
		return false
	}
	first, rest, _ := strings.Cut(c.text, " ")
	if strings.Contains(first, "*") {
		return true
	}
	if strings.Contains(interpreters, " "+path.Base(first)+" ") {
		return true
	}
	switch first {
	case "npm", "pnpm", "yarn":
		return rest == "*" || strings.HasPrefix(rest, "run") || strings.HasPrefix(rest, "exec") || strings.HasPrefix(rest, "x ") || strings.HasPrefix(rest, "dlx") || strings.HasPrefix(rest, "*")
	case "cargo", "go", "uv", "poetry", "pip", "pip3", "gradle", "mvn":
		return rest == "*" || strings.HasPrefix(rest, "run") || strings.HasPrefix(rest, "*")
	}
	return false
}
