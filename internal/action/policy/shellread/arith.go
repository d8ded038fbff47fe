package shellread

import (
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// arithmetic walks x and reports whether it is made of plain numbers only. A
// name in arithmetic is evaluated, and its value may hold a subscript that runs
// a command, so names are never plain.
func (w *walker) arithmetic(x syntax.ArithmExpr, in Dirs, ctx context) bool {
	switch x := x.(type) {
	case nil:
		return true
	case *syntax.BinaryArithm:
		a := w.arithmetic(x.X, in, ctx)
		return w.arithmetic(x.Y, in, ctx) && a
	case *syntax.UnaryArithm:
		return w.arithmetic(x.X, in, ctx)
	case *syntax.ParenArithm:
		return w.arithmetic(x.X, in, ctx)
	case *syntax.FlagsArithm:
		w.arithmetic(x.X, in, ctx)
		return false
	case *syntax.Word:
		v := w.word(x, "", in, ctx)
		return v.Literal() && isNumber(v.Text)
	}
	return false
}

func isNumber(s string) bool {
	if s == "" || len(s) > 18 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// braceSequence expands {1..5} and {a..e}; other forms are not understood.
func braceSequence(br *syntax.BraceExp) ([]*syntax.Word, bool) {
	if len(br.Elems) != 2 {
		return nil, false
	}
	from, to := br.Elems[0].Lit(), br.Elems[1].Lit()
	a, err1 := strconv.Atoi(from)
	b, err2 := strconv.Atoi(to)
	letters := err1 != nil && err2 != nil && len(from) == 1 && len(to) == 1
	if letters {
		a, b = int(from[0]), int(to[0])
	} else if err1 != nil || err2 != nil || from[0] == '0' && len(from) > 1 || to[0] == '0' && len(to) > 1 {
		return nil, false
	}
	step := 1
	if b < a {
		step = -1
	}
	if (b-a)*step >= maxBraces {
		return nil, false
	}
	var out []*syntax.Word
	for v := a; ; v += step {
		text := strconv.Itoa(v)
		if letters {
			text = string(rune(v))
		}
		out = append(out, &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: text}}})
		if v == b {
			return out, true
		}
	}
}
