package builtin

import (
	"fmt"
	"strings"
	"unicode/utf8"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/hew-agent/hew/internal/tool"
)

// contextLines is the number of unchanged lines around a change.
const contextLines = 3

// maxPatchLine bounds one line of a patch, in bytes: patches are for people
// and programs to look at, and a file may be one line of megabytes.
const maxPatchLine = 4000

// hunks are the changes from before to after; never nil, so that it encodes as a list.
func hunks(before, after string) []tool.Hunk {
	out := []tool.Hunk{}
	edits := udiff.Lines(before, after)
	if len(edits) == 0 {
		return out
	}
	u, err := udiff.ToUnifiedDiff("", "", before, edits, contextLines)
	if err != nil {
		return out // edits that Lines made do fit the text
	}
	for _, h := range u.Hunks {
		out = append(out, hunk(h))
	}
	return out
}

func hunk(h *udiff.Hunk) tool.Hunk {
	out := tool.Hunk{OldStart: h.FromLine, NewStart: h.ToLine}
	for _, l := range h.Lines {
		mark := " "
		switch l.Kind {
		case udiff.Delete:
			mark = "-"
			out.OldLines++
		case udiff.Insert:
			mark = "+"
			out.NewLines++
		case udiff.Equal:
			out.OldLines++
			out.NewLines++
		}
		out.Lines = append(out.Lines, mark+clip(strings.TrimSuffix(l.Content, "\n"), maxPatchLine))
	}
	return out
}

// clip cuts a text to n bytes at a character and says how much is missing.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s… (%d bytes more)", s[:n], len(s)-n)
}

// counts are the added and removed lines of a change.
func counts(hs []tool.Hunk) (added, removed int) {
	for _, h := range hs {
		for _, l := range h.Lines {
			switch l[0] {
			case '+':
				added++
			case '-':
				removed++
			}
		}
	}
	return added, removed
}

// maxOriginal is the size up to which the old content goes into structured
// results: they are stored with the conversation.
const maxOriginal = 1 << 20

// original is the old content for structured results, nil when there was none
// or it is too large.
func original(content string, existed bool) any {
	if !existed || len(content) > maxOriginal {
		return nil
	}
	return content
}
