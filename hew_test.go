package hew_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hew-agent/hew"
)

// scripted are options with a script of a model and a folder of the test's.
func scripted(t *testing.T, script string) hew.Options {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	path := filepath.Join(home, "script.json")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return hew.Options{Dir: dir, Model: "script:" + path, Env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}}
}

func all(t *testing.T, prompt string, o hew.Options) (events []hew.Event, end hew.Done) {
	t.Helper()
	for ev := range hew.Query(t.Context(), prompt, o) {
		events = append(events, ev)
	}
	end, ok := events[len(events)-1].(hew.Done)
	if !ok {
		t.Fatalf("the last event is %T", events[len(events)-1])
	}
	return events, end
}

func TestResumeGoesOnInTheSameFile(t *testing.T) {
	o := scripted(t, `{"select":"match","steps":[{"match":{"user":"and now"},"reply":[{"text":"still here"}]},{"reply":[{"text":"hello"}]}]}`)
	_, first := all(t, "one", o)
	o.Resume = first.Session
	_, second := all(t, "and now", o)
	if second.Text != "still here" || second.Session != first.Session || second.Err != nil {
		t.Errorf("%+v after %+v", second, first)
	}
	o.Resume = "00000000-0000-4000-8000-000000000000"
	if _, end := all(t, "no", o); end.Reason != hew.Failed || end.Err == nil {
		t.Errorf("a session that does not exist: %+v", end)
	}
}

func TestLeavingTheLoopEndsTheRun(t *testing.T) {
	o := scripted(t, `{"steps":[{"reply":[{"text":"a long story","times":1000}],"pace_ms":1}]}`)
	for ev := range hew.Query(t.Context(), "go", o) {
		if _, ok := ev.(hew.Delta); ok {
			break
		}
	}
}

