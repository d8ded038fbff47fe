//go:build unix

package policy

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
)

// markerTree is one random command.
type markerTree struct {
	text  string
	shell shellread.Shell
	lang  syntax.LangVariant
}

// grower makes random command trees.
type grower struct {
	rng *rand.Rand
	// lean is the chance, in percent, that a leaf may run the marker.
	lean int
}

// tree makes one command text with the marker somewhere in it.
func (g *grower) tree() markerTree {
	g.lean = []int{0, 5, 10, 30}[g.rng.IntN(4)]
	t := markerTree{shell: shellread.Bash, lang: syntax.LangBash}
	switch n := g.rng.IntN(100); {
	case n < 8:
		t.shell, t.lang = shellread.Zsh, syntax.LangZsh
		t.text = g.fill(g.one(zshForms), 2)
	case n < 9:
		t.lang = syntax.LangBats
		t.text = g.fill(g.one(batsForms), 2)
	default:
		t.text = g.command(g.rng.IntN(4))
	}
	for range g.rng.IntN(8) / 6 {
		t.text = g.mutate(t.text)
	}
	if !strings.Contains(t.text, "mark") {
		t.text += "\n" + g.fill(g.one(inert), 0)
	}
	if g.rng.IntN(12) == 0 {
		t.text = g.mutate(t.text)
	}
	return t
}

func (g *grower) one(from []string) string { return from[g.rng.IntN(len(from))] }

func (g *grower) command(depth int) string {
	if depth <= 0 {
		return g.leaf()
	}
	return g.fill(g.one(commandForms), depth-1)
}

func (g *grower) leaf() string {
	switch n := g.rng.IntN(100); {
	case n < g.lean/2:
		return g.one(markerSpellings)
	case n < g.lean:
		return g.one(carriers)
	case n < 40:
		return g.fillText(g.one(inert))
	case n < 75:
		return g.one(builtins) // start no program, so that more trees run in a second
	}
	return g.one(benign)
}

func (g *grower) word(depth int) string {
	if depth <= 0 || g.rng.IntN(3) == 0 {
		if g.lean == 0 || g.rng.IntN(2) == 0 {
			return plainWords[g.rng.IntN(14)]
		}
		return g.one(plainWords)
	}
	return g.fill(g.one(wordForms), depth-1)
}

