package settings

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// smallFile bounds what is read of git's one-line files.
const smallFile = 64 << 10

// repository is the checkout that a folder belongs to.
type repository struct {
	root   string // of the main checkout, also for a linked worktree
	gitDir string // of the main checkout
}

// findRepository looks upwards from dir for .git. The main checkout stands for all worktrees of a repository; a
// submodule or nested repository stands for itself.
func findRepository(dir string) (repository, bool) {
	for {
		dotGit := filepath.Join(dir, ".git")
		switch fsys.KindOf(dotGit) {
		case fsys.KindDir:
			return repository{root: dir, gitDir: dotGit}, true
		case fsys.KindRegular:
			return linked(dir, dotGit), true
		case fsys.KindMissing, fsys.KindFIFO, fsys.KindDevice, fsys.KindSocket, fsys.KindLinkLoop, fsys.KindOther:
		}
		up := filepath.Dir(dir)
		if up == dir {
			return repository{}, false
		}
		dir = up
	}
}

// linked follows a .git file. A worktree's git folder holds "commondir", the way to the main checkout's git folder; a
// submodule's does not. Whoever made the folder wrote that file, so it may point at a repository that knows nothing of
// it: the main checkout stands for a worktree only when its own git folder names the worktree in return.
func linked(dir, dotGit string) repository {
	self := repository{root: dir, gitDir: dotGit}
	gitDir, ok := strings.CutPrefix(firstLine(dotGit), "gitdir: ")
	if !ok {
		return self
	}
	gitDir = within(dir, gitDir)
	self.gitDir = gitDir
	common := firstLine(filepath.Join(gitDir, "commondir"))
	if common == "" {
		return self
	}
	common = within(gitDir, common)
	if filepath.Base(common) != ".git" { // a bare repository has no main checkout
		return self
	}
	if !sameFile(filepath.Dir(gitDir), filepath.Join(common, "worktrees")) || !sameFile(firstLine(filepath.Join(gitDir, "gitdir")), dotGit) {
		return self
	}
	return repository{root: filepath.Dir(common), gitDir: common}
}

// sameFile compares two paths as the file system sees them; what does not exist is the same as nothing.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func within(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

func firstLine(path string) string {
	raw, _, err := fsys.ReadRaw(path, fsys.Limits{MaxBytes: smallFile})
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	return strings.TrimSpace(line)
}

// localRoot is the folder whose .claude/settings.local.json counts: the main checkout's root, but the start folder
// outside git, when the root is the home folder, and when the root is not the user's own.
func localRoot(cwd string) string {
	repo, ok := findRepository(cwd)
	if !ok || !ownedByUser(repo.root) {
		return cwd
	}
	if home, err := fsys.Abs("", "~"); err == nil && home == repo.root {
		return cwd
	}
	return repo.root
}

// gitTracks reports whether the index lists the file, whose slash-separated path from the root is rel. It reads the
// index as bytes: names are stored whole up to version 3 and as endings in version 4. When in doubt it says yes, since
// a tracked file is the repository's and not the user's.
func (r repository) gitTracks(rel string) bool {
	raw, err := os.ReadFile(filepath.Join(r.gitDir, "index"))
	if err != nil {
		return !os.IsNotExist(err)
	}
	if bytes.HasPrefix(raw, []byte("DIRC\x00\x00\x00\x04")) {
		return bytes.Contains(raw, []byte("local.json\x00"))
	}
	return bytes.Contains(raw, []byte(rel+"\x00"))
}
