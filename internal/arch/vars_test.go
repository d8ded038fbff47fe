package arch

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// TestNoGlobals: package-level variables are errors, embeds, sync.OnceValue(s), interface assertions and tables that nothing writes;
// nothing is computed before main.
func TestNoGlobals(t *testing.T) {
	tr := mustLoad(t)
	written := writtenVars(tr)
	tr.each(product, func(f *file, d ast.Decl) {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			complain(t, "init", f.dir, "no work before main: put it behind sync.OnceValue")
		}
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.VAR {
			return
		}
		for _, s := range gen.Specs {
			spec := s.(*ast.ValueSpec)
			if strings.Contains(commentText(gen.Doc)+commentText(spec.Doc), "//go:embed") {
				continue
			}
			for i, name := range spec.Names {
				if name.Name == "_" {
					continue
				}
				var value ast.Expr
				if i < len(spec.Values) {
					value = spec.Values[i]
				}
				subject := f.dir + "." + name.Name
				if why := mutable(value); why != "" {
					complain(t, "var", subject, why)
				} else if written[subject] {
					complain(t, "var", subject, "written after init: state belongs into a struct that is passed")
				}
			}
		}
	})
}

// mutable says why a package-level value is not a constant in disguise, or "".
func mutable(value ast.Expr) string {
	switch v := value.(type) {
	case nil:
		return "a variable without a value is state"
	case *ast.BasicLit:
		return "a constant: say const"
	case *ast.CompositeLit, *ast.FuncLit, *ast.Ident, *ast.SelectorExpr, *ast.UnaryExpr, *ast.BinaryExpr:
		return "" // a table or a constant, unless writtenVars finds a write
	case *ast.CallExpr:
		if constantCall(v) {
			return ""
		}
		return "computed before main: put it behind sync.OnceValue"
	}
	return "not a table, an error, an embed or sync.OnceValue"
}

func constantCall(call *ast.CallExpr) bool {
	fun := call.Fun
	switch x := fun.(type) {
	case *ast.IndexExpr: // reflect.TypeFor[T]()
		fun = x.X
	case *ast.ArrayType: // []byte("x")
		return true
	}
	for pkg, names := range map[string][]string{
		"errors":  {"New"},
		"fmt":     {"Errorf"},
		"sync":    {"OnceValue", "OnceValues", "OnceFunc"},
		"strings": {"NewReplacer"},
		"reflect": {"TypeFor"},
		"time":    {"Duration"},
	} {
		if slices.ContainsFunc(names, func(n string) bool { return isSelector(fun, pkg, n) }) {
			return true
		}
	}
	return false
}

// writtenVars names dir.var for every package-level variable that some function of the product assigns, takes the address of, deletes
// from or increments. Local names that shadow one are not counted: the parser resolves them to their own declaration.
func writtenVars(tr *tree) map[string]bool {
	out := map[string]bool{}
	for _, f := range tr.files {
		if f.test {
			continue
		}
		mark := func(e ast.Expr) {
			switch root := rootOf(e).(type) {
			case *ast.Ident:
				if root.Obj == nil || isPackageLevel(f, root) {
					out[f.dir+"."+root.Name] = true
				}
			case *ast.SelectorExpr:
				if dir := importedDir(f, root); dir != "" {
					out[dir+"."+root.Sel.Name] = true
				}
			}
		}
		for _, d := range f.ast.Decls {
			if _, ok := d.(*ast.FuncDecl); !ok {
				continue
			}
			ast.Inspect(d, func(n ast.Node) bool {
				switch s := n.(type) {
				case *ast.AssignStmt:
					if s.Tok != token.DEFINE {
						for _, lhs := range s.Lhs {
							mark(lhs)
						}
					}
				case *ast.IncDecStmt:
					mark(s.X)
				case *ast.UnaryExpr:
					if s.Op == token.AND {
						if _, lit := s.X.(*ast.CompositeLit); !lit {
							mark(s.X)
						}
					}
				case *ast.CallExpr:
					if id, ok := s.Fun.(*ast.Ident); ok && (id.Name == "delete" || id.Name == "clear") && len(s.Args) > 0 {
						mark(s.Args[0])
					}
				}
				return true
			})
		}
	}
	return out
}

func isPackageLevel(f *file, id *ast.Ident) bool {
	obj := f.ast.Scope.Lookup(id.Name)
	return obj != nil && obj == id.Obj
}

// rootOf strips indexing, fields and dereferences down to the variable, or to pkg.Var.
func rootOf(e ast.Expr) ast.Expr {
	for {
		switch x := e.(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.SelectorExpr:
			if id, ok := x.X.(*ast.Ident); ok && id.Obj == nil {
				return x
			}
			e = x.X
		default:
			return e
		}
	}
}

// importedDir is the folder of the module's package that sel names, or "".
func importedDir(f *file, sel *ast.SelectorExpr) string {
	id := sel.X.(*ast.Ident)
	for _, spec := range f.ast.Imports {
		dir, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
		if !ours {
			continue
		}
		name := dir[strings.LastIndex(dir, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == id.Name {
			return dir
		}
	}
	return ""
}
