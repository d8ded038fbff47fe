package shellread

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walker carries what is known while a text is read from front to back.
type walker struct {
	src   string
	facts *Facts
	shell Shell

	vars       map[string]value
	sets       map[string]int
	unresolved bool
	functions  bool
	unrolled   int
	// level counts how many texts this one is nested in (bash -c '…').
	level int
	// feed tells that the last simple command prints names of files inside the
	// start directory.
	feed bool
}

// context is where in the text a statement stands.
type context struct {
	where string
	// straight statements run exactly once, in this very shell.
	straight bool
	// shadow statements may run later or never: only deny rules look at them.
	shadow bool
	// feed tells that standard input is a list of file names; see walker.feed.
	feed bool
}

func (c context) nested(where string) context {
	return context{where: where, shadow: c.shadow}
}

func (c context) branch() context {
	return context{where: c.where, shadow: c.shadow, feed: c.feed}
}

func (w *walker) source(n syntax.Node) string {
	from, to := n.Pos().Offset(), n.End().Offset()
	if !n.Pos().IsValid() || from > to || to > uint(len(w.src)) {
		return ""
	}
	return w.src[from:to]
}

// stmts walks a list and returns the directories after it.
func (w *walker) stmts(list []*syntax.Stmt, in Dirs, ctx context) Dirs {
	for _, s := range list {
		ok, failed := w.stmt(s, in, ctx)
		in = ok.join(failed)
	}
	return in
}

// stmt walks one statement and returns the directories after its success and
// after its failure.
func (w *walker) stmt(s *syntax.Stmt, in Dirs, ctx context) (ok, failed Dirs) {
	if s.Background || s.Coprocess || s.Disown {
		w.facts.issue(Construct, "a job in the background (&)")
		ctx = ctx.branch()
		w.command(s, in, ctx)
		return in, in
	}
	ok, failed = w.command(s, in, ctx)
	if s.Negated {
		return failed, ok
	}
	return ok, failed
}

func (w *walker) command(s *syntax.Stmt, in Dirs, ctx context) (ok, failed Dirs) {
	call, simple := s.Cmd.(*syntax.CallExpr)
	if simple || s.Cmd == nil {
		return w.simple(call, s.Redirs, in, ctx)
	}
	w.feed = false
	switch c := s.Cmd.(type) {
	case *syntax.TestClause:
		w.testClause(c, s.Redirs, in, ctx)
		return in, in
	case *syntax.DeclClause:
		w.declaration(c, s.Redirs, in, ctx)
		return in, in
	}
	if len(s.Redirs) > 0 {
		w.bare(nil, s.Redirs, in, ctx)
	}
	return w.compound(s.Cmd, in, ctx)
}

func (w *walker) compound(cmd syntax.Command, in Dirs, ctx context) (ok, failed Dirs) {
	switch c := cmd.(type) {
	case *syntax.BinaryCmd:
		return w.binary(c, in, ctx)
	case *syntax.Subshell:
		w.stmts(c.Stmts, in, ctx.branch())
		return in, in
	case *syntax.Block:
		out := w.stmts(c.Stmts, in, ctx)
		return out, out
	case *syntax.IfClause:
		out := w.ifClause(c, in, ctx.branch())
		return out, out
	case *syntax.WhileClause:
		return w.loop(in, ctx, func(in Dirs, ctx context) Dirs {
			return w.stmts(c.Do, w.stmts(c.Cond, in, ctx), ctx)
		})
	case *syntax.ForClause:
		return w.forClause(c, in, ctx)
	case *syntax.CaseClause:
		out := w.caseClause(c, in, ctx.branch())
		return out, out
	case *syntax.TimeClause:
		if c.Stmt == nil {
			return in, in
		}
		return w.stmt(c.Stmt, in, ctx)
	case *syntax.FuncDecl:
		w.facts.issue(Construct, "a function definition")
		w.stmt(c.Body, Dirs{Unknown: true}, context{where: "function body", shadow: true})
		return Dirs{Unknown: true}, in
	case *syntax.ArithmCmd:
		w.arithmetic(c.X, in, ctx)
		w.facts.issue(Construct, "an arithmetic command")
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			w.arithmetic(x, in, ctx)
		}
		w.facts.issue(Construct, "an arithmetic command")
	case *syntax.CoprocClause:
		w.facts.issue(Construct, "a coprocess")
		w.stmt(c.Stmt, in, ctx.branch())
	case *syntax.TestDecl:
		w.facts.issue(Opaque, "a declaration that bash does not have")
		w.stmt(c.Body, in, ctx.branch())
	default:
		w.facts.issue(Opaque, "a construct that is not known")
	}
	return in, in
}

func (w *walker) binary(c *syntax.BinaryCmd, in Dirs, ctx context) (ok, failed Dirs) {
	switch c.Op {
	case syntax.AndStmt:
		xOK, xFailed := w.stmt(c.X, in, ctx)
		yOK, yFailed := w.stmt(c.Y, xOK, ctx)
		return yOK, xFailed.join(yFailed)
	case syntax.OrStmt:
		xOK, xFailed := w.stmt(c.X, in, ctx)
		yOK, yFailed := w.stmt(c.Y, xFailed, ctx.branch())
		return xOK.join(yOK), yFailed
	case syntax.Pipe, syntax.PipeAll:
		sub := ctx.branch()
		w.stmt(c.X, in, sub)
		sub.feed = w.feed
		w.stmt(c.Y, in, sub)
		return in, in
	}
	w.facts.issue(Opaque, "an operator that is not known")
	w.stmt(c.X, in, ctx.branch())
	w.stmt(c.Y, in, ctx.branch())
	return in, in
}

