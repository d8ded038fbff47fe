package arch

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// starters are the files that may start a program. Each does so by an argument vector (attack A20): no text is put together into a
// command line for a shell, except that of the shell tool and of hooks, where the text itself is what was approved.
var starters = []string{
	"internal/backend/shell/", "internal/backend/sandbox/", "internal/backend/search/ripgrep.go", "internal/backend/mcp/",
	"internal/action/builtin/pdf/pdf.go", "internal/app/demo.go", "internal/app/serve_browser.go", "internal/app/outside.go", "internal/hewtest/",
}

// openers start whatever a file, link or the user's desktop says. hew registers no URL handler and opens no viewer, and no link
// of a model or a file (attacks A12, A20). A feature that needs one adds its own row here, with the scenario that hands it "$(…)" and quotes.
var openers = []string{"xdg-open", "/usr/bin/open", "rundll32", "explorer.exe", "sensible-browser", "sensible-editor", "x-www-browser", "EDITOR", "VISUAL", "BROWSER", "x-scheme-handler", "CFBundleURLTypes"}

// mayNameOpeners are tables that judge such programs when a model wants to run them, and the one place that starts one: hew serve shows
// its own page, by a file that hew has written and that holds an address of hew's own making (scenario web/browser); at the terminal a
// person opens their own editor (scenario tui/editor).
var mayNameOpeners = []string{"internal/action/policy", "internal/backend/shell/environ.go", "internal/app/serve_browser.go", "internal/app/outside.go"}

func TestOnlyKnownFilesStartPrograms(t *testing.T) {
	for _, f := range mustLoad(t).files {
		if f.test || !product(f) || anyPrefix(f.name, starters) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			switch x, _ := sel.X.(*ast.Ident); {
			case x == nil:
			case x.Name == "exec" && (sel.Sel.Name == "Command" || sel.Sel.Name == "CommandContext"),
				x.Name == "os" && sel.Sel.Name == "StartProcess", x.Name == "syscall" && (sel.Sel.Name == "ForkExec" || sel.Sel.Name == "Exec"):
				complain(t, "starts a program", f.name, "a program is started by backend/shell, with an argument vector")
			}
			return true
		})
	}
}

func TestNothingOpensLinks(t *testing.T) {
	for _, f := range mustLoad(t).files {
		if f.test || !product(f) || anyPrefix(f.name, mayNameOpeners) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			s, err := strconv.Unquote(lit.Value)
			for _, o := range openers {
				if err == nil && (s == o || strings.Contains(s, "x-scheme-handler")) {
					complain(t, "opener", f.name+" "+lit.Value, "no URL handler, editor, browser or viewer is started")
				}
			}
			return true
		})
	}
}

func anyPrefix(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
