// Package route sends each request to the provider that its model's name begins with.
//
// "openai/gpt-5.5" is the model gpt-5.5 at openai. A name without a known
// provider in front goes to the main one, as it is.
package route

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"

	"github.com/hew-agent/hew/internal/backend/provider"
)

// Config makes a Router. All fields are required.
type Config struct {
	// Main takes what has no provider in its name; it is opened with the first
	// such request.
	Main func() (provider.Provider, error)
	// Known tells whether a name is that of a provider, Open opens it.
	Known func(name string) bool
	Open  func(name string) (provider.Provider, error)
	// Model tells what is known of a model.
	Model func(name string) provider.Model
}

// Router is a provider.Provider over several. It is safe for concurrent use.
type Router struct {
	c    Config
	mu   sync.Mutex
	open map[string]provider.Provider
}

// New makes a router. It opens nothing.
func New(c Config) *Router { return &Router{c: c, open: map[string]provider.Provider{}} }

// Split parts a model's name into provider and model; the provider is "" for
// the main one.
func (r *Router) Split(model string) (name, rest string) {
	name, rest, ok := strings.Cut(model, "/")
	if !ok || rest == "" || !r.c.Known(name) {
		return "", model
	}
	return name, rest
}

// Open returns the provider that a model is served by, opened once.
func (r *Router) Open(model string) (provider.Provider, error) {
	name, _ := r.Split(model)
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.open[name]; p != nil {
		return p, nil
	}
	var p provider.Provider
	var err error
	if name == "" {
		p, err = r.c.Main()
	} else {
		p, err = r.c.Open(name)
	}
	if err != nil {
		return nil, err
	}
	r.open[name] = p
	return p, nil
}

// Stream makes one request. See provider.Provider.
func (r *Router) Stream(ctx context.Context, q *provider.Request) iter.Seq2[provider.Part, error] {
	p, q, err := r.to(q)
	if err != nil {
		return func(yield func(provider.Part, error) bool) { yield(nil, err) }
	}
	return p.Stream(ctx, q)
}

// to finds the provider and what it is sent.
func (r *Router) to(q *provider.Request) (provider.Provider, *provider.Request, error) {
	if len(q.Tools) > 0 && r.c.Model(q.Model).NoTools {
		return nil, nil, &provider.Error{
			Class: provider.Invalid, Message: q.Model + " cannot call tools, and hew works by them",
			Fix: "Choose another model with --model; `hew models` lists those that hew knows",
		}
	}
	p, err := r.Open(q.Model)
	if err != nil {
		var e *provider.Error
		if !errors.As(err, &e) {
			e = &provider.Error{Class: provider.Credential, Message: err.Error(), Err: err}
		}
		return nil, nil, e
	}
	if name, rest := r.Split(q.Model); name != "" {
		copied := *q
		copied.Model = rest
		q = &copied
	}
	return p, q, nil
}

// ErrNoCount says that a model's provider does not count tokens.
var ErrNoCount = errors.New("this model's provider does not count tokens")

// CountTokens counts where the provider can.
func (r *Router) CountTokens(ctx context.Context, q *provider.Request) (int, error) {
	p, q, err := r.to(q)
	if err != nil {
		return 0, err
	}
	c, ok := p.(provider.Counter)
	if !ok {
		return 0, ErrNoCount
	}
	return c.CountTokens(ctx, q)
}
