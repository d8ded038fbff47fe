package session

import (
	"bytes"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/msg"
)

// decoded is one chained line that was read again, whole this time.
type decoded struct {
	envelope
	message replyFields
	blocks  []msg.Block // with memory of their own
	bad     int         // elements of the content that are no blocks
	time    time.Time

	scratch []byte // where texts are put together
	keep    bool   // blocks may keep the memory of the line
}

// envelope holds the fields of an entry that count beside its message, as
// they stand in the line; they are valid until the next line is decoded.
type envelope struct {
	timestamp, cwd, branch, version, client, request, requested, block []byte
	attachment, rendered                                               []byte
	meta, summary, apiError                                            bool
}

func (e *envelope) field(key string, val []byte) {
	yes := string(val) == "true"
	switch key {
	case "timestamp":
		e.timestamp = val
	case "cwd":
		e.cwd = val
	case "gitBranch":
		e.branch = val
	case "version":
		e.version = val
	case "client":
		e.client = val
	case "requestId":
		e.request = val
	case "requestedModel":
		e.requested = val
	case "apiBlockIndex":
		e.block = val
	case "attachment":
		e.attachment = val
	case "rendered":
		e.rendered = val
	case "isMeta":
		e.meta = yes
	case "isCompactSummary":
		e.summary = yes
	case "isApiErrorMessage":
		e.apiError = yes
	}
}

// replyFields are those of a message beside its content.
type replyFields struct{ id, role, model, stop, usage []byte }

func (r *replyFields) field(key string, val []byte) {
	switch key {
	case "id":
		r.id = val
	case "role":
		r.role = val
	case "model":
		r.model = val
	case "stop_reason":
		r.stop = val
	case "usage":
		r.usage = val
	}
}

