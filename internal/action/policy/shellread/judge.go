package shellread

import (
	"strings"
	"sync"
)

// program says what is known about one program of the read-only or the
// file-editing set. It is a grammar: an option that is not listed is not
// understood, abbreviations of long options included.
type program struct {
	// why is the reason for the entry: what bounds the effect of the listed forms.
	why string
	// opts lists the options, separated by blanks: -x is a flag, -x= takes a
	// value, -x? takes an attached value or none, -x< takes a file that is read;
	// the same with --long names. -# is a number such as -20, +# such as +5.
	opts string
	// operands says what the operands are.
	operands operandKind
	// guarded programs have other options that write or run: a glob, whose
	// matches may look like options, is not understood before them.
	guarded bool
	// most is the highest number of operands, when not zero.
	most int
	// check looks at what the grammar cannot say; it returns what is wrong.
	check func(*args) string
	// custom replaces the grammar.
	custom func(*program, []Word) verdict
	// edit names the files of a file command, or says what is wrong.
	edit func(*args) ([]PathArg, string)
	// grammar is opts, parsed.
	grammar func() grammar
}

type operandKind int

const (
	files    operandKind = iota // files that are read
	text                        // plain text, only printed or computed with
	none                        // no operands
	pattern                     // a pattern, then files; no pattern after -e or -f
	anything                    // left to check
)

// verdict is the outcome of judging one part.
type verdict struct {
	class Class
	why   string
	paths []PathArg
}

func unknown(why string) verdict { return verdict{class: Other, why: why} }

// args are the options and operands of one command, split by a grammar.
type args struct {
	name     string
	set      map[string]Word
	operands []Word
	paths    []PathArg
	// scripts are the values of -e and --expression, in order.
	scripts []Word
	// feed tells that input appended by xargs is names below the start directory.
	feed bool
}

func (a *args) has(names ...string) bool {
	for _, n := range names {
		if _, ok := a.set[n]; ok {
			return true
		}
	}
	return false
}

type option struct {
	value byte // 0 flag, '=' value, '?' attached value or none, '<' file
}

// grammar is a parsed program.opts.
type grammar map[string]option

func parseGrammar(opts string) grammar {
	g := make(grammar)
	for o := range strings.FieldsSeq(opts) {
		kind := o[len(o)-1]
		if kind == '=' || kind == '?' || kind == '<' {
			g[o[:len(o)-1]] = option{kind}
			continue
		}
		g[o] = option{}
	}
	return g
}

// withGrammars gives every program its grammar, parsed on first use.
func withGrammars(set map[string]*program) map[string]*program {
	for _, p := range set {
		p.grammar = sync.OnceValue(func() grammar { return parseGrammar(p.opts) })
	}
	return set
}

// judge sets Class, Why and Paths.
func (p *Part) judge(feed bool) {
	words := p.Words[p.Start:]
	v := p.verdict(words, feed)
	p.Class, p.Why = v.class, v.why
	if p.leaks && p.Class == ReadOnly {
		p.Class, p.Why = Other, "its input holds the value of a variable"
	}
	p.Paths = append(p.Paths, v.paths...)
	if p.Class == Other {
		p.Paths = append(p.Paths, candidates(p.Name, words)...)
	}
	p.Writer = p.Class == FileEdit || writes(p.Name, words, p.Class)
	p.ExactOnly = exactOnly(p.Name, words)
	if p.Class != Other && !p.harmlessAssigns() {
		p.Class, p.Why = Other, "a leading assignment may change what the program does"
	}
}

func (p *Part) verdict(words []Word, feed bool) verdict {
	if p.Name == "" {
		return unknown("the program is only known at run time")
	}
	if words[0].Text != p.Name {
		return unknown("the program is named by a path")
	}
	if !p.inShell() && strings.Contains(" cd exit return break continue history type command : ", " "+p.Name+" ") {
		return unknown("it is a builtin of the shell behind a wrapper that starts programs")
	}
	if words[0].Braced {
		return unknown("the program comes out of a brace expansion")
	}
	if versionQuery(words) {
		return verdict{class: ReadOnly, why: "it prints a version"}
	}
	if prog, ok := programs()[p.Name]; ok {
		v := prog.judge(words, feed)
		if v.class != Other {
			return v
		}
		if ed, ok := editors()[p.Name]; ok {
			return ed.judgeEdit(words)
		}
		return v
	}
	if ed, ok := editors()[p.Name]; ok {
		return ed.judgeEdit(words)
	}
	return unknown("it is not in the read-only set")
}

// judge applies the grammar of a read-only program to words; words[0] is its name.
func (prog *program) judge(words []Word, feed bool) verdict {
	if prog.custom != nil {
		return prog.custom(prog, words)
	}
	a, wrong := prog.split(words, feed)
	if wrong == "" {
		wrong = prog.assign(a)
	}
	if wrong == "" && prog.check != nil {
		wrong = prog.check(a)
	}
	if wrong != "" {
		return unknown(wrong)
	}
	return verdict{class: ReadOnly, why: prog.why, paths: a.paths}
}

