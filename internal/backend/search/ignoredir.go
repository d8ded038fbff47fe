package search

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// ignoreDir is one folder's link in the chain of ignore rules. Folders that
// bring none share the link of their parent.
type ignoreDir struct {
	parent *ignoreDir
	base   string // absolute, '/' between components, '/' at the end
	isRepo bool
	// In order of precedence; each kind is looked up through the whole chain
	// before the next kind is asked.
	kinds [kindCount]*ruleSet
}

const (
	kindRipgrep = iota // .rgignore
	kindIgnore         // .ignore
	kindGit            // .gitignore
	kindExclude        // .git/info/exclude
	kindCount
)

func ignoreFileKind(name string) (int, bool) {
	switch name {
	case ".rgignore":
		return kindRipgrep, true
	case ".ignore":
		return kindIgnore, true
	case ".gitignore":
		return kindGit, true
	}
	return 0, false
}

// maxIgnoreFile bounds what is read of one ignore file.
const maxIgnoreFile = 4 << 20

// readRules reads the ignore file at path; nil when there is none.
func readRules(path string) *ruleSet {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxIgnoreFile {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return parseIgnore(string(text))
}

// enter returns the chain for the folder dir, whose listing has the names
// that found reports.
func (d *ignoreDir) enter(dir string, found func(name string) bool) *ignoreDir {
	var own *ignoreDir
	node := func() *ignoreDir {
		if own == nil {
			own = &ignoreDir{parent: d, base: slashBase(dir)}
		}
		return own
	}
	for _, name := range []string{".rgignore", ".ignore", ".gitignore"} {
		if found(name) {
			if rules := readRules(filepath.Join(dir, name)); rules != nil {
				kind, _ := ignoreFileKind(name)
				node().kinds[kind] = rules
			}
		}
	}
	if found(".git") {
		node().isRepo = true
		node().kinds[kindExclude] = readRules(filepath.Join(gitCommonDir(filepath.Join(dir, ".git")), "info", "exclude"))
	}
	if own == nil {
		return d
	}
	return own
}

func slashBase(dir string) string {
	return strings.TrimSuffix(filepath.ToSlash(dir), "/") + "/"
}

// gitCommonDir follows the .git file of a linked worktree to the folder that
// holds info/exclude.
func gitCommonDir(dotGit string) string {
	st, err := os.Lstat(dotGit)
	if err != nil || !st.Mode().IsRegular() || st.Size() > 4096 {
		return dotGit
	}
	text, err := os.ReadFile(dotGit)
	if err != nil {
		return dotGit
	}
	gitDir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !ok {
		return dotGit
	}
	if !filepath.IsAbs(gitDir) {
		gitDir = filepath.Join(filepath.Dir(dotGit), gitDir)
	}
	common, err := os.ReadFile(filepath.Join(gitDir, "commondir"))
	if err != nil {
		return gitDir
	}
	dir := strings.TrimSpace(string(common))
	if filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(gitDir, dir)
}

// parentChain builds the links for every folder above root, so that a search
// in a subfolder of a repository obeys the files above it.
func parentChain(root string) *ignoreDir {
	var above []string
	for dir := filepath.Dir(root); ; dir = filepath.Dir(dir) {
		above = append(above, dir)
		if dir == filepath.Dir(dir) {
			break
		}
	}
	var chain *ignoreDir
	for i := len(above) - 1; i >= 0; i-- {
		if above[i] == root {
			continue
		}
		dir := above[i]
		chain = chain.enter(dir, func(name string) bool {
			_, err := os.Lstat(filepath.Join(dir, name))
			return err == nil
		})
	}
	return chain
}

func (d *ignoreDir) inRepo() bool {
	for ; d != nil; d = d.parent {
		if d.isRepo {
			return true
		}
	}
	return false
}

// match decides about the absolute path. Rules of git count inside a
// repository only, and only up to its top.
func (d *ignoreDir) match(path string, isDir bool) verdict {
	if d == nil {
		return undecided
	}
	gitApplies := d.inRepo()
	for kind := range kindCount {
		isGit := kind == kindGit || kind == kindExclude
		if isGit && !gitApplies {
			continue
		}
		for link := d; link != nil; link = link.parent {
			rel, ok := strings.CutPrefix(path, link.base)
			if v := link.kinds[kind].match(rel, isDir); ok && v != undecided {
				return v
			}
			if isGit && link.isRepo {
				break
			}
		}
	}
	return undecided
}

// globalRules reads git's user-wide excludes file (core.excludesFile, or its
// default place).
func globalRules() *ruleSet {
	home, _ := os.UserHomeDir()
	config := os.Getenv("XDG_CONFIG_HOME")
	if config == "" && home != "" {
		config = filepath.Join(home, ".config")
	}
	for _, file := range []string{filepath.Join(home, ".gitconfig"), filepath.Join(config, "git", "config")} {
		if path := excludesFile(file); path != "" {
			if rest, ok := strings.CutPrefix(path, "~/"); ok {
				path = filepath.Join(home, rest)
			}
			return readRules(path)
		}
	}
	if config == "" {
		return nil
	}
	return readRules(filepath.Join(config, "git", "ignore"))
}

// excludesFile finds the excludesFile key of a git configuration file.
func excludesFile(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for sc := bufio.NewScanner(bytes.NewReader(text)); sc.Scan(); {
		key, value, ok := strings.Cut(sc.Text(), "=")
		if ok && strings.EqualFold(strings.TrimSpace(key), "excludesfile") {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}
