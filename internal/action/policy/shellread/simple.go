package shellread

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// simple walks a simple command; call is nil for a redirect without a command.
func (w *walker) simple(call *syntax.CallExpr, redirs []*syntax.Redirect, in Dirs, ctx context) (ok, failed Dirs) {
	if call == nil || len(call.Args) == 0 {
		w.bare(call, redirs, in, ctx)
		w.feed = false
		return in, in
	}
	p := Part{Dirs: in, Shadow: ctx.shadow}
	for _, a := range call.Assigns {
		p.Assigns = append(p.Assigns, w.prefixAssign(a, in, ctx))
	}
	for _, a := range call.Args {
		p.Words = append(p.Words, w.words(a, in, ctx)...)
	}
	w.redirects(&p, redirs, in, ctx)
	p.unwrap(w.shell)
	p.judge(ctx.feed)
	w.feed = p.listsFiles(ctx.feed)
	w.add(p)
	w.fedCode(&p, redirs, ctx)
	return w.after(&p, in)
}

func (w *walker) prefixAssign(a *syntax.Assign, in Dirs, ctx context) Assign {
	v := Word{}
	if a.Value != nil {
		v = w.word(a.Value, "", in, ctx)
	}
	w.assignParts(a, in, ctx)
	return Assign{Name: a.Name.Value, Source: w.source(a), Harmless: !a.Append && a.Index == nil && a.Array == nil && harmless(a.Name.Value, v)}
}

// bare walks assignments or redirects that stand without a command.
func (w *walker) bare(call *syntax.CallExpr, redirs []*syntax.Redirect, in Dirs, ctx context) {
	p := Part{Dirs: in, Shadow: ctx.shadow, Class: ReadOnly, Why: "it runs no program"}
	if call != nil {
		for _, a := range call.Assigns {
			v := Word{}
			if a.Value != nil {
				v = w.word(a.Value, "", in, ctx)
			}
			w.assignParts(a, in, ctx)
			p.Assigns = append(p.Assigns, Assign{Name: a.Name.Value})
			if special(a.Name.Value) {
				p.Class, p.Why = Other, "the variable "+a.Name.Value+" changes what later commands do"
			}
			if ctx.straight && a.Value != nil {
				w.remember(a, v)
			}
		}
	}
	w.redirects(&p, redirs, in, ctx)
	w.add(p)
}

// after returns the directories after a simple command.
func (w *walker) after(p *Part, in Dirs) (ok, failed Dirs) {
	words := p.Words[p.Start:]
	if !p.inShell() {
		return in, in
	}
	switch p.Name {
	case "cd":
		step, known := cdStep(words[1:])
		if !known {
			return Dirs{Unknown: true}, in
		}
		return in.enter(step), in
	case "pushd", "popd", "eval", ".", "source", "exec":
		return Dirs{Unknown: true}, Dirs{Unknown: true}
	case "":
		return in.join(Dirs{Unknown: true}), in.join(Dirs{Unknown: true})
	}
	return in, in
}

// cdStep returns the directory that cd goes to. CDPATH is not looked at: the
// shell tool runs without it.
func cdStep(args []Word) (string, bool) {
	for len(args) > 0 && (args[0].Text == "-P" || args[0].Text == "-L" || args[0].Text == "--") {
		last := args[0].Text == "--"
		args = args[1:]
		if last {
			break
		}
	}
	if len(args) == 0 {
		return "~", true
	}
	a := args[0]
	if len(args) > 1 || !a.Literal() || strings.HasPrefix(a.Text, "-") || a.Text == "" {
		return "", false
	}
	if !a.Tilde && strings.HasPrefix(a.Text, "~") {
		return "./" + a.Text, true
	}
	return a.Text, true
}

// redirects adds the files that redirects open.
func (w *walker) redirects(p *Part, redirs []*syntax.Redirect, in Dirs, ctx context) {
	for _, r := range redirs {
		if r.N != nil && !isNumber(r.N.Value) {
			w.facts.issue(Construct, "a redirect that sets a variable")
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			w.heredoc(p, r, in, ctx)
		case syntax.WordHdoc:
			if v := w.word(r.Word, w.source(r.Word), in, ctx); v.Holes&FromVar != 0 {
				p.Unruled, p.leaks = "its here-string is only known at run time", true
			}
		default:
			w.redirect(p, r, in, ctx)
		}
	}
}

// heredoc notes that a command is fed by a here-document. That keeps pattern
// rules from covering it, because they cannot show the body; a read-only command
// such as cat only prints it, so there it changes nothing.
func (w *walker) heredoc(p *Part, r *syntax.Redirect, in Dirs, ctx context) {
	if p.Unruled == "" {
		p.Unruled = "it is fed by a here-document"
	}
	if !plainDelimiter(r.Word) {
		w.facts.issue(Opaque, "a here-document with an unusual delimiter")
	}
	if _, fixed := heredocText(r); fixed || r.Hdoc == nil {
		return
	}
	b := &builder{}
	for _, part := range r.Hdoc.Parts {
		w.part(b, part, true, in, ctx)
	}
	if b.holes&FromVar != 0 {
		p.Unruled = "its here-document is only known at run time"
		p.leaks = true
	}
}

func (w *walker) redirect(p *Part, r *syntax.Redirect, in Dirs, ctx context) {
	words := w.words(r.Word, in, ctx)
	if len(words) != 1 {
		w.facts.issue(Construct, "a redirect to several files")
	}
	for _, v := range words {
		switch r.Op {
		case syntax.DplIn, syntax.DplOut:
			if v.Literal() && duplicates(v.Text) {
				continue
			}
		}
		access := AccessWrite
		if r.Op == syntax.RdrIn {
			access = AccessRead
		}
		if v.Literal() && standardDevice(v.Text) {
			continue
		}
		p.Paths = append(p.Paths, PathArg{Word: v, Access: access, Redirect: true})
	}
}

// duplicates reports whether s names a descriptor: 2, -, 2-.
func duplicates(s string) bool {
	s = strings.TrimSuffix(s, "-")
	return s == "" || isNumber(s)
}

// standardDevice lists the devices that hold nothing and lead nowhere new.
func standardDevice(s string) bool {
	switch s {
	case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr":
		return true
	}
	return false
}
