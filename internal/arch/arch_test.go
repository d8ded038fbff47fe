// Package arch holds no code: its tests are the architecture's law (imports, sizes, names, documents) and fail when the tree breaks it.
package arch

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEveryPackageHasARow: a package arrives together with its row in the table.
func TestEveryPackageHasARow(t *testing.T) {
	for dir := range mustLoad(t).dirs {
		if rowOf(dir) == nil {
			complain(t, "row", dir, "no row in the package table (law_test.go and docs/ARCHITECTURE.md)")
		}
		for part := range strings.SplitSeq(dir, "/") {
			if slices.Contains(bannedPackages, part) && dir != "internal/core" && !under(dir, "internal/core") {
				complain(t, "package name", dir, part+" says nothing; name the package after what it provides")
			}
		}
	}
}

// TestImportsOnlyFall is the law. Files for other platforms and build tags are bound too.
func TestImportsOnlyFall(t *testing.T) {
	for _, f := range mustLoad(t).files {
		from := rowOf(f.dir)
		if from == nil {
			continue // TestEveryPackageHasARow says so
		}
		for _, spec := range f.ast.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			checkBans(t, f, imported)
			target, ours := strings.CutPrefix(imported, module)
			if !ours || target == f.dir {
				continue
			}
			to := rowOf(target)
			if to == nil {
				complain(t, "import", f.name+" → "+target, "the package has no row in the table")
				continue
			}
			if why := illegal(f, from, to); why != "" {
				complain(t, "import", f.name+" → "+target, why)
			}
		}
	}
}

func illegal(f *file, from, to *pkg) string {
	switch {
	case from.layer == testOnly:
		return ""
	case to.layer == testOnly:
		if f.test {
			return ""
		}
		return "for tests only"
	case from.layer > to.layer:
		return ""
	case from.layer < to.layer:
		return "imports only fall: app > surface, wiring > core > action > state > backend > event > tool > msg"
	}
	if slices.ContainsFunc(from.may, func(short string) bool { return strings.HasSuffix(to.path, "/"+short) }) {
		return ""
	}
	return "inside its layer a package imports only what its row allows: " + fmt.Sprint(from.may)
}

func checkBans(t *testing.T, f *file, imported string) {
	t.Helper()
	if row := rowOf(f.dir); row != nil && row.layer == testOnly {
		return
	}
	for _, b := range bans {
		target := strings.TrimPrefix(imported, module)
		hit := target == b.to || under(target, b.to) && strings.Contains(b.to, "/")
		if strings.HasSuffix(b.to, "/") { // the children, not the package itself
			hit = strings.HasPrefix(target, b.to)
		}
		if hit && under(f.dir, b.from) && (b.tests || !f.test) {
			complain(t, "ban", f.name+" → "+target, b.why)
		}
	}
}

// TestSizes: law (b). Splitting one idea over two files to pass it is a fault too.
func TestSizes(t *testing.T) {
	tr := mustLoad(t)
	for _, f := range tr.files {
		limit := maxFile
		if f.test {
			limit = maxTestFile
		}
		if f.lines > limit {
			complain(t, "file size", f.name, fmt.Sprintf("%d lines, %d at most", f.lines, limit))
		}
	}
	tr.each(func(f *file) bool { return !f.test }, func(f *file, d ast.Decl) {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			return
		}
		if n := tr.fset.Position(fn.End()).Line - tr.line(fn) + 1; n > maxFunc {
			complain(t, "function size", f.dir+"."+funcName(fn), fmt.Sprintf("%d lines, %d at most", n, maxFunc))
		}
	})
}

func funcName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	return receiver(fn) + "." + fn.Name.Name
}

func receiver(fn *ast.FuncDecl) string {
	expr := fn.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return "?"
		}
	}
}

// TestTypeNames: no suffix that says nothing, no stutter.
func TestTypeNames(t *testing.T) {
	eachType(mustLoad(t), func(f *file, spec *ast.TypeSpec) {
		name, subject := spec.Name.Name, f.dir+"."+spec.Name.Name
		for _, suffix := range bannedSuffixes {
			if strings.HasSuffix(name, suffix) {
				complain(t, "type name", subject, "the suffix "+suffix+" says nothing")
			}
		}
		home := path.Base(f.dir)
		if rest := name[min(len(home), len(name)):]; spec.Name.IsExported() && strings.EqualFold(name[:len(name)-len(rest)], home) && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' {
			complain(t, "type name", subject, "repeats its package's name: callers read "+home+"."+name)
		}
	})
}

