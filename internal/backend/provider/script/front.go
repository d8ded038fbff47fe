package script

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/hew-agent/hew/internal/backend/provider/messages"
)

// front lets the model speak another wire format: it turns a request into one of
// the Messages API, and the answer back.
type front struct {
	// request is nil's error where the body is not of the format.
	request func(body []byte, path string) ([]byte, error)
	// stream is the media type of streams. event makes what goes out for one event,
	// whole what goes out for a reply in one piece, failure for an error.
	stream  string
	event   func(v gjson.Result) []byte
	whole   func(v gjson.Result) []byte
	failure func(status int, v gjson.Result) []byte
}

// frontFor chooses by the path, nil for the Messages API itself.
func frontFor(path string) *front {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return chatFront()
	case strings.HasSuffix(path, "/responses"):
		return responsesFront()
	case strings.HasSuffix(path, "enerateContent"):
		return geminiFront()
	case strings.HasSuffix(path, "/invoke-with-response-stream"), strings.HasSuffix(path, "/invoke"):
		return bedrockFront()
	case strings.HasSuffix(path, "awPredict"):
		return vertexFront()
	}
	return nil
}

func (m *Model) serveFront(w http.ResponseWriter, r *http.Request, f *front) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		body, err = f.request(body, r.URL.Path)
	}
	if id := r.Header.Get("X-Hew-Session"); err == nil && id != "" && fromLoopback(r) && !gjson.GetBytes(body, "metadata.user_id").Exists() {
		body, err = sjson.SetBytes(body, "metadata.user_id", id)
	}
	t := &translated{w: w, f: f}
	if err != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(f.failure(400, gjson.Parse(`{"error":{"type":"invalid_request_error","message":`+quote(err.Error())+`}}`)))
		return
	}
	q := r.Clone(r.Context())
	q.URL.Path = "/v1/messages"
	q.Body = io.NopCloser(bytes.NewReader(body))
	q.Header.Set("Anthropic-Version", "2023-06-01")
	if k := r.Header.Get("X-Goog-Api-Key"); k != "" {
		q.Header.Set("X-Api-Key", k)
	}
	defer t.close()
	m.ServeHTTP(t, q)
	t.sound = true
}

// translated is the answer on its way into the other format.
type translated struct {
	w      http.ResponseWriter
	f      *front
	split  *messages.Splitter
	status int
	body   bytes.Buffer // of an answer in one piece
	sound  bool
}

// Header returns the headers of the answer.
func (t *translated) Header() http.Header { return t.w.Header() }

// WriteHeader begins the answer; one in one piece waits for its end.
func (t *translated) WriteHeader(status int) {
	t.status = status
	if !strings.HasPrefix(t.Header().Get("Content-Type"), "text/event-stream") {
		return
	}
	t.split = messages.NewSplitter(t.send)
	t.Header().Set("Content-Type", t.f.stream)
	t.w.WriteHeader(status)
}

func (t *translated) send(data []byte) error {
	out := data
	if gjson.ValidBytes(data) {
		out = t.f.event(gjson.Parse(string(data)))
	} else {
		out = append(append([]byte("data: "), data...), "\n\n"...)
	}
	_, err := t.w.Write(out)
	return err
}

// Write takes bytes of the Messages API.
func (t *translated) Write(b []byte) (int, error) {
	if t.split == nil {
		return t.body.Write(b)
	}
	return len(b), t.split.Feed(b)
}

// FlushError passes on what was written.
func (t *translated) FlushError() error {
	if t.split == nil {
		return nil
	}
	return http.NewResponseController(t.w).Flush()
}

// close sends an answer in one piece, as far as it came.
func (t *translated) close() {
	if t.split != nil || t.status == 0 {
		return
	}
	out := t.body.Bytes()
	if v := gjson.ParseBytes(out); gjson.ValidBytes(out) && v.IsObject() {
		switch {
		case v.Get("type").Str == "error":
			out = t.f.failure(t.status, v)
		case v.Get("type").Str == "message":
			out = t.f.whole(v)
		}
	}
	if !t.sound {
		out = out[:len(out)/2]
	}
	t.w.WriteHeader(t.status)
	_, _ = t.w.Write(out)
	if !t.sound {
		_ = http.NewResponseController(t.w).Flush()
	}
}

// dataLine is one server-sent event.
func dataLine(v string) []byte {
	return []byte("data: " + strings.ReplaceAll(v, "\n", "\ndata: ") + "\n\n")
}
