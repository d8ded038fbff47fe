package arch

import (
	"go/ast"
	"strings"
	"testing"
)

// deciders are the packages that know rules, modes and grants.
var deciders = []string{"internal/action/policy", "internal/action/gate", "internal/action/hook", "internal/state/settings", "internal/state/trust"}

// TestToolsHoldNoPermissionCode is row PM-12: a tool says what it needs, and the gate alone decides. A tool may read a command as the
// policy does (shellread), knows no rules, and calls nothing that judges.
func TestToolsHoldNoPermissionCode(t *testing.T) {
	looked := 0
	for _, f := range mustLoad(t).files {
		if f.test || !under(f.dir, "internal/action/builtin") {
			continue
		}
		looked++
		for _, i := range f.ast.Imports {
			name := strings.TrimPrefix(strings.Trim(i.Path.Value, `"`), module)
			if anyPrefix(name, deciders) && name != "internal/action/policy/shellread" {
				complain(t, "permission code", f.name, "it imports "+name+": a tool names its needs and the gate decides")
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Decide" || sel.Sel.Name == "Admit" || sel.Sel.Name == "Removed") {
				complain(t, "permission code", f.name, "it calls "+sel.Sel.Name+": only the gate judges calls")
			}
			return true
		})
	}
	if looked < 40 {
		t.Fatalf("only %d files of tools were looked at", looked)
	}
}
