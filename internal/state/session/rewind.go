package session

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// Point is a prompt of the live conversation: a place that one can go back to.
type Point struct {
	// ID is the entry of the prompt. Going back to it undoes the prompt and all that came after.
	ID string
	// Head is the entry before it, where the conversation then ends; "" before the first prompt.
	Head string
	Text string
	Time time.Time
}

// rewound is the subtype of the entry that moves the end of the conversation.
// It hangs on the entry where the conversation now ends, and as the newest
// chained entry it is the leaf from which every reader of this format walks:
// what was undone stays in the file, beside the way.
const rewound = "rewound"

// Point finds a place to go back to: by id, by the beginning of an id that
// only one has, or by its number in Points, from 1. It is fs.ErrNotExist when
// there is none.
func (c *Conversation) Point(name string) (Point, error) {
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(c.Points) {
		return c.Points[n-1], nil
	}
	var found []Point
	for _, p := range c.Points {
		if p.ID == name {
			return p, nil
		}
		if name != "" && strings.HasPrefix(p.ID, name) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return Point{}, fmt.Errorf("no prompt %q in the conversation of session %s: %w", name, c.ID, fs.ErrNotExist)
	case 1:
		return found[0], nil
	}
	var list strings.Builder
	for i, p := range found {
		if i == maxCandidates {
			fmt.Fprintf(&list, "\n  and %d more", len(found)-i)
			break
		}
		fmt.Fprintf(&list, "\n  %s  %s", p.ID, plain.Line(plain.Cut(p.Text, maxCandidateText)))
	}
	return Point{}, fmt.Errorf("the ids of %d prompts of session %s begin with %q; give more of one:%s", len(found), c.ID, name, list.String())
}

// maxCandidates and maxCandidateText, in bytes, bound what an error lists.
const maxCandidates, maxCandidateText = 10, 60

// before is the newest prompt that stays when p is undone, "" when none does.
func (c *Conversation) before(p Point) string {
	text := ""
	for _, q := range c.Points {
		if q.ID == p.ID {
			return text
		}
		text = q.Text
	}
	return text
}

// point notes the prompt of entry i.
func (b *builder) point(i int, m *msg.Message) {
	if m.Meta || m.Role != msg.RoleUser || b.recs[i].result {
		return
	}
	text := typed(m.Text())
	if text == "" || strings.HasPrefix(text, "<command-") || strings.HasPrefix(text, "<local-command-") {
		return
	}
	p := Point{ID: b.recs[i].uuid, Text: text, Time: m.Time}
	if at, ok := b.parentOf[i]; ok {
		p.Head = b.recs[at].uuid
	} else if _, ok := b.byID[b.recs[i].parent]; ok {
		p.Head = b.recs[i].parent
	}
	b.c.Points = append(b.c.Points, p)
}

// Rewind undoes the prompt p of the conversation and all that followed it.
// Nothing leaves the file: the entry written here is the new end, and the next
// one hangs on it. left is the newest prompt that stays, for lists.
func (w *Writer) Rewind(p Point, left string) error {
	w.mu.Lock()
	before := w.chain
	w.chain.calls = map[string]string{}
	w.chain.reply, w.chain.tail = "", ""
	err := w.system(rewound, "The conversation went back to before a prompt", string(event.Info), p.Head, func(e *entry) {
		e.str("rewoundTo", p.ID).opt("rewoundFrom", before.last)
	})
	if err != nil {
		w.chain = before
	}
	w.mu.Unlock()
	if err != nil {
		return err
	}
	// The next request does not extend the last one.
	return errors.Join(w.Prefix(""), w.LastPrompt(left))
}

// Rewinding says who rewinds. Now and NewID may be nil for the real ones.
type Rewinding struct {
	Version, Entrypoint string
	Now                 func() time.Time
	NewID               func() string
}

// Rewind takes the conversation of session id back to before the prompt to
// (see Conversation.Point) and returns that prompt. It is a *Busy while
// another process has the session open.
func (s Store) Rewind(id, to string, by Rewinding) (Point, error) {
	l, err := s.Open(id)
	if err != nil {
		return Point{}, err
	}
	p, err := rewindLog(l, to, by)
	return p, errors.Join(err, l.Close())
}

func rewindLog(l *Log, to string, by Rewinding) (Point, error) {
	c, _, err := Load(l.Path())
	if err != nil {
		return Point{}, err
	}
	p, err := c.Point(to)
	if err != nil {
		return Point{}, err
	}
	w := NewWriter(WriterConfig{
		Log: l, From: c, Mode: c.Mode, Now: by.Now, NewID: by.NewID,
		Stamp: Stamp{Session: l.ID(), Cwd: c.Cwd, Version: by.Version, Branch: or(c.Branch, "HEAD"), Entrypoint: or(by.Entrypoint, "cli")},
	})
	return p, w.Rewind(p, c.before(p))
}
