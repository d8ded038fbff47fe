package prompt

import (
	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/msg"
)

// Layout fills r.Messages from history with Repair and, when r.Mark asks for
// cache marks, r.MarkAt. r.Model must be set.
//
// The API allows four marks. One is on the last block of the system prompt,
// which covers the tools before it as well. One is on the newest message, where
// the next request will find it. One stays where the last request had its
// newest message, because the server looks only so many blocks back for an
// entry and a turn may add more than that. The fourth is free.
func Layout(r *provider.Request, history []*msg.Message) []Note {
	ms, notes := Repair(history, r.Model)
	fill(r, ms)
	return notes
}

func fill(r *provider.Request, ms []*msg.Message) {
	r.Messages, r.MarkAt = ms, nil
	if r.Mark != "" {
		r.MarkAt = marks(ms)
	}
}

// marks are the positions, ascending. The last request ended with the message
// before the newest reply.
func marks(ms []*msg.Message) []int {
	newest := len(ms) - 1
	for i := newest; i > 0; i-- {
		if ms[i].Role == msg.RoleAssistant {
			return []int{i - 1, newest}
		}
	}
	return []int{newest}
}
