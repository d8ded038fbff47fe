package script

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider/messages"
)

// errOver ends the sending of an answer that a fault has finished.
var errOver = errors.New("the answer is over")

// out is where an answer goes: an HTTP response, or the decoder of a provider.
type out interface {
	// head begins the answer.
	head(status int, contentType string, headers map[string]string)
	// write sends bytes at once. An error says that the client has left.
	write([]byte) error
	// pause waits; d < 0 waits until the client leaves.
	pause(d time.Duration) error
	// end closes the answer: as the end of a sound one, or by breaking off.
	end(ending)
}

type ending int

const (
	orderly ending = iota
	broken
)

// answer is what a request is answered with: an error, a page, or a reply.
type answer struct {
	status      int
	contentType string
	headers     map[string]string
	body        string
	// rendered is set for a reply.
	rendered *rendered
	whole    bool
	fault    *plan
	delay    time.Duration
	pace     time.Duration
}

func failure(status int, kind, message string) *answer {
	return &answer{
		status: status, contentType: "application/json",
		body: `{"type":"error","error":{"type":` + quote(kind) + `,"message":` + quote(message) + `}}`,
	}
}

// counted tells sent how many bytes went out.
type counted struct {
	out
	sent *atomic.Int64
}

func (c counted) write(b []byte) error {
	err := c.out.write(b)
	if err == nil {
		c.sent.Add(int64(len(b)))
	}
	return err
}

// play sends an answer, faults and all.
func (a *answer) play(o out) {
	w := &wire{out: o, fault: a.fault}
	if err := a.send(w); err == nil {
		o.end(orderly)
	}
}

func (a *answer) send(w *wire) error {
	if a.delay > 0 {
		if err := w.pause(a.delay); err != nil {
			return err
		}
	}
	if a.rendered == nil {
		w.head(a.status, a.contentType, a.headers)
		return w.write([]byte(a.body))
	}
	if err := w.at("headers", 0); err != nil {
		return err
	}
	if a.whole {
		return a.sendWhole(w)
	}
	w.head(200, "text/event-stream; charset=utf-8", a.headers)
	return a.sendStream(w)
}

func (a *answer) sendWhole(w *wire) error {
	body := a.rendered.whole()
	if f := w.fault; f != nil && f.Do != "drip" && f.point != "byte" && f.point != "headers" {
		if f.Do == "error" {
			e := failure(500, f.Type, f.Message)
			w.head(e.status, e.contentType, a.headers)
			return w.write([]byte(e.body))
		}
		half := *f // a place in a stream is the middle of a reply in one piece
		half.point, half.n = "byte", len(body)/2
		w.fault = &half
	}
	w.head(200, "application/json", a.headers)
	return w.write([]byte(body))
}

