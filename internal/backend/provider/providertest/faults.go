package providertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/msg"
)

// short is the patience of tests that wait for it to end, soon bounds what
// must happen at once.
const (
	short = 400 * time.Millisecond
	soon  = 20 * time.Second
)

func class(err error) provider.Class {
	var e *provider.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Class
}

func typedErrors(t *testing.T, newProvider Make) {
	for _, c := range []struct {
		fault string
		want  provider.Error
	}{
		{`"status":529,"message":"Overloaded"`, provider.Error{Class: provider.Overloaded, Status: 529, Type: "overloaded_error"}},
		{`"status":429,"message":"slow down","headers":{"retry-after":"7"}`, provider.Error{Class: provider.RateLimited, Status: 429, RetryAfter: 7 * time.Second}},
		{`"status":429,"message":"slow down","headers":{"retry-after-ms":"1500","retry-after":"7"}`, provider.Error{Class: provider.RateLimited, Status: 429, RetryAfter: 1500 * time.Millisecond}},
		{`"status":500,"message":"oops"`, provider.Error{Class: provider.Server, Status: 500, Type: "api_error"}},
		{`"status":503,"type":"overloaded_error","message":"busy"`, provider.Error{Class: provider.Overloaded, Status: 503}},
		{`"status":504,"type":"timeout_error","message":"late"`, provider.Error{Class: provider.Timeout, Status: 504}},
		{`"status":408,"message":"late"`, provider.Error{Class: provider.Timeout, Status: 408}},
		{`"status":401,"message":"invalid x-api-key"`, provider.Error{Class: provider.Auth, Status: 401}},
		{`"status":402,"type":"billing_error","message":"pay"`, provider.Error{Class: provider.Billing, Status: 402}},
		{`"status":403,"message":"no"`, provider.Error{Class: provider.Forbidden, Status: 403}},
		{`"status":404,"message":"model: nope"`, provider.Error{Class: provider.NotFound, Status: 404, ModelUnknown: true}},
		{`"status":404,"type":"x","message":"no such page"`, provider.Error{Class: provider.NotFound, Status: 404}},
		{`"status":413,"message":"too big"`, provider.Error{Class: provider.BodyTooLarge, Status: 413}},
		{`"status":400,"message":"prompt is too long: 210000 tokens > 200000 maximum"`, provider.Error{Class: provider.TooLong, Status: 400}},
		{`"status":400,"message":"Your credit balance is too low"`, provider.Error{Class: provider.Billing, Status: 400}},
		{`"status":400,"message":"messages.0: something else"`, provider.Error{Class: provider.Invalid, Status: 400}},
		{`"status":301,"message":"moved","headers":{"location":"http://elsewhere.example/"}`, provider.Error{Class: provider.Protocol, Status: 301}},
	} {
		p, _ := play(t, newProvider, `{"steps":[{"fault":{"do":"status",`+c.fault+`}}]}`)
		r := ask(t.Context(), p, request())
		var e *provider.Error
		if !errors.As(r.err, &e) {
			t.Errorf("%s: %v", c.fault, r.err)
			continue
		}
		if e.Class != c.want.Class || e.Status != c.want.Status || c.want.Type != "" && e.Type != c.want.Type ||
			e.RetryAfter != c.want.RetryAfter || e.ModelUnknown != c.want.ModelUnknown {
			t.Errorf("%s:\n got %+v\nwant %+v", c.fault, *e, c.want)
		}
		if len(r.kinds) != 0 {
			t.Errorf("%s: parts %v", c.fault, r.kinds)
		}
	}
}

func sizes(t *testing.T, newProvider Make) {
	p, _ := play(t, newProvider, `{"limits":{"window":5000,"sum":true},"steps":[{"reply":[{"text":"x"}]}]}`)
	r := ask(t.Context(), p, request(msg.User("", time.Time{}, strings.Repeat("word ", 5000))))
	if class(r.err) != provider.TooLong {
		t.Errorf("a long prompt: %v", r.err)
	}
	q := request(msg.User("", time.Time{}, strings.Repeat("word ", 2000)))
	r = ask(t.Context(), p, q)
	var e *provider.Error
	if !errors.As(r.err, &e) || e.Class != provider.OutputTooLarge || e.MaxTokens <= 0 {
		t.Fatalf("a large cap: %v", r.err)
	}
	q.MaxTokens = e.MaxTokens
	ask(t.Context(), p, q).sound(t)
}

const twoBlocks = `"reply":[{"text":"first"},{"tool":"T","id":"t1","input":{"a":1}}]`

