package bash

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// benign tells what exit code 1 means when it is an answer and not a failure:
// "no match", "the files differ". That is so when every command that may have
// set the code uses 1 that way; a "cd" before it does not count, unless it is
// what failed.
func benign(command, output string) (meaning string, ok bool) {
	f, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil || len(f.Stmts) == 0 {
		return "", false
	}
	calls, ok := deciders(f.Stmts[len(f.Stmts)-1])
	if !ok {
		return "", false
	}
	for i, c := range calls {
		last := i == len(calls)-1
		name := wordAt(c, 0)
		if !last && harmless(name) {
			if name == "cd" && strings.Contains(output, "cd: ") {
				return "", false
			}
			continue
		}
		if meaning = answer(c); meaning == "" {
			return "", false
		}
	}
	return meaning, meaning != ""
}

// deciders lists the commands whose exit code may be that of the statement, in
// order; false when that cannot be told. A nil call is a [[ ]] test.
func deciders(s *syntax.Stmt) ([]*syntax.CallExpr, bool) {
	if s.Negated || s.Background || s.Coprocess {
		return nil, false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return []*syntax.CallExpr{c}, true
	case *syntax.TestClause:
		return []*syntax.CallExpr{nil}, true
	case *syntax.BinaryCmd:
		return decidersOf(c)
	case *syntax.Block:
		return lastDeciders(c.Stmts)
	case *syntax.Subshell:
		return lastDeciders(c.Stmts)
	}
	return nil, false
}

func lastDeciders(list []*syntax.Stmt) ([]*syntax.CallExpr, bool) {
	if len(list) == 0 {
		return nil, false
	}
	return deciders(list[len(list)-1])
}

func decidersOf(c *syntax.BinaryCmd) ([]*syntax.CallExpr, bool) {
	right, ok := deciders(c.Y)
	if !ok || c.Op != syntax.AndStmt {
		return right, ok
	}
	left, ok := deciders(c.X)
	return append(left, right...), ok
}

// wordAt is a literal word of a call, "" when there is none.
func wordAt(c *syntax.CallExpr, i int) string {
	if c == nil || i >= len(c.Args) {
		return ""
	}
	return c.Args[i].Lit()
}

// harmless commands only fail, if ever, with a word about it.
func harmless(name string) bool {
	switch name {
	case "cd", "echo", "printf", "true", ":", "export", "pwd", "sleep", "mkdir":
		return true
	}
	return false
}

// answer is the meaning of exit code 1 of a command that answers with it
// (tools.md §5), "" for any other command.
func answer(c *syntax.CallExpr) string {
	if c == nil {
		return "the test is false"
	}
	switch path.Base(wordAt(c, 0)) {
	case "grep", "egrep", "fgrep", "rg":
		return "no match"
	case "find":
		return "some places could not be searched"
	case "diff":
		return "the files differ"
	case "test", "[":
		return "the test is false"
	case "git":
		return gitAnswer(c)
	}
	return ""
}

func gitAnswer(c *syntax.CallExpr) string {
	for i := 1; i < len(c.Args); i++ {
		switch w := wordAt(c, i); {
		case w == "-C" || w == "-c":
			i++
		case strings.HasPrefix(w, "-"):
		case w == "diff":
			return "there are differences"
		case w == "grep":
			return "no match"
		default:
			return ""
		}
	}
	return ""
}
