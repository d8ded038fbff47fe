package prompt

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Git is the state of a repository at the start of a session.
type Git struct {
	// Branch is the current branch, HEAD when there is none.
	Branch string
	// Status are the changed files in git's short form, More how many were left out.
	Status []string
	More   int
	// Commits are the newest commits, hash and subject.
	Commits []string
}

// RunGit runs git with arguments in the repository and returns its standard
// output. It must set GitEnv, must not wait for input and must end with ctx.
type RunGit func(ctx context.Context, args ...string) (string, error)

// Bounds of the git state: it is context for a start, not a substitute for looking.
const (
	maxStatus  = 40
	maxCommits = 5
	maxGitLine = 200
	maxRemotes = 10
)

// GitEnv is the environment of hew's own calls of git, beside the process's. No
// transport is allowed: a repository that says it is a partial clone would have
// its remote's program run to fetch what is missing.
func GitEnv() map[string]string {
	return map[string]string{
		"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_PAGER": "cat",
	}
}

// safeGit are options that keep git from starting programs that a repository's
// configuration names, from taking a folder's files for a repository, and from
// taking locks.
func safeGit() []string {
	out := []string{"--no-optional-locks", "--no-pager"}
	for _, c := range []string{
		"core.fsmonitor=false", "core.hooksPath=" + os.DevNull, "core.pager=cat", "core.sshCommand=false", "core.askPass=",
		"core.alternateRefsCommand=", "credential.helper=", "diff.external=", "log.showSignature=false", "gpg.program=false",
		"status.submoduleSummary=false", "safe.bareRepository=explicit", "core.quotePath=true",
	} {
		out = append(out, "-c", c)
	}
	return out
}

// programs are options against the programs that configuration names freely:
// filters, which git runs to compare files, and hooks by name. The keys are what
// "git config --list" says, NUL after each. A name that no option can carry
// is an error.
func programs(keys string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	for key := range strings.SplitSeq(keys, "\x00") {
		section, rest, _ := strings.Cut(key, ".")
		dot := strings.LastIndexByte(rest, '.')
		if section != "filter" && section != "hook" || dot < 0 || seen[section+"."+rest[:dot]] {
			continue
		}
		name := section + "." + rest[:dot]
		seen[name] = true
		if strings.ContainsAny(name, "=\n") {
			return nil, fmt.Errorf("git: the configuration names the driver %q, which cannot be switched off", name)
		}
		if section == "hook" {
			out = append(out, "-c", name+".enabled=false")
			continue
		}
		out = append(out, "-c", name+".clean=", "-c", name+".smudge=", "-c", name+".process=", "-c", name+".required=false")
	}
	return out, nil
}

// SafeGit returns run so that nothing of the repository's configuration is
// started. It asks git for the names in the configuration, which starts nothing.
func SafeGit(ctx context.Context, run RunGit) (RunGit, error) {
	safe := safeGit()
	keys, err := run(ctx, append(slices.Clip(safe), "config", "--list", "--null", "--name-only")...)
	if err != nil {
		return nil, err
	}
	off, err := programs(keys)
	if err != nil {
		return nil, err
	}
	safe = append(safe, off...)
	return func(ctx context.Context, args ...string) (string, error) {
		return run(ctx, append(slices.Clip(safe), args...)...)
	}, nil
}

// ReadGit asks git for the state of the repository, through SafeGit. It returns
// nil where there is no repository, no git or no answer in time.
func ReadGit(ctx context.Context, run RunGit) *Git {
	safe, err := SafeGit(ctx, run)
	if err != nil {
		return nil
	}
	out, err := safe(ctx, "status", "--short", "--branch", "--ignore-submodules=all")
	if err != nil {
		return nil
	}
	g := parseStatus(out)
	// A repository without commits fails here, and has none to show.
	if out, err := safe(ctx, "log", "--no-color", "--no-decorate", "--no-show-signature", "--format=%h %s", "-n", strconv.Itoa(maxCommits)); err == nil {
		g.Commits = bounded(out, maxCommits)
	}
	return g
}

// ReadRemotes lists the repository's remotes, "origin https://host/path", without
// what stands before an @ in an address: that could be a password.
func ReadRemotes(ctx context.Context, run RunGit) []string {
	safe, err := SafeGit(ctx, run)
	if err != nil {
		return nil
	}
	out, err := safe(ctx, "config", "--null", "--get-regexp", `^remote\..*\.(push)?url$`)
	if err != nil {
		return nil
	}
	var list []string
	for entry := range strings.SplitSeq(out, "\x00") {
		key, url, ok := strings.Cut(entry, "\n")
		if !ok || len(list) == maxRemotes {
			continue
		}
		name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".url"), ".pushurl")
		list = append(list, oneLine(name)+" "+oneLine(withoutUser(url)))
	}
	return list
}

func withoutUser(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	host, path, slash := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	if slash {
		path = "/" + path
	}
	return scheme + "://" + host + path
}

// parseStatus reads the output of git status --short --branch.
func parseStatus(out string) *Git {
	head, rest, _ := strings.Cut(out, "\n")
	g := &Git{Branch: branchOf(head)}
	g.Status = bounded(rest, maxStatus)
	g.More = len(strings.FieldsFunc(rest, func(r rune) bool { return r == '\n' })) - len(g.Status)
	return g
}

// branchOf reads "## main...origin/main [ahead 1]" and its other forms.
func branchOf(head string) string {
	name, ok := strings.CutPrefix(head, "## ")
	if !ok || strings.HasPrefix(name, "HEAD (") {
		return "HEAD"
	}
	for _, unborn := range []string{"No commits yet on ", "Initial commit on "} {
		name = strings.TrimPrefix(name, unborn)
	}
	name, _, _ = strings.Cut(name, "...")
	name, _, _ = strings.Cut(name, " ")
	if name = strings.TrimSpace(oneLine(name)); name == "" {
		return "HEAD"
	}
	return name
}

// bounded returns the first n lines that are not empty, each cut.
func bounded(text string, n int) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = oneLine(strings.TrimRight(line, "\r\n"))
		if strings.TrimSpace(line) == "" {
			continue
		}
		if len(out) == n {
			break
		}
		if r := []rune(line); len(r) > maxGitLine {
			line = string(r[:maxGitLine]) + "…"
		}
		out = append(out, line)
	}
	return out
}

func (g *Git) text() string {
	var b strings.Builder
	b.WriteString("Git, as it was at the start of this conversation (it is not updated):\nBranch: " + oneLine(g.Branch) + "\n")
	if len(g.Status) == 0 {
		b.WriteString("Working tree: clean\n")
	} else {
		b.WriteString("Changed files:\n")
		for _, s := range g.Status {
			b.WriteString("  " + s + "\n")
		}
		if g.More > 0 {
			b.WriteString("  … and " + strconv.Itoa(g.More) + " more\n")
		}
	}
	if len(g.Commits) > 0 {
		b.WriteString("Newest commits:\n")
		for _, c := range g.Commits {
			b.WriteString("  " + c + "\n")
		}
	}
	return b.String()
}
