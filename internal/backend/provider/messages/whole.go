package messages

import (
	"fmt"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/hew-agent/hew/internal/backend/provider"
)

// Whole takes a reply that came in one piece and delivers it as the parts of a
// stream would be, without deltas. Errors are those of Event.
func (d *Decoder) Whole(body []byte) error {
	v := gjson.ParseBytes(body)
	if !gjson.ValidBytes(body) || !v.IsObject() {
		return protocolError("an answer that is not JSON: " + snippet(body))
	}
	switch kind := v.Get("type").Str; {
	case kind == "error", kind != "message" && v.Get("error").Exists():
		return eventError(v, d.c.RequestID)
	case kind != "message" || !v.Get("content").IsArray():
		return protocolError("an answer that is not a message: " + snippet(body))
	}
	if err := d.wholeStart(body); err != nil {
		return err
	}
	blocks := v.Get("content").Array()
	for i, b := range blocks {
		start := fmt.Appendf(nil, `{"type":"content_block_start","index":%d,"content_block":%s}`, i, b.Raw)
		if err := d.Event(start); err != nil {
			return err
		}
		stop := fmt.Appendf(nil, `{"type":"content_block_stop","index":%d}`, i)
		if err := d.Event(stop); err != nil {
			return err
		}
	}
	end := fmt.Appendf(nil, `{"type":"message_delta","delta":{"stop_reason":%s,"stop_sequence":%s},"usage":%s}`,
		orNull(v.Get("stop_reason")), orNull(v.Get("stop_sequence")), orNull(v.Get("usage")))
	if err := d.Event(end); err != nil {
		return err
	}
	return d.Event([]byte(`{"type":"message_stop"}`))
}

func (d *Decoder) wholeStart(body []byte) error {
	bare, err := sjson.SetRawBytes(body, "content", []byte("[]"))
	if err != nil {
		return protocolError("an answer that cannot be read: " + err.Error())
	}
	if bare, err = sjson.SetRawBytes(bare, "stop_reason", []byte("null")); err != nil {
		return protocolError("an answer that cannot be read: " + err.Error())
	}
	return d.Event(fmt.Appendf(nil, `{"type":"message_start","message":%s}`, bare))
}

func orNull(v gjson.Result) string {
	if v.Raw == "" {
		return "null"
	}
	return v.Raw
}

// Truncated is the error for a stream that ended before message_stop.
func Truncated(requestID string, cause error) *provider.Error {
	return &provider.Error{
		Class:     provider.Truncated,
		Message:   "the reply was cut off before its end",
		RequestID: requestID,
		Err:       cause,
	}
}
