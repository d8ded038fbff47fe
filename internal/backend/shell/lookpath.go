package shell

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// LookPath finds a program for every package that runs one. It answers only
// with absolute paths: entries of PATH (taken from env, the last one counts)
// that are empty or relative are passed over, and the current folder is never
// searched, on Windows neither (rows SI-1, SI-2). A name with a separator must
// be an absolute path itself. Errors wrap exec.ErrNotFound or, for a relative
// path, exec.ErrDot.
func LookPath(name string, env []string) (string, error) {
	if strings.ContainsAny(name, `/\`) && (runtime.GOOS == "windows" || strings.Contains(name, "/")) {
		if !filepath.IsAbs(name) {
			return "", fmt.Errorf("program %q is named by a relative path: %w", name, exec.ErrDot)
		}
		if path, ok := runnable(name, env); ok {
			return path, nil
		}
		return "", fmt.Errorf("program %q: %w", name, exec.ErrNotFound)
	}
	if name == "" || name == "." || name == ".." {
		return "", fmt.Errorf("program %q: %w", name, exec.ErrNotFound)
	}
	for _, dir := range filepath.SplitList(getenv(env, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, ok := runnable(filepath.Join(dir, name), env); ok {
			return path, nil
		}
	}
	return "", fmt.Errorf("program %q in the absolute entries of PATH: %w", name, exec.ErrNotFound)
}

// runnable is the file that runs when path is called: on Windows a suffix may
// have to be added.
func runnable(path string, env []string) (string, bool) {
	if runtime.GOOS != "windows" {
		info, err := os.Stat(path)
		return path, err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
	}
	suffixes := getenv(env, "PATHEXT")
	if suffixes == "" {
		suffixes = ".COM;.EXE;.BAT;.CMD"
	}
	for suffix := range strings.SplitSeq(suffixes, ";") {
		full := path
		if !strings.EqualFold(filepath.Ext(path), suffix) {
			full += strings.ToLower(suffix)
		}
		if info, err := os.Stat(full); suffix != "" && err == nil && info.Mode().IsRegular() {
			return full, true
		}
	}
	return "", false
}

// findShell picks the shell of a Runner: the wanted one, else bash, else sh.
// /bin/sh is the last word even where it does not exist: the start then fails
// with a clear error.
func findShell(cfg Config) string {
	if cfg.Shell != "" {
		path, ok := runnable(cfg.Shell, cfg.Env)
		switch {
		case !filepath.IsAbs(cfg.Shell) || !ok:
			cfg.Notice(fmt.Sprintf("shell %q is not an executable file with an absolute path: using another one", cfg.Shell))
		case !speaksPosix(path):
			cfg.Notice(fmt.Sprintf("shell %q does not understand POSIX commands: using another one", cfg.Shell))
		default:
			return path
		}
	}
	if path, err := LookPath("bash", cfg.Env); err == nil && !isWSL(path) {
		return path
	}
	for _, path := range wellKnownShells() {
		if path, ok := runnable(path, cfg.Env); ok {
			return path
		}
	}
	return "/bin/sh"
}

func speaksPosix(path string) bool {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".exe")
	return strings.Contains(" bash zsh sh dash ash ksh mksh ", " "+name+" ")
}

// isWSL knows the launcher of the Linux subsystem, which is no shell for
// Windows programs.
func isWSL(path string) bool {
	return runtime.GOOS == "windows" && strings.Contains(strings.ToLower(path), `\system32\`)
}

func wellKnownShells() []string {
	if runtime.GOOS == "windows" {
		return []string{
			`C:\Program Files\Git\bin\bash.exe`, `C:\Program Files\Git\usr\bin\bash.exe`,
			`C:\Program Files (x86)\Git\bin\bash.exe`, `C:\Program Files\Git\bin\sh.exe`,
		}
	}
	return []string{
		"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash",
		"/run/current-system/sw/bin/bash", "/bin/sh", "/usr/bin/sh",
	}
}
