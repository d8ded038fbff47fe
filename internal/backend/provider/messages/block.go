package messages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/hew-agent/hew/internal/msg"
)

// openBlock is a block that is still arriving. The start event's bytes are
// kept and patched at the end, so that members unknown to hew survive. The
// buffers hold the insides of JSON strings, escapes and all.
type openBlock struct {
	start                            []byte
	text, thinking, signature, input []byte
	citations                        []string
}

// finish builds the block. malformed is the text of a tool input that is not a
// JSON object; the block then has the input {}.
func (b *openBlock) finish() (block msg.Block, malformed string, err error) {
	raw := b.start
	for _, f := range []struct {
		name  string
		inner []byte
	}{{"text", b.text}, {"thinking", b.thinking}, {"signature", b.signature}} {
		if len(f.inner) == 0 {
			continue
		}
		if raw, err = b.patchString(raw, f.name, f.inner); err != nil {
			return nil, "", err
		}
	}
	if raw, malformed, err = b.patchInput(raw); err != nil {
		return nil, "", err
	}
	for _, c := range b.citations {
		if !gjson.GetBytes(raw, "citations").IsArray() {
			if raw, err = sjson.SetRawBytes(raw, "citations", []byte("[]")); err != nil {
				return nil, "", fmt.Errorf("citations: %w", err)
			}
		}
		if raw, err = sjson.SetRawBytes(raw, "citations.-1", []byte(c)); err != nil {
			return nil, "", fmt.Errorf("citations: %w", err)
		}
	}
	block, err = decodeBlock(raw)
	return block, malformed, err
}

// patchString appends to the string that the start event already held.
func (b *openBlock) patchString(raw []byte, name string, inner []byte) ([]byte, error) {
	if old := gjson.GetBytes(raw, name); old.Type == gjson.String && old.Raw != `""` {
		inner = append([]byte(old.Raw[1:len(old.Raw)-1]), inner...)
	}
	out, err := sjson.SetRawBytes(raw, name, canonical(inner))
	if err != nil {
		return nil, fmt.Errorf("member %q: %w", name, err)
	}
	return out, nil
}

func (b *openBlock) patchInput(raw []byte) (out []byte, malformed string, err error) {
	kind := gjson.GetBytes(raw, "type").Str
	if len(b.input) == 0 {
		if kind == "tool_use" && !gjson.GetBytes(raw, "input").IsObject() {
			raw, err = sjson.SetRawBytes(raw, "input", emptyObject())
		}
		return raw, "", err
	}
	text := unquote(b.input)
	input := json.RawMessage(strings.TrimSpace(text))
	switch {
	case len(input) == 0:
		input = emptyObject()
	case !gjson.ValidBytes(input) || input[0] != '{':
		input, malformed = emptyObject(), text
	}
	if out, err = sjson.SetRawBytes(raw, "input", input); err != nil {
		return nil, "", fmt.Errorf("tool input: %w", err)
	}
	return out, malformed, nil
}

// canonical quotes the inside of a JSON string. Servers that escape every
// letter outside ASCII would make transcripts unreadable: those escapes go.
func canonical(inner []byte) []byte {
	if bytes.Contains(inner, []byte(`\u`)) || bytes.Contains(inner, []byte(`\/`)) {
		return msg.Encode(unquote(inner))
	}
	out := make([]byte, 0, len(inner)+2)
	return append(append(append(out, '"'), inner...), '"')
}

// unquote returns the value of a JSON string from its inside.
func unquote(inner []byte) string {
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	return gjson.Parse(`"` + string(inner) + `"`).String()
}
