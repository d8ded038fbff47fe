package engine

import (
	"sync"

	"github.com/hew-agent/hew/internal/msg"
)

// queue is the steering queue: any goroutine adds, the loop takes at its
// boundary. Every message comes out once, in the order in which it went in.
type queue struct {
	mu   sync.Mutex
	list []*msg.Message
}

func (q *queue) add(m *msg.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, m)
}

// take empties the queue.
func (q *queue) take() []*msg.Message {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.list
	q.list = nil
	return l
}

// next takes the oldest message, nil when there is none.
func (q *queue) next() *msg.Message {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		return nil
	}
	m := q.list[0]
	q.list = q.list[1:]
	return m
}

// ids lists what waits, oldest first.
func (q *queue) ids() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make([]string, len(q.list))
	for i, m := range q.list {
		out[i] = m.ID
	}
	return out
}

// drop takes a message out; false when it does not wait here.
func (q *queue) drop(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, m := range q.list {
		if m.ID == id {
			q.list = append(q.list[:i:i], q.list[i+1:]...)
			return true
		}
	}
	return false
}
