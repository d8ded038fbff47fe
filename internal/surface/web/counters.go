package web

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sync/atomic"
)

// counters are what the server has seen since it began.
type counters struct {
	requests, logins, refused, opened, lines, answers, received, sent, stalled atomic.Int64
	sockets                                                                    atomic.Int64 // at the moment
}

// metrics writes what is counted in the text form of Prometheus.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request, _ *guest) (any, error) {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	states := map[string]int{idle: 0, running: 0, waiting: 0}
	questions := 0
	for _, m := range s.all() {
		m.mu.Lock()
		if st := m.now(); st != asleep {
			states[st]++
		}
		questions += len(m.asked.open)
		m.mu.Unlock()
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	put := func(name, kind, help string, value any) {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s %v\n", name, help, name, kind, name, value)
	}
	put("hew_uptime_seconds", "gauge", "Seconds since the start.", s.c.Now().Sub(s.began).Seconds())
	_, _ = io.WriteString(w, "# HELP hew_sessions Open sessions.\n# TYPE hew_sessions gauge\n")
	for _, st := range []string{idle, running, waiting} {
		fmt.Fprintf(w, "hew_sessions{state=%q} %d\n", st, states[st])
	}
	put("hew_questions", "gauge", "Questions that wait for an answer.", questions)
	put("hew_sockets", "gauge", "Connected sockets.", s.count.sockets.Load())
	put("hew_requests_total", "counter", "HTTP requests.", s.count.requests.Load())
	put("hew_logins_total", "counter", "Clients that signed in.", s.count.logins.Load())
	put("hew_logins_refused_total", "counter", "Wrong tokens and passwords.", s.count.refused.Load())
	put("hew_sessions_opened_total", "counter", "Sessions that were opened.", s.count.opened.Load())
	put("hew_lines_total", "counter", "Lines that sessions wrote.", s.count.lines.Load())
	put("hew_answers_total", "counter", "Questions that were answered.", s.count.answers.Load())
	put("hew_socket_received_total", "counter", "Messages of clients.", s.count.received.Load())
	put("hew_socket_sent_total", "counter", "Messages to clients.", s.count.sent.Load())
	put("hew_socket_stalled_total", "counter", "Clients cut off because they took nothing.", s.count.stalled.Load())
	put("hew_goroutines", "gauge", "Goroutines.", runtime.NumGoroutine())
	put("hew_heap_bytes", "gauge", "Bytes of live memory.", mem.HeapAlloc)
	return nil, nil
}
