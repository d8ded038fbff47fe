// Package modeltable knows models and endpoints of other makers, from a catalogue that the binary holds.
//
// The catalogue is a library's, cut to what hew asks for and compressed by
// tools/modeltable; it is read on the first question, so that a session with a
// Claude model does not pay for it.
package modeltable

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the catalogue
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hew-agent/hew/internal/backend/provider"
)

//go:generate sh -c "cd ../../../../tools && go run ./modeltable >../internal/backend/provider/modeltable/catalogue.json.gz"

//go:embed catalogue.json.gz
var catalogue []byte

// maker and model are as tools/modeltable writes them.
type maker struct {
	ID, Name, URL, Key string
	Compatible         bool
	Models             []model
}

type model struct {
	ID                     string
	Window, Output         int
	Thinks, Effort, Images bool
	Price                  [4]float64 // in, out, and the two columns for caches
}

// Endpoint is where a maker or reseller serves its models.
type Endpoint struct {
	Name, BaseURL string
	// KeyVariable names the environment variable of the key.
	KeyVariable string
	// Compatible tells that Chat Completions is spoken there.
	Compatible bool
}

var all = sync.OnceValue(func() map[string]maker {
	out := map[string]maker{}
	var list []maker
	z, err := gzip.NewReader(bytes.NewReader(catalogue))
	if err == nil {
		err = json.NewDecoder(z).Decode(&list)
	}
	if err != nil {
		panic("modeltable: the embedded catalogue: " + err.Error())
	}
	for _, p := range list {
		out[p.ID] = p
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
	url := p.URL
	if strings.Contains(url, "$") {
		url = "" // an address that only the user knows
	}
	return Endpoint{Name: p.Name, BaseURL: url, KeyVariable: strings.TrimPrefix(p.Key, "$"), Compatible: p.Compatible}, true
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

func modelOf(name string, m model) provider.Model {
	return provider.Model{
		ID: name + "/" + m.ID, Window: m.Window, MaxOutput: m.Output, DefaultOutput: m.Output,
		Thinks: m.Thinks, Adaptive: m.Thinks, Effort: m.Effort, Images: m.Images, Known: true, Price: price(m.Price),
	}
}

// price reads the catalogue's figures. Its two columns for caches are filled in
// differently from maker to maker: what is dearer than fresh input is a write,
// the cheaper one a read; without a figure, cached input costs what fresh does.
func price(f [4]float64) provider.Price {
	p := provider.Price{Input: f[0], Output: f[1], CacheRead: f[0], CacheWrite: f[0], CacheWrite1h: f[0]}
	for _, c := range f[2:] {
		if c > p.Input && c < 3*p.Input {
			p.CacheWrite, p.CacheWrite1h = c, c
		}
		if c > 0 {
			p.CacheRead = min(p.CacheRead, c)
		}
	}
	return p
}
