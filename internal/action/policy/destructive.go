package policy

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
)

// Loss is what one part of a command may destroy, so that a snapshot must hold
// it before the command runs.
type Loss struct {
	// Reason says it for people: "git reset --hard throws uncommitted changes away".
	Reason string
	// Targets are the paths that it reaches, with all below them, relative to
	// the command's directory unless absolute.
	Targets []string
	// Anywhere tells that the targets are not known: everything may be reached.
	Anywhere bool
	// Over losses destroy only what exists at a target already.
	Over bool
	// Tracked losses reach only files that git tracks.
	Tracked bool
	// Repository losses may reach git's own objects, also those that nothing
	// refers to.
	Repository bool
	// Entry names what is lost and no snapshot of files holds ("a stash entry"), "" for nothing.
	Entry string
}

// danger is one row of the table: when a program is destructive, and why.
type danger struct {
	// when tells whether the arguments make it so; nil is always.
	when   func(args []string) bool
	reason string
	// reach tells which arguments are targets.
	reach reach
	over  bool
}

// reach is how far a danger goes.
type reach int

const (
	operands   reach = iota // the arguments that are no options
	everywhere              // whatever lies in the directory
	last                    // the last operand
	outputs                 // the values of of= arguments
)

// dangers are the programs that destroy files, by name. A program that is not
// here is not known to; it is covered by the ordinary snapshot all the same.
var dangers = sync.OnceValue(func() map[string]danger {
	return map[string]danger{
		"rm":       {reason: "rm removes files"},
		"unlink":   {reason: "unlink removes a file"},
		"shred":    {reason: "shred overwrites files"},
		"srm":      {reason: "srm removes files"},
		"trash":    {reason: "trash takes files away"},
		"mv":       {reason: "mv takes files away, and replaces what is in their new place"},
		"cp":       {reason: "cp replaces files", reach: last, over: true},
		"install":  {reason: "install replaces files", reach: last, over: true},
		"ln":       {when: short('f', "--force"), reason: "ln -f replaces files", reach: last, over: true},
		"tee":      {when: not(short('a', "--append")), reason: "tee replaces files", over: true},
		"truncate": {reason: "truncate cuts files", over: true},
		"dd":       {when: has("of="), reason: "dd overwrites its output file", reach: outputs, over: true},
		"split":    {reason: "split may replace files", reach: everywhere},
		"csplit":   {reason: "csplit may replace files", reach: everywhere},
		"sed":      {when: short('i', "--in-place"), reason: "sed -i rewrites files"},
		"perl":     {when: short('i', ""), reason: "perl -i rewrites files"},
		"ruby":     {when: short('i', ""), reason: "ruby -i rewrites files"},
		"awk":      {when: has("inplace"), reason: "awk in place rewrites files"},
		"gawk":     {when: has("inplace"), reason: "awk in place rewrites files"},
		"ed":       {reason: "ed rewrites a file"},
		"ex":       {reason: "ex rewrites a file"},
		"patch":    {reason: "patch rewrites files", reach: everywhere},
		"find":     {when: findDestroys, reason: "find removes what it finds", reach: everywhere},
		"fd":       {when: has("-x", "-X", "--exec"), reason: "fd runs a command on what it finds", reach: everywhere},
		"rsync":    {reason: "rsync replaces files, and with --delete removes them", reach: last},
		"tar":      {when: extracts, reason: "tar replaces files", reach: everywhere},
		"cpio":     {when: short('i', "--extract"), reason: "cpio replaces files", reach: everywhere},
		"unzip":    {when: not(has("-l", "-t", "-p", "-Z")), reason: "unzip replaces files", reach: everywhere},
		"7z":       {when: has("x", "e"), reason: "7z replaces files", reach: everywhere},
		"gzip":     {when: not(short('k', "--keep")), reason: "gzip replaces files by packed ones"},
		"gunzip":   {when: not(short('k', "--keep")), reason: "gunzip replaces files"},
		"bzip2":    {when: not(short('k', "--keep")), reason: "bzip2 replaces files by packed ones"},
		"xz":       {when: not(short('k', "--keep")), reason: "xz replaces files by packed ones"},
		"zstd":     {when: has("--rm"), reason: "zstd --rm removes files"},
		"make":     {when: cleans, reason: "make clean removes files", reach: everywhere},
		"ninja":    {when: cleans, reason: "ninja clean removes files", reach: everywhere},
		"cargo":    {when: cleans, reason: "cargo clean removes files", reach: everywhere},
		"gradle":   {when: cleans, reason: "gradle clean removes files", reach: everywhere},
		"mvn":      {when: cleans, reason: "mvn clean removes files", reach: everywhere},
		"npm":      {when: has("ci", "prune"), reason: "npm ci removes and replaces node_modules", reach: everywhere},
		"hg":       {when: has("revert", "purge", "update", "strip"), reason: "hg throws changes away", reach: everywhere},
		"svn":      {when: has("revert", "cleanup", "rm", "delete"), reason: "svn throws changes away", reach: everywhere},
	}
})

