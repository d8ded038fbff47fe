package lsp

import (
	"context"
	"encoding/json"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// document is a file that the server was told of.
type document struct {
	version int
	text    string
	// found is what the server says about it, of the version seen; -1 for a server
	// that names no versions.
	found []Diagnostic
	seen  int
	fresh bool // nobody has taken found yet
	mine  bool // hew has told the server of it
}

// Diagnostic is one fault that a server reports.
type Diagnostic struct {
	Range    Range           `json:"range"`
	Severity int             `json:"severity"` // 1 error, 2 warning, 3 information, 4 hint
	Code     json.RawMessage `json:"code"`
	Source   string          `json:"source"`
	Message  string          `json:"message"`
}

// Range and Position count lines and columns from 0, columns in the server's units.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Position is a place in a file.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// URI names a file as the protocol wants it.
func URI(path string) string {
	path = filepath.ToSlash(path)
	if runtime.GOOS == "windows" {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// Path is the file of a URI, "" for one that is no file.
func Path(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.FromSlash(path)
}

// Sync tells the server what a file holds now, unless it knows. It returns the
// version that the server has.
func (l *Client) Sync(ctx context.Context, path, language, text string) (int, error) {
	uri := URI(path)
	l.mu.Lock()
	d := l.files[uri]
	if d == nil {
		d = &document{}
		l.files[uri] = d
	}
	if d.mine && d.text == text {
		defer l.mu.Unlock()
		return d.version, l.gone
	}
	first := !d.mine
	d.mine, d.text = true, text
	d.version++
	version := d.version
	l.mu.Unlock()
	if first {
		return version, l.tell(ctx, "textDocument/didOpen", map[string]any{
			"textDocument": map[string]any{"uri": uri, "languageId": language, "version": version, "text": text},
		})
	}
	id := map[string]any{"uri": uri, "version": version}
	if err := l.tell(ctx, "textDocument/didChange", map[string]any{"textDocument": id, "contentChanges": []map[string]string{{"text": text}}}); err != nil {
		return version, err
	}
	return version, l.tell(ctx, "textDocument/didSave", map[string]any{"textDocument": map[string]string{"uri": uri}})
}

// published keeps what a server says about a file. Files that nobody told it of
// are kept track of too: an edit breaks others.
func (l *Client) published(params json.RawMessage) {
	var p struct {
		URI         string       `json:"uri"`
		Version     *int         `json:"version"`
		Diagnostics []Diagnostic `json:"diagnostics"`
	}
	if json.Unmarshal(params, &p) != nil || len(p.Diagnostics) > maxDiagnostics {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone != nil {
		return
	}
	d := l.files[p.URI]
	if d == nil {
		if len(l.files) >= maxDocuments {
			return
		}
		d = &document{}
		l.files[p.URI] = d
	}
	d.seen = d.version
	if p.Version != nil {
		d.seen = *p.Version
	}
	d.fresh = d.fresh || !slices.EqualFunc(d.found, p.Diagnostics, equal)
	d.found = p.Diagnostics
	close(l.stirred)
	l.stirred = make(chan struct{})
}

// Bounds of what is kept of a server's words.
const (
	maxDiagnostics = 10_000
	maxDocuments   = 10_000
)

func equal(a, b Diagnostic) bool {
	return a.Range == b.Range && a.Severity == b.Severity && a.Source == b.Source && a.Message == b.Message && string(a.Code) == string(b.Code)
}

// Judged waits until the server has said something about a version of a file, or
// ctx ends.
func (l *Client) Judged(ctx context.Context, path string, version int) {
	uri := URI(path)
	for {
		l.mu.Lock()
		d, stirred, gone := l.files[uri], l.stirred, l.gone
		done := gone != nil || d != nil && d.seen >= version
		l.mu.Unlock()
		if done {
			return
		}
		select {
		case <-stirred:
		case <-ctx.Done():
			return
		}
	}
}

// Report is what a server says about one file.
type Report struct {
	Path        string
	Text        string // as the server knows it, "" for a file that it was not told of
	Diagnostics []Diagnostic
}

// Fresh are the reports that changed since the last call, in the order of paths.
func (l *Client) Fresh() []Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Report
	for uri, d := range l.files {
		if path := Path(uri); d.fresh && path != "" {
			out = append(out, Report{path, d.text, slices.Clone(d.found)})
		}
		d.fresh = false
	}
	slices.SortFunc(out, func(a, b Report) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// units is what a server counts columns in.
type units string

// At makes a position of a line and a column, both from 1, the column in
// characters of the text.
func (l *Client) At(text string, line, column int) Position {
	at := Position{Line: max(0, line-1)}
	row := lineOf(text, at.Line)
	for range column - 1 {
		r, n := utf8.DecodeRuneInString(row)
		if n == 0 {
			break
		}
		row = row[n:]
		at.Character += l.units.width(r, n)
	}
	return at
}

// Column is the column of a position, from 1, in characters of the line. Without
// the line it is in the server's units.
func (l *Client) Column(row string, at int) int {
	column, sum := 1, 0
	for row != "" && sum < at {
		r, n := utf8.DecodeRuneInString(row)
		sum += l.units.width(r, n)
		row = row[n:]
		column++
	}
	return column + max(0, at-sum)
}

func (u units) width(r rune, bytes int) int {
	switch u {
	case "utf-8":
		return bytes
	case "utf-32":
		return 1
	}
	return max(1, utf16.RuneLen(r)) // the protocol's own default
}

func lineOf(text string, n int) string {
	for ; n > 0; n-- {
		_, rest, ok := strings.Cut(text, "\n")
		if !ok {
			return ""
		}
		text = rest
	}
	row, _, _ := strings.Cut(text, "\n")
	return strings.TrimSuffix(row, "\r")
}
