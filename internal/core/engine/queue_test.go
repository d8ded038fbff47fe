package engine

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/msg"
)

// Row ST-3: 1000 messages of 8 writers arrive once and in each writer's order,
// whatever the reader's boundaries are.
func TestQueueKeepsEveryMessageOnceInOrder(t *testing.T) {
	const writers, each = 8, 125
	var q queue
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				q.add(msg.User("", time.Time{}, fmt.Sprintf("%d %d", w, i)))
			}
		})
	}
	stop := make(chan struct{})
	go func() { wg.Wait(); close(stop) }()
	next := map[string]int{}
	total := 0
	for open := true; open; {
		select {
		case <-stop:
			open = false
		default:
		}
		for _, m := range q.take() {
			w, n, _ := strings.Cut(m.Text(), " ")
			if n != fmt.Sprint(next[w]) {
				t.Fatalf("writer %s: got %s, want %d", w, n, next[w])
			}
			next[w]++
			total++
		}
	}
	if total != writers*each {
		t.Fatalf("%d messages arrived", total)
	}
}
