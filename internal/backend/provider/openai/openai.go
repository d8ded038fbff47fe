// Package openai is the adapter for OpenAI-compatible servers.
//
// It speaks Chat Completions, which nearly every local server and gateway
// offers, and Responses. Servers deviate in small things; the reading is
// tolerant, and what an API cannot carry is left out with a notice.
package openai

import (
	"net/http"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/endpoint"
	"github.com/hew-agent/hew/internal/backend/provider/messages"
)

// DefaultBaseURL is OpenAI's own endpoint.
const DefaultBaseURL = "https://api.openai.com/v1"

// API is one of the two wire formats.
type API int

// The formats.
const (
	Chat API = iota
	Responses
)

// Config describes one server.
type Config struct {
	endpoint.Config
	API API
	// Own tells that the server is OpenAI's, which takes the newest members of
	// requests; others get the ones that all know.
	Own bool
	// Notice is told, once each, what a request could not carry. Optional.
	Notice func(text string)
}

// New checks the configuration. It makes no connection.
func New(c Config) (*endpoint.Client, error) {
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	if c.Address == "" {
		c.Address = "OPENAI_BASE_URL"
	}
	extra, err := messages.ParseExtra(c.ExtraBody)
	if err != nil {
		return nil, err
	}
	l := &losses{notice: c.Notice}
	if c.API == Responses {
		return endpoint.New(c.Config, &responses{c: c, extra: extra, losses: l})
	}
	return endpoint.New(c.Config, &chat{c: c, extra: extra, losses: l})
}

// losses tells once of each thing that could not be sent.
type losses struct {
	notice func(string)
	mu     sync.Mutex
	told   map[string]bool
}

func (l *losses) tell(text string) {
	if l.notice == nil {
		return
	}
	l.mu.Lock()
	known := l.told[text]
	if l.told == nil {
		l.told = map[string]bool{}
	}
	l.told[text] = true
	l.mu.Unlock()
	if !known {
		l.notice(text)
	}
}

func header(h http.Header, a endpoint.Auth) {
	if a.Style != endpoint.NoKey && a.Secret != "" {
		h["Authorization"] = []string{"Bearer " + a.Secret}
	}
}

// effort maps hew's levels to those that the server knows.
func (c Config) effort(level string) string {
	switch level {
	case "xhigh", "max":
		if c.Own {
			return "xhigh"
		}
		return "high"
	}
	return level
}

// bodyOf encodes a request and lays extra members over it.
func bodyOf(v any, extra []messages.Member) (*messages.Body, error) {
	raw, err := encodeWith(v, extra)
	if err != nil {
		return nil, &provider.Error{Class: provider.Protocol, Message: "encode the request: " + err.Error(), Err: err}
	}
	return messages.NewBody(raw), nil
}

func classifyAt(status int, h http.Header, body []byte, now time.Time) *provider.Error {
	return refine(messages.Classify(status, h, body, now), body)
}
