// Package compact holds the five shapers; implements loop's Shaper.
//
// Shapers make the conversation fit the window, the cheapest first. The first
// of them, the budget of a single result, acts when the result enters the
// conversation, so that no later request is ever larger than it has to be.
package compact

import (
	"fmt"
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
	// Keep stores bytes where they can be read again and returns the path, which
	// is the same for the same bytes: a result that comes twice is there once.
	Keep func(data []byte) (path string, err error)
}

// Bound returns r with its text cut to the limit of its tool. What is cut
// stays readable: the whole text is in a file that the model is told of. When
// the file cannot be written, head and tail remain and the model is told that
// the rest is lost. Images and documents are not text and pass.
func (b Budget) Bound(s tool.Spec, _ *msg.ToolUse, r tool.Result) tool.Result {
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
	return b.cut(r, limit)
}

func (b Budget) cut(r tool.Result, limit int) tool.Result {
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
	path, err := b.Keep([]byte(whole))
	short := persisted(whole, path)
	if err != nil {
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
