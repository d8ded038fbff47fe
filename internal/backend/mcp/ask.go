package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// refresh lists what the server offers. A list that cannot be had leaves the
// old one in place.
func (o *Server) refresh(ctx context.Context) {
	o.mu.Lock()
	s := o.session
	o.mu.Unlock()
	if s == nil || s.InitializeResult() == nil || s.InitializeResult().Capabilities == nil {
		return
	}
	caps := s.InitializeResult().Capabilities
	if caps.Tools != nil {
		o.relist(ctx, "tools", func(ctx context.Context) error { return o.listTools(ctx, s) })
		o.set.touch()
	}
	if caps.Prompts != nil {
		o.relist(ctx, "prompts", func(ctx context.Context) error { return o.listPrompts(ctx, s) })
	}
	if caps.Resources != nil {
		o.relist(ctx, "resources", func(ctx context.Context) error { return o.listResources(ctx, s) })
	}
}

func (o *Server) relist(ctx context.Context, what string, list func(context.Context) error) {
	var err error
	delay := firstBackoff / 4
	for try := range listTries {
		if try > 0 && o.set.c.Sleep(ctx, delay) != nil {
			return
		}
		delay *= 2
		once, cancel := context.WithTimeout(ctx, o.set.c.Connect)
		err = list(once)
		cancel()
		if err == nil || ctx.Err() != nil || errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	if err != nil && ctx.Err() == nil {
		o.set.c.Notice(fmt.Sprintf("MCP server %q: its %s could not be listed: %s", o.entry.Name, what, line(err.Error(), 300)))
	}
}

// collect takes a list of pages, up to limit entries.
func collect[T any](pages iter.Seq2[T, error], limit int, take func(T)) (more bool, err error) {
	n := 0
	for v, err := range pages {
		if err != nil {
			return false, err
		}
		if n == limit {
			return true, nil
		}
		n++
		take(v)
	}
	return false, nil
}

func (o *Server) listTools(ctx context.Context, s *sdk.ClientSession) error {
	var tools []Tool
	var faults []string
	more, err := collect(s.Tools(ctx, nil), maxTools, func(t *sdk.Tool) {
		clean, why := o.toolOf(t)
		switch {
		case why != "":
			faults = append(faults, why)
		default:
			tools = append(tools, clean)
		}
	})
	if err != nil {
		return err
	}
	if more {
		faults = append(faults, fmt.Sprintf("all tools after the first %d", maxTools))
	}
	slices.SortStableFunc(tools, func(a, b Tool) int { return strings.Compare(a.Full, b.Full) })
	if o.set.c.Judge != nil {
		held := o.set.c.Judge(o.entry, tools)
		tools = slices.DeleteFunc(tools, func(t Tool) bool { return held[t.Name] != "" })
	}
	if len(faults) > 0 {
		o.set.c.Notice(fmt.Sprintf("MCP server %q: left out: %s", o.entry.Name, clip(strings.Join(faults, "; "), 600)))
	}
	o.mu.Lock()
	o.tools = tools
	o.mu.Unlock()
	return nil
}

func (o *Server) listPrompts(ctx context.Context, s *sdk.ClientSession) error {
	var out []Prompt
	_, err := collect(s.Prompts(ctx, nil), maxPrompts, func(p *sdk.Prompt) {
		if p == nil || p.Name == "" || len(p.Name) > 4*maxFull {
			return
		}
		next := Prompt{Server: o.name, Full: FullName(o.name, p.Name), Name: p.Name, Description: line(p.Description, 300)}
		for _, a := range p.Arguments {
			if a != nil {
				next.Arguments = append(next.Arguments, Argument{a.Name, line(a.Description, 200), a.Required})
			}
		}
		out = append(out, next)
	})
	if err != nil {
		return err
	}
	o.mu.Lock()
	o.prompts = out
	o.mu.Unlock()
	return nil
}

func (o *Server) listResources(ctx context.Context, s *sdk.ClientSession) error {
	var out []Resource
	_, err := collect(s.Resources(ctx, nil), maxResources, func(r *sdk.Resource) {
		if r != nil {
			out = append(out, Resource{o.entry.Name, line(r.URI, 1000), line(r.Name, 200), line(r.Description, 500), line(r.MIMEType, 100)})
		}
	})
	if err != nil {
		return err
	}
	o.mu.Lock()
	o.resources = out
	o.mu.Unlock()
	return nil
}

// Resources lists the server's resources anew; an old list serves when that fails.
func (o *Server) Resources(ctx context.Context) ([]Resource, error) {
	s, err := o.ready(ctx)
	if err != nil {
		return nil, err
	}
	err = o.listResources(ctx, s)
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil && len(o.resources) == 0 {
		return nil, o.failed(err)
	}
	return o.resources, nil
}

func (o *Server) failed(err error) error {
	return fmt.Errorf("MCP server %q: %s", o.entry.Name, line(err.Error(), 2000))
}

// errIdle ends a call that shows no sign of life.
var errIdle = errors.New("it showed no sign of life for too long")

// Call calls a tool by the server's own name for it. progress, which may be
// nil, is called from other goroutines until Call returns. An error is about
// the connection or the protocol; what the tool itself reports is in the Answer.
func (o *Server) Call(ctx context.Context, name string, input json.RawMessage, progress func(Progress)) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, orElse(o.entry.Timeout, o.set.c.Call))
	defer cancel()
	s, err := o.ready(ctx)
	if err != nil {
		return Answer{}, o.late(ctx, err)
	}
	if !o.has(name) {
		return Answer{}, fmt.Errorf("MCP server %q does not offer the tool %q any more, or it has changed and waits for the user's yes (hew mcp get %s)",
			o.entry.Name, line(name, 80), o.entry.Name)
	}
	idle := o.idle()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	timer := time.AfterFunc(idle, func() { end(errIdle) })
	defer timer.Stop()
	token := o.calls.begin(func(p Progress) {
		timer.Reset(idle)
		if progress != nil {
			progress(p)
		}
	})
	defer o.calls.end(token)
	p := &sdk.CallToolParams{Name: name, Arguments: input}
	p.SetProgressToken(token)
	res, err := s.CallTool(ctx, p)
	if err != nil {
		return Answer{}, o.late(ctx, o.failed(o.why(ctx, s, err)))
	}
	a := Answer{Parts: partsOf(res.Content), IsError: res.IsError}
	if res.StructuredContent != nil {
		if raw, err := json.Marshal(res.StructuredContent); err == nil {
			a.Structured = raw
		}
	}
	return a, nil
}

