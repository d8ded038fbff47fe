package lsptool

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/lsp"
	"github.com/hew-agent/hew/internal/backend/plain"
)

// Bounds of an answer.
const (
	maxPlaces = 200
	maxLine   = 200 // characters of a line that is quoted
	maxDepth  = 8   // of symbols within symbols
)

// operation is one kind of question. run returns the answer and how many things
// it lists.
type operation struct {
	method string
	place  bool // it is about one place in the file
	run    func(ctx context.Context, a *answer, text string) (string, int, error)
}

func operations() map[string]operation {
	at := func(method string, run func(ctx context.Context, a *answer, raw json.RawMessage) (string, int, error)) operation {
		return operation{method, true, func(ctx context.Context, a *answer, text string) (string, int, error) {
			raw, err := a.client.Call(ctx, method, a.place(text))
			if err != nil {
				return "", 0, err
			}
			return run(ctx, a, raw)
		}}
	}
	return map[string]operation{
		"goToDefinition":       at("textDocument/definition", locations),
		"goToImplementation":   at("textDocument/implementation", locations),
		"findReferences":       at("textDocument/references", locations),
		"hover":                at("textDocument/hover", hover),
		"prepareCallHierarchy": at("textDocument/prepareCallHierarchy", items),
		"incomingCalls":        at("textDocument/prepareCallHierarchy", calls("callHierarchy/incomingCalls")),
		"outgoingCalls":        at("textDocument/prepareCallHierarchy", calls("callHierarchy/outgoingCalls")),
		"documentSymbol":       {"textDocument/documentSymbol", false, documentSymbols},
		"workspaceSymbol":      {"workspace/symbol", false, workspaceSymbols},
	}
}

// answer is an answer in the making.
type answer struct {
	q      *question
	client *lsp.Client
	texts  map[string]string // by path, "" for one that may not be quoted
}

func (a *answer) document() map[string]string { return map[string]string{"uri": lsp.URI(a.q.path)} }

func (a *answer) place(text string) map[string]any {
	return map[string]any{
		"textDocument": a.document(), "position": a.client.At(text, a.q.in.Line, a.q.in.Character), "context": map[string]bool{"includeDeclaration": true},
	}
}

// location is a Location, or the target of a LocationLink.
type location struct {
	URI         string    `json:"uri"`
	Range       lsp.Range `json:"range"`
	TargetURI   string    `json:"targetUri"`
	TargetRange lsp.Range `json:"targetSelectionRange"`
}

// list reads one thing or several.
func list[T any](raw json.RawMessage) ([]T, error) {
	var many []T
	if json.Unmarshal(raw, &many) == nil {
		return many, nil
	}
	var one T
	if err := json.Unmarshal(raw, &one); err != nil {
		return nil, fmt.Errorf("the language server's answer cannot be read: %w", err)
	}
	return []T{one}, nil
}

func locations(_ context.Context, a *answer, raw json.RawMessage) (string, int, error) {
	found, err := list[location](raw)
	if err != nil {
		return "", 0, err
	}
	var lines []string
	for _, l := range found {
		if l.TargetURI != "" {
			l.URI, l.Range = l.TargetURI, l.TargetRange
		}
		if line := a.line(l.URI, l.Range.Start, ""); line != "" {
			lines = append(lines, line)
		}
	}
	return bounded(lines)
}

// line is one place: file, line, column, and what stands there. A file that the
// model may not see is left out.
func (a *answer) line(uri string, at lsp.Position, label string) string {
	path := lsp.Path(uri)
	if path == "" || a.hidden(path) {
		return ""
	}
	row := rowOf(a.text(path), at.Line)
	s := fmt.Sprintf("%s:%d:%d", a.q.short(path), at.Line+1, a.client.Column(row, at.Character))
	if label != "" {
		return s + ": " + label
	}
	if row = oneLine(row); row != "" {
		s += ": " + row
	}
	return s
}

func (a *answer) hidden(path string) bool {
	if a.q.c.Hidden == nil {
		return false
	}
	h := a.q.c.Hidden(a.q.env)
	return h != nil && h(path)
}

// text is a file of the working directories; others are named and not quoted.
func (a *answer) text(path string) string {
	if t, known := a.texts[path]; known {
		return t
	}
	real, err := fsys.Real(path)
	t := ""
	if err == nil && slices.ContainsFunc(a.q.env.Roots, func(r string) bool { return fsys.Within(r, real) }) {
		t, _ = Text(path) // it is quoted or it is not
	}
	a.texts[path] = t
	return t
}

func (q *question) short(path string) string {
	if rel, err := filepath.Rel(q.env.Cwd, path); err == nil && filepath.IsLocal(rel) {
		return fsys.Printable(rel)
	}
	return fsys.Printable(path)
}

func rowOf(text string, n int) string {
	i := 0
	for row := range strings.Lines(text) {
		if i == n {
			return strings.TrimRight(row, "\r\n")
		}
		i++
	}
	return ""
}

// oneLine is foreign text as one short line.
func oneLine(s string) string {
	s = plain.Line(strings.Join(strings.Fields(s), " "))
	if r := []rune(s); len(r) > maxLine {
		return string(r[:maxLine]) + "…"
	}
	return s
}

func bounded(lines []string) (string, int, error) {
	n := len(lines)
	if n > maxPlaces {
		lines = append(lines[:maxPlaces:maxPlaces], fmt.Sprintf("(%d of %d shown)", maxPlaces, n))
	}
	return strings.Join(lines, "\n"), n, nil
}

