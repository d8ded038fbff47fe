package script

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"net/url"
	"path"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

func rawOf(v gjson.Result) []byte { return []byte(v.Raw) }

func errorRaw(_ int, v gjson.Result) []byte { return []byte(v.Raw) }

// placed puts the model that the path names into the body, after a look at what
// the cloud demands and forbids there.
func placed(body []byte, version, model string) ([]byte, error) {
	v := gjson.ParseBytes(body)
	if got := v.Get("anthropic_version").Str; got != version {
		return nil, fmt.Errorf("anthropic_version: %q is required, not %q", version, got)
	}
	if v.Get("model").Exists() {
		return nil, errors.New("model: Extra inputs are not permitted")
	}
	out, err := sjson.SetBytes(body, "model", model)
	if err != nil {
		return nil, err
	}
	if out, err = sjson.DeleteBytes(out, "anthropic_beta"); err != nil {
		return nil, err
	}
	return sjson.DeleteBytes(out, "anthropic_version")
}

func vertexFront() *front {
	return &front{
		stream: "text/event-stream", whole: rawOf, failure: errorRaw,
		event: func(v gjson.Result) []byte { return dataLine(v.Raw) },
		request: func(body []byte, at string) ([]byte, error) {
			model, method, _ := strings.Cut(path.Base(at), ":")
			if gjson.GetBytes(body, "stream").Bool() != (method == "streamRawPredict") {
				return nil, errors.New("stream does not fit the method " + method)
			}
			return placed(body, "vertex-2023-10-16", model)
		},
	}
}

func bedrockFront() *front {
	return &front{
		stream: "application/vnd.amazon.eventstream", whole: rawOf, event: bedrockEvent,
		failure: func(_ int, v gjson.Result) []byte {
			return []byte(`{"message":` + quote(v.Get("error.message").String()) + `}`)
		},
		request: func(body []byte, at string) ([]byte, error) {
			if gjson.GetBytes(body, "stream").Exists() {
				return nil, errors.New("stream: Extra inputs are not permitted")
			}
			model, err := url.PathUnescape(path.Base(path.Dir(at)))
			if err != nil {
				return nil, err
			}
			if body, err = placed(body, "bedrock-2023-05-31", model); err != nil {
				return nil, err
			}
			return sjson.SetBytes(body, "stream", path.Base(at) != "invoke")
		},
	}
}

// bedrockEvent puts an event into a frame: an error becomes an exception.
func bedrockEvent(v gjson.Result) []byte {
	if v.Get("type").Str != "error" {
		return awsFrame(map[string]string{":event-type": "chunk", ":message-type": "event"},
			[]byte(`{"bytes":`+quote(base64.StdEncoding.EncodeToString([]byte(v.Raw)))+`}`))
	}
	kind := "internalServerException"
	switch v.Get("error.type").Str {
	case "overloaded_error":
		kind = "serviceUnavailableException"
	case "rate_limit_error":
		kind = "throttlingException"
	}
	return awsFrame(map[string]string{":exception-type": kind, ":message-type": "exception"}, []byte(`{"message":`+quote(v.Get("error.message").Str)+`}`))
}

// awsFrame encodes one message of the AWS event stream: two lengths and their
// checksum, headers, payload, and the checksum of all.
func awsFrame(headers map[string]string, payload []byte) []byte {
	var h bytes.Buffer
	for _, k := range []string{":event-type", ":exception-type", ":message-type"} {
		v, ok := headers[k]
		if !ok {
			continue
		}
		h.WriteByte(byte(len(k)))
		h.WriteString(k)
		h.WriteByte(7) // a string
		h.Write(binary.BigEndian.AppendUint16(nil, uint16(len(v))))
		h.WriteString(v)
	}
	out := binary.BigEndian.AppendUint32(nil, uint32(16+h.Len()+len(payload)))
	out = binary.BigEndian.AppendUint32(out, uint32(h.Len()))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
	out = append(append(out, h.Bytes()...), payload...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}
