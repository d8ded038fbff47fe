// Package lsptool holds the LSP tool: questions to the language servers that plugins bring.
package lsptool

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/lsp"
	"github.com/hew-agent/hew/internal/tool"
)

const name = "LSP"

//go:embed lsp.md
var description string

//go:embed lsp.json
var schema []byte

// maxFile is the largest file that a server is told of, in bytes.
const maxFile = 8 << 20

// Config is what the tool needs.
type Config struct {
	Servers *lsp.Set
	// Family is the tool whose path rules judge this one.
	Family string
	// Hidden tells which files of an answer the model may not see; nil: none.
	Hidden func(tool.Env) func(path string) bool
}

type input struct {
	Operation string `json:"operation"`
	File      string `json:"filePath"`
	Line      int    `json:"line"`
	Character int    `json:"character"`
	Query     string `json:"query"`
}

func (c *Config) spec() tool.Spec {
	var compact bytes.Buffer
	if err := json.Compact(&compact, schema); err != nil {
		panic(err) // a fault of the build, which any test shows
	}
	return tool.Spec{
		Name: name, RuleFamily: c.Family, MainField: "filePath", Condition: "when a plugin brings a language server", Origin: "builtin", Deferred: true,
		Description: strings.TrimSpace(description), Schema: compact.Bytes(),
	}
}

// New makes the tool.
func New(c Config) tool.Tool {
	return tool.Define(c.spec(), func(in input, env tool.Env) (tool.Call, error) { return c.plan(in, env) })
}

// question is one call, ready to be asked.
type question struct {
	c    *Config
	in   input
	env  tool.Env
	path string
	op   operation
}

func (c *Config) plan(in input, env tool.Env) (tool.Call, error) {
	op := operations()[in.Operation]
	if op.method == "" {
		return nil, &tool.InputError{Tool: name, Faults: []string{fmt.Sprintf("There is no operation %q", in.Operation)}}
	}
	if op.place && (in.Line < 1 || in.Character < 1) {
		return nil, &tool.InputError{Tool: name, Faults: []string{in.Operation + " needs `line` and `character`, both from 1"}}
	}
	path, err := fsys.Abs(env.Cwd, in.File)
	if err != nil {
		return nil, err
	}
	q := &question{c, in, env, path, op}
	return &tool.Func{
		Facts: tool.Traits{ReadOnly: true, ConcurrencySafe: true}, Wants: []tool.Need{{Kind: tool.NeedRead, Path: path}},
		Line: fmt.Sprintf("%s of %s", in.Operation, q.short(path)),
		Do:   func(ctx context.Context, _ func(tool.Progress)) tool.Result { return q.ask(ctx) },
	}, nil
}

// ask tells the server of the file as it is now, and asks it.
func (q *question) ask(ctx context.Context) tool.Result {
	text, err := Text(q.path)
	if err != nil {
		return tool.Failure(err.Error())
	}
	client, err := q.c.Servers.For(ctx, q.path)
	if err != nil {
		return tool.Failure(err.Error())
	}
	if _, err := client.Sync(ctx, q.path, q.c.Servers.Language(q.path), text); err != nil {
		return tool.Failure(err.Error())
	}
	a := &answer{q: q, client: client, texts: map[string]string{q.path: text}}
	out, n, err := q.op.run(ctx, a, text)
	if err != nil {
		return tool.Failure(err.Error())
	}
	if out == "" {
		out = "The language server has found nothing."
	}
	r := tool.Text(out)
	r.View = tool.TextView{Text: out}
	raw, err := json.Marshal(map[string]any{"operation": q.in.Operation, "filePath": q.path, "resultCount": n, "result": out})
	if err == nil {
		r.Data = raw
	}
	return r
}

// Text is a file as a server is told of it.
func Text(path string) (string, error) {
	raw, _, err := fsys.ReadRaw(path, fsys.Limits{MaxBytes: maxFile})
	if err != nil {
		return "", fmt.Errorf("read the file for its language server: %w", err)
	}
	return string(raw), nil
}