// decode reads entry i; nil when it is damaged, which is reported. Everything
// is validated and read in one pass over the line: a resume of many megabytes
// waits for this.
func (b *builder) decode(i int) *decoded {
	r := b.recs[i]
	line, err := b.read(r.off, r.size)
	if err != nil {
		b.err = err
		return nil
	}
	if !utf8.Valid(line) {
		// Latin-1, or a cut character: the model API refuses a request with such bytes.
		b.report(r.line, "bytes that are not UTF-8 were replaced")
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	d := &decoded{scratch: b.scratch, keep: b.keep}
	defer func() { b.scratch = d.scratch }()
	at := skipSpace(line, 0)
	end := walkObject(line, at, func(key []byte, at int) int {
		if string(key) == "message" {
			return d.readMessage(line, at)
		}
		end := validValue(line, at, 0)
		if end > 0 {
			d.envelope.field(string(key), line[at:end])
		}
		return end
	})
	if end < 0 || skipSpace(line, end) != len(line) {
		b.report(r.line, "left out: it is not valid JSON")
		return nil
	}
	if d.bad > 0 {
		b.report(r.line, "left out %d elements of its content: no content blocks", d.bad)
	}
	d.time, _ = time.Parse(time.RFC3339, str(d.timestamp))
	b.c.Cwd = or(str(d.cwd), b.c.Cwd)
	b.c.Branch = or(str(d.branch), b.c.Branch)
	b.c.Version = or(str(d.version), b.c.Version)
	return d
}

func (d *decoded) readMessage(b []byte, at int) int {
	if b[at] != '{' {
		return validValue(b, at, 0)
	}
	return walkObject(b, at, func(key []byte, at int) int {
		if string(key) == "content" {
			return d.readContent(b, at)
		}
		end := validValue(b, at, 0)
		if end > 0 {
			d.message.field(string(key), b[at:end])
		}
		return end
	})
}

// readContent reads message.content, a text or a list of blocks.
func (d *decoded) readContent(b []byte, at int) int {
	d.blocks, d.bad = nil, 0
	switch b[at] {
	case '[':
		return walkArray(b, at, func(at int) int {
			p := d.readPiece(b, at, 0)
			if p.end < 0 {
				return -1
			}
			raw := b[at:p.end]
			if !d.keep {
				raw = bytes.Clone(raw) // one copy for the block and all in it
			}
			if block := p.block(raw, at); block != nil {
				d.blocks = append(d.blocks, block)
			} else {
				d.bad++
			}
			return p.end
		})
	case '"':
		text, end := d.readString(b, at+1)
		if text != "" && end > 0 {
			d.blocks = []msg.Block{msg.NewText(text)}
		}
		return end
	}
	return validValue(b, at, 0)
}

// piece is a block in a line: where it stands and, for the two kinds that
// transcripts mostly consist of, what is in it.
type piece struct {
	at, end int
	kind    string
	text    *string
	use     []byte // tool_use_id
	failed  bool
	content contentForm
	list    []piece
}

// contentForm tells what the content of a tool result is.
type contentForm uint8

const (
	noContent contentForm = iota
	listContent
	otherContent
)

// nestedPieces is how deep blocks are looked into; a tool result holds blocks, and they hold none.
const nestedPieces = 2

func (d *decoded) readPiece(b []byte, at, depth int) piece {
	p := piece{at: at}
	if b[at] != '{' || depth >= nestedPieces {
		p.end = validValue(b, at, 0)
		return p
	}
	p.end = walkObject(b, at, func(key []byte, at int) int {
		if string(key) == "content" && b[at] == '[' {
			p.content, p.list = listContent, nil
			return walkArray(b, at, func(at int) int {
				in := d.readPiece(b, at, depth+1)
				p.list = append(p.list, in)
				return in.end
			})
		}
		if string(key) == "text" && b[at] == '"' {
			text, end := d.readString(b, at+1)
			p.text = &text
			return end
		}
		end := validValue(b, at, 0)
		if end > 0 {
			p.field(string(key), b[at:end])
		}
		return end
	})
	return p
}

func (p *piece) field(key string, val []byte) {
	switch key {
	case "type":
		p.kind = str(val)
	case "text":
		p.text = nil
	case "tool_use_id":
		p.use = val
	case "is_error":
		p.failed = string(val) == "true"
	case "content":
		p.content = otherContent
	}
}

// block makes the block; raw is its wire form, base the place of raw in the
// line. nil means that it is none.
func (p *piece) block(raw []byte, base int) msg.Block {
	own := raw[p.at-base : p.end-base : p.end-base]
	switch {
	case p.kind == "text" && p.text != nil:
		return msg.RestoreText(own, *p.text)
	case p.kind == "tool_result" && p.content != otherContent:
		var content []msg.Block
		for i := range p.list {
			c := p.list[i].block(raw, base)
			if c == nil {
				return opaque(own)
			}
			content = append(content, c)
		}
		return msg.RestoreToolResult(own, str(p.use), content, msg.Outcome(p.failed))
	}
	return opaque(own)
}

// opaque leaves everything else to the codec.
func opaque(raw []byte) msg.Block {
	block, err := msg.DecodeValid(raw)
	if err != nil {
		return nil
	}
	return block
}

// readString validates and reads the string whose first byte is at i; end is
// the index after its closing quote, or -1.
func (d *decoded) readString(b []byte, i int) (text string, end int) {
	at := plainEnd(b, i)
	if at < len(b) && b[at] == '"' {
		return string(b[i:at]), at + 1
	}
	out := d.scratch[:0]
	defer func() { d.scratch = out }()
	for {
		out = append(out, b[i:at]...)
		if at >= len(b) || b[at] < 0x20 {
			return "", -1
		}
		if b[at] == '"' {
			return string(out), at + 1
		}
		if i = validEscape(b, at+1); i < 0 {
			return "", -1
		}
		if b[at+1] != 'u' {
			out = append(out, unescaped(b[at+1]))
		} else {
			var r rune
			r, i = escapedRune(b, at+2)
			out = utf8.AppendRune(out, r)
		}
		at = plainEnd(b, i)
	}
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// escapedRune reads the four digits at i, which are valid, and the second half
// of a pair if one follows; end is the index after what was read.
func escapedRune(b []byte, i int) (r rune, end int) {
	r = hex4(b[i:])
	if !utf16.IsSurrogate(r) {
		return r, i + 4
	}
	if i+5 < len(b) && b[i+4] == '\\' && b[i+5] == 'u' {
		if after := validEscape(b, i+5); after > 0 {
			if whole := utf16.DecodeRune(r, hex4(b[i+6:])); whole != utf8.RuneError {
				return whole, after
			}
		}
	}
	return utf8.RuneError, i + 4
}

func hex4(b []byte) rune {
	var r rune
	for _, c := range b[:4] {
		switch {
		case c <= '9':
			r = r<<4 | rune(c-'0')
		default:
			r = r<<4 | rune(c|0x20-'a'+10)
		}
	}
	return r
}

// members are the fields of a small object.
func members(object []byte) map[string][]byte {
	out := make(map[string][]byte, 4)
	eachField(object, func(key, val []byte) bool {
		out[string(key)] = val
		return true
	})
	return out
}

// texts are the strings of a rendered attachment, however they are wrapped.
func texts(rendered []byte) []string {
	var out []string
	eachElement(rendered, func(val []byte) bool {
		v := gjson.ParseBytes(val)
		if c := v.Get("content"); c.Type == gjson.String {
			v = c
		}
		if v.Type == gjson.String && v.String() != "" {
			out = append(out, v.String())
		}
		return true
	})
	return out
}
