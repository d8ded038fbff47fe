package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// reply is one answer of the model: text in one or many deltas, or calls.
type reply struct {
	deltas []string
	calls  []call
	// every is the time between two deltas, each of which then says when it was
	// sent: a letter and the nanoseconds. 0 sends them at once and as they are.
	every time.Duration
	// pace is the time between two deltas that are sent as they are.
	pace time.Duration
}

// call is one use of a tool.
type call struct {
	tool  string
	input map[string]string
}

func text(words string) reply { return reply{deltas: []string{words}} }

func reading(path string) reply {
	return reply{calls: []call{{readName, map[string]string{"file_path": path}}}}
}

// readName is the tool that hew's model must call to have a file read.
const readName = "Read"

// send streams the reply as server-sent events. Each text delta is a write of its own, as from a real model; the events that end the
// reply go together in the last one, before which the time is taken: after it, the client may be at work already.
func (r reply) send(w http.ResponseWriter, id string) (left time.Time, err error) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Request-Id", "req_"+id)
	out := stream{w: w, flush: http.NewResponseController(w)}
	out.event("message_start", map[string]any{"message": map[string]any{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": modelName, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": map[string]int{"input_tokens": 1000, "output_tokens": 1},
	}})
	stop := "end_turn"
	if len(r.calls) == 0 {
		out.event("content_block_start", map[string]any{"index": 0, "content_block": map[string]string{"type": "text", "text": ""}})
		var tick *time.Ticker
		if r.every > 0 {
			tick = time.NewTicker(r.every)
			defer tick.Stop()
		}
		for _, d := range r.deltas {
			if tick != nil {
				<-tick.C
				d = fmt.Sprintf("t%d ", time.Now().UnixNano())
			}
			if r.pace > 0 {
				<-time.After(r.pace)
			}
			out.delta(0, map[string]string{"type": "text_delta", "text": d})
			if err := out.send(); err != nil {
				return left, err
			}
		}
		out.event("content_block_stop", map[string]any{"index": 0})
	}
	for i, c := range r.calls {
		stop = "tool_use"
		if err := out.call(i, id, c); err != nil {
			return left, err
		}
	}
	out.event("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]int{"output_tokens": 20},
	})
	out.event("message_stop", map[string]any{})
	left = time.Now()
	return left, out.send()
}

// stream collects events between two flushes.
type stream struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	buf   []byte
	err   error
}

// call adds a call as the index-th block of the message id.
func (s *stream) call(index int, id string, c call) error {
	input, err := json.Marshal(c.input)
	if err != nil {
		return err
	}
	use := "toolu_" + id
	if index > 0 {
		use += fmt.Sprintf("_%d", index)
	}
	s.event("content_block_start", map[string]any{"index": index, "content_block": map[string]any{
		"type": "tool_use", "id": use, "name": c.tool, "input": map[string]any{},
	}})
	s.delta(index, map[string]string{"type": "input_json_delta", "partial_json": string(input)})
	s.event("content_block_stop", map[string]any{"index": index})
	return nil
}

func (s *stream) delta(index int, d map[string]string) {
	s.event("content_block_delta", map[string]any{"index": index, "delta": d})
}

func (s *stream) event(kind string, fields map[string]any) {
	fields["type"] = kind
	data, err := json.Marshal(fields)
	if err != nil {
		s.err = fmt.Errorf("encode %s: %w", kind, err)
		return
	}
	s.buf = fmt.Appendf(s.buf, "event: %s\ndata: %s\n\n", kind, data)
}

func (s *stream) send() error {
	if s.err != nil {
		return s.err
	}
	if _, err := s.w.Write(s.buf); err != nil {
		return err
	}
	s.buf = s.buf[:0]
	return s.flush.Flush()
}
