package view

import (
	"time"
	"unsafe"

	"github.com/hew-agent/hew/internal/msg"
)

// view is the text of bytes that are never changed, only followed by others.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Replay returns the state of a conversation of the past.
func (f *Fold) Replay(history []*msg.Message) State {
	var s State
	at := map[string]int{} // index of calls in Items
	for _, m := range history {
		if m.Meta {
			continue
		}
		if m.Role == msg.RoleUser {
			if text, others := said(m); text != "" || others > 0 {
				s.Items = append(s.Items, Prompt{m.ID, text, others, "prompt", m.Time})
			}
			s.results(m, at)
			continue
		}
		for i, b := range m.Blocks {
			s = f.block(s, m, i, b, time.Time{})
			for _, it := range s.Live {
				if c, ok := it.(Call); ok {
					at[c.ID] = len(s.Items)
					c.Status = Refused
					it = c
				}
				s.Items = append(s.Items, it)
			}
			s.Live = nil
		}
	}
	return s
}

// results puts the results of a message into the calls that they answer.
func (s *State) results(m *msg.Message, at map[string]int) {
	for _, b := range m.Blocks {
		r, ok := b.(*msg.ToolResult)
		if !ok {
			continue
		}
		i, ok := at[r.ToolUseID]
		if !ok {
			continue
		}
		c := s.Items[i].(Call) // at holds calls only
		c.Status, c.Text, c.Images = Done, content(r.Content), pictures(r.Content)
		if r.IsError {
			c.Status = Failed
		}
		s.Items[i] = c
	}
}