func (a *answer) sendStream(w *wire) error {
	p := a.rendered
	start := `{"type":"message_start","message":` + p.message(nil, p.startUsage, "null") + `}`
	if err := w.event("message_start", start); err != nil {
		return err
	}
	if err := w.at("start", 0); err != nil {
		return err
	}
	for i, b := range p.blocks {
		if b.delay > 0 {
			if err := w.pause(b.delay); err != nil {
				return err
			}
		}
		if err := a.sendBlock(w, i, b); err != nil {
			return err
		}
	}
	end := fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%s,"stop_sequence":null},"usage":%s}`,
		quote(p.stopReason), p.usage)
	if err := w.event("message_delta", end); err != nil {
		return err
	}
	if err := w.at("stop", 0); err != nil {
		return err
	}
	return w.event("message_stop", `{"type":"message_stop"}`)
}

func (a *answer) sendBlock(w *wire, i int, b renderedBlock) error {
	start := fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, b.start)
	if err := w.event("content_block_start", start); err != nil {
		return err
	}
	half := len(b.deltas) / 2
	last, event := "", []byte(nil)
	for k, d := range b.deltas {
		if k == half {
			if err := w.at("in", i+1); err != nil {
				return err
			}
		}
		if d != last || event == nil {
			last = d
			event = frame("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, d))
		}
		if a.pace > 0 {
			if err := w.pause(a.pace); err != nil {
				return err
			}
		}
		if err := w.write(event); err != nil {
			return err
		}
	}
	if len(b.deltas) == 0 {
		if err := w.at("in", i+1); err != nil {
			return err
		}
	}
	stop := fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i)
	if err := w.event("content_block_stop", stop); err != nil {
		return err
	}
	return w.at("block", i+1)
}

// wire is an out with a fault in it.
type wire struct {
	out
	fault *plan
	sent  int
	fired bool
}

func frame(name, data string) []byte {
	return []byte("event: " + name + "\ndata: " + data + "\n\n")
}

func (w *wire) event(name, data string) error { return w.write(frame(name, data)) }

func (w *wire) write(b []byte) error {
	f := w.fault
	if f == nil {
		return w.out.write(b)
	}
	if f.Do == "drip" {
		return w.drip(b)
	}
	if f.point == "byte" && !w.fired && w.sent+len(b) > f.n {
		n := f.n - w.sent
		if err := w.pass(b[:n]); err != nil {
			return err
		}
		if err := w.fire(); err != nil {
			return err
		}
		b = b[n:]
	}
	return w.pass(b)
}

func (w *wire) pass(b []byte) error {
	w.sent += len(b)
	if len(b) == 0 {
		return nil
	}
	return w.out.write(b)
}

func (w *wire) drip(b []byte) error {
	n := max(1, w.fault.Bytes)
	for len(b) > 0 {
		k := min(n, len(b))
		if err := w.out.write(b[:k]); err != nil {
			return err
		}
		b = b[k:]
		if err := w.pause(ms(w.fault.MS)); err != nil {
			return err
		}
	}
	return nil
}

// at lets the fault happen if this is its place.
func (w *wire) at(point string, n int) error {
	f := w.fault
	if f == nil || w.fired || f.Do == "drip" || f.point != point || f.n != n {
		return nil
	}
	return w.fire()
}

func (w *wire) fire() error {
	w.fired = true
	f := w.fault
	switch f.Do {
	case "status":
		e := failure(f.Status, kindOr(f.Type, f.Status), f.Message)
		w.head(f.Status, "application/json", f.Headers)
		return w.finish([]byte(e.body), orderly)
	case "cut":
		if f.Clean {
			return w.finish(nil, orderly)
		}
		return w.finish(nil, broken)
	case "stall":
		if f.MS > 0 {
			return w.pause(ms(f.MS))
		}
		return w.pause(-1)
	case "error":
		e := failure(0, kindOr(f.Type, messages.StatusOverloaded), f.Message)
		return w.finish(frame("error", e.body), orderly)
	case "raw":
		if f.point != "headers" {
			return w.out.write([]byte(f.Body))
		}
		w.head(or(f.Status, 200), f.ContentType, f.Headers)
		return w.finish([]byte(f.Body), orderly)
	}
	return nil
}

func (w *wire) finish(b []byte, how ending) error {
	if len(b) > 0 {
		if err := w.out.write(b); err != nil {
			return err
		}
	}
	w.end(how)
	return errOver
}

func or(n, instead int) int {
	if n == 0 {
		return instead
	}
	return n
}

// kindOr is the API's error type for a status, unless one is stated.
func kindOr(kind string, status int) string {
	switch {
	case kind != "":
		return kind
	case status == 401:
		return "authentication_error"
	case status == 403:
		return "permission_error"
	case status == 404:
		return "not_found_error"
	case status == 413:
		return "request_too_large"
	case status == 429:
		return "rate_limit_error"
	case status == messages.StatusOverloaded:
		return "overloaded_error"
	case status >= 500:
		return "api_error"
	}
	return "invalid_request_error"
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }
