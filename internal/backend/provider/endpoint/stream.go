package endpoint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/messages"
)

const (
	readBuffer = 64 << 10
	// maxWhole bounds a reply in one piece, maxErrorBody an error answer.
	maxWhole     = 64 << 20
	maxErrorBody = 64 << 10
	// drainTime is how long the end of a finished answer is waited for, so that
	// the connection can be used again; drainBytes bounds what is read then.
	drainTime  = 100 * time.Millisecond
	drainBytes = 4 << 10
)

// Causes for which the adapter itself gives up a request.
var (
	errNoAnswer = errors.New("no answer in time")
	errStalled  = errors.New("the stream went silent")
	errDrained  = errors.New("the answer did not end after its last event")
)

// Stream makes one request. See provider.Provider.
func (c *Client) Stream(ctx context.Context, r *provider.Request) iter.Seq2[provider.Part, error] {
	return func(yield func(provider.Part, error) bool) {
		x := c.newExchange(ctx, r)
		defer x.close()
		err := x.run(func(p provider.Part) bool { return yield(p, nil) })
		if err != nil && !errors.Is(err, messages.ErrStopped) {
			yield(nil, err)
		}
	}
}

// exchange is one request and its answer, with the watchdog over both.
type exchange struct {
	c      *Client
	r      *provider.Request
	caller context.Context
	ctx    context.Context
	cancel context.CancelCauseFunc
	body   io.Closer
	secret string
}

func (c *Client) newExchange(ctx context.Context, r *provider.Request) *exchange {
	x := &exchange{c: c, r: r, caller: ctx}
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	return x
}

func (x *exchange) close() {
	x.cancel(nil)
	if x.body != nil {
		_ = x.body.Close() // the answer has been dealt with
	}
}

// watch cancels the exchange with cause when d passes; the caller stops it.
func (x *exchange) watch(d time.Duration, cause error) *time.Timer {
	if d < 0 {
		d = 1<<63 - 1
	}
	return time.AfterFunc(d, func() { x.cancel(cause) })
}

func (x *exchange) run(yield func(provider.Part) bool) error {
	path, body, err := x.c.dialect.Request(x.r)
	if err != nil {
		return x.decodeError(err)
	}
	provider.ReportSent(x.caller, int(body.Len()))
	resp, err := x.open(path, body)
	if err != nil {
		return err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	d := x.c.dialect.Reply(messages.Config{
		RequestID: requestID(resp.Header), Events: x.r.Events, Yield: yield,
	}, x.r, kind)
	switch kind {
	case "text/event-stream", "application/vnd.amazon.eventstream":
		return x.events(resp, d)
	case "application/json":
		return x.whole(resp, d, nil)
	}
	return x.guess(resp, d)
}

// open sends the body and returns an answer with a 2xx status. A refused
// credential is renewed once, never more: 401 is not hammered.
func (x *exchange) open(to string, b *messages.Body) (*http.Response, error) {
	a, err := x.auth("")
	if err != nil {
		return nil, err
	}
	resp, err := x.send(to, b, a)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return x.success(resp, err)
	}
	renewed, rerr := x.auth(a.Secret)
	if rerr != nil {
		return nil, x.unrenewed(resp, rerr)
	}
	if renewed.Secret == a.Secret {
		return x.success(resp, nil)
	}
	_, _ = io.CopyN(io.Discard, resp.Body, maxErrorBody) // only for the connection's sake
	_ = resp.Body.Close()
	return x.success(x.send(to, b, renewed))
}

// unrenewed is the refusal of a credential that could not be renewed: why not is
// what a person can do something about.
func (x *exchange) unrenewed(resp *http.Response, why error) error {
	_, err := x.success(resp, nil)
	var refused, cause *provider.Error
	if errors.As(err, &refused) && errors.As(why, &cause) && cause.Class == provider.Credential && cause.Message != "" {
		refused.Fix = strings.ToUpper(cause.Message[:1]) + cause.Message[1:]
	}
	return err
}

func (x *exchange) auth(rejected string) (Auth, error) {
	if x.c.c.Auth == nil {
		return Auth{}, nil
	}
	a, err := x.c.c.Auth(x.ctx, rejected)
	switch {
	case x.caller.Err() != nil:
		return Auth{}, x.caller.Err()
	case err != nil:
		return Auth{}, x.scrub(&provider.Error{Class: provider.Credential, Message: err.Error(), Err: err})
	}
	x.secret = a.Secret
	return a, nil
}

func (x *exchange) send(to string, b *messages.Body, a Auth) (*http.Response, error) {
	hr, err := x.request(to, b, a)
	var e *provider.Error
	if errors.As(err, &e) {
		return nil, x.scrub(e)
	}
	if err != nil {
		return nil, x.scrub(&provider.Error{Class: provider.Protocol, Message: err.Error()})
	}
	guard := x.watch(x.c.c.HeaderTimeout, errNoAnswer)
	defer guard.Stop()
	resp, err := x.c.http.Do(hr)
	if err != nil {
		return nil, x.transportError(err)
	}
	x.body = resp.Body
	if resp.Header.Get("Content-Encoding") == "gzip" {
		resp.Body = &unzipped{from: resp.Body}
	}
	return resp, nil
}

func (x *exchange) success(resp *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	if resp.StatusCode/100 == 3 {
		return nil, x.scrub(x.c.redirected(resp))
	}
	body, err := x.readAll(resp.Body, maxErrorBody)
	if err != nil && x.caller.Err() != nil {
		return nil, err
	}
	return nil, x.scrub(x.c.dialect.Classify(resp.StatusCode, resp.Header, body, x.c.c.Now()))
}

