package wiring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/state/server"
)

// addHostServers begins to connect the servers that are in the host.
func (b *build) addHostServers(s *servers) {
	for _, e := range b.o.InHost {
		if why := server.Forbids(b.serverConfig(), e); why != "" {
			b.notice(fmt.Sprintf("MCP server %q is not used: %s", e.Name, why))
			continue
		}
		if err := s.set.Add(e); err != nil {
			b.notice(err.Error())
		}
	}
}

// switchedOff are the servers that the host has switched off.
func (s *servers) switchedOff() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.off))
}

// ServerState is what a host program may know of a server.
type ServerState struct {
	ServerRow
	Status mcp.Status
	Entry  mcp.Entry
	Tools  []mcp.Tool
}

// ServerStates tells of all configured servers, in order.
func (c *Conversation) ServerStates() []ServerState {
	tools := map[string][]mcp.Tool{}
	for _, t := range c.mcp.set.Tools() {
		tools[t.Server] = append(tools[t.Server], t)
	}
	live := map[string]*mcp.Server{}
	for _, o := range c.mcp.set.Servers() {
		live[o.Entry().Name] = o
	}
	var out []ServerState
	for _, row := range c.Servers() {
		st := ServerState{ServerRow: row}
		if o := live[row.Name]; o != nil {
			st.Status, st.Entry, st.Tools = o.Status(), o.Entry(), tools[o.Name()]
		}
		out = append(out, st)
	}
	return out
}

// SetServers makes the servers of the host those that are named: others that it
// has set before are ended. Entries are as in configuration files.
func (c *Conversation) SetServers(want map[string]json.RawMessage) (added, removed []string, faults map[string]string) {
	s := c.mcp
	added, removed, faults = []string{}, []string{}, map[string]string{}
	entries := map[string]mcp.Entry{}
	for name, raw := range want {
		e, err := mcp.ParseEntry(name, raw)
		if err != nil {
			faults[name] = err.Error()
			continue
		}
		e.Scope = mcp.ScopeFlag
		if e.Transport == mcp.SDK {
			e.Scope = mcp.ScopeSDK
		}
		entries[name] = e
	}
	s.mu.Lock()
	before := s.dynamic
	s.dynamic = map[string]mcp.Entry{}
	s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if now, ok := entries[name]; ok && now.Digest == before[name].Digest {
			s.keep(now)
			delete(entries, name)
			continue
		}
		if s.set.Remove(name) {
			removed = append(removed, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if why := server.Forbids(s.b.serverConfig(), entries[name]); why != "" {
			faults[name] = why
		} else if err := s.set.Add(entries[name]); err != nil {
			faults[name] = err.Error()
		} else {
			s.keep(entries[name])
			added = append(added, name)
		}
	}
	return added, removed, faults
}

func (s *servers) keep(e mcp.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dynamic[e.Name] = e
}

// SwitchOn begins a server again that SwitchOff has ended.
func (c *Conversation) SwitchOn(name string) error {
	s := c.mcp
	s.mu.Lock()
	e, off := s.off[name]
	delete(s.off, name)
	s.mu.Unlock()
	if off {
		return s.set.Add(e)
	}
	_, err := s.set.Server(name)
	return err
}

// SwitchOff ends a server for this session.
func (c *Conversation) SwitchOff(name string) error {
	s := c.mcp
	if slices.Contains(s.switchedOff(), name) {
		return nil
	}
	o, err := s.set.Server(name)
	if err != nil {
		return err
	}
	e := o.Entry()
	s.mu.Lock()
	s.off[e.Name] = e
	s.mu.Unlock()
	s.set.Remove(e.Name) // waits for the server's end, so without the lock
	return nil
}

// ReconnectServer connects a server anew.
func (c *Conversation) ReconnectServer(name string) error {
	o, err := c.mcp.set.Server(name)
	if err != nil {
		return err
	}
	if o.Status().State != mcp.Connected {
		o.Reconnect()
		return nil
	}
	e := o.Entry()
	c.mcp.set.Remove(e.Name)
	return c.mcp.set.Add(e)
}

// CallServerTool calls a tool by its full name, without a model and without a
// question: the host asks for it.
func (c *Conversation) CallServerTool(ctx context.Context, full string, args json.RawMessage) (mcp.Answer, error) {
	for _, t := range c.mcp.set.Tools() {
		if t.Full != full {
			continue
		}
		o, err := c.mcp.set.Server(t.Server)
		if err != nil {
			return mcp.Answer{}, err
		}
		if o.Entry().Transport == mcp.SDK {
			return mcp.Answer{}, fmt.Errorf("%s is in the host itself, which can call it directly", full)
		}
		if len(args) == 0 {
			args = json.RawMessage("{}")
		}
		return o.Call(ctx, t.Name, args, nil)
	}
	return mcp.Answer{}, fmt.Errorf("no connected MCP server has the tool %s", full)
}

// ReadServerResource reads a user interface resource of a server.
func (c *Conversation) ReadServerResource(ctx context.Context, name, uri string) ([]mcp.Part, error) {
	if !strings.HasPrefix(uri, "ui://") {
		return nil, errors.New("only resources with a ui:// address can be read this way")
	}
	return c.mcp.Read(ctx, name, uri)
}
