package shellread

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// value is what a variable is known to hold at some place of the text.
type value struct {
	text string
	// pattern is set when the value is one of the names a glob matches.
	pattern string
}

// usable reports whether the value survives expansion unchanged: an unquoted
// one is split at blanks and globbed again.
func (v value) usable(quoted bool) bool {
	if quoted {
		return true
	}
	return v.pattern == "" && v.text != "" && !strings.ContainsAny(v.text, " \t\n*?[\\")
}

// variables finds the names that are set exactly once in the text. Anything
// that may set a variable by other means turns resolution off: a value that is
// not certain is a hole.
func (w *walker) variables(stmts []*syntax.Stmt) {
	if !strings.ContainsAny(w.src, "=") && !strings.Contains(w.src, "for ") && !strings.Contains(w.src, "()") && !strings.Contains(w.src, "function") {
		return
	}
	w.sets = make(map[string]int)
	w.vars = make(map[string]value)
	for _, s := range stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			w.noteSetter(n)
			return true
		})
	}
}

func (w *walker) noteSetter(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name != nil {
			w.sets[n.Name.Value]++
			if n.Append || n.Index != nil || n.Array != nil {
				w.sets[n.Name.Value]++
			}
		}
	case *syntax.WordIter:
		w.sets[n.Name.Value]++
	case *syntax.FuncDecl:
		w.functions = true
		w.unresolved = true
	case *syntax.DeclClause, *syntax.LetClause, *syntax.ArithmCmd, *syntax.CStyleLoop, *syntax.CoprocClause:
		w.unresolved = true
	case *syntax.ParamExp:
		if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			w.unresolved = true
		}
	case *syntax.ArithmExp:
		w.unresolved = w.unresolved || strings.Contains(w.source(n), "=") || strings.Contains(w.source(n), "++") || strings.Contains(w.source(n), "--")
	case *syntax.Redirect:
		w.unresolved = w.unresolved || n.N != nil && strings.HasPrefix(n.N.Value, "{")
	case *syntax.CallExpr:
		if len(n.Args) > 0 && !w.knownNotSetting(n.Args[0]) {
			w.unresolved = true
		}
	}
}

// settingBuiltins may set a shell variable whose name is in their arguments or
// in text they run.
const settingBuiltins = " read mapfile readarray printf getopts unset declare typeset local export readonly nameref eval source . set shift trap alias command builtin let exec wait "

