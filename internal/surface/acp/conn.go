package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/msg"
)

// Error is an error of JSON-RPC. Codes are those of JSON-RPC 2.0 and of the
// Agent Client Protocol.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error is the text.
func (e *Error) Error() string { return e.Message }

const (
	codeParse      = -32700
	codeRequest    = -32600
	codeMethod     = -32601
	codeParams     = -32602
	codeInternal   = -32603
	codeNotFound   = -32002
	codeCancelled  = -32800
	cancelRequest  = "$/cancel_request"
	requestIDField = "requestId"
)

func badParams(format string, args ...any) *Error {
	return &Error{codeParams, fmt.Sprintf(format, args...)}
}

// frame is one line in either direction.
type frame struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// maxLine bounds an input line, in bytes; pictures of many megabytes arrive as one line.
const maxLine = 256 << 20

var (
	errClientGone = errors.New("the client has closed the connection")
	errTooLong    = fmt.Errorf("a line longer than %d MB", maxLine>>20)
)

// conn is the connection to the client. Its reader never waits for a request to
// be served: each runs on a goroutine of its own, so that answers and
// cancellations always get through.
type conn struct {
	in io.Reader
	// serve carries a request out. It is called in order of arrival and must
	// return at once; what it returns runs beside the reader.
	serve func(ctx context.Context, method string, params json.RawMessage) (func() (any, error), *Error)
	// notified takes a notification up; it must return at once.
	notified func(method string, params json.RawMessage)

	out   sync.Mutex // held while a line is written
	w     io.Writer
	wrong error       // why nothing can be written any more
	bye   func(error) // ends the connection

	mu      sync.Mutex
	gone    error
	last    int
	pending map[string]chan frame
	serving map[string]context.CancelCauseFunc
	beside  sync.WaitGroup
}

// run reads until the input ends or ctx does, then ends what still runs and
// waits for it.
func (c *conn) run(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- c.read(ctx) }() // ends with the input, which the process's end closes
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	c.leave()
	c.bye(errClientGone)
	c.beside.Wait()
	return err
}

// leave says that no question will be answered any more.
func (c *conn) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = errClientGone
	for id, ch := range c.pending {
		delete(c.pending, id)
		close(ch)
	}
}

func (c *conn) read(ctx context.Context) error {
	br := bufio.NewReaderSize(c.in, 64<<10)
	for ctx.Err() == nil {
		line, err := readLine(br)
		if errors.Is(err, errTooLong) {
			c.write(frame{ID: null(), Error: &Error{codeRequest, "the request is " + err.Error()}})
			continue
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			c.line(ctx, line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read from the client: %w", err)
		}
	}
	return nil
}

// readLine reads a line. One that is too long is skipped to its end.
func readLine(br *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := br.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, errTooLong
		default:
			return line, err
		}
	}
}

func null() json.RawMessage { return json.RawMessage("null") }

// line takes one line up.
func (c *conn) line(ctx context.Context, text []byte) {
	var f frame
	switch err := json.Unmarshal(text, &f); {
	case err != nil && json.Valid(text):
		c.write(frame{ID: null(), Error: &Error{codeRequest, "not a request of JSON-RPC 2.0: " + err.Error()}})
	case err != nil:
		c.write(frame{ID: null(), Error: &Error{codeParse, "not JSON: " + err.Error()}})
	case f.Method == "" && f.ID != nil && (f.Result != nil || f.Error != nil):
		c.answered(f)
	case f.Method == "":
		c.write(frame{ID: orNull(f.ID), Error: &Error{codeRequest, "neither a request nor an answer"}})
	case f.Method == cancelRequest:
		c.called(f.Params)
	case f.ID == nil:
		c.notified(f.Method, f.Params)
	default:
		c.request(ctx, f)
	}
}

func orNull(id json.RawMessage) json.RawMessage {
	if id == nil {
		return null()
	}
	return id
}

