package compact

import (
	"strings"

	"github.com/hew-agent/hew/internal/msg"
)

// group is a piece of a history that is kept or dropped as a whole: a reply with
// the results of its calls and what the harness said behind them, or a message
// of the user. No cut at the border of groups parts a call from its result.
type group struct {
	from, until int
	tokens      int
	// prompt tells that a person wrote it.
	prompt bool
}

// groups cuts a history, from the message at start on.
func groups(ms []*msg.Message, start int) []group {
	var out []group
	for i := start; i < len(ms); i++ {
		m := ms[i]
		spoken := prompted(m)
		if len(out) > 0 && !spoken && m.Role != msg.RoleAssistant && !out[len(out)-1].prompt {
			g := &out[len(out)-1]
			g.until, g.tokens = i+1, g.tokens+m.EstimateTokens()
			continue
		}
		out = append(out, group{from: i, until: i + 1, tokens: m.EstimateTokens(), prompt: spoken})
	}
	return out
}

// prompted tells that a person, or a host in a person's place, wrote m.
func prompted(m *msg.Message) bool {
	if m.Role != msg.RoleUser || m.Meta {
		return false
	}
	for _, b := range m.Blocks {
		if _, ok := b.(*msg.ToolResult); ok {
			return false
		}
	}
	return len(m.Blocks) > 0
}

// front is how many messages stand before the conversation: instructions, and
// after a compaction the summary.
func front(ms []*msg.Message) int {
	n := 0
	for n < len(ms) && ms[n].Role == msg.RoleUser && ms[n].Meta && !marks(ms[n]) {
		n++
	}
	return n
}

// marks tells that m stands in the place of messages that a stage took out.
func marks(m *msg.Message) bool {
	text := m.Text()
	return strings.HasPrefix(text, snipMark) || strings.HasPrefix(text, collapseMark)
}

// isSummary tells that m is the summary of a compaction.
func isSummary(m *msg.Message) bool {
	return m.Role == msg.RoleUser && strings.HasPrefix(m.Text(), summaryMark)
}

// uses maps the calls of a history by id.
func uses(ms []*msg.Message) map[string]*msg.ToolUse {
	out := map[string]*msg.ToolUse{}
	for _, m := range ms {
		for _, u := range m.ToolUses() {
			out[u.ID] = u
		}
	}
	return out
}

func resultTokens(r *msg.ToolResult) int {
	return (&msg.Message{Blocks: []msg.Block{r}}).EstimateTokens()
}
