package providertest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/anthropic"
	"github.com/hew-agent/hew/internal/backend/provider/cloud"
	"github.com/hew-agent/hew/internal/backend/provider/endpoint"
	"github.com/hew-agent/hew/internal/backend/provider/gemini"
	"github.com/hew-agent/hew/internal/backend/provider/openai"
	"github.com/hew-agent/hew/internal/backend/provider/providertest"
	"github.com/hew-agent/hew/internal/backend/provider/script"
)

// Each provider of hew is run through the suite here, as a package may not
// import its siblings, not even in a test.

func TestConformanceAnthropic(t *testing.T) {
	providertest.Run(t, func(t *testing.T, m *script.Model, p providertest.Patience) provider.Provider {
		s := httptest.NewServer(m)
		t.Cleanup(s.Close)
		c, err := anthropic.New(endpoint.Config{
			BaseURL: s.URL, HeaderTimeout: p.Answer, StallTimeout: p.Silence,
			Auth: func(context.Context, string) (endpoint.Auth, error) {
				return endpoint.Auth{Style: endpoint.APIKey, Secret: "key"}, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return c
	})
}

func TestConformanceScript(t *testing.T) {
	providertest.Run(t, func(_ *testing.T, m *script.Model, _ providertest.Patience) provider.Provider { return m })
}

// config serves m on loopback.
func config(t *testing.T, m *script.Model, path string, p providertest.Patience) endpoint.Config {
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	return endpoint.Config{
		BaseURL: s.URL + path, HeaderTimeout: p.Answer, StallTimeout: p.Silence,
		Auth: func(context.Context, string) (endpoint.Auth, error) {
			return endpoint.Auth{Style: endpoint.APIKey, Secret: "key"}, nil
		},
	}
}

func made[P provider.Provider](t *testing.T) func(p P, err error) provider.Provider {
	return func(p P, err error) provider.Provider {
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

func TestConformanceChat(t *testing.T) {
	providertest.RunForeign(t, func(t *testing.T, m *script.Model, p providertest.Patience) provider.Provider {
		return made[*endpoint.Client](t)(openai.New(openai.Config{Config: config(t, m, "/v1", p)}))
	}, providertest.Abilities{})
}

func TestConformanceResponses(t *testing.T) {
	providertest.RunForeign(t, func(t *testing.T, m *script.Model, p providertest.Patience) provider.Provider {
		return made[*endpoint.Client](t)(openai.New(openai.Config{Config: config(t, m, "/v1", p), API: openai.Responses, Own: true}))
	}, providertest.Abilities{Signs: true})
}

func TestConformanceGemini(t *testing.T) {
	providertest.RunForeign(t, func(t *testing.T, m *script.Model, p providertest.Patience) provider.Provider {
		return made[*endpoint.Client](t)(gemini.New(gemini.Config{Config: config(t, m, "/v1beta", p)}))
	}, providertest.Abilities{Signs: true, WholeInput: true})
}

// env is an environment of these variables alone.
func env(vars map[string]string) cloud.Env {
	return cloud.Env{
		Get: func(n string) string { return vars[n] }, Home: "/nowhere", Now: time.Now, HTTP: http.DefaultClient,
	}
}

func TestConformanceBedrock(t *testing.T) {
	providertest.RunCloud(t, func(t *testing.T, m *script.Model, p providertest.Patience) provider.Provider {
		e := env(map[string]string{"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "eu-west-1"})
		return made[*endpoint.Client](t)(cloud.NewBedrock(cloud.Bedrock{Config: config(t, m, "", p), Env: e}))
	})
}

func TestConformanceVertex(t *testing.T) {
	providertest.RunCloud(t, func(t *testing.T, m *script.Model, p providertest.Patience) provider.Provider {
		e := env(map[string]string{"CLOUD_ML_REGION": "global", "ANTHROPIC_VERTEX_PROJECT_ID": "p", "CLAUDE_CODE_SKIP_VERTEX_AUTH": "1"})
		return made[*endpoint.Client](t)(cloud.NewVertex(cloud.Vertex{Config: config(t, m, "/v1", p), Env: e}))
	})
}

func TestConformanceFoundry(t *testing.T) {
	providertest.RunCloud(t, func(t *testing.T, m *script.Model, p providertest.Patience) provider.Provider {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/tenant/oauth2/v2.0/token" {
				_, _ = w.Write([]byte(`{"access_token":"entra","expires_in":3600}`))
				return
			}
			m.ServeHTTP(w, r)
		}))
		t.Cleanup(s.Close)
		e := &cloud.Entra{Env: env(map[string]string{"AZURE_TENANT_ID": "tenant", "AZURE_CLIENT_ID": "c", "AZURE_CLIENT_SECRET": "s", "AZURE_AUTHORITY_HOST": s.URL})}
		c := config(t, m, "", p)
		c.BaseURL, c.Auth = s.URL+"/anthropic", e.Auth
		return made[*anthropic.Client](t)(anthropic.New(c))
	})
}
