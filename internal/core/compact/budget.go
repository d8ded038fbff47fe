// Package compact holds the five shapers; implements loop's Shaper.
//
// Shapers make the conversation fit the window, the cheapest first. The first
// of them, the budget of a single result, acts when the result enters the
// conversation, so that no later request is ever larger than it has to be.
package compact

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// previewBytes is how much of a result stays in the conversation when the rest
// is in a file; the ecosystem shows 2 KB.
const previewBytes = 2000

// Budget bounds single tool results.
type Budget struct {
	// Dir is where oversized results are kept, one file a call.
	Dir string
	// Write stores a whole file, making folders as needed.
	Write func(path string, data []byte) error
}

// Bound returns r with its text cut to the limit of its tool. What is cut
// stays readable: the whole text is in a file that the model is told of. When
// the file cannot be written, head and tail remain and the model is told that
// the rest is lost. Images and documents are not text and pass.
func (b Budget) Bound(s tool.Spec, use *msg.ToolUse, r tool.Result) tool.Result {
	limit := s.MaxResult
	if limit == 0 {
		limit = tool.DefaultMaxResult
	}
	size := 0
	for _, c := range r.Content {
		if t, ok := c.(*msg.Text); ok {
			size += len(t.Text)
		}
	}
	if size <= limit {
		return r
	}
	return b.cut(use, r, limit)
}

func (b Budget) cut(use *msg.ToolUse, r tool.Result, limit int) tool.Result {
	var text strings.Builder
	var rest []msg.Block
	for _, c := range r.Content {
		if t, ok := c.(*msg.Text); ok {
			text.WriteString(t.Text)
			continue
		}
		rest = append(rest, c)
	}
	whole := text.String()
	path := filepath.Join(b.Dir, fileName(use.ID)+".txt")
	short := persisted(whole, path)
	if err := b.Write(path, []byte(whole)); err != nil {
		short = headTail(whole, limit) + fmt.Sprintf("\n[%d bytes were left out and could not be saved: %v]", len(whole)-limit, err)
	}
	r.Content = append([]msg.Block{msg.NewText(short)}, rest...)
	return r
}

func persisted(whole, path string) string {
	return fmt.Sprintf("<persisted-output>\nOutput too large (%s). Full output saved to: %s\n\nPreview (first 2KB):\n%s\n...\n</persisted-output>",
		size(len(whole)), path, Clip(whole, previewBytes))
}

func size(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.1fKB", float64(n)/1024)
	}
	return fmt.Sprintf("%.1fMB", float64(n)/(1<<20))
}

// Clip cuts s to at most n bytes at the end of a rune.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func headTail(s string, n int) string {
	head := Clip(s, n/2)
	at := len(s) - n/2
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return head + "\n[…]\n" + s[at:]
}

// fileName makes an id from a model safe as a file name.
func fileName(id string) string {
	id = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, id)
	if id == "" {
		return "result"
	}
	return Clip(id, 100)
}