// split parts options from operands. It permutes as GNU getopt does.
func (prog *program) split(words []Word, feed bool) (*args, string) {
	a := &args{name: words[0].Text, set: make(map[string]Word), feed: feed}
	g := prog.grammar()
	rest := words[1:]
	for i := 0; i < len(rest); i++ {
		w := rest[i]
		if wrong := prog.readable(w, feed); wrong != "" {
			return nil, wrong
		}
		t := w.Text
		switch {
		case t == "--":
			for _, o := range rest[i+1:] {
				if wrong := prog.readable(o, feed); wrong != "" {
					return nil, wrong
				}
			}
			a.operands = append(a.operands, rest[i+1:]...)
			return a, ""
		case strings.HasPrefix(t, "--"):
			n, wrong := a.long(g, w, rest[i+1:])
			if wrong != "" {
				return nil, wrong
			}
			i += n
		case len(t) > 1 && t[0] == '-':
			n, wrong := a.short(g, w, rest[i+1:])
			if wrong != "" {
				return nil, wrong
			}
			i += n
		case len(t) > 1 && t[0] == '+' && isNumber(t[1:]) && hasOption(g, "+#"):
		default:
			a.operands = append(a.operands, w)
		}
	}
	return a, ""
}

func hasOption(g grammar, name string) bool {
	_, ok := g[name]
	return ok
}

// readable says what is wrong with a word before a read-only program.
func (prog *program) readable(w Word, feed bool) string {
	switch {
	case w.Holes&FromVar != 0:
		return "the value of a variable is not known"
	case w.Holes&FromSubst != 0 && prog.operands != text:
		return "an argument is the output of another command"
	case w.Holes&FromInput != 0 && prog.operands != text && (prog.guarded || !feed):
		return "its arguments come from another command"
	case w.Holes != 0 && prog.guarded && strings.HasPrefix(w.Text, hole):
		return "an argument is only known at run time"
	case (w.Pattern != "" || w.Braced) && prog.guarded:
		return "an unquoted glob or brace stands where an option could"
	}
	return ""
}

func (a *args) long(g grammar, w Word, rest []Word) (int, string) {
	name, val, attached := strings.Cut(w.Text, "=")
	o, ok := g[name]
	if !ok {
		return 0, "the option " + name + " is not in its grammar"
	}
	v := Word{Text: val, Source: val, Holes: w.Holes, Pattern: w.Pattern}
	switch {
	case o.value == 0 && attached:
		return 0, "the option " + name + " takes no value"
	case o.value == 0 || o.value == '?':
		a.set[name] = v
		return 0, ""
	case attached:
		return 0, a.value(name, o, v)
	case len(rest) == 0:
		return 0, "the option " + name + " lacks its value"
	}
	return 1, a.value(name, o, rest[0])
}

// value stores the value of an option; a file that it names is read.
func (a *args) value(name string, o option, v Word) string {
	if v.Holes&^FromNumber != 0 {
		return "the value of " + name + " is only known at run time"
	}
	if o.value == '<' {
		a.paths = append(a.paths, PathArg{Word: v})
	}
	a.set[name] = v
	if name == "-e" || name == "--expression" {
		a.scripts = append(a.scripts, v)
	}
	return ""
}

func (a *args) short(g grammar, w Word, rest []Word) (int, string) {
	t := w.Text
	if isNumber(t[1:]) && hasOption(g, "-#") {
		return 0, ""
	}
	// find-style long names after one dash are options of their own.
	if o, ok := g[t]; ok && len(t) > 2 && o.value == 0 {
		a.set[t] = w
		return 0, ""
	}
	for i := 1; i < len(t); i++ {
		name := "-" + t[i:i+1]
		o, ok := g[name]
		if !ok {
			return 0, "the option " + printable(name) + " is not in its grammar"
		}
		switch o.value {
		case 0:
			a.set[name] = Word{}
		case '?':
			a.set[name] = Word{Text: t[i+1:]}
			return 0, ""
		default:
			if i+1 < len(t) {
				return 0, a.value(name, o, Word{Text: t[i+1:], Source: t[i+1:], Holes: w.Holes, Pattern: w.Pattern})
			}
			if len(rest) == 0 {
				return 0, "the option " + name + " lacks its value"
			}
			return 1, a.value(name, o, rest[0])
		}
	}
	return 0, ""
}

func printable(s string) string { return strings.ToValidUTF8(strings.ReplaceAll(s, hole, "…"), "?") }

// assign turns operands into paths.
func (prog *program) assign(a *args) string {
	ops := a.operands
	if prog.most > 0 && len(ops) > prog.most {
		return "it has more operands than its read-only form"
	}
	switch prog.operands {
	case none:
		if len(ops) > 0 {
			return "it takes no operands in its read-only form"
		}
	case pattern:
		if len(ops) > 0 && !a.has("-e", "--regexp", "-f", "--file", "--files", "--type-list") {
			if ops[0].Holes&^FromNumber != 0 {
				return "its pattern is only known at run time"
			}
			ops = ops[1:]
		}
		a.readAll(ops)
	case files:
		a.readAll(ops)
	case text, anything:
	}
	return ""
}

func (a *args) readAll(ops []Word) {
	for _, o := range ops {
		if o.Text == "-" {
			continue
		}
		if o.Holes&FromInput != 0 {
			// The names come from a lister of the current directory.
			a.paths = append(a.paths, PathArg{Word: Word{Text: ".", Source: "."}, Recursive: true})
			continue
		}
		a.paths = append(a.paths, PathArg{Word: o})
	}
}