func (o *Server) has(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.tools, func(t Tool) bool { return t.Name == name })
}

// why says more of an error: of a connection that was lost in the middle of a
// call, what became of the server.
func (o *Server) why(ctx context.Context, s *sdk.ClientSession, err error) error {
	if !errors.Is(err, sdk.ErrConnectionClosed) && !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "EOF") {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 4*closeGrace)
	defer cancel()
	for {
		o.mu.Lock()
		st, detail, now, changed := o.state, o.detail, o.session, o.changed
		o.mu.Unlock()
		if st == Failed {
			return fmt.Errorf("the connection was lost during the call: %s", detail)
		}
		if now != nil && now != s {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return err
		}
	}
}

func (o *Server) idle() time.Duration {
	switch {
	case o.set.c.Idle > 0:
		return o.set.c.Idle
	case o.entry.Remote():
		return idleRemote
	}
	return idleLocal
}

// late says which limit ended a call.
func (o *Server) late(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errIdle):
		return fmt.Errorf("MCP server %q: %w (CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT)", o.entry.Name, errIdle)
	case errors.Is(cause, context.DeadlineExceeded):
		return fmt.Errorf("MCP server %q did not answer within %s (MCP_TOOL_TIMEOUT, or timeout in its entry)", o.entry.Name, orElse(o.entry.Timeout, o.set.c.Call))
	}
	return err
}

// Read reads a resource.
func (o *Server) Read(ctx context.Context, uri string) ([]Part, error) {
	ctx, cancel := context.WithTimeout(ctx, o.idle())
	defer cancel()
	s, err := o.ready(ctx)
	if err != nil {
		return nil, err
	}
	res, err := s.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		return nil, o.failed(err)
	}
	var out []Part
	for _, c := range res.Contents {
		if c != nil {
			out = append(out, contentsOf(c))
		}
	}
	return out, nil
}

// Get fills a prompt in.
func (o *Server) Get(ctx context.Context, name string, args map[string]string) ([]Said, error) {
	ctx, cancel := context.WithTimeout(ctx, o.idle())
	defer cancel()
	s, err := o.ready(ctx)
	if err != nil {
		return nil, err
	}
	res, err := s.GetPrompt(ctx, &sdk.GetPromptParams{Name: name, Arguments: args})
	if err != nil {
		return nil, o.failed(err)
	}
	var out []Said
	for _, m := range res.Messages {
		if m == nil {
			continue
		}
		for _, p := range partsOf([]sdk.Content{m.Content}) {
			out = append(out, Said{string(m.Role), p})
		}
	}
	return out, nil
}
