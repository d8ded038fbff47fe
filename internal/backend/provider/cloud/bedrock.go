// Package cloud has the Messages API on AWS Bedrock, Google Vertex AI and Microsoft Foundry: addresses, signatures, credentials, framing.
//
// A cloud that is not chosen costs nothing: nothing is read or asked before its
// first request.
package cloud

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/endpoint"
	"github.com/hew-agent/hew/internal/backend/provider/messages"
	"github.com/hew-agent/hew/internal/msg"
)

// Env is what the clouds' credentials are found with.
type Env struct {
	// Get reads a variable.
	Get func(name string) string
	// Home is the user's home folder.
	Home string
	// Run runs a command line and returns what it printed; nil when nothing can.
	Run func(ctx context.Context, command string) (string, error)
	// HTTP asks token services.
	HTTP *http.Client
	// Now is the clock.
	Now func() time.Time
}

// Bedrock describes AWS Bedrock.
type Bedrock struct {
	endpoint.Config
	Env Env
}

// NewBedrock makes the adapter; BaseURL "" means the region's own endpoint.
func NewBedrock(c Bedrock) (*endpoint.Client, error) {
	keys := newAWSKeys(c.Env)
	region := keys.region()
	if c.BaseURL == "" {
		c.BaseURL = "https://bedrock-runtime." + region + "." + awsDomain(region)
	}
	c.Address = "ANTHROPIC_BEDROCK_BASE_URL"
	extra, err := messages.ParseExtra(c.ExtraBody)
	if err != nil {
		return nil, err
	}
	d := newBedrockDialect(c.Env, region)
	d.encoder = messages.NewEncoder(append(cloudMembers("bedrock-2023-05-31", c.Betas), extra...))
	c.Fix = map[provider.Class]string{
		provider.Credential: "Log in to AWS: set AWS_PROFILE, AWS_ACCESS_KEY_ID or AWS_BEARER_TOKEN_BEDROCK, or run aws sso login",
		provider.Connection: "Check the network, AWS_REGION and ANTHROPIC_BEDROCK_BASE_URL",
	}
	switch token := c.Env.Get("AWS_BEARER_TOKEN_BEDROCK"); {
	case c.Env.Get("CLAUDE_CODE_SKIP_BEDROCK_AUTH") != "": // a gateway adds the credentials
	case token != "":
		c.Auth = func(context.Context, string) (endpoint.Auth, error) {
			return endpoint.Auth{Style: endpoint.Bearer, Secret: token}, nil
		}
	default:
		c.Sign = func(ctx context.Context, r *http.Request, body []byte) error {
			k, err := keys.find(ctx)
			if err != nil {
				return err
			}
			signV4(r, body, k, region, "bedrock", c.Env.Now())
			return nil
		}
	}
	return endpoint.New(c.Config, d)
}

func newBedrockDialect(e Env, region string) *bedrock {
	d := &bedrock{region: region, prefix: e.Get("ANTHROPIC_BEDROCK_REGION_PREFIX"), tier: e.Get("ANTHROPIC_BEDROCK_SERVICE_TIER")}
	if d.prefix == "" {
		d.prefix = profilePrefix(region)
	}
	d.fixes = map[string]string{
		"expired": "Renew the credentials (aws sso login, or new AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN)",
		"wrong":   "Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
		"clock":   "The clock of this machine is wrong: set it",
		"region":  "Region " + region + " may not have this model: set AWS_REGION, or name an inference profile in ANTHROPIC_MODEL",
		"access":  "Ask for access to the model in the Bedrock console of " + region + ", and for the right bedrock:InvokeModelWithResponseStream",
	}
	if e.Get("AWS_BEARER_TOKEN_BEDROCK") != "" {
		d.fixes["wrong"] = "Check AWS_BEARER_TOKEN_BEDROCK; such keys expire"
		d.fixes["expired"] = d.fixes["wrong"]
	}
	return d
}

// cloudMembers are what a cloud has in the body instead of in headers and path.
func cloudMembers(version string, betas []string) []messages.Member {
	out := []messages.Member{
		{Key: "model"},
		{Key: "stream"},
		{Key: "anthropic_version", Value: msg.Encode(version)},
	}
	if len(betas) > 0 {
		out = append(out, messages.Member{Key: "anthropic_beta", Value: msg.Encode(betas)})
	}
	return out
}

// bedrock is the dialect.
type bedrock struct {
	region, prefix, tier string
	encoder              *messages.Encoder
	fixes                map[string]string
}

// Request encodes r; the path names the model.
func (d *bedrock) Request(r *provider.Request) (string, *messages.Body, error) {
	method := "/invoke-with-response-stream"
	if r.Whole {
		method = "/invoke"
	}
	return "model/" + awsEscape(d.model(r.Model)) + method, d.encoder.Encode(r), nil
}

