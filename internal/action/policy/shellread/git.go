package shellread

import (
	"slices"
	"strings"
	"sync"
)

const (
	gitDiffOptions = "-p -u -s -U= --patch --no-patch --unified= --raw --minimal --patience --histogram --diff-algorithm= --stat? --compact-summary --numstat --shortstat --dirstat? --summary --patch-with-stat -z --name-only --name-status " +
		"--color? --no-color --color-moved? --color-words? --word-diff? --word-diff-regex= --no-renames --check --full-index --binary --abbrev? -B? -M? -C? -D --find-renames? --find-copies? --find-copies-harder --irreversible-delete -l= --diff-filter= -S= -G= --pickaxe-all --pickaxe-regex -R -a --text " +
		"--ignore-cr-at-eol --ignore-space-at-eol -b --ignore-space-change -w --ignore-all-space --ignore-blank-lines -I= --inter-hunk-context= -W --function-context --exit-code --quiet --no-ext-diff --no-textconv --ignore-submodules? --submodule? --src-prefix= --dst-prefix= --no-prefix --relative? --merge-base --cached --staged --cc -c --combined-all-paths -m -t -r"
	gitLogOptions = gitDiffOptions + " -n= -# --max-count= --skip= --since= --after= --until= --before= --author= --committer= --grep= --all-match --invert-grep -i --regexp-ignore-case -E --extended-regexp -F --fixed-strings -P --perl-regexp --merges --no-merges --min-parents= --max-parents= --first-parent --not --all --branches? --tags? --remotes? --glob= --exclude= " +
		"--reverse --oneline --pretty? --format= --abbrev-commit --no-abbrev-commit --encoding= --date= --relative-date --parents --children --left-right --left-only --right-only --cherry --cherry-mark --cherry-pick --graph --decorate? --no-decorate --decorate-refs= --source --follow --full-diff -L= --log-size --boundary --simplify-by-decoration --full-history --ancestry-path? --topo-order --date-order --author-date-order -g --walk-reflogs  --notes? --no-notes --no-walk? --clear-decorations --show-pulls --dense --sparse --simplify-merges"
	gitRefOptions = "-a -r -v -vv -l -i --all --remotes --verbose --list --color? --no-color --column? --no-column --sort= --format= --contains= --no-contains= --merged? --no-merged? --points-at= --show-current --abbrev? --ignore-case --no-abbrev"
	readsRepo     = "reads the repository, prints to standard output; output files, external programs and other repositories are left out"
)

// gitCommands are the subcommands of the read-only set. Every one of them can
// run programs that the repository's own configuration names, as git itself
// does; that is why git in another directory is not read-only (see the policy).
var gitCommands = sync.OnceValue(func() map[string]*program {
	return withGrammars(map[string]*program{
		"status":        {why: readsRepo, opts: "-s -b -v -u? -z --short --branch --show-stash --porcelain? --long --verbose --untracked-files? --ignore-submodules? --ignored? --ahead-behind --no-ahead-behind --renames --no-renames --column? --no-column --find-renames?"},
		"log":           {why: readsRepo, opts: gitLogOptions},
		"show":          {why: readsRepo, opts: gitLogOptions},
		"diff":          {why: readsRepo, opts: gitDiffOptions},
		"whatchanged":   {why: readsRepo, opts: gitLogOptions},
		"shortlog":      {why: readsRepo, opts: gitLogOptions + " -s -e --summary --numbered --email --group="},
		"reflog":        {why: readsRepo + "; expire and delete are left out", opts: gitLogOptions, check: reflogForm},
		"rev-list":      {why: readsRepo, opts: gitLogOptions + " --count --objects --timestamp --header --no-object-names"},
		"diff-tree":     {why: readsRepo, opts: gitDiffOptions + " --root --stdin --no-commit-id --always"},
		"diff-index":    {why: readsRepo, opts: gitDiffOptions},
		"diff-files":    {why: readsRepo, opts: gitDiffOptions},
		"branch":        {why: readsRepo + "; forms that create or change branches are left out", opts: gitRefOptions, check: listing},
		"tag":           {why: readsRepo + "; forms that create or delete tags are left out", opts: "-l -n? -i --list --sort= --format= --contains= --no-contains= --merged? --no-merged? --points-at= --color? --column? --no-column --ignore-case", check: listing},
		"remote":        {why: readsRepo + "; forms that change remotes or ask them are left out", opts: "-v --verbose --all --push", check: remoteForm},
		"stash":         {why: readsRepo + "; forms that move work are left out", opts: gitLogOptions + " --include-untracked --only-untracked", check: firstOperand("list", "show")},
		"worktree":      {why: readsRepo + "; list only", opts: "--porcelain -v --verbose -z", check: firstOperand("list")},
		"ls-files":      {why: readsRepo, opts: "-c -d -o -i -s -u -k -m -t -v -f -z -x= --cached --deleted --others --ignored --stage --unmerged --killed --modified --exclude= --exclude-standard --error-unmatch --full-name --abbrev? --eol --deduplicate --directory --no-empty-directory --format= --debug"},
		"ls-tree":       {why: readsRepo, opts: "-d -r -t -l -z --name-only --name-status --long --full-name --full-tree --abbrev? --format= --object-only"},
		"rev-parse":     {why: readsRepo, opts: "--show-toplevel --abbrev-ref? --short? --verify --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --show-prefix --show-cdup --symbolic --symbolic-full-name -q --quiet --all --branches? --tags? --remotes? --revs-only --no-revs --flags --no-flags --sq --show-object-format? --show-superproject-working-tree"},
		"blame":         {why: readsRepo, opts: "-b -c -e -f -l -n -s -t -w -M? -C? -L= -p --root --show-stats --score-debug --show-name --show-number --porcelain --line-porcelain --show-email --date= --abbrev= --since= --first-parent --color-lines --color-by-age --ignore-rev="},
		"annotate":      {why: readsRepo, opts: "-b -c -e -f -l -n -s -t -w -M? -C? -L="},
		"merge-base":    {why: readsRepo, opts: "-a --all --octopus --independent --is-ancestor --fork-point"},
		"describe":      {why: readsRepo, opts: "--all --tags --contains --abbrev= --candidates= --exact-match --debug --long --match= --exclude= --always --first-parent --dirty? --broken?"},
		"name-rev":      {why: readsRepo, opts: "--tags --refs= --exclude= --all --name-only --no-undefined --always"},
		"show-ref":      {why: readsRepo, opts: "--head --tags --heads --branches -d --dereference -s --hash? --verify --abbrev? -q --quiet"},
		"for-each-ref":  {why: readsRepo, opts: "--count= --sort= --format= --contains= --no-contains= --merged? --no-merged? --points-at= --color? --ignore-case --exclude="},
		"symbolic-ref":  {why: readsRepo + "; a second operand would set it", opts: "-q --quiet --short", most: 1, check: oneOperand},
		"cat-file":      {why: readsRepo, opts: "-t -s -e -p --allow-unknown-type"},
		"cherry":        {why: readsRepo, opts: "-v --abbrev?"},
		"count-objects": {why: readsRepo, opts: "-v -H --verbose --human-readable"},
		"check-ignore":  {why: readsRepo, opts: "-q -v -n -z --quiet --verbose --non-matching --no-index"},
		"check-attr":    {why: readsRepo, opts: "-a -z --all --cached"},
		"var":           {why: readsRepo, opts: "", check: firstOperand("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT", "GIT_DEFAULT_BRANCH")},
		"config":        {why: "prints single settings; forms that write or list, which show credentials, are left out", opts: "--get --get-all --global --local --system --show-origin --show-scope -z --null --bool --int --path --type= --default=", check: configForm},
		"grep": {
			why: readsRepo + "; opening matches in a program is left out", operands: pattern,
			opts: "-a -i -w -v -h -H -l -L -n -c -p -q -E -G -F -P -I -o -z -W -r -A= -B= -C= -e= -f< -m= -# --text --ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --fixed-strings --perl-regexp --line-number --column --files-with-matches --name-only --files-without-match --only-matching --count --color? --no-color --break --heading --show-function --function-context --context= --after-context= --before-context= --and --or --not --all-match --quiet --cached --untracked --exclude-standard --max-depth= --max-count= --regexp= --recursive",
		},
	})
})

