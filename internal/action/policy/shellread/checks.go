package shellread

import (
	"slices"
	"strings"
	"sync"
)

func noSubst(a *args) string {
	for _, o := range a.operands {
		if o.Holes&FromSubst != 0 {
			return "an argument is the output of another command"
		}
	}
	return ""
}

func onlyNumbers(a *args) string {
	for _, o := range a.operands {
		if !o.Literal() && o.Text != hole || o.Literal() && !isNumber(o.Text) || o.Holes&^FromNumber != 0 {
			return "its operand is not a number"
		}
	}
	return ""
}

func onlyDurations(a *args) string {
	for _, o := range a.operands {
		if !o.Literal() || !isDuration(o.Text) {
			return "its operand is not a duration"
		}
	}
	return ""
}

func dateFormat(a *args) string {
	for _, o := range a.operands {
		if !strings.HasPrefix(o.Text, "+") || o.Holes&^FromNumber != 0 {
			return "an operand would set the clock"
		}
	}
	return ""
}

func cmpOperands(a *args) string {
	// Operands three and four are numbers of bytes to skip.
	if len(a.operands) > 4 {
		return "it has more operands than its read-only form"
	}
	return ""
}

// recursive marks the paths of a as trees when one of the options is set.
func recursive(options ...string) func(*args) string {
	return func(a *args) string {
		if !a.has(options...) {
			return ""
		}
		a.tree(false)
		return ""
	}
}

// tree makes every path a tree; without any, the current directory is one.
func (a *args) tree(skipHidden bool) {
	for i := range a.paths {
		a.paths[i].Recursive, a.paths[i].SkipHidden = true, skipHidden
	}
	if len(a.paths) == 0 {
		a.paths = append(a.paths, PathArg{Word: Word{Text: ".", Source: "."}, Recursive: true, SkipHidden: skipHidden})
	}
}

// ripgrepTree knows that ripgrep searches trees by default and leaves hidden
// files out unless told otherwise.
func ripgrepTree(a *args) string {
	if a.has("--type-list", "--version", "-V") {
		return ""
	}
	hidden := a.has("--hidden", "-.", "-u", "--unrestricted", "--no-ignore", "-g", "--glob", "--iglob")
	a.tree(!hidden)
	return ""
}

// judgePrintf refuses options, -v above all, and a format that could turn out
// to be one. What follows the format is data.
func judgePrintf(_ *program, words []Word) verdict {
	ops := words[1:]
	if len(ops) > 0 && ops[0].Text == "--" {
		ops = ops[1:]
	} else if len(ops) > 0 && (strings.HasPrefix(ops[0].Text, "-") || strings.HasPrefix(ops[0].Text, hole) || ops[0].Pattern != "") {
		return unknown("its format may be an option")
	}
	if len(ops) > 0 && countsInto(ops[0].Text) {
		return unknown("%n in its format sets a variable")
	}
	for _, w := range ops {
		if w.Holes&FromVar != 0 {
			return unknown("the value of a variable is not known")
		}
	}
	return verdict{class: ReadOnly, why: prints, paths: globPaths(ops)}
}

// countsInto reports a %n conversion, which stores a number in the variable that
// an argument names: PATH, for one.
func countsInto(format string) bool {
	for {
		_, rest, ok := strings.Cut(format, "%")
		if !ok {
			return false
		}
		rest = strings.TrimLeft(rest, "-+ #'0123456789.*$hlLjztq"+hole)
		if strings.HasPrefix(rest, "n") {
			return true
		}
		format = strings.TrimPrefix(rest, "%")
	}
}

// judgeEcho accepts any operands: echo has no option that does more than change
// how they are printed.
func judgeEcho(_ *program, words []Word) verdict {
	for _, w := range words[1:] {
		if w.Holes&FromVar != 0 {
			return unknown("the value of a variable is not known")
		}
	}
	return verdict{class: ReadOnly, why: prints, paths: globPaths(words[1:])}
}

// globPaths lists operands whose expansion reveals names of files.
func globPaths(words []Word) []PathArg {
	var out []PathArg
	for _, w := range words {
		if w.Pattern != "" {
			out = append(out, PathArg{Word: w})
		}
	}
	return out
}

func judgeExpr(_ *program, words []Word) verdict {
	for _, w := range words[1:] {
		if w.Holes&^FromNumber != 0 {
			return unknown("an argument is only known at run time")
		}
	}
	return verdict{class: ReadOnly, why: "computes on text", paths: globPaths(words[1:])}
}

