package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
)

// protectedDirs are folders whose content decides what runs later: version
// control, editors, hooks, package managers and hew itself.
const protectedDirs = " .git .vscode .idea .husky .cargo .devcontainer .yarn .mvn .claude .hew .agents "

// protectedFiles are start-up files and the configuration of tools that run
// code from it.
const protectedFiles = " .gitconfig .gitmodules .gitattributes .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login .envrc .inputrc " +
	".npmrc .yarnrc .yarnrc.yml .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs bunfig.toml .bunfig.toml .bazelrc .bazelversion .bazeliskrc .pre-commit-config.yaml .pre-commit-config.yml " +
	"lefthook.yml lefthook.yaml lefthook.toml lefthook.json .lefthook.yml .lefthook.yaml .lefthook.toml .lefthook.json lefthook-local.yml lefthook-local.yaml .lefthook-local.yml .lefthook-local.yaml " +
	"gradle-wrapper.properties maven-wrapper.properties .devcontainer.json .ripgreprc pyrightconfig.json .mcp.json .claude.json "

// protected reports whether writing to the place could change what runs later,
// by any of its names. Names compare without case: on many systems they do.
func (s *Snapshot) protected(pl place) bool {
	return slices.ContainsFunc(pl.names, s.protectedName)
}

// guarded is protected, but among the model's own notes only what lies below
// their folder counts: the folder itself is in the configuration home.
func (c *chain) guarded(pl place) bool {
	rest := c.within(pl, c.s.cfg.Notes)
	if rest == nil {
		return c.s.protected(pl)
	}
	return slices.ContainsFunc(rest, c.s.protectedName)
}

func (s *Snapshot) protectedName(n string) bool {
	for _, p := range s.cfg.Protected {
		if below(s.fold(n), s.fold(clean(p))) {
			return true
		}
	}
	segs := strings.Split(strings.ToLower(strings.Trim(n, "/")), "/")
	for i, seg := range segs {
		last := i == len(segs)-1
		switch {
		case strings.Contains(protectedDirs, " "+seg+" "):
			if seg == ".claude" && !last && segs[i+1] == "worktrees" {
				continue
			}
			return true
		case seg == ".config" && !last && segs[i+1] == "git":
			return true
		case seg == ".config" && !last && segs[i+1] == "fish":
			return true
		}
	}
	return strings.Contains(protectedFiles, " "+segs[len(segs)-1]+" ")
}

// criticalRemoval returns the target whose loss could not be undone, or "".
func (l *locator) criticalRemoval(p *shellread.Part) string {
	if p.Name != "rm" && p.Name != "rmdir" {
		return ""
	}
	options := true
	for _, w := range p.Words[p.Start+1:] {
		if options && w.Literal() && strings.HasPrefix(w.Text, "-") && len(w.Text) > 1 {
			options = w.Text != "--"
			continue
		}
		if l.criticalTarget(p, w) {
			if w.Source != "" {
				return w.Source
			}
			return w.Text
		}
	}
	return ""
}

func (l *locator) criticalTarget(p *shellread.Part, w shellread.Word) bool {
	if w.Holes&(shellread.FromVar|shellread.FromSubst) != 0 && openEnded(w.Text) {
		return true
	}
	text := w.Text
	base, glob := path.Split(strings.TrimRight(text, "/"))
	isGlob := w.Pattern != "" && strings.ContainsAny(glob, "*?[")
	if p.Dirs.Unknown && !strings.HasPrefix(text, "/") && !w.Tilde && (isGlob && base == "" || path.Clean(text) == "." || strings.HasPrefix(path.Clean(text), "..")) {
		return true
	}
	for _, d := range l.directories(p.Dirs) {
		pl := l.at(d.logical, d.physical, text, w.Tilde)
		if slices.ContainsFunc(pl.names, l.criticalName) {
			return true
		}
		if !isGlob {
			continue
		}
		for _, n := range l.at(d.logical, d.physical, base, w.Tilde).names {
			if l.criticalName(n) && n != "/tmp" || l.isRoot(n) {
				return true
			}
		}
	}
	return false
}

// openEnded reports a glob or slash right after run-time text: when that text is
// empty, the target is the root.
func openEnded(s string) bool {
	for i := range len(s) - 1 {
		if s[i] == shellread.Hole && strings.IndexByte("/*?[", s[i+1]) >= 0 {
			return true
		}
	}
	return false
}

// topLevel reports a folder right below the root.
func topLevel(n string) bool { return strings.Count(n, "/") == 1 && n != "/" }

// criticalName lists the root, its children, drives, the home, the working
// directory and everything above them.
func (l *locator) criticalName(n string) bool {
	if n == "/" || topLevel(n) || len(n) == 3 && n[1] == ':' {
		return true
	}
	n = l.s.fold(n)
	for _, d := range []string{l.s.home, l.s.cfg.Project, l.cwd} {
		if d != "" && below(l.s.fold(d), n) {
			return true
		}
	}
	return false
}

// isRoot reports one of the additional working directories.
func (l *locator) isRoot(n string) bool {
	for _, r := range l.s.roots {
		if l.s.fold(r) == l.s.fold(n) {
			return true
		}
	}
	return false
}
