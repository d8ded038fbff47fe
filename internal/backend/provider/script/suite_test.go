package script_test

import (
	"testing"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/providertest"
	"github.com/hew-agent/hew/internal/backend/provider/script"
)

func TestSuite(t *testing.T) {
	providertest.Run(t, func(_ *testing.T, m *script.Model) provider.Provider { return m })
}