// read is one Read under the stall watchdog. The watchdog sleeps while the
// consumer works, so that a slow one only slows the server down.
func (x *exchange) read(r io.Reader, p []byte, guard *time.Timer) (int, error) {
	if d := x.c.c.StallTimeout; d > 0 {
		guard.Reset(d)
		defer guard.Stop()
	}
	return r.Read(p)
}

func (x *exchange) events(resp *http.Response, d Reply) error {
	guard := x.watch(-1, errStalled)
	defer guard.Stop()
	buf := make([]byte, readBuffer)
	for {
		n, err := x.read(resp.Body, buf, guard)
		if n > 0 {
			if err := d.Feed(buf[:n]); err != nil {
				return x.decodeError(err)
			}
		}
		if d.Ended() {
			x.drain(resp.Body, err)
			return nil
		}
		if err != nil {
			return x.cut(resp, d, err)
		}
	}
}

// cut ends a stream that was not complete when reading failed with cause.
func (x *exchange) cut(resp *http.Response, d Reply, cause error) error {
	if x.caller.Err() != nil {
		return x.caller.Err()
	}
	if err := d.End(); err != nil {
		return x.decodeError(err)
	}
	if d.Ended() {
		return nil
	}
	if errors.Is(context.Cause(x.ctx), errStalled) {
		return x.scrub(&provider.Error{
			Class: provider.Stalled, Message: errStalled.Error(), RequestID: requestID(resp.Header), Err: errStalled,
		})
	}
	if errors.Is(cause, io.EOF) {
		cause = io.ErrUnexpectedEOF
	}
	return x.scrub(messages.Truncated(requestID(resp.Header), cause))
}

// drain reads the end of a finished answer so that its connection is kept.
func (x *exchange) drain(r io.Reader, err error) {
	if err != nil {
		return
	}
	guard := x.watch(drainTime, errDrained)
	defer guard.Stop()
	_, _ = io.CopyN(io.Discard, r, drainBytes) // failing only costs the connection
}

func (x *exchange) readAll(r io.Reader, limit int64) ([]byte, error) {
	guard := x.watch(-1, errStalled)
	defer guard.Stop()
	var out bytes.Buffer
	_, err := out.ReadFrom(readerFunc(func(p []byte) (int, error) {
		if left := limit - int64(out.Len()); left <= 0 {
			return 0, io.EOF
		} else if int64(len(p)) > left {
			p = p[:left]
		}
		return x.read(r, p, guard)
	}))
	switch {
	case x.caller.Err() != nil:
		return out.Bytes(), x.caller.Err()
	case err != nil:
		return out.Bytes(), x.scrub(messages.Truncated("", err))
	}
	return out.Bytes(), nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// whole takes a reply in one piece; head is what was read of it already.
func (x *exchange) whole(resp *http.Response, d Reply, head []byte) error {
	body, err := x.readAll(io.MultiReader(bytes.NewReader(head), resp.Body), maxWhole)
	if err != nil {
		return err
	}
	return x.decodeError(d.Whole(body))
}

// guess looks at the first bytes of an answer whose type says nothing.
func (x *exchange) guess(resp *http.Response, d Reply) error {
	head, err := x.head(resp.Body)
	if err != nil {
		return err
	}
	text := trimHead(head)
	switch {
	case bytes.HasPrefix(text, []byte("{")):
		return x.whole(resp, d, head)
	case bytes.HasPrefix(text, []byte("event:")), bytes.HasPrefix(text, []byte("data:")), bytes.HasPrefix(text, []byte(":")):
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(head), resp.Body), resp.Body}
		return x.events(resp, d)
	}
	return x.scrub(x.notAPI(resp.StatusCode, head))
}

// notAPI is the error for an answer that is no API's.
func (x *exchange) notAPI(status int, head []byte) *provider.Error {
	e := messages.NotAPI(status, head)
	if x.c.c.Address != "ANTHROPIC_BASE_URL" {
		e.Message = strings.ReplaceAll(e.Message, "a Messages API answer", "an answer of a model's API")
		e.Fix = "Check " + x.c.c.Address
	}
	return e
}

// head reads until the first bytes tell what follows.
func (x *exchange) head(r io.Reader) ([]byte, error) {
	guard := x.watch(-1, errStalled)
	defer guard.Stop()
	buf := make([]byte, 512)
	n := 0
	for n < len(buf) && len(trimHead(buf[:n])) < len("event:") {
		k, err := x.read(r, buf[n:], guard)
		n += k
		switch {
		case err == nil:
		case x.caller.Err() != nil:
			return nil, x.caller.Err()
		case errors.Is(err, io.EOF):
			return buf[:n], nil
		default:
			return nil, x.scrub(messages.Truncated("", err))
		}
	}
	return buf[:n], nil
}

func trimHead(b []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), " \t\r\n")
}

func (x *exchange) decodeError(err error) error {
	var e *provider.Error
	if errors.As(err, &e) {
		return x.scrub(e)
	}
	if err != nil && !errors.Is(err, messages.ErrStopped) {
		return x.scrub(&provider.Error{Class: provider.Protocol, Message: "the endpoint sent " + err.Error()})
	}
	return err
}

func requestID(h http.Header) string {
	if id := h.Get("Request-Id"); id != "" {
		return id
	}
	return h.Get("X-Request-Id")
}
