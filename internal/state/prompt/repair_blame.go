package prompt

import (
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// maxShownText bounds, in bytes, how much of a text that was left out a notice repeats.
const maxShownText = 2000

// Blame finds what the server refused in the request that held sent, and
// leaves it out of all requests from now on. The notice carries the digests,
// by which a resumed session leaves out the same. It is false when nothing is
// to blame: the request is then as good as hew can make it.
//
// Blocks that the error names are taken at its word. Without a name, what is
// new since the newest reply is suspected, because the rest was taken before:
// pictures and documents first, then the output of calls, then what a person
// said in turns that failed already. A turn's own words are never suspected
// on a mere guess; see GiveUp.
func (l *Layouter) Blame(sent []*msg.Message, e *provider.Error) (event.Notice, bool) {
	defer l.locked()()
	var found []msg.Block
	for _, p := range e.Places() {
		found = append(found, l.named(sent, p)...)
	}
	if len(found) == 0 {
		found = l.suspects(sent, e)
	}
	if len(found) == 0 {
		return event.Notice{}, false
	}
	l.withhold(digests(found), repliesIn(sent))
	return event.Notice{
		Level: event.Warning, Code: event.Quarantined, Blocks: digests(found),
		Text: fmt.Sprintf("the model's API refused %s of the conversation (%s); it is left out from now on and stays in the session file", kinds(found), reason(e)),
	}, true
}

// GiveUp leaves the newest turn out, all that came after the newest reply but
// for instruction files and reminders, so that the conversation can go on
// without it. The notice repeats what the person said. It is false when the
// error does not speak of the messages: then their words are not the cause, and
// they stay.
func (l *Layouter) GiveUp(sent []*msg.Message, e *provider.Error) (event.Notice, bool) {
	defer l.locked()()
	if len(e.Places()) == 0 && !e.Filtered && e.Class != provider.BadImage {
		return event.Notice{}, false
	}
	var found []msg.Block
	var said []string
	for _, m := range fresh(sent) {
		if m.Meta {
			continue
		}
		found = append(found, l.open(m.Blocks)...)
		if text := strings.TrimSpace(m.Text()); text != "" {
			said = append(said, text)
		}
	}
	if len(found) == 0 {
		return event.Notice{}, false
	}
	l.withhold(digests(found), repliesIn(sent))
	text := fmt.Sprintf("the model's API refuses this turn (%s); it is left out of the conversation from now on, and the session goes on without it", reason(e))
	if words := strings.Join(said, "\n"); words != "" {
		if len(words) > maxShownText {
			words = strings.ToValidUTF8(words[:maxShownText], "") + "…"
		}
		text += ". What you said in it: " + words
	}
	return event.Notice{Level: event.Warning, Code: event.Quarantined, Blocks: digests(found), Text: text}, true
}

// named are the blocks at a place.
func (l *Layouter) named(sent []*msg.Message, p provider.Place) []msg.Block {
	if p.Message >= len(sent) {
		return nil
	}
	m := sent[p.Message]
	if p.Image >= 0 {
		if all := pictures(m.Blocks); p.Image < len(all) {
			return l.open(all[p.Image : p.Image+1])
		}
	}
	if p.Block < 0 || p.Block >= len(m.Blocks) {
		return l.likely(m)
	}
	b := m.Blocks[p.Block]
	switch b := b.(type) {
	case *msg.ToolResult:
		if p.Inner >= 0 && p.Inner < len(b.Content) {
			return l.open(b.Content[p.Inner : p.Inner+1])
		}
	case *msg.Thinking: // the reply's thinking goes as a whole
		return l.open(only(m.Blocks, func(b msg.Block) bool { _, ok := b.(*msg.Thinking); return ok }))
	case *msg.Text, *msg.ToolUse, *msg.Image, *msg.Document, *msg.Opaque:
	}
	return l.open([]msg.Block{b})
}

// likely are the blocks of a message that most probably made it unusable.
func (l *Layouter) likely(m *msg.Message) []msg.Block {
	for _, list := range [][]msg.Block{pictures(m.Blocks), only(m.Blocks, strange), m.Blocks} {
		if list = l.open(list); len(list) > 0 {
			return list
		}
	}
	return nil
}

// suspects are what an error that names nothing is probably about.
func (l *Layouter) suspects(sent []*msg.Message, e *provider.Error) []msg.Block {
	news := fresh(sent)
	if e.Class == provider.BodyTooLarge {
		return l.largest(sent)
	}
	var shown, all, outputs []msg.Block
	for _, m := range sent {
		all = append(all, pictures(m.Blocks)...)
	}
	for _, m := range news {
		shown = append(append(shown, pictures(m.Blocks)...), only(m.Blocks, strange)...)
		outputs = append(outputs, only(m.Blocks, isResult)...)
	}
	lists := [][]msg.Block{shown}
	if e.Class == provider.BadImage {
		lists = append(lists, all)
	} else {
		lists = append(lists, outputs, failedTurns(news))
	}
	for _, list := range lists {
		if list = l.open(list); len(list) > 0 {
			return list
		}
	}
	return nil
}

// failedTurns are the words of prompts that got no reply, the newest excepted.
func failedTurns(news []*msg.Message) []msg.Block {
	var said [][]msg.Block
	for _, m := range news {
		if !m.Meta && m.Text() != "" {
			said = append(said, only(m.Blocks, func(b msg.Block) bool { _, ok := b.(*msg.Text); return ok }))
		}
	}
	var out []msg.Block
	for i := 0; i+1 < len(said); i++ {
		out = append(out, said[i]...)
	}
	return out
}

// largest is the largest thing that can be left out.
func (l *Layouter) largest(sent []*msg.Message) []msg.Block {
	var most msg.Block
	for _, m := range sent {
		for _, b := range l.open(append(pictures(m.Blocks), only(m.Blocks, isResult)...)) {
			if most == nil || len(b.JSON()) > len(most.JSON()) {
				most = b
			}
		}
	}
	if most == nil || len(most.JSON()) < 4<<10 { // leaving out small things gains nothing
		return nil
	}
	return []msg.Block{most}
}

// fresh are the messages after the newest reply.
func fresh(sent []*msg.Message) []*msg.Message {
	for i := len(sent) - 1; i >= 0; i-- {
		if sent[i].Role == msg.RoleAssistant {
			return sent[i+1:]
		}
	}
	return sent
}

func only(blocks []msg.Block, is func(msg.Block) bool) []msg.Block {
	var out []msg.Block
	for _, b := range blocks {
		if is(b) {
			out = append(out, b)
		}
	}
	return out
}

// pictures are the images and documents among blocks and in results.
func pictures(blocks []msg.Block) []msg.Block {
	var out []msg.Block
	for _, b := range blocks {
		switch b := b.(type) {
		case *msg.Image, *msg.Document:
			out = append(out, b)
		case *msg.ToolResult:
			out = append(out, pictures(b.Content)...)
		case *msg.Text, *msg.Thinking, *msg.ToolUse, *msg.Opaque:
		}
	}
	return out
}

func isResult(b msg.Block) bool { _, ok := b.(*msg.ToolResult); return ok }

// strange are blocks that hew does not understand, and signed ones.
func strange(b msg.Block) bool {
	switch b.(type) {
	case *msg.Opaque, *msg.Thinking:
		return true
	case *msg.Text, *msg.Image, *msg.Document, *msg.ToolUse, *msg.ToolResult:
	}
	return false
}

// open drops what is withheld already.
func (l *Layouter) open(blocks []msg.Block) []msg.Block {
	return only(blocks, func(b msg.Block) bool { return !l.filter.withheld[Digest(b)] })
}

func digests(blocks []msg.Block) []string {
	out := make([]string, len(blocks))
	for i, b := range blocks {
		out[i] = Digest(b)
	}
	return out
}

// kinds says in words what blocks are.
func kinds(blocks []msg.Block) string {
	if len(blocks) > 1 {
		return fmt.Sprintf("%d parts", len(blocks))
	}
	switch b := blocks[0].(type) {
	case *msg.Image:
		return "an image"
	case *msg.Document:
		return "a document"
	case *msg.ToolResult:
		return "the output of a call"
	case *msg.ToolUse:
		return "a call of " + b.Name
	case *msg.Thinking:
		return "a piece of reasoning"
	case *msg.Text, *msg.Opaque:
	}
	return "a part"
}

// reason is the server's text in one line.
func reason(e *provider.Error) string {
	s := strings.Join(strings.Fields(e.Message), " ")
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}