func errorEvent(t *testing.T, newProvider Make) {
	p, _ := play(t, newProvider, `{"steps":[{`+twoBlocks+`,"fault":{"do":"error","at":"in:2","type":"overloaded_error","message":"Overloaded"}}]}`)
	r := ask(t.Context(), p, request())
	var e *provider.Error
	if !errors.As(r.err, &e) || e.Class != provider.Overloaded || e.Message != "Overloaded" || e.Status != 529 {
		t.Errorf("error: %+v", r.err)
	}
	if len(r.done) != 1 || r.ended {
		t.Errorf("parts: %v", r.kinds)
	}
}

func cuts(t *testing.T, newProvider Make) {
	for _, c := range []struct {
		at   string
		want provider.Class
		done int
	}{
		{"headers", provider.Connection, 0},
		{"start", provider.Truncated, 0},
		{"in:1", provider.Truncated, 0},
		{"block:1", provider.Truncated, 1},
		{"in:2", provider.Truncated, 1},
		{"block:2", provider.Truncated, 2},
		{"stop", provider.Truncated, 2},
		{"byte:100", provider.Truncated, 0},
	} {
		for _, clean := range []bool{false, true} {
			if clean && c.at == "headers" {
				continue // an empty page: "answers of no API"
			}
			p, _ := play(t, newProvider, fmt.Sprintf(`{"steps":[{%s,"fault":{"do":"cut","at":%q,"clean":%t}}]}`, twoBlocks, c.at, clean))
			r := ask(t.Context(), p, request())
			if class(r.err) != c.want || len(r.done) != c.done || r.ended {
				t.Errorf("cut at %s, clean %t: %v after %v", c.at, clean, r.err, r.kinds)
			}
		}
	}
	p, _ := play(t, newProvider, `{"steps":[{`+twoBlocks+`,"fault":{"do":"cut","at":"byte:40"}}]}`)
	q := request()
	q.Whole = true
	if r := ask(t.Context(), p, q); class(r.err) != provider.Truncated {
		t.Errorf("a whole reply, cut: %v", r.err)
	}
}

// everyByte cuts a reply after each of its bytes: what was whole has been
// delivered, and the rest is an error.
func everyByte(t *testing.T, newProvider Make) {
	p, m := play(t, newProvider, `{"steps":[{`+twoBlocks+`}]}`)
	full := ask(t.Context(), p, request()).sound(t)
	size := int(m.Sent())
	var steps []string
	for n := range size {
		steps = append(steps, fmt.Sprintf(`{%s,"fault":{"do":"cut","at":"byte:%d","clean":true}}`, twoBlocks, n))
	}
	p, _ = play(t, newProvider, `{"steps":[`+strings.Join(steps, ",")+`]}`)
	for n := range size {
		r := ask(t.Context(), p, request())
		if !strings.HasPrefix(full.blocks(), r.blocks()) {
			t.Fatalf("cut at %d: blocks\n%s", n, r.blocks())
		}
		if r.err == nil && !r.ended {
			t.Fatalf("cut at %d: neither end nor error", n)
		}
		if c := class(r.err); r.err != nil && c != provider.Truncated && (n > 0 || c != provider.Protocol) {
			t.Fatalf("cut at %d: %v", n, r.err)
		}
	}
}

func stalls(t *testing.T, newProvider Make) {
	for _, c := range []struct {
		at   string
		want provider.Class
		done int
	}{
		{"headers", provider.Timeout, 0},
		{"start", provider.Stalled, 0},
		{"block:1", provider.Stalled, 1},
		{"in:2", provider.Stalled, 1},
		{"stop", provider.Stalled, 2},
	} {
		patience := Patience{time.Minute, short}
		if c.at == "headers" {
			patience = Patience{short, time.Minute}
		}
		p, _ := playWith(t, newProvider, patience, fmt.Sprintf(`{"steps":[{%s,"fault":{"do":"stall","at":%q}}]}`, twoBlocks, c.at))
		r := ask(t.Context(), p, request())
		if class(r.err) != c.want || len(r.done) != c.done {
			t.Errorf("stall at %s: %v after %v", c.at, r.err, r.kinds)
		}
	}
	// A pause below the limit is no stall.
	p, _ := play(t, newProvider, fmt.Sprintf(`{"steps":[{%s,"fault":{"do":"stall","at":"block:1","ms":50}}]}`, twoBlocks))
	ask(t.Context(), p, request()).sound(t)
}

