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