// TestInterfaces: at most four methods; a sealed one is declared as such, or go-check-sumtype checks nothing.
func TestInterfaces(t *testing.T) {
	eachType(mustLoad(t), func(f *file, spec *ast.TypeSpec) {
		iface, ok := spec.Type.(*ast.InterfaceType)
		if !ok {
			return
		}
		methods, sealed := 0, false
		for _, m := range iface.Methods.List {
			for _, n := range m.Names {
				methods++
				sealed = sealed || !n.IsExported() && spec.Name.IsExported()
			}
		}
		subject := f.dir + "." + spec.Name.Name
		if methods > 4 {
			complain(t, "interface", subject, fmt.Sprintf("%d methods, four at most", methods))
		}
		if sealed && !strings.Contains(commentText(spec.Doc), "sumtype:decl") {
			complain(t, "sealed", subject, "an unexported method seals it: say //sumtype:decl so that switches are checked")
		}
	})
}

// commentText keeps directives, which CommentGroup.Text drops.
func commentText(g *ast.CommentGroup) string {
	if g == nil {
		return ""
	}
	var b strings.Builder
	for _, c := range g.List {
		b.WriteString(c.Text + "\n")
	}
	return b.String()
}

func eachType(tr *tree, f func(*file, *ast.TypeSpec)) {
	tr.each(func(f *file) bool { return !f.test }, func(file *file, d ast.Decl) {
		gen, ok := d.(*ast.GenDecl)
		if !ok {
			return
		}
		for _, s := range gen.Specs {
			spec, ok := s.(*ast.TypeSpec)
			if !ok {
				continue
			}
			if spec.Doc == nil {
				spec.Doc = gen.Doc
			}
			f(file, spec)
		}
	})
}

// TestSignatures: exported functions take no boolean, and a context comes first.
func TestSignatures(t *testing.T) {
	mustLoad(t).each(product, func(f *file, d ast.Decl) {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !fn.Name.IsExported() || fn.Recv != nil && !ast.IsExported(receiver(fn)) {
			return
		}
		subject := f.dir + "." + funcName(fn)
		for i, p := range fn.Type.Params.List {
			if id, ok := p.Type.(*ast.Ident); ok && id.Name == "bool" {
				complain(t, "bool parameter", subject, "a caller reads f(x, true) and learns nothing; use a named type or two functions")
			}
			if i > 0 && isSelector(p.Type, "context", "Context") {
				complain(t, "context", subject, "ctx is the first parameter")
			}
		}
	})
}

func isSelector(e ast.Expr, pkg, name string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Name == pkg && (name == "" || sel.Sel.Name == name)
}

// TestNoSleepsNorSilentSkips: time is handed in or virtual (testing/synctest), the environment is changed by t.Setenv, and a skip says
// what is left out and why, in the form that `make check` counts: "left out: WHAT (needs X)".
func TestNoSleepsNorSilentSkips(t *testing.T) {
	tr := mustLoad(t)
	for _, f := range tr.files {
		virtual := slices.ContainsFunc(f.ast.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"testing/synctest"` })
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			at := fmt.Sprintf("%s:%d", f.name, tr.line(call))
			switch {
			case isSelector(sel, "time", "Sleep") && !virtual:
				complain(t, "sleep", at, "wait for the thing itself, or use an injected clock or testing/synctest")
			case f.test && (isSelector(sel, "os", "Setenv") || isSelector(sel, "os", "Unsetenv") || isSelector(sel, "os", "Chdir")):
				complain(t, "environment", at, "use t.Setenv or t.Chdir")
			case sel.Sel.Name == "SkipNow":
				complain(t, "skip", at, "a skip says what is left out")
			case sel.Sel.Name == "Skip" || sel.Sel.Name == "Skipf":
				if onTest(sel) && !saysWhy(call) {
					complain(t, "skip", at, `say t.Skip("left out: WHAT (needs X)")`)
				}
			}
			return true
		})
	}
}

func onTest(sel *ast.SelectorExpr) bool {
	id, ok := sel.X.(*ast.Ident)
	return ok && slices.Contains([]string{"t", "b", "f", "tb"}, id.Name)
}

func saysWhy(call *ast.CallExpr) bool {
	var said strings.Builder
	for _, arg := range call.Args {
		ast.Inspect(arg, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok {
				said.WriteString(lit.Value)
			}
			return true
		})
	}
	return strings.Contains(said.String(), "left out: ") && strings.Contains(said.String(), "(needs ")
}
