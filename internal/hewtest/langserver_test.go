package hewtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

// langServer is a language server for scenarios. Its language has one rule: the
// word BAD is an error, and `def NAME` defines a name. The first argument makes it
// misbehave: garbage, silent, dies.
type langServer struct {
	in   *bufio.Reader
	docs map[string]string
	how  string
}

type langPlace struct {
	Document struct {
		URI     string `json:"uri"`
		Text    string `json:"text"`
		Version int    `json:"version"`
	} `json:"textDocument"`
	Position struct {
		Line      int `json:"line"`
		Character int `json:"character"`
	} `json:"position"`
	Changes []struct {
		Text string `json:"text"`
	} `json:"contentChanges"`
}

func langMain() int {
	s := &langServer{in: bufio.NewReader(os.Stdin), docs: map[string]string{}}
	if len(os.Args) > 1 {
		s.how = os.Args[1]
	}
	if s.how == "garbage" {
		fmt.Println("Welcome to the language server!")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	}
	for {
		raw, err := s.read()
		if err != nil {
			return 0
		}
		if s.how == "silent" {
			continue
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if json.Unmarshal(raw, &m) != nil {
			return 1
		}
		if m.Method == "exit" {
			return 0
		}
		if s.how == "dies" && strings.HasPrefix(m.Method, "textDocument/hover") {
			fmt.Fprintln(os.Stderr, "out of cheese")
			return 7
		}
		if result := s.handle(m.Method, m.Params); m.ID != nil && m.Method != "" {
			s.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
		}
	}
}

func (s *langServer) read() ([]byte, error) {
	length := 0
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if v, ok := strings.CutPrefix(line, "Content-Length:"); ok {
			if length, err = strconv.Atoi(strings.TrimSpace(v)); err != nil {
				return nil, err
			}
		}
	}
	raw := make([]byte, length)
	_, err := io.ReadFull(s.in, raw)
	return raw, err
}

func (s *langServer) send(v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	fmt.Printf("Content-Length: %d\r\n\r\n%s", len(raw), raw)
}

func (s *langServer) handle(method string, params json.RawMessage) any {
	var p langPlace
	if json.Unmarshal(params, &p) != nil {
		return nil
	}
	uri := p.Document.URI
	switch method {
	case "initialize":
		return map[string]any{"capabilities": map[string]any{"positionEncoding": "utf-16"}}
	case "initialized":
		s.send(map[string]any{"jsonrpc": "2.0", "id": "c1", "method": "workspace/configuration", "params": map[string]any{"items": []any{map[string]string{"section": "word.size"}}}})
	case "textDocument/didOpen":
		s.changed(uri, p.Document.Text, p.Document.Version)
	case "textDocument/didChange":
		s.changed(uri, p.Changes[len(p.Changes)-1].Text, p.Document.Version)
	case "textDocument/hover":
		return map[string]any{"contents": map[string]string{"kind": "markdown", "value": "the word `" + s.word(p) + "`"}}
	case "textDocument/definition":
		return s.find("def " + s.word(p))
	case "textDocument/references":
		return s.find(s.word(p))
	case "textDocument/documentSymbol":
		var out []any
		for i, line := range strings.Split(s.docs[uri], "\n") {
			if name, ok := strings.CutPrefix(line, "def "); ok {
				out = append(out, map[string]any{"name": name, "kind": 12, "selectionRange": span(i, 4, 4+len(name))})
			}
		}
		return out
	case "textDocument/prepareCallHierarchy":
		return []any{map[string]any{"name": s.word(p), "kind": 12, "uri": uri, "selectionRange": span(p.Position.Line, 0, 1)}}
	case "callHierarchy/incomingCalls":
		return []any{map[string]any{"from": map[string]any{"name": "main", "kind": 12, "uri": "file:///elsewhere/lib.wd", "selectionRange": span(6, 0, 1)}}}
	}
	return nil
}

func span(line, from, to int) map[string]any {
	return map[string]any{"start": map[string]int{"line": line, "character": from}, "end": map[string]int{"line": line, "character": to}}
}

func (s *langServer) changed(uri, text string, version int) {
	s.docs[uri] = text
	found := []any{}
	for i, line := range strings.Split(text, "\n") {
		if at := strings.Index(line, "BAD"); at >= 0 {
			found = append(found, map[string]any{"range": span(i, at, at+3), "severity": 1, "source": "words", "message": "BAD is no word\x1b[31m"})
		}
	}
	s.send(map[string]any{"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": map[string]any{"uri": uri, "version": version, "diagnostics": found}})
}

// word is the word at a place; columns count UTF-16 units, and no text of the
// scenarios has one beyond the first plane before the place.
func (s *langServer) word(p langPlace) string {
	row := []rune(strings.Split(s.docs[p.Document.URI], "\n")[p.Position.Line])
	rest := string(row[min(p.Position.Character, len(row)):])
	return strings.Fields(rest + " ?")[0]
}

func (s *langServer) find(text string) []any {
	out := []any{}
	for uri, doc := range s.docs {
		for i, line := range strings.Split(doc, "\n") {
			if at := strings.Index(line, text); at >= 0 {
				out = append(out, map[string]any{"uri": uri, "range": span(i, utf8.RuneCountInString(line[:at]), utf8.RuneCountInString(line[:at+len(text)]))})
			}
		}
	}
	return out
}
