package prompt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/hew-agent/hew/internal/backend/picture"
	"github.com/hew-agent/hew/internal/msg"
)

// maxDepth is how deep the JSON of a block may be nested. Servers bound the
// recursion of their readers, the strictest known at 128 for a whole request.
const maxDepth = 100

// filter decides about single blocks. It remembers what was costly to find out.
type filter struct {
	// withheld are the digests of blocks that the API has refused.
	withheld map[string]bool
	// fitted are images and documents that were looked at; pages counts those of documents.
	fitted map[msg.Block]msg.Block
	pages  map[msg.Block]int
}

func newFilter() *filter {
	return &filter{withheld: map[string]bool{}, fitted: map[msg.Block]msg.Block{}, pages: map[msg.Block]int{}}
}

// Digest names a block by what the API reads of it: the same content under
// another call id has the same digest.
func Digest(b msg.Block) string {
	h := sha256.New()
	switch b := b.(type) {
	case *msg.ToolUse:
		fmt.Fprintf(h, "tool_use %s %s", b.Name, b.Input)
	case *msg.ToolResult:
		fmt.Fprintf(h, "tool_result %t", b.IsError)
		for _, c := range b.Content {
			h.Write(c.JSON())
		}
	case *msg.Text, *msg.Thinking, *msg.Image, *msg.Document, *msg.Opaque:
		h.Write(b.JSON())
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// sound is b as it may be sent, nil when nothing of it may. m is the message
// that it stands in.
func (f *filter) sound(m *msg.Message, b msg.Block) msg.Block {
	switch b.(type) {
	case *msg.Image, *msg.Document:
		b = f.fit(m, b)
	case *msg.Text, *msg.Thinking, *msg.ToolUse, *msg.ToolResult, *msg.Opaque:
	}
	if b = mended(b); b == nil || len(f.withheld) == 0 {
		return b
	}
	for range 2 { // the text in the place of a block may be refused as well
		if !f.withheld[Digest(b)] {
			return b
		}
		if b = leftOut(m, b); b == nil {
			return nil
		}
	}
	return nil
}

// sent is sound for what the model sent, which holds no images, documents or results.
func (f *filter) sent(m *msg.Message, b msg.Block) msg.Block {
	switch b.(type) {
	case *msg.Image, *msg.Document, *msg.ToolResult:
		return nil
	case *msg.Text, *msg.Thinking, *msg.ToolUse, *msg.Opaque:
	}
	return f.sound(m, b)
}

func (f *filter) fit(m *msg.Message, b msg.Block) msg.Block {
	if now, ok := f.fitted[b]; ok {
		return now
	}
	now := picture.Stored(b, kept(m))
	f.fitted[b] = now
	return now
}

// kept says where the original of something left out can be found.
func kept(m *msg.Message) string {
	if m.ID == "" {
		return "it is kept in the session file"
	}
	return "it is kept in the session file, entry " + m.ID
}

// leftOut is what stands in the place of a block that the API refused.
func leftOut(m *msg.Message, b msg.Block) msg.Block {
	text := func(what string) *msg.Text {
		return msg.NewText("[" + what + " was left out here: the model's API refused it; " + kept(m) + "]")
	}
	switch b := b.(type) {
	case *msg.Text:
		return text("A text")
	case *msg.Image:
		return text("An image")
	case *msg.Document:
		return text("A document")
	case *msg.ToolResult:
		return msg.NewToolResult(b.ToolUseID, []msg.Block{text("The output of this call")}, msg.Outcome(b.IsError))
	case *msg.ToolUse:
		return msg.NewToolUse(b.ID, b.Name, json.RawMessage(`{}`))
	case *msg.Thinking, *msg.Opaque:
	}
	return nil
}

// mended takes out of a block what no API reads: cache marks of another time,
// halves of characters, zero bytes, JSON that is too deep or numbers that are
// none. The block itself comes back when it has nothing of that.
func mended(b msg.Block) msg.Block {
	raw := b.JSON()
	was := raw
	if bytes.Contains(raw, []byte(`"cache_control"`)) {
		raw = withoutMarks(raw)
	}
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	if i := bytes.Index(raw, []byte(`\u`)); i >= 0 {
		raw = wholeEscapes(raw)
	}
	if unreadable(raw) {
		return bare(b)
	}
	if len(was) == len(raw) && (len(raw) == 0 || &was[0] == &raw[0]) {
		return b
	}
	if _, ok := b.(*msg.Thinking); ok && !bytes.Contains(was, []byte(`"cache_control"`)) {
		return nil // signed: it goes back as it came or not at all
	}
	now, err := msg.DecodeBlock(raw)
	if err != nil {
		return nil
	}
	return now
}

// withoutMarks takes cache marks off a block and off the content of a tool result.
func withoutMarks(raw json.RawMessage) json.RawMessage {
	paths := []string{"cache_control"}
	n := int(gjson.GetBytes(raw, "content.#").Int())
	for i := range min(n, 1000) {
		paths = append(paths, "content."+strconv.Itoa(i)+".cache_control")
	}
	for _, p := range paths {
		if !gjson.GetBytes(raw, p).Exists() {
			continue
		}
		if now, err := sjson.DeleteBytes(raw, p); err == nil {
			raw = now
		}
	}
	return raw
}

// wholeEscapes replaces escapes of lone surrogates and of NUL by the
// replacement character; all of them are six bytes long.
func wholeEscapes(raw json.RawMessage) json.RawMessage {
	out := raw
	for i := 0; i+6 <= len(out); i++ {
		if out[i] != '\\' {
			continue
		}
		if out[i+1] != 'u' {
			i++ // the escaped character
			continue
		}
		v, err := strconv.ParseUint(string(out[i+2:i+6]), 16, 32)
		if err != nil {
			continue
		}
		if v >= 0xd800 && v < 0xdc00 && lowHalf(out[i+6:]) {
			i += 11
			continue
		}
		if v == 0 || v >= 0xd800 && v < 0xe000 {
			if &out[0] == &raw[0] {
				out = bytes.Clone(raw)
			}
			copy(out[i:], `\ufffd`)
		}
		i += 5
	}
	return out
}

func lowHalf(b []byte) bool {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return false
	}
	v, err := strconv.ParseUint(string(b[2:6]), 16, 32)
	return err == nil && v >= 0xdc00 && v < 0xe000
}

// unreadable tells whether JSON is nested too deep, or has a number that no
// reader can hold.
func unreadable(raw []byte) bool {
	depth, in := 0, false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if in {
			j := bytes.IndexAny(raw[i:], `"\`)
			if j < 0 {
				return true
			}
			if i += j; raw[i] == '\\' {
				i++
			} else {
				in = false
			}
			continue
		}
		switch {
		case c == '"':
			in = true
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		case c == '-' || c >= '0' && c <= '9':
			end := i + 1
			for end < len(raw) && bytes.IndexByte([]byte("0123456789.eE+-"), raw[end]) >= 0 {
				end++
			}
			if end-i > 300 {
				return true
			}
			if _, err := strconv.ParseFloat(string(raw[i:end]), 64); err != nil {
				return true
			}
			i = end - 1
		}
	}
	return false
}

// bare keeps of a block that cannot be read what hew has read of it.
func bare(b msg.Block) msg.Block {
	switch b := b.(type) {
	case *msg.Text:
		return msg.NewText(b.Text)
	case *msg.Image:
		return msg.NewImage(b.MediaType, b.Data())
	case *msg.ToolUse:
		return msg.NewToolUse(b.ID, b.Name, json.RawMessage(`{}`))
	case *msg.ToolResult:
		var content []msg.Block
		for _, c := range b.Content {
			if now := mended(c); now != nil {
				content = append(content, now)
			}
		}
		return msg.NewToolResult(b.ToolUseID, content, msg.Outcome(b.IsError))
	case *msg.Thinking, *msg.Document, *msg.Opaque:
	}
	return nil
}
