// Package anthropic is the adapter for the Anthropic Messages API.
//
// Any endpoint that speaks the API will do; what differs between them is configuration.
package anthropic

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/endpoint"
	"github.com/hew-agent/hew/internal/backend/provider/messages"
)

// Defaults of an endpoint.
const (
	DefaultBaseURL    = "https://api.anthropic.com"
	DefaultAPIVersion = "2023-06-01"
)

// Client is a provider.Provider and provider.Counter for one endpoint.
type Client struct {
	*endpoint.Client
}

// New checks the configuration. It makes no connection.
func New(c endpoint.Config) (*Client, error) {
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	if c.APIVersion == "" {
		c.APIVersion = DefaultAPIVersion
	}
	if c.Address == "" {
		c.Address = "ANTHROPIC_BASE_URL"
	}
	extra, err := messages.ParseExtra(c.ExtraBody)
	if err != nil {
		return nil, err
	}
	cl, err := endpoint.New(c, &dialect{version: c.APIVersion, betas: c.Betas, encoder: messages.NewEncoder(extra)})
	if err != nil {
		return nil, err
	}
	return &Client{cl}, nil
}

// dialect is the Messages API as its maker serves it.
type dialect struct {
	version string
	betas   []string
	encoder *messages.Encoder
}

// Request encodes r.
func (d *dialect) Request(r *provider.Request) (string, *messages.Body, error) {
	return "v1/messages", d.encoder.Encode(r), nil
}

// Header names the version, the features and the credential.
func (d *dialect) Header(h http.Header, a endpoint.Auth, _ *provider.Request) {
	h["Anthropic-Version"] = []string{d.version}
	betas := append(append([]string(nil), d.betas...), a.Betas...)
	if len(betas) > 0 {
		h["Anthropic-Beta"] = []string{strings.Join(betas, ",")}
	}
	switch a.Style {
	case endpoint.NoKey:
	case endpoint.APIKey:
		h["X-Api-Key"] = []string{a.Secret}
	case endpoint.Bearer:
		h["Authorization"] = []string{"Bearer " + a.Secret}
	}
}

// Reply reads server-sent events.
func (d *dialect) Reply(c messages.Config, _ *provider.Request, _ string) endpoint.Reply {
	return endpoint.MessagesReply(c)
}

// Classify types an error answer.
func (d *dialect) Classify(status int, h http.Header, body []byte, now time.Time) *provider.Error {
	return messages.Classify(status, h, body, now)
}

// CountTokens asks the endpoint for the size of r in tokens.
func (c *Client) CountTokens(ctx context.Context, r *provider.Request) (int, error) {
	var out struct {
		N *int `json:"input_tokens"`
	}
	err := c.Ask(ctx, r, "v1/messages/count_tokens", messages.EncodeCount(r), func(body []byte) error {
		if json.Unmarshal(body, &out) != nil || out.N == nil {
			return messages.NotAPI(http.StatusOK, body)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return *out.N, nil
}