// fill replaces the stand-ins of a form. The verbs of printf and the escape of
// an ampersand are told from stand-ins by what is beside them.
func (g *grower) fill(form string, depth int) string {
	var b strings.Builder
	for i := 0; i < len(form); i++ {
		rest := form[i+1:]
		switch c := form[i]; {
		case c == '@' && !strings.HasPrefix(rest, "Q") && !strings.HasPrefix(rest, "P}") && !strings.HasPrefix(rest, "test") && !strings.HasPrefix(rest, "(") && !strings.HasPrefix(rest, "]") && (i == 0 || form[i-1] != '$'):
			b.WriteString(g.command(depth))
		case c == '%' && !strings.HasPrefix(rest, "s'") && !strings.HasPrefix(rest, "%a"):
			b.WriteString(g.word(depth))
		case c == '&' && g.textual(form, i):
			b.WriteString(g.one(texts))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func (g *grower) fillText(form string) string {
	return strings.ReplaceAll(form, "@", g.one([]string{"mark", "; mark", "mark &", "$x mark", "./mark | mark"}))
}

// textual tells a stand-in for text from the shell's own ampersand.
func (g *grower) textual(form string, i int) bool {
	before, after := byte(0), byte(0)
	if i > 0 {
		before = form[i-1]
	}
	if i+1 < len(form) {
		after = form[i+1]
	}
	return strings.IndexByte("'\"\n\t\\", before) >= 0 || before == ' ' && i > 1 && form[i-2] == '#' || after == '"'
}

// splinters are what mutations put in.
var splinters = []string{"'", "\"", "\\", "`", "$", "(", ")", "{", "}", "[", "]", ";", "&", "|", "<", ">", "#", "!", " ", "\t", "\n", "\r", "\u00a0", "\u2028", "\x0b", "\x01", "=", "*", "?", "~", "^", "%", "é", "\xff", "$(", "<<E\n", "\nE\n", "\\\n", "$'", "${", "((", "))", "[[", "]]", "mark", "; mark", "-"}

// mutate changes one place of the text.
func (g *grower) mutate(s string) string {
	if s == "" {
		return s
	}
	at := g.rng.IntN(len(s))
	switch g.rng.IntN(3) {
	case 0:
		return s[:at] + s[at+1:]
	case 1:
		return s[:at] + g.one(splinters) + s[at:]
	}
	to := min(len(s), at+1+g.rng.IntN(6))
	return s[:to] + s[at:]
}

// nodeKinds are all kinds of node that the parser knows.
var nodeKinds = []string{
	"ArithmCmd", "ArithmExp", "ArrayElem", "ArrayExpr", "Assign", "BinaryArithm", "BinaryCmd", "BinaryTest", "Block", "BraceExp", "CStyleLoop", "CallExpr", "CaseClause", "CaseItem", "CmdSubst", "Comment", "CoprocClause", "DblQuoted", "DeclClause", "ExtGlob", "File", "FlagsArithm", "ForClause", "FuncDecl", "IfClause", "LetClause", "Lit",
	"ParamExp", "ParenArithm", "ParenTest", "ProcSubst", "Redirect", "SglQuoted", "Stmt", "Subshell", "TestClause", "TestDecl", "TimeClause", "UnaryArithm", "UnaryTest", "WhileClause", "Word", "WordIter",
	// Parts of ParamExp that are no nodes of their own.
	"Slice", "Replace", "Expansion",
}

// census counts the kinds of node of the trees.
type census map[string]int

// neverAllowed are programs that no rule of the fuzz covers and that are not
// known to be harmless whatever their arguments.
var neverAllowed = []string{"mark", "./mark", "eval", "source", ".", "bash", "sh", "awk", "nosuch", "alias", "compgen", "complete", "fc", "enable", "hash"}

// count adds one tree; a text that is no program of its language counts as
// "unparsed". It returns a command that must not be allowed, wherever it stands
// in the tree and whether or not it would be reached; "" when there is none.
func (c census) count(t markerTree) (forbidden string) {
	f, err := syntax.NewParser(syntax.Variant(t.lang), syntax.KeepComments(true)).Parse(strings.NewReader(t.text), "")
	if err != nil {
		c["unparsed"]++
		return ""
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		if n == nil {
			return true
		}
		c[reflect.TypeOf(n).Elem().Name()]++
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 0 && slices.Contains(neverAllowed, n.Args[0].Lit()) {
				forbidden = n.Args[0].Lit()
			}
		case *syntax.ParamExp:
			c.part("Slice", n.Slice != nil)
			c.part("Replace", n.Repl != nil)
			c.part("Expansion", n.Exp != nil)
		case *syntax.Word:
			c.part("BraceExp", syntax.SplitBraces(&syntax.Word{Parts: slices.Clone(n.Parts)}))
		}
		return true
	})
	return forbidden
}

func (c census) part(name string, there bool) {
	if there {
		c[name]++
	}
}

func (c census) add(o census) {
	for k, n := range o {
		c[k] += n
	}
}

// missing are the kinds that never occurred.
func (c census) missing() []string {
	return slices.DeleteFunc(slices.Clone(nodeKinds), func(k string) bool { return c[k] > 0 })
}

// String lists every kind with its number.
func (c census) String() string {
	var out []string
	for _, k := range append(slices.Clone(nodeKinds), "unparsed") {
		out = append(out, fmt.Sprintf("%s %d", k, c[k]))
	}
	return strings.Join(out, ", ")
}
