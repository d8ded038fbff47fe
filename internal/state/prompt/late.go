package prompt

import (
	"context"
	"slices"
	"time"

	"github.com/hew-agent/hew/internal/msg"
)

// LateConfig makes a Late. All fields are required.
type LateConfig struct {
	// Sources are asked in this order.
	Sources []Source
	Now     func() time.Time
	NewID   func() string
}

// Late asks the sources of one conversation and remembers what they have said.
// It is not safe for concurrent use.
type Late struct {
	c       LateConfig
	sources []*asked
	ids     []string
	seen    []*msg.Message
	// texts counts the blocks of the harness that stand in seen.
	texts map[string]int
}

// asked is one source and what is known of it.
type asked struct {
	Source
	// waiting are facts that it has not answered to yet.
	waiting Facts
	failed  string
	said    map[string]saying
}

// saying is the newest text of one item and the message that holds it.
type saying struct{ text, id string }

// Said is one message that a source adds to the conversation.
type Said struct {
	Source  string
	Message *msg.Message
}

// Failure is a source that could not answer.
type Failure struct {
	Source string
	Err    error
}

// NewLate makes the Late of one conversation.
func NewLate(c LateConfig) *Late {
	l := &Late{c: c, texts: map[string]int{}}
	for _, s := range c.Sources {
		l.sources = append(l.sources, &asked{Source: s, said: map[string]saying{}})
	}
	return l
}

// Empty tells that there is no source.
func (l *Late) Empty() bool { return len(l.sources) == 0 }

// Take asks every source and returns what they say: a message a source that
// has something new, each item a block. history is what the next request is
// made of so far, new the facts since the last call; its History is filled in
// here. The messages belong behind history, in this order.
func (l *Late) Take(ctx context.Context, history []*msg.Message, fresh Facts) ([]Said, []Failure) {
	l.look(history)
	var out []Said
	var failures []Failure
	for _, a := range l.sources {
		a.waiting.Words = append(a.waiting.Words, fresh.Words...)
		a.waiting.Read = append(a.waiting.Read, fresh.Read...)
		a.waiting.Edited = append(a.waiting.Edited, fresh.Edited...)
		a.waiting.Cwd, a.waiting.History = fresh.Cwd, l.ids
		items, err := a.Delta(ctx, a.waiting)
		if err != nil {
			if err.Error() != a.failed {
				failures = append(failures, Failure{a.Name(), err})
			}
			a.failed = err.Error()
			continue
		}
		a.waiting, a.failed = Facts{}, ""
		if m := l.message(a, items); m != nil {
			out = append(out, Said{a.Name(), m})
		}
	}
	return out, failures
}

// message is what is new of the items, nil for nothing.
func (l *Late) message(a *asked, items []Item) *msg.Message {
	m := &msg.Message{Role: msg.RoleUser, Meta: true, Time: l.c.Now()}
	var keys []string
	for _, it := range items {
		text := it.block()
		if text == "" || it.Key != "" && l.known(a, it.Key, text) {
			continue
		}
		m.Blocks = append(m.Blocks, msg.NewText(text))
		keys = append(keys, it.Key)
	}
	if len(m.Blocks) == 0 {
		return nil
	}
	m.ID = l.c.NewID()
	for i, k := range keys {
		if k != "" {
			a.said[k] = saying{m.Blocks[i].(*msg.Text).Text, m.ID}
		}
	}
	return m
}

// known tells whether the newest word about key is text and still in the
// window. What an earlier process said is known by its text alone.
func (l *Late) known(a *asked, key, text string) bool {
	s, here := a.said[key]
	if !here {
		return l.texts[text] > 0
	}
	return s.text == text && l.texts[text] > 0 && slices.Contains(l.ids, s.id)
}

// look takes in history, at the cost of what is new in it.
func (l *Late) look(history []*msg.Message) {
	n := len(l.seen)
	if len(history) < n || !slices.Equal(l.seen, history[:n]) {
		l.seen, l.ids, l.texts, n = nil, nil, map[string]int{}, 0
	}
	for _, m := range history[n:] {
		if m == nil {
			continue
		}
		l.ids = append(l.ids, m.ID)
		if !m.Meta {
			continue
		}
		for _, b := range m.Blocks {
			if t, ok := b.(*msg.Text); ok {
				l.texts[t.Text]++
			}
		}
	}
	l.seen = append(l.seen, history[n:]...)
}
