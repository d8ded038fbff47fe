package wiring

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/prompt"
)

// lostWork tells of background work that ran when an earlier process of this
// session ended: the model was promised a notice, and hears that there is
// nothing more to wait for. The transcript says what began and what was told.
func (b *build) lostWork() []prompt.Item {
	if b.past == nil {
		return nil
	}
	begun, ended := beginnings(), endings()
	var order []string
	told := map[string]bool{}
	for _, m := range b.past.Messages {
		for _, text := range textsOf(m) {
			if m.Meta {
				for _, f := range ended.FindAllStringSubmatch(text, -1) {
					told[f[1]] = true
				}
				continue
			}
			if f := begun.FindStringSubmatch(text); f != nil {
				order = append(order, f[1]+f[2])
			}
		}
	}
	var out []prompt.Item
	for _, id := range order {
		if !told[id] && !seenEnd(b.past.Messages, id) {
			out = append(out, prompt.Item{Key: "lost " + id, Tagged: true, Text: fmt.Sprintf(
				"An automated event, not input from the user: a background task has ended.\n<task-notification>\n<task-id>%s</task-id>\n<status>killed</status>\n<summary>Background task %s ended with the process of hew that ran it; it is not running any more</summary>\n</task-notification>", id, id)})
		}
	}
	return out
}

// beginnings finds the results by which tools say that work goes on in the
// background (packages bash and agent), endings the notices of package task.
func beginnings() *regexp.Regexp {
	return regexp.MustCompile(`^(?:Command running in background with|Command was moved to the background after \S+ with|Watching with) ID: (\w+)|^The agent was launched in the background\.\nagentId: (\w+)`)
}

func endings() *regexp.Regexp {
	return regexp.MustCompile(`<task-notification>\n<task-id>(\w+)</task-id>`)
}

// seenEnd tells that the model saw the end in a tool's answer: a look at it
// when it had ended, or its stop.
func seenEnd(past []*msg.Message, id string) bool {
	for _, m := range past {
		for _, text := range textsOf(m) {
			if rest, ok := strings.CutPrefix(text, "Task "+id+" "); ok && !strings.Contains(firstLine(rest), "is still running") {
				return true
			}
		}
	}
	return false
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// textsOf are the texts that a user message holds: its own for injected ones,
// else those of tool results.
func textsOf(m *msg.Message) []string {
	if m.Role != msg.RoleUser {
		return nil
	}
	var out []string
	for _, bl := range m.Blocks {
		switch bl := bl.(type) {
		case *msg.Text:
			if m.Meta {
				out = append(out, bl.Text)
			}
		case *msg.ToolResult:
			for _, c := range bl.Content {
				if t, ok := c.(*msg.Text); ok {
					out = append(out, t.Text)
				}
			}
		case *msg.ToolUse, *msg.Thinking, *msg.Image, *msg.Document, *msg.Opaque:
		}
	}
	return out
}
