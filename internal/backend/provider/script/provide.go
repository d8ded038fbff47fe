package script

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/messages"
)

// Stream answers a request inside the process. See provider.Provider. The
// request is encoded and the answer decoded as if there were a wire between.
func (m *Model) Stream(ctx context.Context, r *provider.Request) iter.Seq2[provider.Part, error] {
	return func(yield func(provider.Part, error) bool) {
		if ctx.Err() != nil {
			yield(nil, ctx.Err())
			return
		}
		body := messages.Encode(r, nil)
		provider.ReportSent(ctx, int(body.Len()))
		in := incoming{body: body.Bytes(), side: r.Side, brk: r.Break}
		o := &direct{ctx: ctx, answer: m.c.AnswerTimeout, stall: m.c.StallTimeout, header: http.Header{}}
		o.decoder = messages.NewDecoder(messages.Config{
			RequestID: "", Events: r.Events, Yield: func(p provider.Part) bool { return yield(o.stamp(p), nil) },
		})
		o.split = messages.NewSplitter(o.decoder.Event)
		m.answer(in).play(counted{o, &m.sent})
		if err := o.result(); err != nil && !errors.Is(err, messages.ErrStopped) {
			yield(nil, err)
		}
	}
}

// CountTokens counts as the scripted model does.
func (m *Model) CountTokens(ctx context.Context, r *provider.Request) (int, error) {
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	a := m.answer(incoming{body: messages.EncodeCount(r).Bytes(), side: r.Side, brk: r.Break, count: true})
	if a.status != http.StatusOK {
		return 0, messages.Classify(a.status, http.Header{}, []byte(a.body), time.Now())
	}
	return strictCount(a.body)
}

func strictCount(body string) (int, error) {
	n := 0
	for _, c := range strings.TrimSuffix(strings.TrimPrefix(body, `{"input_tokens":`), "}") {
		if c < '0' || c > '9' {
			return 0, messages.NotAPI(http.StatusOK, []byte(body))
		}
		n = n*10 + int(c-'0')
	}
	return n, nil
}

// direct is an answer that goes straight into a decoder.
type direct struct {
	ctx     context.Context
	answer  time.Duration
	stall   time.Duration
	status  int
	kind    string
	header  http.Header
	decoder *messages.Decoder
	split   *messages.Splitter
	body    []byte // of an answer that is no stream
	err     error
	cut     bool
}

func (o *direct) head(status int, contentType string, headers map[string]string) {
	o.status, o.kind = status, contentType
	for k, v := range headers {
		o.header.Set(k, v)
	}
}

// stamp adds what the decoder could not know when it was made.
func (o *direct) stamp(p provider.Part) provider.Part {
	if s, ok := p.(provider.Started); ok {
		s.RequestID = o.header.Get("Request-Id")
		return s
	}
	return p
}

func (o *direct) write(b []byte) error {
	if o.err != nil {
		return o.err
	}
	if o.ctx.Err() != nil {
		o.err = o.ctx.Err()
		return o.err
	}
	if o.status/100 == 2 && strings.HasPrefix(o.kind, "text/event-stream") {
		o.err = o.split.Feed(b)
		return o.err
	}
	o.body = append(o.body, b...)
	return nil
}

// pause waits like a server would, under the client's stall watchdog.
func (o *direct) pause(d time.Duration) error {
	limit := o.stall
	if o.status == 0 {
		limit = o.answer
	}
	stalled := d < 0 || d > limit
	if stalled {
		d = limit
	}
	switch err := wait(o.ctx, d); {
	case err != nil:
		o.err = err
	case stalled && o.status == 0:
		o.err = &provider.Error{Class: provider.Timeout, Message: "the scripted model did not answer in time"}
	case stalled:
		o.err = &provider.Error{Class: provider.Stalled, Message: "the stream went silent"}
	}
	return o.err
}

func (o *direct) end(how ending) { o.cut = how == broken }

// result is the error of the finished answer, nil for a sound one.
func (o *direct) result() error {
	id := o.header.Get("Request-Id")
	switch {
	case o.err != nil:
		return typed(o.err)
	case o.status == 0 && o.cut:
		return &provider.Error{Class: provider.Connection, Message: "the scripted model broke the connection off", Err: io.EOF}
	case o.status == 0:
		return messages.NotAPI(http.StatusOK, nil)
	case o.status/100 != 2:
		return messages.Classify(o.status, o.header, o.body, time.Now())
	case strings.HasPrefix(o.kind, "application/json"):
		if o.cut {
			return messages.Truncated(id, io.ErrUnexpectedEOF)
		}
		return typed(o.decoder.Whole(o.body))
	case !strings.HasPrefix(o.kind, "text/event-stream"):
		return messages.NotAPI(o.status, o.body)
	}
	if err := o.split.End(); err != nil {
		return typed(err)
	}
	if o.decoder.Ended() {
		return nil
	}
	return messages.Truncated(id, io.ErrUnexpectedEOF)
}

// typed lets errors of the decoder and of the context through and makes the
// rest protocol errors.
func typed(err error) error {
	var e *provider.Error
	switch {
	case err == nil, errors.As(err, &e), errors.Is(err, messages.ErrStopped),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return &provider.Error{Class: provider.Protocol, Message: "the endpoint sent " + err.Error()}
}