// model turns a name of the maker into an inference profile's; ids and ARNs of
// AWS stay.
func (d *bedrock) model(name string) string {
	if !strings.HasPrefix(name, "claude-") {
		return name
	}
	return d.prefix + ".anthropic." + name
}

// profilePrefix is how the inference profiles of a region's part of the world begin.
func profilePrefix(region string) string {
	switch {
	case strings.HasPrefix(region, "us-gov-"):
		return "us-gov"
	case strings.HasPrefix(region, "us-"):
		return "us"
	case strings.HasPrefix(region, "eu-"):
		return "eu"
	case strings.HasPrefix(region, "ap-"):
		return "apac"
	}
	return "global"
}

// Header adds the bearer key, where one is used instead of a signature.
func (d *bedrock) Header(h http.Header, a endpoint.Auth, _ *provider.Request) {
	h["Accept"] = []string{"application/vnd.amazon.eventstream, application/json"}
	if a.Style == endpoint.Bearer {
		h["Authorization"] = []string{"Bearer " + a.Secret}
	}
	if d.tier != "" {
		h["X-Amzn-Bedrock-Service-Tier"] = []string{d.tier}
	}
}

// Reply reads frames; a gateway may send server-sent events instead.
func (d *bedrock) Reply(c messages.Config, _ *provider.Request, kind string) endpoint.Reply {
	if kind != "application/vnd.amazon.eventstream" {
		return endpoint.MessagesReply(c)
	}
	dec := messages.NewDecoder(c)
	f := &frames{take: func(m awsMessage) error { return bedrockEvent(m, dec) }}
	return endpoint.Reply{Feed: f.feed, End: f.end, Whole: dec.Whole, Ended: dec.Ended}
}

// bedrockEvent unpacks one frame.
func bedrockEvent(m awsMessage, dec *messages.Decoder) error {
	if kind := m.headers[":message-type"]; kind != "event" {
		name := m.headers[":exception-type"] + m.headers[":error-code"]
		text := gjson.GetBytes(m.payload, "message").String() + m.headers[":error-message"]
		return dec.Event(msg.Encode(map[string]any{"type": "error", "error": map[string]string{"type": errorType(name), "message": text}}))
	}
	var chunk struct {
		Bytes []byte `json:"bytes"`
	}
	if err := json.Unmarshal(m.payload, &chunk); err != nil {
		return &provider.Error{Class: provider.Protocol, Message: "the endpoint sent a frame without an event", Err: err}
	}
	return dec.Event(chunk.Bytes)
}

// errorType puts the name of an exception into the words of the Messages API.
func errorType(name string) string {
	switch n := strings.ToLower(name); {
	case strings.Contains(n, "throttling"):
		return "rate_limit_error"
	case strings.Contains(n, "serviceunavailable"):
		return "overloaded_error"
	case strings.Contains(n, "validation"):
		return "invalid_request_error"
	case strings.Contains(n, "timeout"):
		return "timeout_error"
	case strings.Contains(n, "accessdenied"):
		return "permission_error"
	}
	return "api_error"
}

// Classify types an error answer and says what to do about it.
func (d *bedrock) Classify(status int, h http.Header, body []byte, now time.Time) *provider.Error {
	e := messages.Classify(status, h, body, now)
	if id := h.Get("X-Amzn-Requestid"); id != "" {
		e.RequestID = id
	}
	name, _, _ := strings.Cut(h.Get("X-Amzn-Errortype"), ":")
	if name != "" {
		e.Type = name
	}
	text := strings.ToLower(e.Message)
	has := func(s ...string) bool {
		for _, x := range s {
			if strings.Contains(text, x) {
				return true
			}
		}
		return false
	}
	switch {
	case name == "ExpiredTokenException" || has("token has expired", "token is expired", "token included in the request is expired"):
		e.Class, e.Fix = provider.Auth, d.fixes["expired"]
	case has("signature expired", "signature not yet current"):
		e.Class, e.Fix = provider.Auth, d.fixes["clock"]
	case status == http.StatusUnauthorized || name == "UnrecognizedClientException" || name == "InvalidSignatureException" || has("security token included in the request is invalid", "signature we calculated"):
		e.Class, e.Fix = provider.Auth, d.fixes["wrong"]
	case has("model identifier is invalid", "on-demand throughput", "model id", "could not resolve the foundation model") || name == "ResourceNotFoundException":
		e.Class, e.ModelUnknown, e.Fix = provider.NotFound, true, d.fixes["region"]
	case status == http.StatusForbidden:
		e.Fix = d.fixes["access"]
	case status == http.StatusServiceUnavailable:
		e.Class = provider.Overloaded
	}
	return e
}
