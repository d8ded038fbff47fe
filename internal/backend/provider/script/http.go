package script

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
)

// maxBody is the API's limit on a request.
const maxBody = 32 << 20

// ServeHTTP speaks the Messages API (messages, count_tokens, models), its forms
// on Bedrock and Vertex AI, Chat Completions, Responses and the Gemini API.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimRight(r.URL.Path, "/")
	if f := frontFor(path); f != nil && r.Method == http.MethodPost {
		m.serveFront(w, r, f)
		return
	}
	switch {
	case strings.HasSuffix(path, "/models") && r.Method == http.MethodGet:
		m.serveModels(w)
	case strings.HasSuffix(path, "/v1/messages/count_tokens") && r.Method == http.MethodPost:
		m.serveMessages(w, r, true)
	case strings.HasSuffix(path, "/v1/messages") && r.Method == http.MethodPost:
		m.serveMessages(w, r, false)
	default:
		a := failure(404, "not_found_error", "Not found: "+r.Method+" "+r.URL.Path)
		a.play(&response{w: w, r: r})
	}
}

func (m *Model) serveMessages(w http.ResponseWriter, r *http.Request, count bool) {
	o := &response{w: w, r: r}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		failure(413, "request_too_large", "Request exceeds the maximum allowed number of bytes").play(o)
		return
	}
	if r.Header.Get("Anthropic-Version") == "" {
		failure(400, "invalid_request_error", "anthropic-version: header is required").play(o)
		return
	}
	in := incoming{body: body, count: count, headers: r.Header, checkKey: true, key: r.Header.Get("X-Api-Key")}
	if in.key == "" {
		in.key = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	if fromLoopback(r) {
		in.side, in.brk = r.Header.Get("X-Hew-Side"), r.Header.Get("X-Hew-Prefix-Break")
	}
	m.answer(in).play(counted{o, &m.sent})
}

func fromLoopback(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func (m *Model) serveModels(w http.ResponseWriter) {
	list := m.s.Models
	if len(list) == 0 {
		for _, k := range provider.Models() {
			list = append(list, k.ID)
		}
	}
	var entries []string
	for _, id := range list {
		entries = append(entries, `{"type":"model","id":`+quote(id)+`,"display_name":`+quote(id)+`,"created_at":"2026-01-01T00:00:00Z"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"data":[`+strings.Join(entries, ",")+`],"has_more":false}`) // the client may have left
}

// response is an answer over HTTP.
type response struct {
	w     http.ResponseWriter
	r     *http.Request
	begun bool
}

func (o *response) head(status int, contentType string, headers map[string]string) {
	h := o.w.Header()
	for k, v := range headers {
		h.Set(k, v)
	}
	if contentType != "" {
		h.Set("Content-Type", contentType)
	}
	o.w.WriteHeader(status)
	o.begun = true
}

func (o *response) write(b []byte) error {
	if _, err := o.w.Write(b); err != nil {
		return err
	}
	return http.NewResponseController(o.w).Flush()
}

func (o *response) pause(d time.Duration) error { return wait(o.r.Context(), d) }

func (o *response) end(how ending) {
	if how == broken {
		panic(http.ErrAbortHandler) // net/http's way to break a connection off
	}
	if !o.begun {
		o.w.WriteHeader(http.StatusOK)
	}
}

// wait pauses for d, for ever when d < 0, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	if d < 0 {
		<-ctx.Done()
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
