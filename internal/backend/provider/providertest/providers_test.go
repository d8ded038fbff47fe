package providertest_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/anthropic"
	"github.com/hew-agent/hew/internal/backend/provider/endpoint"
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
