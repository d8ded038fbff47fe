package compact

import (
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/msg"
)

// summaryMark begins the message that stands in the place of what was compacted.
const summaryMark = "This conversation continues an earlier one that no longer fits the window."

// Tags around what people said, which goes from one summary into the next.
const (
	openWords, closeWords = "<user-messages>\n", "\n</user-messages>"
	openWord, closeWord   = "<message>\n", "\n</message>"
)

// request is the question for a summary. It names what must not be lost
// (requirements CX-3) and what need not be kept (CX-4).
func request(instructions []string) string {
	var s strings.Builder
	s.WriteString(`Stop here and write a summary of this conversation. It will stand in the place of everything above, so whoever goes on with the work knows only what you write down. Answer with text alone and call no tool.

First think inside <analysis> tags: go through the conversation in order and note what is needed. Then write the summary inside <summary> tags, with these parts:

1. Goal: what the user asked for, and every instruction and preference they gave, in their words where the words matter.
2. Decisions: about design and architecture, with the reasons; approaches that were tried and given up, in one line each.
3. State of the code: files that were read or changed and matter, with paths, names and the key lines of the last changes, quoted exactly.
4. Problems: errors that were met and how they were solved; bugs that are still open.
5. Work to do: open tasks, in order.
6. Now: what was being done at the very end, exactly, and the next step.

Leave out what can be had again by looking: long output of searches and commands, contents of files that no longer matter, details of finished steps. If the project's instruction files have a section about compacting, follow it.`)
	for _, i := range instructions {
		if i = strings.TrimSpace(i); i != "" {
			s.WriteString("\n\nAbove all, for this summary: " + i)
		}
	}
	return s.String()
}

// stricter is added when a reply had no summary.
const stricter = "\n\nYour last answer held no <summary> block. Answer again: plain text only, no tool calls, and the summary between <summary> and </summary>."

// extract takes the summary out of a reply; false when there is no summary block.
func extract(reply string) (string, bool) {
	_, rest, ok := strings.Cut(reply, "<summary>")
	if !ok {
		return strings.TrimSpace(reply), false
	}
	text, _, _ := strings.Cut(rest, "</summary>")
	text = strings.TrimSpace(text)
	return text, text != ""
}

// words collects what people said in the messages that are compacted, oldest
// first: those that an earlier summary holds, then the newer ones.
func words(old []*msg.Message) []string {
	var out []string
	for _, m := range old {
		switch {
		case isSummary(m):
			out = append(out, quoted(m.Text())...)
		case prompted(m):
			text := strings.TrimSpace(m.Text())
			if n := pictures(m.Blocks); n > 0 {
				text += fmt.Sprintf("\n[with %s]", plural(n, "image", "images"))
			}
			if text != "" {
				out = append(out, text)
			}
		}
	}
	return out
}

func quoted(summary string) []string {
	_, rest, ok := strings.Cut(summary, openWords)
	if !ok {
		return nil
	}
	if i := strings.LastIndex(rest, closeWords); i >= 0 {
		rest = rest[:i]
	}
	var out []string
	for part := range strings.SplitSeq(rest, openWord) {
		if text := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(part), strings.TrimSpace(closeWord))); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// quote shows what people said in at most n bytes: all of it when it fits, else
// long messages by their beginning and end, and if need be only the first, which
// is the task, and the newest.
func quote(said []string, n int) string {
	total := 0
	for _, s := range said {
		total += len(s) + len(openWord) + len(closeWord)
	}
	each := n
	if total > n {
		each = max(200, n/max(1, min(len(said), 12)))
	}
	show := func(s string) string {
		if len(s) > each {
			s = headTail(s, each)
		}
		return openWord + s + closeWord
	}
	if len(said) == 0 {
		return ""
	}
	parts, size := []string{show(said[0])}, 0
	size = len(parts[0])
	from := len(said)
	for from > 1 && size+min(len(said[from-1]), each)+40 <= n {
		from--
		size += min(len(said[from]), each) + 40
	}
	if from > 1 {
		parts = append(parts, openWord+fmt.Sprintf("[%s left out here; the transcript has them]", plural(from-1, "message was", "messages were"))+closeWord)
	}
	for _, s := range said[from:] {
		parts = append(parts, show(s))
	}
	return openWords + strings.Join(parts, "\n") + closeWords
}

// lead is the beginning of the summary message.
func (c *Config) lead(kept []*msg.Message) string {
	s := summaryMark + " What follows is a summary of it."
	if at := c.where(); at != "" {
		s += " For exact words, code or output, look into the transcript: " + strings.TrimPrefix(at, "; ") + "."
	}
	s += " Go on with the work from where it stopped, without asking again what was answered and without repeating this summary."
	if len(kept) > 0 {
		s += " The messages behind this one are the newest of that conversation, word for word."
	}
	return s
}
