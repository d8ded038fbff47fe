package lsp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// maxStarts is how often a server is started in a session: one that dies each
// time costs nobody more than that.
const maxStarts = 4

// Set is the language servers of a session, each started when it is needed. It
// is safe for concurrent use.
type Set struct {
	start func(ctx context.Context, s Server) (*Client, error)

	mu     sync.Mutex
	slots  []*slot
	closed bool
}

type slot struct {
	s Server

	mu     sync.Mutex
	client *Client
	starts int
}

// NewSet makes the set of servers; start starts one.
func NewSet(servers []Server, start func(ctx context.Context, s Server) (*Client, error)) *Set {
	set := &Set{start: start}
	for _, s := range servers {
		set.slots = append(set.slots, &slot{s: s})
	}
	return set
}

// Language is the language of a file, "" when no server knows it.
func (s *Set) Language(path string) string {
	if at := s.slot(path); at != nil {
		return at.s.language(path)
	}
	return ""
}

// Endings lists the ends of file names that there are servers for.
func (s *Set) Endings() []string {
	var out []string
	for _, at := range s.slots {
		for end := range at.s.Languages {
			out = append(out, end)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (s Server) language(path string) string {
	return s.Languages[strings.ToLower(filepath.Ext(path))]
}

// slot is the first server that knows the language of a file.
func (s *Set) slot(path string) *slot {
	i := slices.IndexFunc(s.slots, func(at *slot) bool { return at.s.language(path) != "" })
	if i < 0 {
		return nil
	}
	return s.slots[i]
}

// For is the server of a file, started when it does not run.
func (s *Set) For(ctx context.Context, path string) (*Client, error) {
	at := s.slot(path)
	if at == nil {
		return nil, fmt.Errorf("no language server knows %s files; there are servers for %s", filepath.Ext(path), strings.Join(s.Endings(), ", "))
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.client != nil && at.client.Gone() == nil {
		return at.client, nil
	}
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	switch {
	case closed:
		return nil, errors.New("the session is over")
	case at.starts >= maxStarts:
		return nil, fmt.Errorf("the language server %s has ended %d times and is not started again in this session", at.s.Name, at.starts)
	}
	if at.client != nil {
		_ = at.client.Close() // it is gone; how it ended was said to whoever asked it
		at.client = nil
	}
	at.starts++
	c, err := s.start(ctx, at.s)
	if err != nil {
		return nil, err
	}
	at.client = c
	return c, nil
}

// Running are the servers that can be asked now. One that is just being started
// is none of them.
func (s *Set) Running() []*Client {
	var out []*Client
	for _, at := range s.slots {
		if !at.mu.TryLock() {
			continue
		}
		if at.client != nil && at.client.Gone() == nil {
			out = append(out, at.client)
		}
		at.mu.Unlock()
	}
	return out
}

// Close ends all of them.
func (s *Set) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	var faults []error
	for _, at := range s.slots {
		at.mu.Lock()
		if at.client != nil {
			faults = append(faults, at.client.Close())
			at.client = nil
		}
		at.mu.Unlock()
	}
	return errors.Join(faults...)
}
