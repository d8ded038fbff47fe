package prompt

import (
	"context"
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
// output. It must not wait for input, must end with ctx, and is called from two
// goroutines at once.
type RunGit func(ctx context.Context, args ...string) (string, error)

// Bounds of the git state: it is context for a start, not a substitute for looking.
const (
	maxStatus  = 40
	maxCommits = 5
	maxGitLine = 200
)

// ReadGit asks git twice, at the same time. It returns nil where there is no repository, no git
// or no answer in time. The options keep git from starting programs that a
// repository's configuration names, and from taking locks.
func ReadGit(ctx context.Context, run RunGit) *Git {
	safe := []string{"--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "-c", "core.quotePath=true"}
	safe = safe[:len(safe):len(safe)]
	commits := make(chan []string, 1)
	go func() {
		out, err := run(ctx, append(safe, "log", "--no-color", "--no-decorate", "--format=%h %s", "-n", strconv.Itoa(maxCommits))...)
		if err != nil { // also a repository without commits: it has none to show
			out = ""
		}
		commits <- bounded(out, maxCommits)
	}()
	out, err := run(ctx, append(safe, "status", "--short", "--branch", "--ignore-submodules=all")...)
	newest := <-commits
	if err != nil {
		return nil
	}
	g := parseStatus(out)
	g.Commits = newest
	return g
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
