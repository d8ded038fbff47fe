package shell

import (
	"path/filepath"
	"runtime"
	"strings"
)

// kind is a family of shells with one way to be spoken to.
type kind int

const (
	posix kind = iota
	bash
	zsh
)

// shellKind goes by the program's name.
func shellKind(path string) kind {
	switch strings.TrimSuffix(filepath.Base(path), ".exe") {
	case "bash":
		return bash
	case "zsh":
		return zsh
	}
	return posix
}

// script is what the shell is given for a command.
//
// The text is handed to eval as one quoted word, so that it cannot close
// anything of the frame, and so that aliases of the snapshot apply to it. The
// frame is one line: the shell has read it whole before the text runs, and a
// text that leaves the parser in an odd state (a backslash at its end) cannot
// disturb the rest. The working directory is reported twice: after the text,
// and from an EXIT trap for a text that ends the shell itself. A text may
// replace that trap; the frame keeps the text's exit status.
func script(k kind, c Command, snapshot, sink string) string {
	builtin, pwd := `\builtin`, "pwd -P"
	if k == posix {
		builtin = `\command`
	}
	if runtime.GOOS == "windows" {
		pwd = "pwd -W" // a path that Windows understands, not the shell's view of it
	}
	report := "{ " + builtin + " " + pwd + "; " + builtin + ` printf '\000'; } ` + sink
	var b strings.Builder
	if snapshot != "" {
		b.WriteString(builtin + " . " + Quote(slashed(snapshot)) + " >/dev/null 2>&1; ")
		if path, ok := c.Env["PATH"]; ok { // the caller's word counts more than the start-up file's
			b.WriteString("PATH=" + Quote(absolutePath(path)) + "; ")
		}
	}
	for _, source := range c.Sources {
		file := Quote(slashed(source))
		b.WriteString("[ -r " + file + " ] && " + builtin + " . " + file + "; ")
	}
	b.WriteString(builtin + " trap " + Quote("{ "+report+"; } 2>/dev/null") + " EXIT; ")
	b.WriteString(builtin + " eval " + Quote(c.Text+"\n") + "; ")
	b.WriteString("{ hew_status=$?; " + report + "; hew_end() { return $hew_status; }; hew_end; } 2>/dev/null\n")
	return b.String()
}

// Quote makes one word of a POSIX shell of any text without NUL.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// slashed is a path as a shell on this system writes it.
func slashed(path string) string { return filepath.ToSlash(path) }
