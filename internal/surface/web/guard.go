package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// policy is the content policy of every answer: nothing inline, nothing foreign.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; " +
	"manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// fault is an answer that says no.
type fault struct {
	status int
	code   string
	text   string
	// more are further fields of the answer.
	more map[string]any
}

func (f *fault) Error() string { return f.text }

func refuse(status int, code, format string, args ...any) *fault {
	return &fault{status: status, code: code, text: fmt.Sprintf(format, args...)}
}

var (
	errSignIn = &fault{
		status: http.StatusUnauthorized, code: "unauthorized",
		text: "sign in first: open the link that hew serve has printed, or ask a client that is signed in for a new one",
	}
	errReadOnly = &fault{status: http.StatusForbidden, code: "read_only", text: "this server shows sessions and changes nothing (--read-only)"}
	errOrigin   = &fault{status: http.StatusForbidden, code: "foreign_origin", text: "the request comes from a page of another site"}
)

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.count.requests.Add(1)
	headers(w.Header(), s.c.Entrance.TLS)
	if r.URL.Path != "/healthz" { // probes call a server by its address
		if f := s.guard(r); f != nil {
			s.deny(w, f)
			return
		}
	}
	r.Body = http.MaxBytesReader(w, r.Body, int64(s.c.Limits.Message))
	s.mux.ServeHTTP(w, r)
}

func headers(h http.Header, tls bool) {
	for _, kv := range [][2]string{
		{"Content-Security-Policy", policy},
		{"X-Content-Type-Options", "nosniff"},
		{"X-Frame-Options", "DENY"},
		{"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Permissions-Policy", "camera=(), microphone=(), geolocation=()"},
		{"Cache-Control", "no-store"},
	} {
		h.Set(kv[0], kv[1])
	}
	if tls {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// guard refuses what a browser was talked into by another site: a name that
// somebody has pointed at this machine, or a page from elsewhere.
func (s *Server) guard(r *http.Request) *fault {
	if !slices.Contains(s.c.Entrance.Hosts, hostname(r.Host)) {
		return refuse(http.StatusMisdirectedRequest, "wrong_host", "this server is not called %q; --host names it", clean(r.Host))
	}
	if o := r.Header.Get("Origin"); o != "" {
		u, err := url.Parse(o)
		if err != nil || !strings.EqualFold(u.Host, r.Host) || u.Scheme != "http" && u.Scheme != "https" {
			return errOrigin
		}
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "", site == "same-origin", site == "none":
	case strings.HasPrefix(r.URL.Path, "/api/"), r.URL.Path == "/metrics", r.Method != http.MethodGet:
		return errOrigin
	case r.URL.Path == "/login" && r.Header.Get("Sec-Fetch-Dest") != "document": // a picture or frame of another site
		return errOrigin
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, "bad_request", "send application/json")
	}
	return nil
}

// hostname is the name in a Host header, without a port, in lower case.
func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

func (s *Server) deny(w http.ResponseWriter, err error) {
	var f *fault
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &f):
	case errors.As(err, &large):
		f = refuse(http.StatusRequestEntityTooLarge, "too_large", "the request is larger than %d MB", s.c.Limits.Message>>20)
	default:
		f = refuse(http.StatusInternalServerError, "failed", "%v", err)
	}
	status := f.status
	if status == 0 {
		status = statusOf(f.code)
	}
	body := map[string]any{"error": map[string]string{"code": f.code, "message": f.text}}
	maps.Copy(body, f.more)
	answer(w, status, body)
}

// statusOf is the status of an error that a socket tells by its code alone.
func statusOf(code string) int {
	switch code {
	case "forbidden":
		return http.StatusForbidden
	case "busy", asleep:
		return http.StatusConflict
	case "invalid_request", "bad_message":
		return http.StatusBadRequest
	}
	return http.StatusUnprocessableEntity
}

// answer writes a JSON object. A reader that has gone cannot be told.
func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// read decodes the body of a request; an empty one is the zero value.
func read[T any](r *http.Request) (v T, err error) {
	err = json.NewDecoder(r.Body).Decode(&v)
	var large *http.MaxBytesError
	switch {
	case errors.Is(err, io.EOF):
		return v, nil
	case errors.As(err, &large):
		return v, err
	case err != nil:
		return v, refuse(http.StatusBadRequest, "bad_request", "the body is not the JSON object that is wanted: %v", err)
	}
	return v, nil
}

// action answers a request of a guest; what it returns is written as JSON, unless
// it is nil: then it has written the answer itself.
type action func(w http.ResponseWriter, r *http.Request, g *guest) (any, error)

// by lets only guests in.
func (s *Server) by(do action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		g := s.door.known(r)
		if g == nil {
			s.deny(w, errSignIn)
			return
		}
		s.carryOut(w, r, g, do)
	}
}

func (s *Server) carryOut(w http.ResponseWriter, r *http.Request, g *guest, do action) {
	v, err := do(w, r, g)
	switch {
	case err != nil:
		s.deny(w, err)
	case v == nil:
	case r.Method == http.MethodPost && isMade(v):
		answer(w, http.StatusCreated, v)
	default:
		answer(w, http.StatusOK, v)
	}
}

// made is the answer that something new has an id.
type made struct {
	ID string `json:"id"`
}

func isMade(v any) bool { _, ok := v.(made); return ok }

// changing lets only guests in that may change something.
func (s *Server) changing(do action) http.HandlerFunc {
	return s.by(func(w http.ResponseWriter, r *http.Request, g *guest) (any, error) {
		if s.c.ReadOnly {
			return nil, errReadOnly
		}
		return do(w, r, g)
	})
}