func hover(_ context.Context, _ *answer, raw json.RawMessage) (string, int, error) {
	var h struct {
		Contents json.RawMessage `json:"contents"`
	}
	if len(raw) == 0 || string(raw) == "null" {
		return "", 0, nil
	}
	if err := json.Unmarshal(raw, &h); err != nil {
		return "", 0, fmt.Errorf("the language server's answer cannot be read: %w", err)
	}
	parts, err := list[json.RawMessage](h.Contents)
	if err != nil {
		return "", 0, err
	}
	var texts []string
	for _, p := range parts {
		if t := marked(p); t != "" {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, "\n\n"), len(texts), nil
}

// marked is a MarkupContent, a MarkedString or a plain text.
func marked(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return strings.TrimSpace(s)
	}
	var m struct {
		Value    string `json:"value"`
		Language string `json:"language"`
	}
	if json.Unmarshal(raw, &m) != nil {
		return ""
	}
	if m.Language != "" {
		return "```" + m.Language + "\n" + m.Value + "\n```"
	}
	return strings.TrimSpace(m.Value)
}

// symbol is a DocumentSymbol, a SymbolInformation or a CallHierarchyItem.
type symbol struct {
	Name      string    `json:"name"`
	Detail    string    `json:"detail"`
	Kind      int       `json:"kind"`
	Container string    `json:"containerName"`
	URI       string    `json:"uri"`
	Selection lsp.Range `json:"selectionRange"`
	Location  *location `json:"location"`
	Children  []symbol  `json:"children"`
}

func (s symbol) label() string {
	out := kindOf(s.Kind) + " " + oneLine(s.Name)
	if s.Detail != "" {
		out += " " + oneLine(s.Detail)
	}
	if s.Container != "" {
		out += " (in " + oneLine(s.Container) + ")"
	}
	return out
}

func documentSymbols(ctx context.Context, a *answer, _ string) (string, int, error) {
	raw, err := a.client.Call(ctx, "textDocument/documentSymbol", map[string]any{"textDocument": a.document()})
	if err != nil {
		return "", 0, err
	}
	found, err := list[symbol](raw)
	if err != nil {
		return "", 0, err
	}
	var lines []string
	var walk func(list []symbol, depth int)
	walk = func(list []symbol, depth int) {
		for _, s := range list {
			at := s.Selection.Start
			if s.Location != nil {
				at = s.Location.Range.Start
			}
			if s.Name != "" {
				lines = append(lines, fmt.Sprintf("%s%d: %s", strings.Repeat("  ", depth), at.Line+1, s.label()))
			}
			if depth < maxDepth {
				walk(s.Children, depth+1)
			}
		}
	}
	walk(found, 0)
	return bounded(lines)
}

func workspaceSymbols(ctx context.Context, a *answer, _ string) (string, int, error) {
	raw, err := a.client.Call(ctx, "workspace/symbol", map[string]string{"query": a.q.in.Query})
	if err != nil {
		return "", 0, err
	}
	return a.symbols(raw)
}

func items(_ context.Context, a *answer, raw json.RawMessage) (string, int, error) {
	return a.symbols(raw)
}

func (a *answer) symbols(raw json.RawMessage) (string, int, error) {
	found, err := list[symbol](raw)
	if err != nil {
		return "", 0, err
	}
	var lines []string
	for _, s := range found {
		uri, at := s.URI, s.Selection.Start
		if s.Location != nil {
			uri, at = s.Location.URI, s.Location.Range.Start
		}
		if line := a.line(uri, at, s.label()); line != "" {
			lines = append(lines, line)
		}
	}
	return bounded(lines)
}

// calls asks who calls what stands in a place, or whom it calls.
func calls(method string) func(ctx context.Context, a *answer, raw json.RawMessage) (string, int, error) {
	return func(ctx context.Context, a *answer, raw json.RawMessage) (string, int, error) {
		starts, err := list[json.RawMessage](raw)
		if err != nil {
			return "", 0, err
		}
		var lines []string
		for _, item := range starts {
			if string(item) == "null" {
				continue
			}
			got, err := a.client.Call(ctx, method, map[string]any{"item": item})
			if err != nil {
				return "", 0, err
			}
			ends, err := list[struct{ From, To *symbol }](got)
			if err != nil {
				return "", 0, err
			}
			for _, e := range ends {
				s := e.From
				if s == nil {
					s = e.To
				}
				if s == nil {
					continue
				}
				if line := a.line(s.URI, s.Selection.Start, s.label()); line != "" {
					lines = append(lines, line)
				}
			}
		}
		return bounded(lines)
	}
}

// kindOf names a SymbolKind of the protocol.
func kindOf(n int) string {
	names := []string{
		"symbol", "file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum", "interface",
		"function", "variable", "constant", "string", "number", "boolean", "array", "object", "key", "null", "enum member", "struct",
		"event", "operator", "type parameter",
	}
	if n < 0 || n >= len(names) {
		return names[0]
	}
	return names[n]
}

// Diagnosis is what a server says about a file, a line for each fault, "" when it
// finds none. Hints are left out.
func Diagnosis(r lsp.Report, short string, column func(row string, at int) int) string {
	var lines []string
	for _, d := range r.Diagnostics {
		kind := map[int]string{0: "error", 1: "error", 2: "warning", 3: "note"}[d.Severity]
		if kind == "" {
			continue
		}
		s := fmt.Sprintf("%s:%d:%d: %s: %s", short, d.Range.Start.Line+1, column(rowOf(r.Text, d.Range.Start.Line), d.Range.Start.Character), kind, oneLine(d.Message))
		if d.Source != "" {
			s += " (" + oneLine(d.Source) + ")"
		}
		lines = append(lines, s)
	}
	if n := len(lines); n > maxFaults {
		lines = append(lines[:maxFaults:maxFaults], fmt.Sprintf("(%d of %d shown)", maxFaults, n))
	}
	return strings.Join(lines, "\n")
}

// maxFaults is how many faults of one file are told.
const maxFaults = 30
