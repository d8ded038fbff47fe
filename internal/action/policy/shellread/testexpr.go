package shellread

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const fileTests = " -a -b -c -d -e -f -g -h -k -p -r -s -u -w -x -G -L -N -O -S "

// judgeTest accepts test and [ with known operators. -v and -R evaluate array
// subscripts, which may run commands, so these words are refused wherever they
// stand.
func judgeTest(_ *program, words []Word) verdict {
	ops := words[1:]
	if words[0].Text == "[" {
		if len(ops) == 0 || ops[len(ops)-1].Text != "]" {
			return unknown("the closing bracket is missing")
		}
		ops = ops[:len(ops)-1]
	}
	var paths []PathArg
	for i, w := range ops {
		if w.Holes&^FromNumber != 0 || w.Pattern != "" || w.Braced {
			return unknown("an operand is only known at run time")
		}
		t := w.Text
		switch {
		case t == "-v" || t == "-R":
			return unknown("the operator " + t + " evaluates subscripts")
		case strings.Contains(fileTests, " "+t+" ") && i+1 < len(ops):
			paths = append(paths, PathArg{Word: ops[i+1]})
		case (t == "-nt" || t == "-ot" || t == "-ef") && i > 0 && i+1 < len(ops):
			paths = append(paths, PathArg{Word: ops[i-1]}, PathArg{Word: ops[i+1]})
		}
	}
	return verdict{class: ReadOnly, why: "tests files and strings", paths: paths}
}

// testClause judges [[ … ]].
func (w *walker) testClause(c *syntax.TestClause, redirs []*syntax.Redirect, in Dirs, ctx context) {
	p := Part{Dirs: in, Shadow: ctx.shadow, Class: ReadOnly, Why: "tests files and strings", Name: "[["}
	src := w.source(c)
	p.Words = []Word{{Text: "[[", Source: src}}
	if wrong := w.testExpr(&p, c.X, in, ctx); wrong != "" {
		p.Class, p.Why = Other, wrong
	}
	p.Unruled = "it is a test"
	w.redirects(&p, redirs, in, ctx)
	w.add(p)
}

func (w *walker) testExpr(p *Part, x syntax.TestExpr, in Dirs, ctx context) string {
	switch x := x.(type) {
	case *syntax.Word:
		_, wrong := w.testWord(x, in, ctx)
		return wrong
	case *syntax.ParenTest:
		return w.testExpr(p, x.X, in, ctx)
	case *syntax.UnaryTest:
		return w.unaryTest(p, x, in, ctx)
	case *syntax.BinaryTest:
		return w.binaryTest(p, x, in, ctx)
	}
	return "the test is not understood"
}

// testWord evaluates an operand: it is neither split nor globbed.
func (w *walker) testWord(n *syntax.Word, in Dirs, ctx context) (Word, string) {
	v := w.word(n, w.source(n), in, ctx)
	v.Pattern = ""
	if v.Holes&^FromNumber != 0 {
		return v, "an operand is only known at run time"
	}
	return v, ""
}

func (w *walker) unaryTest(p *Part, x *syntax.UnaryTest, in Dirs, ctx context) string {
	if x.Op == syntax.TsNot {
		return w.testExpr(p, x.X, in, ctx)
	}
	n, ok := x.X.(*syntax.Word)
	if !ok {
		return "the test is not understood"
	}
	v, wrong := w.testWord(n, in, ctx)
	op := x.Op.String()
	switch {
	case x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar:
		return "the operator " + op + " evaluates subscripts"
	case strings.Contains(fileTests, " "+op+" "):
		p.Paths = append(p.Paths, PathArg{Word: v})
	}
	return wrong
}

func (w *walker) binaryTest(p *Part, x *syntax.BinaryTest, in Dirs, ctx context) string {
	if x.Op == syntax.AndTest || x.Op == syntax.OrTest {
		a := w.testExpr(p, x.X, in, ctx)
		if b := w.testExpr(p, x.Y, in, ctx); a == "" {
			a = b
		}
		return a
	}
	n, ok1 := x.X.(*syntax.Word)
	m, ok2 := x.Y.(*syntax.Word)
	if !ok1 || !ok2 {
		return "the test is not understood"
	}
	a, wrong := w.testWord(n, in, ctx)
	b, wrong2 := w.testWord(m, in, ctx)
	if wrong == "" {
		wrong = wrong2
	}
	switch x.Op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		if !numeric(a) || !numeric(b) {
			return "a comparison of numbers evaluates its operands"
		}
	case syntax.TsNewer, syntax.TsOlder, syntax.TsDevIno:
		p.Paths = append(p.Paths, PathArg{Word: a}, PathArg{Word: b})
	}
	return wrong
}

func numeric(w Word) bool {
	return w.Text == hole && w.Holes == FromNumber || isNumber(strings.TrimPrefix(w.Text, "-"))
}
