package streamjson

import (
	"slices"

	"github.com/hew-agent/hew/internal/event"
)

// cleared tells that the conversation was taken up anew under another id.
func (s *Surface) cleared(before string) {
	now := s.live.Engine.Session()
	if now == before {
		return
	}
	head := s.p.head("conversation_reset", "")
	s.p.write(struct {
		envelope
		New     string `json:"new_conversation_id"`
		Trigger string `json:"trigger"`
		At      string `json:"timestamp"`
	}{head, now, "clear", stamp(s.c.Now())})
}

// commandsChanged tells of the slash commands when a run has changed them: it
// met or wrote definitions. A host reads them once, at the start.
func (s *Surface) commandsChanged(before []string) {
	if s.live.Commands == nil || s.live.Listing == nil || slices.Equal(before, s.live.Commands.Names()) {
		return
	}
	s.p.write(struct {
		envelope
		Commands any `json:"commands"`
	}{s.p.head("system", "commands_changed"), s.live.Listing()})
}

// thinkingStep is by how much thinking grows between two lines about it, in tokens.
const thinkingStep = 50

// bytesPerToken is the usual estimate.
const bytesPerToken = 4

// thinking tells how long the model has been thinking, for hosts that show it live.
func (p *Printer) thinking(d event.Delta) {
	if d.Kind != event.DeltaThinking {
		if d.Kind != event.DeltaOther {
			p.thought, p.thoughtTold = 0, 0
		}
		return
	}
	p.thought += len(d.Text)
	now := p.thought / bytesPerToken
	if now-p.thoughtTold < thinkingStep {
		return
	}
	p.write(struct {
		envelope
		Tokens int `json:"estimated_tokens"`
		Delta  int `json:"estimated_tokens_delta"`
	}{p.head("system", "thinking_tokens"), now, now - p.thoughtTold})
	p.thoughtTold = now
}
