package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Policy is what commands may reach. All paths are absolute.
type Policy struct {
	// Roots are the working directories: they are writable, but for what
	// protected lists. None: nothing but Tmp is writable.
	Roots []string
	// Tmp is a writable folder for temporary files, TMPDIR of the command.
	Tmp string
	// Home is the user's home directory, "" when unknown.
	Home string
	// Write are more writable paths, Protect paths that stay read-only inside
	// writable ones, whether they exist or not.
	Write, Protect []string
	// DenyRead cannot be read, AllowRead can in spite of a wider DenyRead. The
	// credentials of well-known programs are denied unless AllowRead names them.
	DenyRead, AllowRead []string
	// FilesOpen switches the rules about files off, UnixSockets allows unix
	// domain sockets (and so every local service that the user may reach).
	FilesOpen, UnixSockets bool
	// OldProc keeps the outer /proc where a fresh one cannot be mounted, which
	// is so in most containers.
	OldProc bool
}

// resolved follows the links of every path that widens the boundary. What
// does not exist is left out: it could become a link to anything.
func (p Policy) resolved() (Policy, error) {
	for _, list := range [][]string{p.Roots, p.Write, p.Protect, p.DenyRead, p.AllowRead} {
		for _, path := range list {
			if !filepath.IsAbs(path) {
				return p, fmt.Errorf("sandbox: the path %q is not absolute", path)
			}
		}
	}
	p.Roots, p.Write, p.AllowRead = real(p.Roots), real(p.Write), real(p.AllowRead)
	if p.Tmp != "" {
		tmp, err := filepath.EvalSymlinks(p.Tmp)
		if err != nil {
			return p, fmt.Errorf("sandbox: the folder for temporary files: %w", err)
		}
		p.Tmp = tmp
	}
	for _, root := range p.Roots {
		p.Write = append(p.Write, gitDirs(root)...)
	}
	p.DenyRead = append(slices.Clone(p.DenyRead), credentials(p.Home)...)
	return p, nil
}

func real(paths []string) []string {
	var out []string
	for _, p := range paths {
		if r, err := filepath.EvalSymlinks(p); err == nil && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+string(filepath.Separator))
}

func withinAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return within(path, d) })
}

// credentials are what tools keep secrets in, below the home directory.
// Reading is what the network rules cannot undo, so it is denied from the start.
func credentials(home string) []string {
	out := []string{"/etc/shadow", "/etc/gshadow"}
	if home == "" {
		return out
	}
	for _, name := range []string{
		".ssh", ".gnupg", ".aws", ".azure", ".kube", ".oci", ".docker/config.json", ".config/gcloud", ".config/gh", ".config/hub",
		".config/op", ".config/containers/auth.json", ".config/rclone", ".netrc", ".git-credentials", ".config/git/credentials",
		".npmrc", ".pypirc", ".gem/credentials", ".cargo/credentials", ".cargo/credentials.toml", ".terraform.d/credentials.tfrc.json",
		".vault-token", ".pgpass", ".my.cnf", ".password-store", ".local/share/keyrings", ".claude/.credentials.json", ".codex/auth.json",
		".mozilla", ".config/google-chrome", ".config/chromium", "Library/Keychains", "Library/Application Support/Google/Chrome",
		"Library/Application Support/Firefox",
	} {
		out = append(out, filepath.Join(home, filepath.FromSlash(name)))
	}
	return out
}

// startup are files that a shell, an editor or direnv runs when somebody enters
// the folder. They are protected where they exist, and in the home directory always.
var startup = []string{
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
	".zlogout", ".inputrc", ".envrc", ".gitconfig", ".gitmodules", ".ripgreprc", ".config/fish", ".config/git", ".ssh",
}

// names lists what is protected in a writable folder. Names of which ok is
// false matter only where they exist.
func protected(root, home string) (always, existing []string) {
	always = []string{".claude", ".mcp.json", ".vscode", ".idea"}
	existing = startup
	if root == home {
		always, existing = slices.Concat(always, startup), nil
	}
	switch {
	case exists(root, "HEAD") && exists(root, "objects") && exists(root, "refs"): // a bare repository
		always = append(always, "hooks", "config")
	default:
		// Git takes a folder with HEAD, objects and refs for a repository and runs
		// what its config names. Without the first there is none, and the two others
		// are names that projects use.
		always = append(always, "HEAD")
	}
	if info, err := os.Lstat(filepath.Join(root, ".git")); err == nil && info.IsDir() {
		always = append(always, ".git/hooks", ".git/config")
		existing = append(slices.Clone(existing), ".git/config.worktree")
		for _, inner := range []string{"hooks", "config"} {
			found, _ := filepath.Glob(filepath.Join(escapeGlob(root), ".git", "modules", "*", inner))
			for _, f := range found {
				existing = append(existing, strings.TrimPrefix(f, root+"/"))
			}
		}
	} else {
		always = append(always, ".git")
	}
	return always, existing
}

var globEscaper = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

func escapeGlob(path string) string { return globEscaper.Replace(path) }

func exists(elem ...string) bool {
	_, err := os.Lstat(filepath.Join(elem...))
	return err == nil
}

// gitDirs are the shared folders of a linked worktree, which lie outside of
// it. The .git file may have come with the repository, so it counts only when
// the folder it names points back at it, which git alone arranges.
func gitDirs(root string) []string {
	mark := filepath.Join(root, ".git")
	text, err := readSmall(mark)
	if err != nil {
		return nil
	}
	dir, ok := strings.CutPrefix(strings.TrimRight(text, "\n"), "gitdir: ")
	if !ok {
		return nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return nil
	}
	common := filepath.Dir(filepath.Dir(dir))
	back, err := readSmall(filepath.Join(dir, "gitdir"))
	if err != nil || filepath.Base(filepath.Dir(dir)) != "worktrees" || filepath.Base(common) != ".git" {
		return nil
	}
	if b, err := filepath.EvalSymlinks(strings.TrimRight(back, "\n")); err != nil || b != mark {
		return nil
	}
	return []string{common}
}

// readSmall reads a plain file of at most a few lines; links are not followed.
func readSmall(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > 8<<10 {
		return "", fmt.Errorf("read %s: %w", path, fs.ErrInvalid)
	}
	b, err := os.ReadFile(path)
	return string(b), err
}