func (w *walker) ifClause(c *syntax.IfClause, in Dirs, ctx context) Dirs {
	if len(c.Cond) == 0 {
		return w.stmts(c.Then, in, ctx)
	}
	ok, failed := w.condition(c.Cond, in, ctx)
	out := w.stmts(c.Then, ok, ctx)
	if c.Else != nil {
		return out.join(w.ifClause(c.Else, failed, ctx))
	}
	return out.join(failed)
}

// condition walks a list whose last statement decides.
func (w *walker) condition(list []*syntax.Stmt, in Dirs, ctx context) (ok, failed Dirs) {
	last := len(list) - 1
	return w.stmt(list[last], w.stmts(list[:last], in, ctx), ctx)
}

// loop walks a body that may run any number of times. A body that changes the
// directory is walked again with the directory unknown.
func (w *walker) loop(in Dirs, ctx context, body func(Dirs, context) Dirs) (ok, failed Dirs) {
	ctx = ctx.branch()
	before := len(w.facts.Parts)
	out := body(in, ctx)
	if sameDirs(in, out) {
		return in, in
	}
	w.facts.Parts = w.facts.Parts[:before]
	unknown := Dirs{Unknown: true}
	body(unknown, ctx)
	return unknown, unknown
}

func sameDirs(a, b Dirs) bool {
	j := a.join(b)
	return j.Unknown == a.Unknown && len(j.Chains) == len(a.Chains)
}

// maxUnrolled bounds how many loop bodies are walked for their items.
const maxUnrolled = 200

func (w *walker) forClause(c *syntax.ForClause, in Dirs, ctx context) (ok, failed Dirs) {
	iter, words := c.Loop.(*syntax.WordIter)
	if c.Select {
		w.facts.issue(Construct, "a select loop")
	}
	if !words {
		if cs, isC := c.Loop.(*syntax.CStyleLoop); isC {
			w.arithmetic(cs.Init, in, ctx)
			w.arithmetic(cs.Cond, in, ctx)
			w.arithmetic(cs.Post, in, ctx)
		}
		w.facts.issue(Construct, "a loop over arithmetic")
		return w.loop(in, ctx, func(in Dirs, ctx context) Dirs { return w.stmts(c.Do, in, ctx) })
	}
	var items []Word
	for _, item := range iter.Items {
		items = append(items, w.words(item, in, ctx)...)
	}
	name := iter.Name.Value
	if special(name) {
		w.facts.issue(Construct, "a loop over a variable that programs read")
	}
	if !w.unrollable(name, items, iter) || c.Select {
		return w.loop(in, ctx, func(in Dirs, ctx context) Dirs { return w.stmts(c.Do, in, ctx) })
	}
	defer delete(w.vars, name)
	return w.loop(in, ctx, func(in Dirs, ctx context) Dirs {
		for _, item := range items {
			w.unrolled++
			w.vars[name] = value{text: item.Text, pattern: item.Pattern}
			in = in.join(w.stmts(c.Do, in, ctx))
		}
		return in
	})
}

func (w *walker) unrollable(name string, items []Word, iter *syntax.WordIter) bool {
	if w.unresolved || w.sets[name] != 1 || !iter.InPos.IsValid() || len(items) == 0 || special(name) || w.unrolled+len(items) > maxUnrolled {
		return false
	}
	for _, item := range items {
		if item.Holes != 0 || item.Tilde {
			return false
		}
	}
	return true
}

func (w *walker) caseClause(c *syntax.CaseClause, in Dirs, ctx context) Dirs {
	w.word(c.Word, "", in, ctx)
	out := in
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			w.word(p, "", in, ctx)
		}
		// A branch may fall through into the next one.
		out = out.join(w.stmts(item.Stmts, out, ctx))
	}
	return out
}

// declaration turns export, declare and their kin into an ordinary part, so
// that rules can name them.
func (w *walker) declaration(c *syntax.DeclClause, redirs []*syntax.Redirect, in Dirs, ctx context) {
	p := Part{Dirs: in, Name: c.Variant.Value, Shadow: ctx.shadow, Why: "it changes the variables or attributes of the shell"}
	p.Words = append(p.Words, Word{Text: c.Variant.Value, Source: c.Variant.Value})
	for _, a := range c.Args {
		src := w.source(a)
		word := Word{Text: src, Source: src}
		if a.Value != nil {
			v := w.word(a.Value, w.source(a.Value), in, ctx)
			if a.Name != nil {
				v.Text = a.Name.Value + "=" + v.Text
			}
			word = Word{Text: v.Text, Source: src, Holes: v.Holes}
		}
		w.assignParts(a, in, ctx)
		p.Words = append(p.Words, word)
	}
	w.redirects(&p, redirs, in, ctx)
	w.add(p)
}

// assignParts walks what an assignment evaluates besides its value.
func (w *walker) assignParts(a *syntax.Assign, in Dirs, ctx context) {
	if a.Index != nil {
		w.arithmetic(a.Index, in, ctx)
		w.facts.issue(Construct, "an array subscript")
	}
	if a.Array == nil {
		return
	}
	w.facts.issue(Construct, "an array")
	for _, e := range a.Array.Elems {
		w.arithmetic(e.Index, in, ctx)
		if e.Value != nil {
			w.words(e.Value, in, ctx)
		}
	}
}

func (w *walker) add(p Part) {
	p.finish()
	w.facts.Parts = append(w.facts.Parts, p)
	w.facts.Parts = append(w.facts.Parts, shadows(&p, w.level)...)
}

func joinWords(words []Word, f func(Word) string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(f(w))
	}
	return b.String()
}
