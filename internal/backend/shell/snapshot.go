package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// snapshot is the user's interactive set-up, taken once per Runner: reading
// the start-up file costs up to a second, sourcing the snapshot a few
// milliseconds. It holds PATH, shell options, functions and aliases; other
// variables come with hew's own environment.
type snapshot struct {
	turn chan struct{} // holds one token while somebody looks
	done bool
	path string // empty: there is none
}

const (
	snapshotEnd = "# end of snapshot"
	// maxFunctions is the size in bytes above which functions whose name
	// begins with "_" are left out (completion machinery, hundreds of KB).
	maxFunctions = 128 << 10
	maxSnapshot  = 2 << 20
)

// snapshotPath takes the snapshot when it is first needed. It fails only when
// ctx ends; whatever else goes wrong is told by a notice, and commands run
// without a snapshot.
func (r *Runner) snapshotPath(ctx context.Context) (string, error) {
	s := &r.snapshot
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if s.done {
		return s.path, nil
	}
	path, err := r.takeSnapshot(ctx)
	if ctx.Err() != nil {
		return "", ctx.Err() // the next command tries again
	}
	if errors.Is(err, ErrClosed) {
		return "", err
	}
	s.path, s.done = path, true
	if err != nil {
		r.cfg.Notice(fmt.Sprintf("commands run without your shell's aliases and functions: %v", err))
	}
	return path, nil
}

func (r *Runner) takeSnapshot(ctx context.Context) (string, error) {
	k, home := shellKind(r.Shell()), getenv(r.cfg.Env, "HOME")
	startup, dump := startupFile(k)
	if r.cfg.NoSnapshot || startup == "" || !filepath.IsAbs(home) {
		return "", nil
	}
	startup = filepath.Join(home, startup)
	if _, err := os.Stat(startup); err != nil {
		return "", nil
	}
	res, err := r.Exec(ctx, Program{
		Argv: []string{r.Shell(), "-i", "-c", dump}, Dir: home,
		Env:     map[string]string{"HISTFILE": "/dev/null"},
		Timeout: r.cfg.SnapshotTimeout, MaxOutput: maxSnapshot,
	})
	if err != nil {
		return "", fmt.Errorf("read %s: %w", startup, err)
	}
	if res.Interrupted {
		return "", ErrClosed // or ctx, which the caller looks at
	}
	if res.TimedOut {
		return "", fmt.Errorf("reading %s took longer than %v", startup, r.cfg.SnapshotTimeout)
	}
	path, text, ok := cutDump(res.Stdout)
	if !ok {
		return "", fmt.Errorf("reading %s ended early (exit code %d): does it exec another program?", startup, res.ExitCode)
	}
	return r.scratch.write("snapshot.sh", []byte("unalias -a\nexport PATH="+Quote(absolutePath(path))+"\n"+keepSafe(text)))
}

// startupFile is the interactive start-up file in the home folder and the
// script that prints what it has set up.
//
// Functions come before aliases, since an alias would be expanded a second
// time in the text of a function; options that change how text is read come
// before functions. zsh has aliases of its own, one of which would even break
// the definition of a function: a snapshot begins by removing all. Functions
// that zsh has not loaded yet (its completion) are left out.
func startupFile(k kind) (name, dump string) {
	const begin = `printf '\n%s\n%s\000' '` + snapshotBegin + `' "$PATH"; `
	const end = `printf '\n%s\n' '` + snapshotEnd + `'`
	switch k {
	case bash:
		return ".bashrc", begin + `shopt -p; set +o; hew_f=$(declare -f); ` +
			fmt.Sprintf(`if [ ${#hew_f} -gt %d ]; then `, maxFunctions) +
			`hew_f=$(declare -F | while read -r _ _ hew_n; do case $hew_n in _*) ;; *) declare -f -- "$hew_n";; esac; done); fi; ` +
			`printf '%s\n' "$hew_f"; alias -p; printf 'shopt -s expand_aliases\n'; ` + end
	case zsh:
		return ".zshrc", begin + `setopt | while read -r hew_o; do printf 'setopt %s\n' "$hew_o"; done; ` +
			`for hew_f in ${(k)functions}; do case $functions[$hew_f] in *"builtin autoload -X"*) ;; *) typeset -f -- "$hew_f";; esac; done; ` +
			`alias -L; ` + end
	case posix:
	}
	return "", ""
}

const snapshotBegin = "# snapshot of the interactive shell"

// cutDump takes PATH and the dump out of what else the start-up file printed;
// false when it is not whole.
func cutDump(out []byte) (path, text string, ok bool) {
	_, rest, begun := bytes.Cut(out, []byte("\n"+snapshotBegin+"\n"))
	at := bytes.LastIndex(rest, []byte("\n"+snapshotEnd+"\n"))
	if !begun || at < 0 {
		return "", "", false
	}
	return strings.Cut(string(rest[:at+1]), "\x00")
}

// foreign are options of an interactive or failing-fast shell that must not
// reach commands; login_shell and restricted_shell cannot be set at all.
const foreign = " monitor history histexpand emacs vi noexec onecmd errexit nounset xtrace verbose privileged posix " +
	"interactive interactivecomments zle login shinstdin stdin ksharrays login_shell restricted_shell "

// keepSafe drops the foreign options.
func keepSafe(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		option := len(words) > 1 && line[0] != ' ' && line[0] != '\t' && // not inside a function
			(words[0] == "set" && len(words) == 3 || words[0] == "shopt" || words[0] == "setopt" && len(words) == 2)
		if option && strings.Contains(foreign, " "+words[len(words)-1]+" ") {
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}
