package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Set is the servers of one session. It is safe for concurrent use.
type Set struct {
	c      Config
	ctx    context.Context // of the connections; ends by Close
	cancel context.CancelFunc
	wg     sync.WaitGroup
	serial atomic.Uint64 // grows with each change of what is offered

	mu      sync.Mutex
	closed  bool
	servers []*Server
	roots   []string
	made    catalog
}

// catalog is what all servers offer together, as of one serial.
type catalog struct {
	serial    uint64
	valid     bool
	tools     []Tool
	prompts   []Prompt
	complains map[string]bool
}

// NewSet makes a Set. Nothing is connected yet.
func NewSet(ctx context.Context, c Config) *Set {
	c.Connect, c.Call = orElse(c.Connect, defaultConnect), orElse(c.Call, defaultCall)
	if c.Changed == nil {
		c.Changed = func() {}
	}
	s := &Set{c: c, roots: slices.Clone(c.Roots)}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return s
}

// Add takes a server in and begins to connect it; it returns at once. A server
// whose name reads like that of an earlier one is refused.
func (s *Set) Add(e Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("the session has ended")
	}
	name := Normal(e.Name)
	for _, o := range s.servers {
		if o.name == name {
			return fmt.Errorf("MCP server %q is left out: its tools could not be told from those of %q", clip(e.Name, 80), clip(o.entry.Name, 80))
		}
	}
	srv := newServer(s, e, name)
	s.servers = append(s.servers, srv)
	s.wg.Go(func() { srv.live(s.ctx) })
	s.touch()
	return nil
}

// Remove ends a server. It tells whether there was one.
func (s *Set) Remove(name string) bool {
	s.mu.Lock()
	i := slices.IndexFunc(s.servers, func(o *Server) bool { return o.entry.Name == name })
	if i < 0 {
		s.mu.Unlock()
		return false
	}
	srv := s.servers[i]
	s.servers = slices.Delete(slices.Clone(s.servers), i, i+1)
	s.mu.Unlock()
	srv.stop()
	s.touch()
	return true
}

func (s *Set) touch() {
	s.serial.Add(1)
	s.c.Changed()
}

// Serial changes whenever what is offered does.
func (s *Set) Serial() uint64 { return s.serial.Load() }

// Servers lists the servers in the order in which they were added.
func (s *Set) Servers() []*Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.servers)
}

// Server finds one by its name, as configured or normalised.
func (s *Set) Server(name string) (*Server, error) {
	all := s.Servers()
	var names []string
	for _, o := range all {
		if o.entry.Name == name || o.name == name {
			return o, nil
		}
		names = append(names, o.entry.Name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no MCP server %q; none is configured", clip(name, 80))
	}
	return nil, fmt.Errorf("there is no MCP server %q; there are: %s", clip(name, 80), strings.Join(names, ", "))
}

// Await waits until every server for which want says yes has connected or
// failed once, or ctx has ended.
func (s *Set) Await(ctx context.Context, want func(Entry) bool) {
	for _, o := range s.Servers() {
		if !want(o.entry) {
			continue
		}
		select {
		case <-o.tried:
		case <-ctx.Done():
			return
		}
	}
}

// Tools lists what connected servers offer, in the order of servers and names.
// A name that an earlier tool has is left out.
func (s *Set) Tools() []Tool { return s.catalog().tools }

// Prompts lists the prompts of connected servers.
func (s *Set) Prompts() []Prompt { return s.catalog().prompts }

func (s *Set) catalog() catalog {
	serial := s.serial.Load()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made.valid && s.made.serial == serial {
		return s.made
	}
	next := catalog{serial: serial, valid: true, complains: s.made.complains}
	taken := map[string]bool{}
	for _, o := range s.servers {
		tools, prompts := o.offers()
		for _, t := range tools {
			if taken[t.Full] {
				s.complain(&next, fmt.Sprintf("MCP server %q: its tool %q has the name of another one and is left out", o.entry.Name, line(t.Name, 80)))
				continue
			}
			taken[t.Full] = true
			next.tools = append(next.tools, t)
		}
		next.prompts = append(next.prompts, prompts...)
	}
	s.made = next
	return next
}

func (s *Set) complain(c *catalog, text string) {
	if c.complains[text] {
		return
	}
	if c.complains == nil {
		c.complains = map[string]bool{}
	}
	c.complains[text] = true
	s.c.Notice(text)
}

// SetRoots tells servers of other folders.
func (s *Set) SetRoots(dirs []string) {
	s.mu.Lock()
	same := slices.Equal(s.roots, dirs)
	s.roots = slices.Clone(dirs)
	servers := slices.Clone(s.servers)
	s.mu.Unlock()
	if same {
		return
	}
	for _, o := range servers {
		o.reroot(dirs)
	}
}

func (s *Set) dirs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.roots
}

// Close ends all connections and processes and waits for their end.
func (s *Set) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.wg.Wait()
	return nil
}
