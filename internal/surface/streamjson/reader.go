package streamjson

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/hew-agent/hew/internal/msg"
)

// BadLine is an input line that cannot be understood. The session ends: what
// the host meant is lost, and going on would hide it.
type BadLine struct {
	Line int
	Err  error
}

// Error names the line.
func (b *BadLine) Error() string {
	return fmt.Sprintf("input line %d is not a message of the stream-json protocol: %v", b.Line, b.Err)
}

// Unwrap returns the cause.
func (b *BadLine) Unwrap() error { return b.Err }

// maxLine bounds an input line; images of many megabytes arrive as one line.
const maxLine = 256 << 20

// item is one line of the host that waits its turn: a message, or a control request.
type item struct {
	message *msg.Message
	id      json.RawMessage // a text or a number, as it came
	request json.RawMessage
}

// reader takes lines from the host. It never waits: answers go to whoever waits
// for them at once, everything else into the inbox.
type reader struct {
	host  *Host
	inbox *inbox
	newID func() string
	now   func() time.Time
}

// run reads to the end of the input.
func (r *reader) run(in io.Reader) { r.end(r.read(in)) }

// end says that nothing follows.
func (r *reader) end(err error) {
	if r.host != nil {
		r.host.leave()
	}
	r.inbox.close(err)
}

func (r *reader) read(in io.Reader) error {
	br := bufio.NewReaderSize(in, 64<<10)
	for n := 1; ; n++ {
		line, err := readLine(br)
		if err != nil && !errors.Is(err, io.EOF) {
			return &BadLine{n, err}
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")) // some programs write a mark first
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if err := r.line(text); err != nil {
				return &BadLine{n, err}
			}
		}
		if err != nil {
			return nil
		}
	}
}

func readLine(br *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("longer than %d MB", maxLine>>20)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func (r *reader) line(text []byte) error {
	var in struct {
		Type      string          `json:"type"`
		UUID      string          `json:"uuid"`
		Message   json.RawMessage `json:"message"`
		RequestID json.RawMessage `json:"request_id"`
		Request   json.RawMessage `json:"request"`
		Response  json.RawMessage `json:"response"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	switch in.Type {
	case "user":
		return r.user(in.UUID, in.Message)
	case "control_request":
		r.inbox.put(item{id: in.RequestID, request: in.Request})
	case "control_response":
		if r.host != nil {
			r.host.response(in.Response)
		}
	case "control_cancel_request":
		if r.host != nil {
			r.host.withdraw(in.RequestID)
		}
	}
	// Lines of any other type are left for hosts newer than this binary.
	return nil
}

func (r *reader) user(id string, raw json.RawMessage) error {
	m, err := msg.Decode(raw)
	if err != nil {
		return err
	}
	if m.Role != msg.RoleUser {
		return fmt.Errorf("a message of role %q where a user message is expected", m.Role)
	}
	if m.Blocks, err = spoken(m.Blocks); err != nil {
		return err
	}
	if len(m.Blocks) == 0 {
		return errors.New("the user message is empty")
	}
	if id == "" {
		id = r.newID()
	}
	m.ID, m.Time = id, r.now()
	r.inbox.put(item{message: m})
	return nil
}

// spoken leaves out empty text, which no API takes, and the host's cache marks:
// hew sets its own, and the API takes only a few. An image that the API would
// refuse is an error, since it would spoil every later request of the session.
func spoken(in []msg.Block) ([]msg.Block, error) {
	var out []msg.Block
	for _, b := range in {
		if t, ok := b.(*msg.Text); ok && t.Text == "" {
			continue
		}
		b, err := unmarked(b)
		if err != nil {
			return nil, err
		}
		if img, ok := b.(*msg.Image); ok {
			if err := usable(img); err != nil {
				return nil, err
			}
		}
		out = append(out, b)
	}
	return out, nil
}

func unmarked(b msg.Block) (msg.Block, error) {
	const mark = "cache_control"
	if !gjson.GetBytes(b.JSON(), mark).Exists() {
		return b, nil
	}
	data, err := sjson.DeleteBytes(bytes.Clone(b.JSON()), mark)
	if err != nil {
		return nil, fmt.Errorf("leave out the cache mark of a block: %w", err)
	}
	return msg.DecodeBlock(data)
}
