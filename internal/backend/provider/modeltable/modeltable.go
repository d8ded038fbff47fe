// Package modeltable knows models and endpoints of other makers, from a catalogue that the binary holds.
//
// The catalogue is a library's: its JSON is read on the first question, so that
// a session with a Claude model does not pay for it.
package modeltable

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"

	"github.com/hew-agent/hew/internal/backend/provider"
)

// Endpoint is where a maker or reseller serves its models.
type Endpoint struct {
	Name, BaseURL string
	// KeyVariable names the environment variable of the key.
	KeyVariable string
	// Compatible tells that Chat Completions is spoken there.
	Compatible bool
}

var all = sync.OnceValue(func() map[string]catwalk.Provider {
	out := map[string]catwalk.Provider{}
	for _, p := range embedded.GetAll() {
		out[string(p.ID)] = p
	}
	return out
})

// Names lists the providers of the catalogue.
func Names() []string { return slices.Sorted(maps.Keys(all())) }

// FindEndpoint finds a provider by its name in the catalogue.
func FindEndpoint(name string) (Endpoint, bool) {
	p, ok := all()[name]
	if !ok {
		return Endpoint{}, false
	}
	url := p.APIEndpoint
	if strings.Contains(url, "$") {
		url = "" // an address that only the user knows
	}
	return Endpoint{
		Name: p.Name, BaseURL: url, KeyVariable: strings.TrimPrefix(p.APIKey, "$"),
		Compatible: p.Type == catwalk.TypeOpenAICompat || p.Type == catwalk.TypeOpenRouter || p.Type == catwalk.TypeOpenAI || p.Type == catwalk.TypeVercel,
	}, true
}

// FindModel finds a model of a provider. Its ID is "provider/model".
func FindModel(name, model string) (provider.Model, bool) {
	p, ok := all()[name]
	if !ok {
		return provider.Model{}, false
	}
	for _, m := range p.Models {
		if strings.EqualFold(m.ID, model) {
			return modelOf(name, m), true
		}
	}
	return provider.Model{}, false
}

// Models lists the models of a provider.
func Models(name string) []provider.Model {
	var out []provider.Model
	for _, m := range all()[name].Models {
		out = append(out, modelOf(name, m))
	}
	return out
}

func modelOf(name string, m catwalk.Model) provider.Model {
	output := int(m.DefaultMaxTokens)
	return provider.Model{
		ID: name + "/" + m.ID, Window: int(m.ContextWindow), MaxOutput: output, DefaultOutput: output,
		Thinks: m.CanReason, Adaptive: m.CanReason, Effort: m.CanReason && len(m.ReasoningLevels) > 0, Images: m.SupportsImages, Known: true,
		Price: price(m),
	}
}

// price reads the catalogue's figures. Its two columns for caches are filled in
// differently from maker to maker: what is dearer than fresh input is a write,
// the cheaper one a read; without a figure, cached input costs what fresh does.
func price(m catwalk.Model) provider.Price {
	p := provider.Price{Input: m.CostPer1MIn, Output: m.CostPer1MOut, CacheRead: m.CostPer1MIn, CacheWrite: m.CostPer1MIn, CacheWrite1h: m.CostPer1MIn}
	for _, c := range []float64{m.CostPer1MInCached, m.CostPer1MOutCached} {
		if c > p.Input && c < 3*p.Input {
			p.CacheWrite, p.CacheWrite1h = c, c
		}
		if c > 0 {
			p.CacheRead = min(p.CacheRead, c)
		}
	}
	return p
}
