package cloud

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/endpoint"
	"github.com/hew-agent/hew/internal/backend/provider/messages"
)

// Vertex describes Google Vertex AI.
type Vertex struct {
	endpoint.Config
	Env Env
}

// vertexScope is what the tokens must allow.
const vertexScope = "https://www.googleapis.com/auth/cloud-platform"

// NewVertex makes the adapter; BaseURL "" means the region's own endpoint.
func NewVertex(c Vertex) (*endpoint.Client, error) {
	region := firstOf(c.Env.Get, "CLOUD_ML_REGION")
	if region == "" {
		return nil, errors.New("vertex: set CLOUD_ML_REGION to a region that has the model, or to global")
	}
	if c.BaseURL == "" {
		c.BaseURL = vertexURL(region)
	}
	c.Address = "ANTHROPIC_VERTEX_BASE_URL"
	extra, err := messages.ParseExtra(c.ExtraBody)
	if err != nil {
		return nil, err
	}
	login := "Run gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS to a service account's key file"
	c.Fix = map[provider.Class]string{
		provider.Auth: login, provider.Credential: login,
		provider.Forbidden:  "The account needs the role Vertex AI User in project ANTHROPIC_VERTEX_PROJECT_ID, and the model must be enabled in Model Garden",
		provider.NotFound:   "Region " + region + " may not have this model: set CLOUD_ML_REGION, and check ANTHROPIC_VERTEX_PROJECT_ID",
		provider.Connection: "Check the network, CLOUD_ML_REGION and ANTHROPIC_VERTEX_BASE_URL",
	}
	g := &googleTokens{env: c.Env}
	if c.Env.Get("CLAUDE_CODE_SKIP_VERTEX_AUTH") == "" {
		c.Auth = g.auth
	}
	d := &vertex{region: region, project: firstOf(c.Env.Get, "ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"), tokens: g}
	members := cloudMembers("vertex-2023-10-16", c.Betas)
	members = append(members[:1:1], members[2:]...) // the stream member stays in the body here
	d.encoder = messages.NewEncoder(append(members, extra...))
	return endpoint.New(c.Config, d)
}

func vertexURL(region string) string {
	switch region {
	case "global":
		return "https://aiplatform.googleapis.com/v1"
	case "us", "eu":
		return "https://aiplatform." + region + ".rep.googleapis.com/v1"
	}
	return "https://" + region + "-aiplatform.googleapis.com/v1"
}

func firstOf(get func(string) string, names ...string) string {
	for _, n := range names {
		if v := get(n); v != "" {
			return v
		}
	}
	return ""
}

// vertex is the dialect.
type vertex struct {
	region, project string
	encoder         *messages.Encoder
	tokens          *googleTokens
}

// Request encodes r; the path names project, region and model.
func (d *vertex) Request(r *provider.Request) (string, *messages.Body, error) {
	project := d.project
	if project == "" {
		var err error
		if project, err = d.tokens.project(); err != nil {
			return "", nil, &provider.Error{Class: provider.Credential, Message: err.Error(), Err: err}
		}
	}
	method := "streamRawPredict"
	if r.Whole {
		method = "rawPredict"
	}
	return fmt.Sprintf("projects/%s/locations/%s/publishers/anthropic/models/%s:%s",
		url.PathEscape(project), url.PathEscape(d.region), url.PathEscape(r.Model), method), d.encoder.Encode(r), nil
}

// Header adds the token.
func (d *vertex) Header(h http.Header, a endpoint.Auth, _ *provider.Request) {
	if a.Style == endpoint.Bearer {
		h["Authorization"] = []string{"Bearer " + a.Secret}
	}
}

// Reply reads server-sent events.
func (d *vertex) Reply(c messages.Config, _ *provider.Request, _ string) endpoint.Reply {
	return endpoint.MessagesReply(c)
}

// Classify types an error answer.
func (d *vertex) Classify(status int, h http.Header, body []byte, now time.Time) *provider.Error {
	e := messages.Classify(status, h, body, now)
	e.ModelUnknown = e.ModelUnknown || e.Class == provider.NotFound
	return e
}
