//lint:file-ignore SA1019 the newest protocol gives up roots and sampling; the servers of today use them

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// calls routes signs of life to the calls that wait for them.
type calls struct {
	mu     sync.Mutex
	serial int
	live   map[string]func(Progress)
}

func (c *calls) begin(f func(Progress)) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live == nil {
		c.live = map[string]func(Progress){}
	}
	c.serial++
	token := "hew-" + strconv.Itoa(c.serial)
	c.live[token] = f
	return token
}

func (c *calls) end(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.live, token)
}

// tell is called with the lock held by nobody; the function may be gone by then.
func (c *calls) tell(token any, p Progress) {
	name, ok := token.(string)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock() // held, so that end waits for a report that is under way
	if f := c.live[name]; f != nil {
		f(p)
	}
}

// newClient makes the client of one connection, which knows whose words it hears.
func (o *Server) newClient() *sdk.Client {
	c := &o.set.c
	opts := &sdk.ClientOptions{
		ToolListChangedHandler:     func(context.Context, *sdk.ToolListChangedRequest) { o.announced() },
		PromptListChangedHandler:   func(context.Context, *sdk.PromptListChangedRequest) { o.announced() },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { o.announced() },
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			p := r.Params
			o.calls.tell(p.ProgressToken, Progress{Text: line(p.Message, 300), Done: p.Progress, Total: p.Total})
		},
		Capabilities: &sdk.ClientCapabilities{RootsV2: &sdk.RootCapabilities{ListChanged: true}},
	}
	if c.Elicit != nil {
		opts.ElicitationHandler = o.elicit
		opts.Capabilities.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}
	}
	if c.Sample != nil {
		opts.CreateMessageHandler = o.sample
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "hew", Title: "hew", Version: c.Version}, opts)
	for _, d := range o.set.dirs() {
		client.AddRoots(rootOf(d))
	}
	return client
}

func (o *Server) elicit(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	p := r.Params
	q := Request{
		Server: o.entry.Name, Message: clean(p.Message, maxText), Mode: p.Mode, URL: line(p.URL, maxText), ID: line(p.ElicitationID, 200),
	}
	if q.Mode == "" {
		q.Mode = "form"
	}
	if p.RequestedSchema != nil {
		raw, err := json.Marshal(p.RequestedSchema)
		if err != nil || len(raw) > maxSchema {
			return nil, errors.New("the requested schema cannot be read")
		}
		q.Schema = raw
	}
	a, err := o.set.c.Elicit(ctx, q)
	if err != nil {
		return nil, err
	}
	return &sdk.ElicitResult{Action: a.Action, Content: a.Content}, nil
}

func (o *Server) sample(ctx context.Context, r *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
	p := r.Params
	q := Sampling{Server: o.entry.Name, System: p.SystemPrompt, MaxTokens: p.MaxTokens}
	for _, m := range p.Messages {
		if m == nil {
			continue
		}
		parts := partsOf([]sdk.Content{m.Content})
		if len(parts) != 1 {
			return nil, errors.New("hew samples text only")
		}
		q.Messages = append(q.Messages, Said{Role: string(m.Role), Part: parts[0]})
	}
	a, err := o.set.c.Sample(ctx, q)
	if err != nil {
		return nil, err
	}
	return &sdk.CreateMessageResult{Role: "assistant", Model: a.Model, StopReason: "endTurn", Content: &sdk.TextContent{Text: a.Text}}, nil
}

// ready returns the session, waiting for one that is on its way and asking for
// one that was lost. A change that the server has announced is looked at first:
// nothing is called as what it was before.
func (o *Server) ready(ctx context.Context) (*sdk.ClientSession, error) {
	asked := false
	for {
		o.mu.Lock()
		st, detail, s, changed, fresh := o.state, o.detail, o.session, o.changed, o.clean == o.dirty
		o.mu.Unlock()
		switch {
		case st == Connected && s != nil && !fresh:
		case st == Connected && s != nil:
			return s, nil
		case st != Pending && st != Connected && asked:
			return nil, fmt.Errorf("MCP server %q is not connected: %s", o.entry.Name, detail)
		case st != Pending && st != Connected:
			asked = true
			o.Reconnect()
		}
		select {
		case <-changed:
		case <-o.gone:
			return nil, fmt.Errorf("MCP server %q was removed", o.entry.Name)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
