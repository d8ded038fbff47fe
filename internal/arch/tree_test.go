package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/hew-agent/hew/"

// file is a parsed Go file of the module, whatever platform or build tag it is for: go list would leave some out.
type file struct {
	name  string // slash path below the module root
	dir   string
	test  bool
	ast   *ast.File
	lines int
}

type tree struct {
	fset  *token.FileSet
	files []*file
	dirs  map[string][]*file
}

// load parses the module once; tests only read it.
var load = sync.OnceValues(func() (*tree, error) {
	t := &tree{fset: token.NewFileSet(), dirs: map[string][]*file{}}
	root := filepath.FromSlash("../..")
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if base := d.Name(); rel != "." && (base == "testdata" || base == "bin" || base == "tools" || base == "node_modules" || base[0] == '.' || base[0] == '_') {
				return filepath.SkipDir
			}
			return nil
		}
		if path.Ext(rel) != ".go" {
			return nil
		}
		parsed, err := parser.ParseFile(t.fset, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		f := &file{
			name: rel, dir: path.Dir(rel), test: strings.HasSuffix(rel, "_test.go"), ast: parsed,
			lines: t.fset.File(parsed.Pos()).LineCount(),
		}
		t.files = append(t.files, f)
		t.dirs[f.dir] = append(t.dirs[f.dir], f)
		return nil
	})
	return t, err
})

func mustLoad(t *testing.T) *tree {
	t.Helper()
	tr, err := load()
	if err != nil {
		t.Fatalf("parse the module: %v", err)
	}
	return tr
}

func (tr *tree) line(n ast.Node) int { return tr.fset.Position(n.Pos()).Line }

// complain fails the test unless the finding is waived. A finding is named by check and subject.
func complain(t *testing.T, check, subject, why string) {
	t.Helper()
	used[check+" "+subject] = true
	if _, ok := waivers[check+" "+subject]; !ok {
		t.Errorf("%s: %s: %s", check, subject, why)
	}
}

// used remembers which findings occurred, for TestWaiversAreNeeded; the tests of this package do not run in parallel.
var used = map[string]bool{}

func rowOf(dir string) *pkg {
	for i := range table {
		if table[i].path == dir {
			return &table[i]
		}
	}
	return nil
}

func under(dir, prefix string) bool {
	return dir == prefix || strings.HasPrefix(dir, strings.TrimSuffix(prefix, "/")+"/")
}

// each calls f for every top-level declaration of the files that keep accepts.
func (tr *tree) each(keep func(*file) bool, f func(*file, ast.Decl)) {
	for _, file := range tr.files {
		if !keep(file) {
			continue
		}
		for _, d := range file.ast.Decls {
			f(file, d)
		}
	}
}

func product(f *file) bool {
	row := rowOf(f.dir)
	return !f.test && (row == nil || row.layer != testOnly)
}