func garbage(t *testing.T, newProvider Make) {
	for _, fault := range []string{
		`"body":"<html><body>Sign in to the network</body></html>","content_type":"text/html"`,
		`"body":"{\"hello\":","content_type":"application/json"`,
		`"body":"{\"type\":\"completion\"}","content_type":"application/json"`,
		`"body":"data: {nope\n\n","content_type":"text/event-stream"`,
		`"at":"block:1","body":"data: {nope\n\n"`,
		`"at":"block:1","body":"data: {\"type\":\"content_block_stop\",\"index\":7}\n\n"`,
		`"body":""`,
	} {
		p, _ := play(t, newProvider, `{"steps":[{`+twoBlocks+`,"fault":{"do":"raw",`+fault+`}}]}`)
		r := ask(t.Context(), p, request())
		if class(r.err) != provider.Protocol {
			t.Errorf("%s: %v", fault, r.err)
		}
	}
	// Noise that the protocol allows does no harm.
	for _, noise := range []string{
		`: a comment\n\n`, `event: ping\ndata: {\"type\": \"ping\"}\n\n`, `data: {\"type\":\"kind_of_tomorrow\"}\r\n\r\n`, `\n\n\n`,
		`data: {\"type\":\ndata: \"ping\"}\n\n`, `id: 5\nretry: 100\n\n`,
	} {
		p, _ := play(t, newProvider, `{"steps":[{`+twoBlocks+`,"fault":{"do":"raw","at":"block:1","body":"`+noise+`"}}]}`)
		if r := ask(t.Context(), p, request()); r.err != nil || len(r.done) != 2 {
			t.Errorf("%s: %v", noise, r.err)
		}
	}
}

func drip(t *testing.T, newProvider Make) {
	p, _ := play(t, newProvider, `{"steps":[{`+twoBlocks+`,"fault":{"do":"drip","bytes":3}}]}`)
	ask(t.Context(), p, request()).sound(t)
}

func cancellation(t *testing.T, newProvider Make) {
	for _, at := range []string{"headers", "start", "block:1"} {
		ctx, cancel := context.WithTimeout(t.Context(), short/4)
		p, _ := play(t, newProvider, fmt.Sprintf(`{"steps":[{%s,"fault":{"do":"stall","at":%q}}]}`, twoBlocks, at))
		begin := time.Now()
		r := ask(ctx, p, request())
		cancel()
		if !errors.Is(r.err, context.DeadlineExceeded) || class(r.err) != "" {
			t.Errorf("at %s: %v", at, r.err)
		}
		if d := time.Since(begin); d > soon {
			t.Errorf("at %s: it took %s", at, d)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p, _ := play(t, newProvider, `{"steps":[{"reply":[{"text":"x"}]}]}`)
	if r := ask(ctx, p, request()); !errors.Is(r.err, context.Canceled) || len(r.kinds) != 0 {
		t.Errorf("cancelled before: %v %v", r.err, r.kinds)
	}
}

func leaving(t *testing.T, newProvider Make) {
	p, _ := play(t, newProvider, `{"steps":[{"loop":true,"reply":[{"text":"word ","times":2000}]}]}`)
	for range 3 {
		n := 0
		for _, err := range p.Stream(t.Context(), request()) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == 5 {
				break
			}
		}
	}
	ask(t.Context(), p, request()).sound(t)
}

// backpressure: while the consumer does not ask, the server must not be able to
// send on beyond what fits into buffers, and the pause must not count as a stall.
func backpressure(t *testing.T, newProvider Make) {
	word := strings.Repeat("x", 10_000) // large pieces: it is the bytes that fill the buffers
	const times = 1_500
	p, m := playWith(t, newProvider, Patience{time.Minute, 2 * time.Second},
		fmt.Sprintf(`{"steps":[{"reply":[{"text":%q,"times":%d}]}]}`, word, times))
	n := 0
	for part, err := range p.Stream(t.Context(), request()) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := part.(provider.BlockDelta); !ok {
			continue
		}
		if n++; n > 1 {
			continue
		}
		if sent := settled(t, m.Sent, 2300*time.Millisecond); sent >= times*int64(len(word)) {
			t.Errorf("the server could send everything (%d bytes) to a consumer that did not ask", sent)
		}
	}
	if n != times {
		t.Errorf("%d deltas, want %d", n, times)
	}
}

// settled waits until a figure has stood still for as long as d.
func settled(t *testing.T, figure func() int64, d time.Duration) int64 {
	t.Helper()
	tick := time.NewTicker(d / 20)
	defer tick.Stop()
	last, since := figure(), time.Now()
	for deadline := time.Now().Add(soon); time.Now().Before(deadline); {
		<-tick.C
		if now := figure(); now != last {
			last, since = now, time.Now()
		} else if time.Since(since) >= d {
			return last
		}
	}
	t.Fatal("the server never paused")
	return 0
}