// request begins to serve a request. An id that is being served is refused: its
// answer could not be told from the other's.
func (c *conn) request(ctx context.Context, f frame) {
	id := string(f.ID)
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	_, twice := c.serving[id]
	if !twice {
		c.serving[id] = cancel
	}
	c.mu.Unlock()
	if twice {
		cancel(nil)
		c.write(frame{ID: f.ID, Error: &Error{codeRequest, "a request with this id is under way"}})
		return
	}
	do, fault := c.serve(ctx, f.Method, f.Params)
	c.beside.Go(func() {
		var res any
		var err error
		if fault != nil {
			err = fault
		} else {
			res, err = do()
		}
		c.mu.Lock()
		delete(c.serving, id)
		c.mu.Unlock()
		if errors.Is(context.Cause(ctx), errCalled) {
			res, err = nil, &Error{codeCancelled, "cancelled"}
		}
		cancel(nil)
		c.respond(f.ID, res, err)
	})
}

var errCalled = errors.New("the client has cancelled the request")

// called ends a request that the client does not want any more.
func (c *conn) called(params json.RawMessage) {
	var in map[string]json.RawMessage
	if json.Unmarshal(params, &in) != nil {
		return
	}
	c.mu.Lock()
	cancel := c.serving[string(in[requestIDField])]
	c.mu.Unlock()
	if cancel != nil {
		cancel(errCalled)
	}
}

func (c *conn) respond(id json.RawMessage, res any, err error) {
	if f, ok := res.(followed); ok && err == nil {
		c.write(frame{ID: id, Result: msg.Encode(f.res)})
		f.then()
		return
	}
	if err == nil {
		c.write(frame{ID: id, Result: msg.Encode(res)})
		return
	}
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{codeInternal, err.Error()}
	}
	c.write(frame{ID: id, Error: e})
}

// answered routes an answer to the question that waits for it; an answer to
// nothing is ignored.
func (c *conn) answered(f frame) {
	c.mu.Lock()
	ch := c.pending[string(f.ID)]
	delete(c.pending, string(f.ID))
	c.mu.Unlock()
	if ch != nil {
		ch <- f
	}
}

// call asks the client and reads its answer into out, which may be nil. When ctx
// or the patience ends first, the question is taken back.
func (c *conn) call(ctx context.Context, patience time.Duration, method string, in, out any) error {
	if patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, patience, fmt.Errorf("the client has not answered %s within %v", method, patience))
		defer cancel()
	}
	ch := make(chan frame, 1)
	c.mu.Lock()
	if c.gone != nil {
		defer c.mu.Unlock()
		return c.gone
	}
	c.last++
	id := strconv.Itoa(c.last)
	c.pending[id] = ch
	c.mu.Unlock()
	c.write(frame{ID: json.RawMessage(id), Method: method, Params: msg.Encode(in)})
	select {
	case f, ok := <-ch:
		switch {
		case !ok:
			return errClientGone
		case f.Error != nil:
			return fmt.Errorf("%s: the client says: %w", method, f.Error)
		case out == nil:
			return nil
		}
		if err := json.Unmarshal(f.Result, out); err != nil {
			return fmt.Errorf("%s: the client's answer: %w", method, err)
		}
		return nil
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.pending, id)
		c.mu.Unlock()
		c.notify(cancelRequest, map[string]json.RawMessage{requestIDField: json.RawMessage(id)})
		return context.Cause(ctx)
	}
}

func (c *conn) notify(method string, params any) {
	c.write(frame{Method: method, Params: msg.Encode(params)})
}

// write writes a line. Whoever writes waits for a slow reader, so that what
// waits to be read is bounded; a reader that has gone ends the connection.
func (c *conn) write(f frame) {
	f.Version = "2.0"
	line := append(msg.Encode(f), '\n')
	c.out.Lock()
	defer c.out.Unlock()
	if c.wrong != nil {
		return
	}
	if _, err := c.w.Write(line); err != nil {
		c.wrong = fmt.Errorf("write to the client: %w", err)
		c.bye(c.wrong)
	}
}
