package arch

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// mayNameTools are the places, besides a tool's own file, that know tools by name: files of users that spell them (agents, rules),
// the linter of these files, and the composition.
var mayNameTools = []string{"internal/state/catalog", "internal/state/settings/lint", "internal/wiring"}

// TestToolNames: no switch on tool names. The names are read from the Spec literals, so a new tool is covered from its first line.
func TestToolNames(t *testing.T) {
	tr := mustLoad(t)
	owner := toolOwners(tr)
	if len(owner) == 0 && len(tr.dirs["internal/action/builtin"]) > 0 {
		t.Fatal("no tool.Spec literal found in action/builtin: this test has lost sight of the names")
	}
	for _, f := range tr.files {
		if f.test || !product(f) || mayName(f) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if _, ok := n.(*ast.ImportSpec); ok {
				return false
			}
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			s, err := strconv.Unquote(lit.Value)
			if err != nil {
				return true
			}
			if own := owner[s]; own != nil && !own[f.name] && !own[f.dir] {
				complain(t, "tool name", f.name+" "+lit.Value, "only the tool's own file names it; ask its Spec, Traits, Needs or View")
			}
			return true
		})
	}
}

func mayName(f *file) bool {
	for _, p := range mayNameTools {
		if strings.HasPrefix(f.name, p) {
			return true
		}
	}
	return false
}

// toolOwners maps every tool name and alias to the files that may spell it: the one with its Spec, and with it the leaf folder of a
// tool that has one.
func toolOwners(tr *tree) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, f := range tr.files {
		if f.test || !under(f.dir, "internal/action/builtin") {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok || !isSelector(lit.Type, "tool", "Spec") {
				return true
			}
			for _, name := range specNames(tr, f, lit) {
				if out[name] == nil {
					out[name] = map[string]bool{}
				}
				out[name][f.name] = true
				if f.dir != "internal/action/builtin" {
					out[name][f.dir] = true
				}
			}
			return true
		})
	}
	return out
}

func specNames(tr *tree, f *file, lit *ast.CompositeLit) []string {
	var names []string
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if key, ok := kv.Key.(*ast.Ident); !ok || key.Name != "Name" && key.Name != "Aliases" {
			continue
		}
		ast.Inspect(kv.Value, func(n ast.Node) bool {
			switch v := n.(type) {
			case *ast.BasicLit:
				if s, err := strconv.Unquote(v.Value); err == nil {
					names = append(names, s)
				}
			case *ast.Ident:
				if s, ok := constant(tr, f.dir, v.Name); ok {
					names = append(names, s)
				}
			}
			return true
		})
	}
	return names
}

// constant is the value of a string constant of the package in dir.
func constant(tr *tree, dir, name string) (string, bool) {
	for _, f := range tr.dirs[dir] {
		for _, d := range f.ast.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok || gen.Tok != token.CONST {
				continue
			}
			for _, s := range gen.Specs {
				spec := s.(*ast.ValueSpec)
				for i, n := range spec.Names {
					if n.Name != name || i >= len(spec.Values) {
						continue
					}
					if lit, ok := spec.Values[i].(*ast.BasicLit); ok {
						s, err := strconv.Unquote(lit.Value)
						return s, err == nil
					}
				}
			}
		}
	}
	return "", false
}
