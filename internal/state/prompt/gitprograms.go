package prompt

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// plainKeys are the settings, as git spells them in a list, that start no
// program and reach no other host when git reads a repository: "section.*" for
// every name in a section, "section.name" and, where a section has parts,
// "section.*.name". Everything else counts as naming a program: git and its
// extensions learn new ones.
const plainKeys = ` advice.* branch.* color.* commit.* fetch.* gc.* gui.* http.* i18n.* index.* init.* maintenance.* pack.* pull.* push.* rebase.* tag.* user.* ` +
	` core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase core.precomposeunicode core.symlinks core.autocrlf ` +
	` core.eol core.safecrlf core.compression core.loosecompression core.bigfilethreshold core.preloadindex core.untrackedcache core.quotepath core.abbrev ` +
	` core.whitespace core.checkstat core.trustctime core.sharedrepository core.protecthfs core.protectntfs core.longpaths core.fscache core.commitgraph ` +
	` core.multipackindex core.sparsecheckout core.sparsecheckoutcone core.hidedotfiles core.commentchar core.fsync ` +
	` extensions.worktreeconfig extensions.objectformat extensions.refstorage extensions.relativeworktrees extensions.noop extensions.preciousobjects ` +
	` remote.*.url remote.*.pushurl remote.*.fetch remote.*.push remote.*.tagopt remote.*.prune remote.*.mirror remote.*.gh-resolved remote.*.skipfetchall remote.pushdefault ` +
	` submodule.*.url submodule.*.active submodule.*.branch submodule.*.ignore submodule.active ` +
	` diff.renames diff.renamelimit diff.algorithm diff.colormoved diff.mnemonicprefix diff.noprefix diff.context diff.interhunkcontext diff.indentheuristic diff.ignoresubmodules ` +
	` diff.*.xfuncname diff.*.funcname diff.*.wordregex diff.*.binary merge.ff merge.conflictstyle merge.renames merge.renamelimit ` +
	` status.showuntrackedfiles status.short status.branch status.renames status.relativepaths log.date log.abbrevcommit log.decorate log.follow lfs.repositoryformatversion lfs.*.access `

// plainKey reports whether a setting names no program.
func plainKey(key string) bool {
	section, rest, ok := strings.Cut(key, ".")
	if !ok {
		return false
	}
	if dot := strings.LastIndexByte(rest, '.'); dot >= 0 {
		rest = "*." + rest[dot+1:]
	}
	return strings.Contains(plainKeys, " "+section+".* ") || strings.Contains(plainKeys, " "+section+"."+rest+" ")
}

// namedProgram finds the first setting of the repository itself that may name a
// program. The list is what git says with scopes: scope NUL key NUL. The user's
// own settings, and those of the machine, do not count.
func namedProgram(list string) (string, error) {
	fields := strings.Split(strings.TrimSuffix(list, "\x00"), "\x00")
	if list == "" {
		return "", nil
	}
	if len(fields)%2 != 0 {
		return "", errors.New("git: a list of settings with scopes was expected")
	}
	for i := 0; i < len(fields); i += 2 {
		switch fields[i] {
		case "system", "global", "command":
			continue
		}
		if !plainKey(fields[i+1]) {
			return fields[i+1], nil
		}
	}
	return "", nil
}

// GitPrograms says why a git command that only reads could start a program that
// the repository at dir names: "" when it could not, or when git would find no
// repository there. It starts none of them. No answer in time is a reason, too.
// env is the process's environment.
func GitPrograms(ctx context.Context, run RunGit, dir string, env func(string) string) string {
	if env("GIT_DIR") == "" && !repositoryAbove(dir) {
		return ""
	}
	if run == nil {
		return "git was not found, so what this repository's configuration would start is not known"
	}
	why, err := gitPrograms(ctx, run, dir)
	if err != nil {
		return "git could not tell what this repository's configuration would start"
	}
	return why
}

// repositoryAbove looks for what git takes for a repository, and for a little more.
func repositoryAbove(dir string) bool {
	there := func(name string) bool { return fsys.KindOf(filepath.Join(dir, name)) != fsys.KindMissing }
	for {
		if there(".git") || there("HEAD") && (there("objects") || there("commondir")) {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

func gitPrograms(ctx context.Context, run RunGit, dir string) (string, error) {
	safe, err := SafeGit(ctx, run)
	if err != nil {
		return "", err
	}
	// A bare repository that nobody named fails here: see safeGit.
	out, err := safe(ctx, "rev-parse", "--absolute-git-dir", "--git-common-dir", "--show-toplevel")
	if err != nil {
		return "", err
	}
	places := strings.Split(strings.TrimRight(out, "\r\n"), "\n")
	if len(places) != 3 {
		return "", errors.New("git: three places were expected")
	}
	for i, p := range places {
		if p = filepath.FromSlash(strings.TrimSuffix(p, "\r")); !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		if places[i], err = fsys.Real(p); err != nil {
			return "", err
		}
	}
	gitDir, common, top := places[0], places[1], places[2]
	if !fsys.Within(top, gitDir) || !fsys.Within(top, common) {
		return "the repository's own files lie outside this checkout, in " + fsys.Printable(common), nil
	}
	list, err := safe(ctx, "config", "--list", "--null", "--name-only", "--show-scope")
	if err != nil {
		return "", err
	}
	key, err := namedProgram(list)
	if err != nil {
		return "", err
	}
	if key != "" {
		return "the repository's configuration sets " + fsys.Printable(key) + ", which may start a program", nil
	}
	if hook := filepath.Join(common, "hooks", "post-index-change"); fsys.KindOf(hook) != fsys.KindMissing {
		return "the repository has the hook post-index-change, which reading commands start", nil
	}
	return submodule(ctx, safe, top)
}

// submodule finds one that is filled: git asks it for its state, by its own configuration.
func submodule(ctx context.Context, safe RunGit, top string) (string, error) {
	out, err := safe(ctx, "ls-files", "--stage", "--full-name", "-z", ":/")
	if err != nil {
		return "", err
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		mode, rest, _ := strings.Cut(entry, " ")
		_, name, ok := strings.Cut(rest, "\t")
		if mode == "160000" && ok && fsys.KindOf(filepath.Join(top, filepath.FromSlash(name), ".git")) != fsys.KindMissing {
			return "the submodule " + fsys.Printable(name) + " has a configuration of its own, which may start a program", nil
		}
	}
	return "", nil
}
