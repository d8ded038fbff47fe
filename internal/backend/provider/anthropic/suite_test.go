package anthropic_test

import (
	"net/http/httptest"
	"testing"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/anthropic"
	"github.com/hew-agent/hew/internal/backend/provider/providertest"
	"github.com/hew-agent/hew/internal/backend/provider/script"
)

func TestSuite(t *testing.T) {
	providertest.Run(t, func(t *testing.T, m *script.Model) provider.Provider {
		s := httptest.NewServer(m)
		t.Cleanup(s.Close)
		return client(t, anthropic.Config{
			BaseURL: s.URL, HeaderTimeout: providertest.Stall, StallTimeout: providertest.Stall,
		})
	})
}
