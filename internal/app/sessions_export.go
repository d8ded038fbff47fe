package app

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/session"
)

// exporter writes a session in one format, entry by entry: a long session is
// never whole in memory.
type exporter struct {
	begin func(s session.Summary)
	entry func(e session.Entry)
	end   func()
	out   *bufio.Writer
}

func exportSession(e Env, w *asked) error {
	name, err := w.one("session")
	if err != nil {
		return err
	}
	format := w.opts["--format"]
	if format == "" {
		format = "md"
	}
	make, ok := map[string]func(io.Writer) *exporter{"md": markdownExport, "html": htmlExport, "json": jsonExport}[format]
	if !ok {
		return &usageError{fmt.Sprintf("option '--format' takes md, html or json, not '%s'", fsys.Printable(format))}
	}
	_, sum, err := e.named(name)
	if err != nil {
		return err
	}
	file := w.opts["-o"] + w.opts["--output"]
	if file == "" || file == "-" {
		return e.export(sum.Path, sum, make(e.Stdout))
	}
	path, err := fsys.Abs(e.Dir, file)
	if err != nil {
		return err
	}
	return e.exportFile(path, sum, make)
}

// exportFile writes beside path first, so that a failed export leaves what was there.
func (e Env) exportFile(path string, sum session.Summary, make func(io.Writer) *exporter) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".hew-export-*")
	if err != nil {
		return fmt.Errorf("export session %s: %w", sum.ID, err)
	}
	err = errors.Join(e.export(sum.Path, sum, make(tmp)), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("export session %s to %s: %w", sum.ID, fsys.Printable(path), errors.Join(err, os.Remove(tmp.Name())))
	}
	_, err = fmt.Fprintln(e.Stderr, "written: "+fsys.Printable(path))
	return err
}

func (e Env) export(path string, sum session.Summary, x *exporter) error {
	x.begin(sum)
	reports, err := session.Replay(path, func(in session.Entry) error {
		x.entry(in)
		return nil
	})
	x.end()
	for _, r := range reports {
		e.notice("session " + sum.ID + ": " + r.String())
	}
	return errors.Join(err, x.out.Flush()) // a bufio.Writer keeps its first error
}

func titleOf(s session.Summary) string {
	for _, t := range []string{s.Title, s.FirstPrompt} {
		if t != "" {
			return oneLine(t, 80)
		}
	}
	return "Session " + s.ID
}

// heading is what stands over an entry.
func entryHeading(e session.Entry) string {
	switch e.Kind {
	case session.KindUser:
		return "User"
	case session.KindAssistant:
		return "Assistant"
	case session.KindResult:
		return "Result"
	case session.KindHarness:
		return "Context"
	case session.KindSummary:
		return "Summary of what came before"
	case session.KindNotice:
		return "Notice"
	}
	return string(e.Kind)
}

// plainText keeps what is no control character, so that nothing in a session steers a terminal.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

func markdownExport(w io.Writer) *exporter {
	out := bufio.NewWriter(w)
	last := ""
	return &exporter{
		out: out,
		begin: func(s session.Summary) {
			fmt.Fprintf(out, "# %s\n\nSession %s, %s\n", titleOf(s), s.ID, fsys.Printable(s.Cwd))
		},
		entry: func(e session.Entry) {
			if h := entryHeading(e); h != last {
				fmt.Fprintf(out, "\n## %s\n", h)
				last = h
			}
			if e.Message == nil || e.Kind == session.KindNotice {
				fmt.Fprintf(out, "\n%s\n", plainText(e.Text))
				return
			}
			for _, b := range e.Message.Blocks {
				fmt.Fprintf(out, "\n%s\n", markdownBlock(b))
			}
		},
		end: func() {},
	}
}

func markdownBlock(b msg.Block) string {
	switch b := b.(type) {
	case *msg.Text:
		return plainText(b.Text)
	case *msg.Thinking:
		return "> " + strings.ReplaceAll(plainText(thought(b)), "\n", "\n> ")
	case *msg.ToolUse:
		return "**" + plainText(b.Name) + "**\n\n" + fenced("json", indented(b.Input))
	case *msg.ToolResult:
		return resultMark(b) + fenced("", resultText(b))
	case *msg.Image:
		return "(image, " + plainText(b.MediaType) + ")"
	case *msg.Document:
		return "(document, " + plainText(b.MediaType+" "+b.Title) + ")"
	case *msg.Opaque:
		return fenced("json", string(b.JSON()))
	}
	return ""
}

func thought(t *msg.Thinking) string {
	if t.Text == "" {
		return "(thinking that is not shown)"
	}
	return t.Text
}

func resultMark(r *msg.ToolResult) string {
	if r.IsError {
		return "Failed:\n\n"
	}
	return ""
}

func resultText(r *msg.ToolResult) string {
	var parts []string
	for _, c := range r.Content {
		switch c := c.(type) {
		case *msg.Text:
			parts = append(parts, c.Text)
		case *msg.Image:
			parts = append(parts, "(image, "+c.MediaType+")")
		case *msg.Document:
			parts = append(parts, "(document, "+c.MediaType+")")
		case *msg.Thinking, *msg.ToolUse, *msg.ToolResult, *msg.Opaque:
			parts = append(parts, string(c.JSON()))
		}
	}
	return strings.Join(parts, "\n")
}