func (w *walker) knownNotSetting(n *syntax.Word) bool {
	name := n.Lit()
	if strings.Contains(name, `\`) {
		return false
	}
	if name == "printf" || name == "command" {
		// Common and harmless unless used with -v or to reach another builtin.
		return !strings.Contains(w.src, "-v") && !strings.Contains(w.src, "command ")
	}
	return name != "" && !strings.Contains(settingBuiltins, " "+name+" ")
}

// remember notes an assignment that certainly took effect.
func (w *walker) remember(a *syntax.Assign, v Word) {
	if w.unresolved || w.sets[a.Name.Value] != 1 || special(a.Name.Value) || !v.Literal() || strings.Contains(v.Text, "~") || a.Append {
		return
	}
	w.vars[a.Name.Value] = value{text: v.Text}
}

// harmlessVars change nothing but how output is formed; allow rules and the
// read-only set look past them. LC_*, TERM, COLUMNS, NO_COLOR and GOARCH are
// additions of ours to the published list.
const harmlessVars = " LANG TZ TERM COLUMNS CI NODE_ENV NO_COLOR FORCE_COLOR RUST_LOG GOOS GOARCH "

func harmless(name string, v Word) bool {
	known := strings.Contains(harmlessVars, " "+name+" ") || strings.HasPrefix(name, "LC_")
	if !known || !v.Literal() || v.Tilde {
		return false
	}
	// A locale or zone that is a path would make the program open that file.
	return !strings.HasPrefix(v.Text, "/") && !strings.HasPrefix(v.Text, ":") && !strings.Contains(v.Text, "..") && !strings.ContainsAny(v.Text, "\n\\`$")
}

// shellVars are names bash itself reads or changes.
const shellVars = " PATH IFS ENV HOME PWD OLDPWD CDPATH SHELL SHELLOPTS BASHOPTS MAIL MAILPATH MAILCHECK PS0 PS1 PS2 PS3 PS4 " +
	"OPTIND OPTARG OPTERR REPLY RANDOM SRANDOM SECONDS LINENO FUNCNEST FIGNORE GLOBIGNORE GLOBSORT EXECIGNORE INPUTRC FCEDIT FIGNORE FUNCNAME " +
	"GROUPS UID EUID PPID HOSTFILE HOSTNAME HOSTTYPE IGNOREEOF COPROC DIRSTACK EPOCHREALTIME EPOCHSECONDS PIPESTATUS MAPFILE TIMEFORMAT TMOUT TMPDIR TMP TEMP " +
	"LINES COLUMNS LANG LANGUAGE TZ TERM TERMCAP DISPLAY BROWSER EDITOR VISUAL PAGER CONFIG USER LOGNAME NODE CC CXX LD AR AS CPP CFLAGS CXXFLAGS CPPFLAGS LDFLAGS DEBUG _ POSIXLY_CORRECT "

// special reports whether something is known, or by its form likely, to read a
// variable of this name: then even setting it alone changes what runs later.
// Lower-case names are private to the text, but for proxies and npm settings.
func special(name string) bool {
	if strings.Contains(shellVars, " "+name+" ") {
		return true
	}
	lower := strings.ToLower(name)
	if strings.HasSuffix(lower, "_proxy") || strings.HasPrefix(lower, "npm_") {
		return true
	}
	if name == lower {
		// zsh ties these to their upper-case twins.
		return strings.Contains(" path cdpath fpath manpath mailpath fignore psvar prompt histchars status argv ", " "+name+" ")
	}
	for p := range strings.FieldsSeq("BASH LD_ DYLD_ GIT_ LESS MAN PYTHON NODE_ NPM_ YARN_ PNPM_ RUBY GEM_ BUNDLE PERL JAVA JDK_ MAVEN_ GRADLE_ PROMPT HIST LC_ LOC NLS GCONV TERMINFO " +
		"GREP_ RIPGREP_ FZF_ FD_ BAT_ LS_ TAR_ GZIP XZ_ ZIP SSH_ SSL_ GPG_ GNUPG MAKE GNUMAKE GO CARGO RUST DOCKER_ COMPOSE_ KUBE AWS_ GOOGLE_ GCLOUD AZURE_ CURL_ WGET REQUESTS_ OPENSSL_ XDG_ ZDOTDIR ZSH " +
		"PIP_ VIRTUAL_ CONDA_ UV_ POETRY_ PHP COMPOSER_ DOTNET_ MSBUILD ELECTRON_ CLAUDE ANTHROPIC OPENAI HEW_ SUDO_ SYSTEMD_ DBUS_ READNULLCMD NULLCMD CMAKE PKG_ LIB LIBRARY_ MALLOC_ ASAN_ PG MYSQL REDIS JQ_ TERRAFORM TF_") {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	for s := range strings.FieldsSeq("PATH PAGER EDITOR _OPTS _OPTIONS _FLAGS _CONFIG _CONFIG_FILE _HOME _PRELOAD _COMMAND _SHELL _ARGS _PROXY _STARTUP _INIT _RC _PLUGIN _PLUGINS _HOOK _HOOKS _WRAPPER _LAUNCHER _TOKEN _KEY") {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return false
}

// isAssignment reports whether s has the form NAME=….
func isAssignment(s string) bool {
	eq := strings.IndexByte(s, '=')
	if eq <= 0 {
		return false
	}
	for i := range eq {
		c := s[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}
