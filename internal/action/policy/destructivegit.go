package policy

import (
	"strings"
	"sync"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
)

// gitDanger is one subcommand of git that destroys work.
type gitDanger struct {
	when   func(args []string) bool
	reason string
	// untracked tells that files reach it which git does not track.
	untracked  bool
	repository bool
	entry      string
}

var gitDangers = sync.OnceValue(func() map[string][]gitDanger {
	listing := has("list", "show")
	return map[string][]gitDanger{
		"reset":       {{when: has("--hard", "--merge", "--keep"), reason: "git reset --hard throws uncommitted changes away"}},
		"clean":       {{when: not(short('n', "--dry-run")), reason: "git clean removes files that git does not track", untracked: true}},
		"checkout":    {{when: not(has("-b", "--orphan")), reason: "git checkout throws uncommitted changes of files away", untracked: true}},
		"restore":     {{when: restores, reason: "git restore throws uncommitted changes of files away"}},
		"switch":      {{when: has("-f", "--force", "--discard-changes"), reason: "git switch --force throws uncommitted changes away", untracked: true}},
		"rm":          {{when: not(has("--cached")), reason: "git rm removes files"}},
		"mv":          {{when: short('f', "--force"), reason: "git mv -f replaces files", untracked: true}},
		"rebase":      {{reason: "git rebase rewrites files"}},
		"merge":       {{reason: "git merge rewrites files"}},
		"pull":        {{reason: "git pull rewrites files"}},
		"cherry-pick": {{reason: "git cherry-pick rewrites files"}},
		"revert":      {{reason: "git revert rewrites files"}},
		"am":          {{reason: "git am rewrites files"}},
		"apply":       {{when: not(has("--check", "--stat", "--numstat", "--summary")), reason: "git apply rewrites files", untracked: true}},
		"read-tree":   {{when: has("-u", "--reset"), reason: "git read-tree rewrites files"}},
		"submodule":   {{when: has("deinit", "update"), reason: "git submodule throws changes in submodules away", untracked: true}},
		"worktree":    {{when: has("remove", "prune"), reason: "git worktree remove deletes a work tree", untracked: true}},
		"sparse-checkout": {
			{when: not(listing), reason: "git sparse-checkout removes files from the work tree"},
		},
		"stash": {
			{when: has("drop", "clear"), reason: "git stash drop throws saved changes away", entry: "a stash entry"},
			{when: not(has("drop", "clear", "list", "show", "create", "store")), reason: "git stash takes uncommitted changes away", untracked: true},
		},
		"gc":            {{reason: "git gc may remove objects that nothing refers to", repository: true}},
		"prune":         {{reason: "git prune removes objects that nothing refers to", repository: true}},
		"repack":        {{reason: "git repack may remove objects that nothing refers to", repository: true}},
		"reflog":        {{when: has("expire", "delete"), reason: "git reflog expire forgets where branches were", repository: true}},
		"filter-branch": {{reason: "git filter-branch rewrites history and files", repository: true}},
		"filter-repo":   {{reason: "git filter-repo rewrites history and files", repository: true}},
	}
})

// restores tells that git restore touches the work tree: with --staged alone
// it does not.
func restores(args []string) bool {
	return !has("--staged", "-S")(args) || has("--worktree", "-W")(args)
}

// gitLosses reads a git command; options before the subcommand are looked past.
func gitLosses(p *shellread.Part, words []shellread.Word, args []string) []Loss {
	i := 0
	elsewhere := false
	for i < len(args) && strings.HasPrefix(args[i], "-") {
		if args[i] == "-C" || args[i] == "-c" || args[i] == "--git-dir" || args[i] == "--work-tree" {
			elsewhere = elsewhere || args[i] != "-c"
			i++
		}
		i++
	}
	if i >= len(args) {
		return nil
	}
	var out []Loss
	for _, d := range gitDangers()[args[i]] {
		if d.when != nil && !d.when(args[i+1:]) {
			continue
		}
		l := Loss{Reason: d.reason, Tracked: !d.untracked, Repository: d.repository, Entry: d.entry}
		if named := afterDashes(words[i+1:]); len(named) > 0 && !elsewhere {
			l.reach(p, named)
		} else {
			l.Anywhere = true
		}
		out = append(out, l)
	}
	return out
}

// afterDashes are the paths behind "--"; before it an operand may be a revision.
func afterDashes(words []shellread.Word) []shellread.Word {
	for i, w := range words {
		if w.Text == "--" {
			return words[i+1:]
		}
	}
	return nil
}
