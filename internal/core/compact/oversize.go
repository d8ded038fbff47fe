package compact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// Oversize is the first stage, the one that cannot be off: what is new in the
// window and too large for it is put into a file. Results of tools were bounded
// when they came in; this is for those of another program's transcript, for
// windows that are small beside a tool's limit, and for what people paste.
type Oversize struct{ c *Config }

// NewOversize makes the stage.
func NewOversize(c *Config) *Oversize { return &Oversize{c} }

// share is the part of the window that one piece may take: a fifth.
const share = 5

// Shape puts oversized pieces of the messages that were not sent yet into files.
func (s *Oversize) Shape(_ context.Context, w loop.Window, _ loop.Pressure, emit func(event.Body)) (loop.Window, error) {
	most := s.c.Limits(w.Model).Window / share
	var edits []event.Edit
	var calls map[string]*msg.ToolUse
	at := len(w.Messages) - len(fresh(w))
	if w.Used == 0 {
		at = 0
	}
	for _, m := range w.Messages[at:] {
		if m.Role != msg.RoleUser || m.EstimateTokens() <= most && m.Size() <= tool.DefaultMaxResult {
			continue
		}
		if calls == nil {
			calls = uses(w.Messages)
		}
		edits = append(edits, s.results(m, most, calls)...)
		if prompted(m) && m.EstimateTokens() > most {
			edits = append(edits, s.prompt(m, most, emit)...)
		}
	}
	if len(edits) == 0 {
		return idle(StageBudget, w, "idle", emit), nil
	}
	sent := w.Break
	w = commit(StageBudget, w, edits, emit)
	if w.Used > 0 { // nothing that was sent has changed
		w.Break = sent
	}
	return w, nil
}

// results cuts the results in m that are larger than their tool or the window allows.
func (s *Oversize) results(m *msg.Message, most int, calls map[string]*msg.ToolUse) []event.Edit {
	var out []event.Edit
	for _, b := range m.Blocks {
		r, ok := b.(*msg.ToolResult)
		if !ok {
			continue
		}
		limit := tool.DefaultMaxResult
		if u := calls[r.ToolUseID]; u != nil && s.c.Limit != nil {
			if n := s.c.Limit(u.Name); n > 0 {
				limit = n
			}
		}
		limit = min(limit, bytesOf(most))
		if whole := resultText(r); len(whole) > limit || resultTokens(r) > 2*most {
			out = append(out, s.c.spill(r, whole, limit))
		}
	}
	return out
}

// spill puts a result into a file.
func (c *Config) spill(r *msg.ToolResult, whole string, limit int) event.Edit {
	cut := c.Spill().cut(tool.Result{Content: []msg.Block{msg.NewText(whole)}}, limit)
	text := cut.Content[0].(*msg.Text).Text
	if n := pictures(r.Content); n > 0 {
		text += fmt.Sprintf("\n[%s left out: the result does not fit the window]", plural(n, "image was", "images were"))
	}
	return event.Edit{Use: r.ToolUseID, Text: text, Tokens: resultTokens(r) - textTokens(text) - 8, Where: spilledTo(text)}
}

func pictures(blocks []msg.Block) int {
	n := 0
	for _, b := range blocks {
		switch b.(type) {
		case *msg.Image, *msg.Document:
			n++
		case *msg.Text, *msg.Thinking, *msg.ToolUse, *msg.ToolResult, *msg.Opaque:
		}
	}
	return n
}

// prompt cuts what a person pasted.
func (s *Oversize) prompt(m *msg.Message, most int, emit func(event.Body)) []event.Edit {
	whole := m.Text()
	if textTokens(whole) <= most {
		return nil // images, which are counted by their largest size
	}
	path, err := s.c.Spill().Keep([]byte(whole))
	saved := "The whole text is in " + path + "."
	if err != nil {
		saved, path = "The rest could not be saved: "+err.Error(), ""
	}
	text := repin(fmt.Sprintf("%s\n[This message is too large for the window (%s). %s]", headTail(whole, bytesOf(most)/2), size(len(whole)), saved), whole)
	if textTokens(text) > most {
		text = Clip(text, bytesOf(most))
	}
	emit(event.Notice{Level: event.Warning, Code: "prompt_cut", Text: fmt.Sprintf("a message of %s is too large for the window; the model is shown its beginning and end. %s", size(len(whole)), saved)})
	return []event.Edit{{Message: m.ID, Text: text, Tokens: m.EstimateTokens() - textTokens(text), Where: path}}
}

// spilledTo is the file that a cut text names, "" when it names none.
func spilledTo(text string) string {
	_, rest, ok := strings.Cut(text, "Full output saved to: ")
	if !ok {
		return ""
	}
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// tighten cuts the largest results of ms until they take at most n tokens, as
// far as that goes.
func (c *Config) tighten(ms []*msg.Message, n int) []event.Edit {
	type one struct {
		r      *msg.ToolResult
		tokens int
	}
	var all []one
	sum := tokens(ms)
	for _, m := range ms {
		for _, b := range m.Blocks {
			if r, ok := b.(*msg.ToolResult); ok {
				all = append(all, one{r, resultTokens(r)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b one) int { return b.tokens - a.tokens })
	var out []event.Edit
	for _, x := range all {
		if sum <= n || x.tokens < 2*smallest {
			break
		}
		e := c.spill(x.r, resultText(x.r), min(previewBytes, bytesOf(n/4)))
		if spilled := spilledTo(resultText(x.r)); spilled != "" {
			e = clearing(old{use: msg.NewToolUse(x.r.ToolUseID, "", []byte("{}")), tokens: x.tokens, spilled: spilled})
		}
		if e.Tokens > 0 {
			out, sum = append(out, e), sum-e.Tokens
		}
	}
	return out
}