func TestInterruptAndSteer(t *testing.T) {
	o := scripted(t, `{"steps":[{"reply":[{"text":"a long story that goes on and on and on and on"}],"fault":{"do":"stall","at":"in:1"}},{"match":{"seen":["remember this"]},"reply":[{"text":"ok"}]}]}`)
	s, err := hew.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var end hew.Done
	for ev := range s.Query(t.Context(), "go") {
		switch ev := ev.(type) {
		case hew.Delta:
			s.Steer("remember this")
			s.Interrupt()
		case hew.Done:
			end = ev
		}
	}
	if end.Reason != hew.Interrupted {
		t.Errorf("the run ended with %s: %v", end.Reason, end.Err)
	}
	for ev := range s.Query(t.Context(), "go on") {
		if d, ok := ev.(hew.Done); ok && d.Text != "ok" {
			t.Errorf("%+v", d)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestToolsOfTheCallerAreJudgedAndChecked(t *testing.T) {
	ran := 0
	add := hew.NewTool("add", "Adds.", func(_ context.Context, in struct {
		A, B int
	},
	) (string, error) {
		ran++
		if in.A < 0 {
			return "", errors.New("too small")
		}
		return fmt.Sprint(in.A + in.B), nil
	})
	o := scripted(t, `{"steps":[
	 {"match":{"tools":["add"]},"reply":[{"tool":"add","input":{"A":1,"B":2}},{"tool":"add","input":{"A":"x","B":2}},{"tool":"add","input":{"A":-1,"B":2}}]},
	 {"reply":[{"text":"done"}]}]}`)
	o.Tools, o.Allow = []hew.Tool{add}, []string{"add"}
	var texts []string
	events, _ := all(t, "go", o)
	for _, ev := range events {
		if f, ok := ev.(hew.ToolFinished); ok {
			texts = append(texts, fmt.Sprint(f.Error, " ", f.Text))
		}
	}
	got := strings.Join(texts, "\n")
	if ran != 2 || !strings.Contains(got, "false 3") || !strings.Contains(got, "true too small") || !strings.Contains(got, "`A` type is expected") {
		t.Errorf("ran %d times:\n%s", ran, got)
	}
	o = scripted(t, `{"steps":[{"reply":[{"tool":"add","input":{"A":1,"B":2}}]},{"match":{"result_error":true},"reply":[{"text":"done"}]}]}`)
	o.Tools = []hew.Tool{add}
	if _, end := all(t, "go", o); len(end.Denied) != 1 || ran != 2 {
		t.Errorf("without a rule or somebody to ask: %+v, ran %d times", end, ran)
	}
}

func TestWrongOptionsAreErrors(t *testing.T) {
	run := func(context.Context, json.RawMessage) (string, error) { return "", nil }
	object := json.RawMessage(`{"type":"object"}`)
	for _, c := range []struct {
		name string
		o    hew.Options
		want string
	}{
		{"tool name", hew.Options{Tools: []hew.Tool{{Name: "no good", Schema: object, Run: run}}}, "letters"},
		{"hew's name", hew.Options{Tools: []hew.Tool{{Name: "Read", Schema: object, Run: run}}}, "one of hew's own"},
		{"schema", hew.Options{Tools: []hew.Tool{{Name: "x", Schema: json.RawMessage(`[]`), Run: run}}}, "object"},
		{"no function", hew.Options{Tools: []hew.Tool{{Name: "x", Schema: object}}}, "no function"},
		{"hook", hew.Options{Hooks: []hew.Hook{{Event: "Stop"}}}, "no function"},
		{"mode", hew.Options{Mode: "yolo"}, "yolo"},
		{"settings", hew.Options{Settings: "{"}, "settings"},
		{"folder", hew.Options{Dirs: []string{"/does/not/exist"}}, "not"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := scripted(t, `{"steps":[]}`)
			c.o.Dir, c.o.Env, c.o.Model = base.Dir, base.Env, base.Model
			s, err := hew.Open(t.Context(), c.o)
			if err == nil {
				_ = s.Close()
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error %q lacks %q", err, c.want)
			}
		})
	}
}

func TestRewindBringsFilesBack(t *testing.T) {
	o := scripted(t, `{"steps":[{"reply":[{"tool":"Write","input":{"file_path":"new.txt","content":"x"}}]},{"reply":[{"text":"done"}]}]}`)
	o.Mode = "acceptEdits"
	s, err := hew.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var end hew.Done
	for ev := range s.Query(t.Context(), "write") {
		if d, ok := ev.(hew.Done); ok {
			end = d
		}
	}
	path := filepath.Join(o.Dir, "new.txt")
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	changed, err := s.Rewind(t.Context(), end.Prompt)
	if err != nil || len(changed) != 1 {
		t.Errorf("%v, %v", changed, err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestNothingInternalIsPublic: no exported declaration names a type of an
// internal package, which a caller could not write down.
func TestNothingInternalIsPublic(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		inside := map[string]bool{}
		for _, i := range f.Imports {
			path := strings.Trim(i.Path.Value, `"`)
			if strings.Contains(path, "/internal/") {
				inside[path[strings.LastIndex(path, "/")+1:]] = true
			}
		}
		for _, d := range f.Decls {
			for _, e := range public(d) {
				ast.Inspect(e, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok {
						if p, ok := s.X.(*ast.Ident); ok && inside[p.Name] {
							t.Errorf("%s: a public declaration names %s.%s", name, p.Name, s.Sel.Name)
						}
					}
					return true
				})
			}
		}
	}
}

// public are the parts of a declaration that callers see.
func public(d ast.Decl) []ast.Node {
	var out []ast.Node
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(strings.TrimPrefix(fmt.Sprint(d.Recv.List[0].Type), "*"))) {
			out = append(out, d.Type)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			ts, ok := s.(*ast.TypeSpec)
			if !ok || !ts.Name.IsExported() {
				continue
			}
			st, ok := ts.Type.(*ast.StructType)
			if !ok {
				out = append(out, ts.Type)
				continue
			}
			for _, field := range st.Fields.List {
				if len(field.Names) == 0 || field.Names[0].IsExported() {
					out = append(out, field.Type)
				}
			}
		}
	}
	return out
}