// judgeCommand accepts the query forms; the running form is unwrapped earlier.
func judgeCommand(_ *program, words []Word) verdict {
	if len(words) < 2 || words[1].Text != "-v" && words[1].Text != "-V" {
		return unknown("it runs a program")
	}
	for _, w := range words[2:] {
		if !w.Literal() || strings.HasPrefix(w.Text, "-") {
			return unknown("an argument is only known at run time")
		}
	}
	return verdict{class: ReadOnly, why: "looks names up"}
}

func judgeCd(_ *program, words []Word) verdict {
	step, ok := cdStep(words[1:])
	if !ok {
		return unknown("the new directory is not known")
	}
	w := Word{Text: step, Source: step, Tilde: step == "~" || strings.HasPrefix(step, "~/")}
	return verdict{class: ReadOnly, why: "changes the directory of this text only", paths: []PathArg{{Word: w}}}
}

// judgePs accepts bundles of the plain BSD letters and the common UNIX options.
func judgePs(_ *program, words []Word) verdict {
	for i := 1; i < len(words); i++ {
		t := words[i].Text
		if !words[i].Literal() {
			return unknown("an argument is only known at run time")
		}
		letters, unix := strings.CutPrefix(t, "-")
		allowed := "auxfwlj"
		if unix {
			allowed = "AaefFlLdNwTjyHM"
		}
		valued := unix && slices.Contains([]string{"o", "p", "u", "C", "U", "g", "t", "eo", "Ao", "axo"}, letters) ||
			slices.Contains([]string{"--sort", "--pid", "--ppid", "--user"}, t)
		switch {
		case valued && i+1 < len(words) && words[i+1].Literal():
			i++
		case isNumber(t), strings.HasPrefix(t, "--sort="), strings.HasPrefix(t, "--pid="), t == "--forest", t == "--no-headers":
		case strings.Trim(letters, allowed) != "" || letters == "":
			return unknown("the option " + printable(t) + " is not in its grammar")
		}
	}
	return verdict{class: ReadOnly, why: reports}
}

// jqNames are the parts of the language that reach beyond the input.
const jqNames = "env ENV import include get_search_list input_filename getpath_file $__loc__ modulemeta"

func judgeJq(prog *program, words []Word) verdict {
	a, wrong := prog.split(words, false)
	if wrong != "" {
		return unknown(wrong)
	}
	if len(a.operands) == 0 {
		return unknown("it has no filter")
	}
	filter := a.operands[0]
	if filter.Holes != 0 {
		return unknown("its filter is only known at run time")
	}
	for n := range strings.FieldsSeq(jqNames) {
		if strings.Contains(filter.Text, n) {
			return unknown("its filter may use " + n)
		}
	}
	a.readAll(a.operands[1:])
	return verdict{class: ReadOnly, why: prog.why, paths: a.paths}
}

const jqOptions = "-r -c -s -n -S -a -j -M -C -e -R --raw-output --compact-output --slurp --null-input --sort-keys --ascii-output --join-output --monochrome-output --color-output --exit-status --raw-input --tab --indent="

// versionTools print their version for the listed options, and nothing else
// happens. Programs that hand over to a copy named by the project (yarn, pnpm,
// gradle wrappers) are left out.
var versionTools = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"node": "-v --version", "npm": "-v --version", "python": "-V --version", "python3": "-V --version", "pip": "-V --version", "pip3": "-V --version",
		"go": "version", "cargo": "-V --version", "rustc": "-V --version", "jq": "-V --version", "docker": "-v --version", "git": "--version version",
		"ruby": "-v --version", "php": "-v --version", "perl": "-v --version", "java": "-version --version", "javac": "-version --version", "gcc": "--version", "g++": "--version",
		"clang": "--version", "make": "--version", "cmake": "--version", "tsc": "-v --version", "deno": "-V --version", "bun": "-v --version", "rg": "--version -V",
		"bash": "--version", "zsh": "--version", "terraform": "-version --version", "helm": "version", "gh": "--version", "uv": "--version", "curl": "--version -V",
		"grep": "--version", "sed": "--version", "awk": "--version", "find": "--version", "tar": "--version", "ssh": "-V", "sqlite3": "--version", "psql": "-V --version", "dotnet": "--version", "swift": "--version",
	}
})

func versionQuery(words []Word) bool {
	if len(words) != 2 || !words[1].Literal() {
		return false
	}
	known, ok := versionTools()[words[0].Text]
	return ok && slices.Contains(strings.Fields(known), words[1].Text)
}