func judgeGit(_ *program, words []Word) verdict {
	i := 1
	for i < len(words) && words[i].Literal() && strings.Contains(" --no-pager --no-optional-locks --literal-pathspecs ", " "+words[i].Text+" ") {
		i++
	}
	if i >= len(words) || !words[i].Literal() {
		return unknown("the subcommand is not known")
	}
	for _, w := range words[i:] {
		if strings.Contains(w.Text, "%G") {
			return unknown("checking signatures runs the program that the repository names")
		}
	}
	sub := words[i].Text
	known, ok := gitCommands()[sub]
	if !ok {
		return unknown("the git form " + printable(sub) + " is not in the read-only set")
	}
	form := *known
	form.guarded = true
	if form.operands != pattern {
		form.operands = anything
	}
	v := form.judge(words[i:], false)
	if v.class == ReadOnly {
		v.paths = append(v.paths, gitPaths(words[i+1:])...)
	}
	return v
}

// gitPaths guesses the files among operands: each may be a revision, a path, or
// a revision and a path joined by a colon.
func gitPaths(words []Word) []PathArg {
	var out []PathArg
	for _, w := range words {
		if strings.HasPrefix(w.Text, "-") || w.Text == "" {
			continue
		}
		out = append(out, PathArg{Word: w, Candidate: true})
		if _, after, ok := strings.Cut(w.Text, ":"); ok && after != "" {
			out = append(out, PathArg{Word: Word{Text: strings.TrimLeft(after, "/"), Source: w.Source, Holes: w.Holes}, Candidate: true})
		}
	}
	return out
}

// listing accepts operands only where an option makes them patterns.
func listing(a *args) string {
	if len(a.operands) > 0 && !a.has("-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at") {
		return "an operand would create a reference"
	}
	return ""
}

func remoteForm(a *args) string {
	if len(a.operands) == 0 || len(a.operands) == 2 && a.operands[0].Text == "get-url" {
		return ""
	}
	return "the form would change a remote or connect to it"
}

func firstOperand(allowed ...string) func(*args) string {
	return func(a *args) string {
		if len(a.operands) > 0 {
			if slices.Contains(allowed, a.operands[0].Text) {
				return ""
			}
		}
		return "the form is not in the read-only set"
	}
}

func oneOperand(a *args) string {
	if len(a.operands) != 1 {
		return "the form would set the reference"
	}
	return ""
}

func reflogForm(a *args) string {
	if len(a.operands) == 0 {
		return ""
	}
	switch a.operands[0].Text {
	case "expire", "delete", "drop", "write":
		return "the form changes the log"
	}
	return ""
}

// configSections hold no credentials.
const configSections = " user core init branch pull push merge rebase color commit tag diff log status fetch "

func configForm(a *args) string {
	if !a.has("--get", "--get-all") || len(a.operands) != 1 {
		return "only --get of a single setting is in the read-only set"
	}
	section, _, _ := strings.Cut(a.operands[0].Text, ".")
	if !strings.Contains(configSections, " "+strings.ToLower(section)+" ") {
		return "the setting may hold credentials"
	}
	return ""
}
