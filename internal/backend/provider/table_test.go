package provider_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/msg"
)

func TestLookup(t *testing.T) {
	pins := provider.OverridesFromEnv(func(name string) string {
		return map[string]string{
			"ANTHROPIC_DEFAULT_OPUS_MODEL": "claude-opus-4-5[1m]", "ANTHROPIC_SMALL_FAST_MODEL": "my-small",
			"ANTHROPIC_DEFAULT_MODEL": "haiku", "CLAUDE_CODE_MAX_CONTEXT_TOKENS": "50000", "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "70000",
		}[name]
	})
	for _, c := range []struct {
		name string
		o    provider.Overrides
		id   string
		win  int
		out  int
		ok   bool
	}{
		{"opus", provider.Overrides{}, "claude-opus-5-5", 1_000_000, 64_000, true},
		{"Sonnet", provider.Overrides{}, "claude-sonnet-5-5", 1_000_000, 64_000, true},
		{"haiku", provider.Overrides{}, "claude-haiku-5-5", 1_000_000, 64_000, true},
		{"best", provider.Overrides{}, "claude-fable-5-2", 1_000_000, 64_000, true},
		{"default", provider.Overrides{}, "claude-opus-5-5", 1_000_000, 64_000, true},
		{"", provider.Overrides{}, "claude-opus-5-5", 1_000_000, 64_000, true},
		{"opusplan", provider.Overrides{}, "claude-opus-5-5", 1_000_000, 64_000, true},
		{"claude-sonnet-4-5-20250929", provider.Overrides{}, "claude-sonnet-4-5-20250929", 200_000, 32_000, true},
		{"claude-sonnet-4-5[1m]", provider.Overrides{}, "claude-sonnet-4-5", 1_000_000, 32_000, true},
		{"anthropic/claude-haiku-4-5", provider.Overrides{}, "anthropic/claude-haiku-4-5", 200_000, 32_000, true},
		{"us.anthropic.claude-opus-4-5-20251101-v1:0", provider.Overrides{}, "us.anthropic.claude-opus-4-5-20251101-v1:0", 200_000, 32_000, true},
		{"claude-opus-5-9", provider.Overrides{}, "claude-opus-5-9", 200_000, 32_000, false},
		{"notclaude-opus-5", provider.Overrides{}, "notclaude-opus-5", 200_000, 32_000, false},
		{"local/qwen", provider.Overrides{}, "local/qwen", 200_000, 32_000, false},
		{"local/qwen[1M]", provider.Overrides{}, "local/qwen", 1_000_000, 32_000, false},
		{"local/qwen", provider.Overrides{Window: 9000, Output: 500}, "local/qwen", 9000, 500, false},
		{"opus", pins, "claude-opus-4-5", 1_000_000, 64_000, true},
		{"haiku", pins, "my-small", 50_000, 70_000, false},
		{"default", pins, "my-small", 50_000, 70_000, false},
		{"sonnet", pins, "claude-sonnet-5-5", 1_000_000, 70_000, true},
	} {
		m := provider.Lookup(c.name, c.o)
		if m.ID != c.id || m.Window != c.win || m.DefaultOutput != c.out || m.Known != c.ok || m.DefaultOutput > m.MaxOutput {
			t.Errorf("%q: %+v", c.name, m)
		}
	}
}

func TestModelsAreConsistent(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range provider.Models() {
		for _, n := range append(slices.Clone(m.Aliases), m.ID) {
			if seen[n] {
				t.Errorf("%s names two models", n)
			}
			seen[n] = true
			if got := provider.Lookup(n, provider.Overrides{}); got.ID != m.ID {
				t.Errorf("%s is found as %s", n, got.ID)
			}
		}
		if m.Price.Input <= 0 || m.Price.CacheRead >= m.Price.Input || m.DefaultOutput > m.MaxOutput || m.MaxOutput >= m.Window || !m.Known {
			t.Errorf("%+v", m)
		}
	}
}

func TestCost(t *testing.T) {
	u := msg.Usage{InputTokens: 1000, OutputTokens: 1000, CacheReadInputTokens: 10_000, CacheCreationInputTokens: 2000}
	u.CacheCreation.Ephemeral1h = 500
	opus := provider.Lookup("opus", provider.Overrides{}).Price
	if got, want := opus.Cost(u), (1000*4+1000*20+10_000*0.2+1500*5+500*8)/1e6; math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
	haiku := provider.Lookup("haiku", provider.Overrides{}).Price
	if got, want := haiku.Cost(msg.Usage{InputTokens: 100_000, OutputTokens: 10}), (100_000*0.1+10*0.5)/1e6; math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := haiku.Cost(msg.Usage{InputTokens: 100_001, OutputTokens: 10}), (100_001*0.5+10*2.5)/1e6; math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestBackoff(t *testing.T) {
	last := time.Duration(0)
	for n := 1; n <= provider.MaxRetries; n++ {
		d := provider.Backoff(n, 0, 0)
		if d < last || d > provider.Backoff(n, 0, 0.99) || d > time.Minute {
			t.Errorf("retry %d waits %s", n, d)
		}
		last = d
	}
	if d := provider.Backoff(1, 7*time.Second, 0.5); d != 7*time.Second {
		t.Errorf("the server's wish became %s", d)
	}
	if d := provider.Backoff(1, 24*time.Hour, 0); d > time.Hour {
		t.Errorf("a server may park a session for %s", d)
	}
}
