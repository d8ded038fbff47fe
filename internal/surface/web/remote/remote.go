// Package remote is a client of a served session: signs in, follows it as views and lines, prompts, answers.
//
// It speaks what docs/serve.md describes, over a connection that is made anew
// when it breaks. What a person sees is a view.Store, as for a session of this
// process: whoever draws one can draw the other.
package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"time"

	"github.com/tidwall/gjson"
)

// Config says which server to use, and how.
type Config struct {
	// URL is the server's address, or a one-time link of it.
	URL string
	// Password signs in where the URL is no link, Name is how others know this client.
	Password, Name string
	// Transport is how to reach it; nil is the ordinary way.
	Transport http.RoundTripper
}

// Fault is what a server answers when it says no.
type Fault struct {
	Status     int
	Code, Text string
	// Body is the whole answer: of an untrusted folder it says what that asks for.
	Body json.RawMessage
}

// Error is the server's text.
func (f *Fault) Error() string { return fmt.Sprintf("%s (%s)", f.Text, f.Code) }

// Row is a session of the server.
type Row struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	First    string `json:"first_prompt"`
	Cwd      string `json:"cwd"`
	State    string `json:"state"`
	Modified int64  `json:"modified_ms"`
}

// Wanted is a session to open: a new one in the server's folder Cwd, or Resume.
type Wanted struct {
	Cwd    string `json:"cwd,omitempty"`
	Resume string `json:"resume,omitempty"`
	// Trust is always, once or none; "" lets the server ask.
	Trust string `json:"trust,omitempty"`
}

// Server is a server that has let this client in.
type Server struct {
	c    Config
	base string
	http *http.Client
	// Cwd is the folder in which the server was started.
	Cwd string
}

// Connect signs in.
func Connect(ctx context.Context, c Config) (*Server, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is no address of hew serve, such as http://127.0.0.1:8080/", c.URL)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	s := &Server{c: c, base: u.Scheme + "://" + u.Host, http: &http.Client{Jar: jar, Transport: c.Transport}}
	login := map[string]string{"name": c.Name}
	switch token := u.Query().Get("token"); {
	case token != "":
		login["token"] = token
	case c.Password != "":
		login["password"] = c.Password
	}
	if len(login) > 1 {
		if _, err := s.do(ctx, http.MethodPost, "/api/login", login); err != nil {
			return nil, fmt.Errorf("sign in at %s: %w", s.base, err)
		}
	}
	me, err := s.do(ctx, http.MethodGet, "/api/me", nil) // with a certificate there was no login
	if err != nil {
		return nil, fmt.Errorf("sign in at %s: %w", s.base, err)
	}
	s.Cwd = gjson.GetBytes(me, "cwd").Str
	return s, nil
}

// maxAnswer bounds an answer of the server, in bytes.
const maxAnswer = 64 << 20

func (s *Server) do(ctx context.Context, method, path string, body any) (json.RawMessage, error) {
	var in io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		in = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(ctx, method, s.base+path, in)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := s.http.Do(r)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return nil, err
	}
	if res.StatusCode >= 300 {
		e := gjson.GetBytes(data, "error")
		f := &Fault{Status: res.StatusCode, Code: e.Get("code").Str, Text: e.Get("message").Str, Body: data}
		if f.Text == "" {
			f.Code, f.Text = "failed", "the server answers "+res.Status+", which is not what hew serve says"
		}
		return nil, f
	}
	return data, nil
}

// Sessions lists the sessions that hold a text in their titles, prompts or folders.
func (s *Server) Sessions(ctx context.Context, text string) ([]Row, error) {
	data, err := s.do(ctx, http.MethodGet, "/api/sessions?q="+url.QueryEscape(text), nil)
	if err != nil {
		return nil, err
	}
	var out struct{ Sessions []Row }
	return out.Sessions, json.Unmarshal(data, &out)
}

// Open opens a session and returns its id. A *Fault of the code untrusted says
// what the folder asks for.
func (s *Server) Open(ctx context.Context, w Wanted) (string, error) {
	data, err := s.do(ctx, http.MethodPost, "/api/sessions", w)
	return gjson.GetBytes(data, "id").Str, err
}

// Get asks for one of the addresses below a session, such as "cost" or "files?q=x".
func (s *Server) Get(ctx context.Context, id, what string) (json.RawMessage, error) {
	return s.do(ctx, http.MethodGet, "/api/sessions/"+url.PathEscape(id)+"/"+what, nil)
}

// again is how long to wait before a connection that broke is made anew.
func again(tries int) time.Duration { return min(10*time.Second, 100*time.Millisecond<<min(tries, 8)) }
