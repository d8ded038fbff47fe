package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Offer is a tool that hew offers to another program.
type Offer struct {
	Name, Description     string
	Schema                json.RawMessage
	ReadOnly, Destructive bool
	// Call does it. progress is told signs of life.
	Call func(ctx context.Context, in json.RawMessage, progress func(text string)) Answer
}

// ServeConfig is what being a server needs.
type ServeConfig struct {
	Version, Instructions string
	Offers                []Offer
	In                    io.ReadCloser
	Out                   io.WriteCloser
	// Begin is given the way to ask the client's user for a yes before anything
	// is served; ErrNobody says that the client has none. Optional.
	Begin func(confirm func(ctx context.Context, message string) (bool, error))
}

// ErrNobody says that the program on the other side cannot ask its user.
var ErrNobody = errors.New("the client cannot ask its user")

// Serve offers tools on a stream until it ends.
func Serve(ctx context.Context, c ServeConfig) error {
	s := sdk.NewServer(&sdk.Implementation{Name: "hew", Title: "hew", Version: c.Version}, &sdk.ServerOptions{Instructions: c.Instructions})
	for _, o := range c.Offers {
		addOffer(s, o)
	}
	var session *sdk.ServerSession
	began := make(chan struct{})
	if c.Begin != nil {
		c.Begin(func(ctx context.Context, message string) (bool, error) {
			select {
			case <-began:
			case <-ctx.Done():
				return false, ctx.Err()
			}
			return confirm(ctx, session, message)
		})
	}
	session, err := s.Connect(ctx, &sdk.IOTransport{Reader: c.In, Writer: c.Out, MaxLineLength: maxMessage}, nil)
	if err != nil {
		return err
	}
	close(began)
	stop := context.AfterFunc(ctx, func() { _ = session.Close() })
	defer stop()
	if err := session.Wait(); err != nil && ctx.Err() == nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func addOffer(s *sdk.Server, o Offer) {
	destructive := o.Destructive
	t := &sdk.Tool{
		Name: o.Name, Description: o.Description, InputSchema: o.Schema,
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: o.ReadOnly, DestructiveHint: &destructive},
	}
	s.AddTool(t, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		n := 0.0
		progress := func(text string) {
			token := r.Params.GetProgressToken()
			if token == nil {
				return
			}
			n++
			// A client that does not listen any more learns of the end by the result.
			_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: text})
		}
		a := o.Call(ctx, r.Params.Arguments, progress)
		res := &sdk.CallToolResult{IsError: a.IsError}
		for _, p := range a.Parts {
			if p.Data != nil {
				res.Content = append(res.Content, &sdk.ImageContent{Data: p.Data, MIMEType: p.MIMEType})
				continue
			}
			res.Content = append(res.Content, &sdk.TextContent{Text: p.Text})
		}
		return res, nil
	})
}

func confirm(ctx context.Context, s *sdk.ServerSession, message string) (bool, error) {
	p := s.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return false, ErrNobody
	}
	res, err := s.Elicit(ctx, &sdk.ElicitParams{
		Mode: "form", Message: message,
		RequestedSchema: json.RawMessage(`{"type":"object","properties":{"allow":{"type":"boolean","title":"Allow this call","default":false}},"required":["allow"]}`),
	})
	if err != nil {
		return false, err
	}
	yes, ok := res.Content["allow"].(bool)
	return res.Action == "accept" && ok && yes, nil
}
