// Package web holds the tools that read the web.
//
// What comes from there is data, never instructions: a page is read by a side
// query that knows so, and its answer is marked.
package web

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// Config is what the tools need. Fields without a comment that says otherwise
// are required.
type Config struct {
	// Ask puts a question to a small model; label names it in the cost.
	Ask func(ctx context.Context, label, system, user string) (string, error)
	// Private tells whether a rule names host, so that it may be on a private
	// network or this machine. nil allows none.
	Private func(host string) bool
	// Proxy is the proxy for an address, nil for none. Optional.
	Proxy func(*http.Request) (*url.URL, error)
	// Lookup resolves a name behind a proxy's back; nil is the system's resolver.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Version is hew's own, for the User-Agent.
	Version string
	// CacheFor is how long a page is kept; 0 means 15 minutes, < 0 not at all.
	CacheFor time.Duration
	Now      func() time.Time
	// Search looks something up; nil when this session cannot.
	Search func(ctx context.Context, q Query) ([]Hit, error)
}

// Query is what a search is asked.
type Query struct {
	Text             string
	Allowed, Blocked []string // domains
}

// Hit is one result of a search.
type Hit struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet,omitempty"`
}