// short asks for a short option, in a cluster too, or for a long one by its beginning.
func short(letter byte, long string) func([]string) bool {
	return func(args []string) bool {
		return slices.ContainsFunc(args, func(a string) bool {
			if strings.HasPrefix(a, "--") {
				return long != "" && strings.HasPrefix(a, long)
			}
			return strings.HasPrefix(a, "-") && strings.IndexByte(a[1:], letter) >= 0
		})
	}
}

// has asks for an argument that is one of the words, or begins with one that ends in "=".
func has(words ...string) func([]string) bool {
	return func(args []string) bool {
		return slices.ContainsFunc(args, func(a string) bool {
			return slices.ContainsFunc(words, func(w string) bool {
				return a == w || strings.HasSuffix(w, "=") && strings.HasPrefix(a, w)
			})
		})
	}
}

func not(f func([]string) bool) func([]string) bool {
	return func(args []string) bool { return !f(args) }
}

func findDestroys(args []string) bool {
	return has("-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprintf", "-fls")(args)
}

// extracts reads tar's bundled first word too ("xzf").
func extracts(args []string) bool {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") && strings.ContainsRune(args[0], 'x') {
		return true
	}
	return short('x', "--extract")(args) || has("--get")(args)
}

func cleans(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return strings.Contains(a, "clean") || a == "uninstall" || a == "purge"
	})
}

// Losses lists what the command may destroy, in the order of its text; nothing
// when it is not known to be destructive. It looks at every reading of the text.
func Losses(f *shellread.Facts) []Loss {
	var out []Loss
	for i := range f.Parts {
		out = append(out, losses(&f.Parts[i])...)
	}
	return out
}

func losses(p *shellread.Part) []Loss {
	var out []Loss
	for _, a := range p.Paths {
		if a.Redirect && a.Access != shellread.AccessRead {
			l := Loss{Reason: "the redirect replaces a file", Over: true}
			l.reach(p, []shellread.Word{a.Word})
			out = append(out, l)
		}
	}
	if p.Class == shellread.ReadOnly || len(p.Words) <= p.Start {
		return out
	}
	words := p.Words[p.Start+1:]
	args := wordTexts(words)
	if p.Name == "git" {
		return append(out, gitLosses(p, words, args)...)
	}
	d, ok := dangers()[p.Name]
	if !ok || d.when != nil && !d.when(args) {
		return out
	}
	l := Loss{Reason: d.reason, Over: d.over}
	switch d.reach {
	case operands:
		l.reach(p, bare(words))
	case everywhere:
		l.Anywhere = true
	case last:
		// An operand that names a folder is replaced inside it, by names that
		// the others have.
		l.reach(p, bare(words))
	case outputs:
		l.reach(p, valued(words, "of="))
	}
	// What removes a folder removes the repository in it.
	l.Repository = !l.Over && d.reach == operands
	return append(out, l)
}

func wordTexts(words []shellread.Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Text
	}
	return out
}

func bare(words []shellread.Word) []shellread.Word {
	var out []shellread.Word
	options := true
	for _, w := range words {
		if options && w.Text == "--" {
			options = false
			continue
		}
		if !options || !strings.HasPrefix(w.Text, "-") || w.Text == "-" {
			out = append(out, w)
		}
	}
	return out
}

func valued(words []shellread.Word, prefix string) []shellread.Word {
	var out []shellread.Word
	for _, w := range words {
		if v, ok := strings.CutPrefix(w.Text, prefix); ok {
			w.Text = v
			out = append(out, w)
		}
	}
	return out
}

// reach makes words the targets; what exists only at run time may be anything.
func (l *Loss) reach(p *shellread.Part, words []shellread.Word) {
	if p.Dirs.Unknown || len(p.Dirs.Chains) > 1 || len(words) == 0 {
		l.Anywhere = true
		return
	}
	for _, w := range words {
		if !w.Literal() || w.Tilde || w.Text == "" {
			l.Anywhere = true
			return
		}
		at := w.Text
		if len(p.Dirs.Chains) == 1 {
			for _, step := range slices.Backward(p.Dirs.Chains[0]) {
				if path.IsAbs(at) {
					break
				}
				at = path.Join(step, at)
			}
		}
		l.Targets = append(l.Targets, at)
	}
}