func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// fenced is text as a code block whose fence no line of it can end.
func fenced(lang, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + lang + "\n" + strings.TrimSuffix(plainText(text), "\n") + "\n" + fence
}

const exportHead = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>%s</title><style>
body{font:15px/1.5 system-ui,sans-serif;max-width:52em;margin:2em auto;padding:0 1em;color:#1c1c1c;background:#fff}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.4em 0}.user{border-left:4px solid #36c;padding-left:.8em;margin:1.5em 0 1em}
.assistant{margin:1em 0}details{margin:.5em 0;padding:.3em .8em;background:#f3f3f3;border-radius:4px}summary{cursor:pointer}
.error summary{color:#b00}.summary,.harness,.notice,.meta{color:#555}.thinking{font-style:italic}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}details{background:#262626}.summary,.harness,.notice,.meta{color:#aaa}}
</style></head><body>
<h1>%s</h1><p class="meta">Session %s, %s</p>
`

func htmlExport(w io.Writer) *exporter {
	out := bufio.NewWriter(w)
	text := func(s string) string { return html.EscapeString(plainText(s)) }
	fold := func(class, head, body string) {
		fmt.Fprintf(out, "<details class=\"%s\"><summary>%s</summary><pre>%s</pre></details>\n", class, text(head), text(body))
	}
	block := func(kind session.Kind, b msg.Block) {
		switch b := b.(type) {
		case *msg.Text:
			switch kind {
			case session.KindUser, session.KindAssistant:
				fmt.Fprintf(out, "<div class=\"%s\"><pre>%s</pre></div>\n", kind, text(b.Text))
			case session.KindHarness, session.KindSummary, session.KindResult, session.KindNotice:
				fold(string(kind), entryHeading(session.Entry{Kind: kind}), b.Text)
			}
		case *msg.Thinking:
			fold("thinking", "Thinking", thought(b))
		case *msg.ToolUse:
			fold("call", b.Name, indented(b.Input))
		case *msg.ToolResult:
			if b.IsError {
				fold("error", "Failed", resultText(b))
				return
			}
			fold("result", "Result", resultText(b))
		case *msg.Image:
			fmt.Fprintf(out, "<p class=\"meta\">(image, %s)</p>\n", text(b.MediaType))
		case *msg.Document:
			fmt.Fprintf(out, "<p class=\"meta\">(document, %s)</p>\n", text(b.MediaType+" "+b.Title))
		case *msg.Opaque:
			fold("other", b.Type, string(b.JSON()))
		}
	}
	return &exporter{
		out: out,
		begin: func(s session.Summary) {
			title := text(titleOf(s))
			fmt.Fprintf(out, exportHead, title, title, text(s.ID), text(s.Cwd))
		},
		entry: func(e session.Entry) {
			if e.Message == nil || e.Kind == session.KindNotice {
				fmt.Fprintf(out, "<p class=\"notice\">%s</p>\n", text(e.Text))
				return
			}
			for _, b := range e.Message.Blocks {
				block(e.Kind, b)
			}
		},
		end: func() { _, _ = out.WriteString("</body></html>\n") },
	}
}

// exportedEntry is an entry for programs; content is as the model API has it.
type exportedEntry struct {
	ID      string            `json:"id"`
	Kind    session.Kind      `json:"kind"`
	Time    string            `json:"time,omitempty"`
	Role    msg.Role          `json:"role,omitempty"`
	Model   string            `json:"model,omitempty"`
	Content []json.RawMessage `json:"content,omitempty"`
	Text    string            `json:"text,omitempty"`
}

func jsonExport(w io.Writer) *exporter {
	out := bufio.NewWriter(w)
	first := true
	put := func(v any) {
		raw, err := msg.Marshal(v)
		if err != nil { // a block that is no JSON cannot come out of a transcript
			raw = json.RawMessage("null")
		}
		_, _ = out.Write(raw)
	}
	return &exporter{
		out: out,
		begin: func(s session.Summary) {
			_, _ = out.WriteString(`{"session":`)
			put(rowOf(s))
			_, _ = out.WriteString(",\n\"entries\":[")
		},
		entry: func(e session.Entry) {
			if !first {
				_ = out.WriteByte(',')
			}
			first = false
			_ = out.WriteByte('\n')
			put(exported(e))
		},
		end: func() { _, _ = out.WriteString("\n]}\n") },
	}
}

func exported(e session.Entry) exportedEntry {
	x := exportedEntry{ID: e.ID, Kind: e.Kind, Text: e.Text}
	if e.Message == nil {
		return x
	}
	if m := e.Message; e.Kind != session.KindNotice {
		x.Role = m.Role
		for _, b := range m.Blocks {
			x.Content = append(x.Content, b.JSON())
		}
		if m.Reply != nil {
			x.Model = m.Reply.Model
		}
	}
	if !e.Message.Time.IsZero() {
		x.Time = e.Message.Time.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return x
}
