package wiring

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/anthropic"
	"github.com/hew-agent/hew/internal/backend/provider/endpoint"
	"github.com/hew-agent/hew/internal/backend/provider/gemini"
	"github.com/hew-agent/hew/internal/backend/provider/modeltable"
	"github.com/hew-agent/hew/internal/backend/provider/openai"
	"github.com/hew-agent/hew/internal/backend/provider/route"
)

// service is one entry of the setting "providers", or a built-in one.
type service struct {
	// API is messages, chat, responses or gemini.
	API     string `json:"api"`
	BaseURL string `json:"baseUrl"`
	// KeyVariable names the environment variable of the key, Helper a command that
	// prints it; without both, no key is sent.
	KeyVariable string            `json:"keyVariable"`
	Helper      string            `json:"keyHelper"`
	Headers     map[string]string `json:"headers"`
	ExtraBody   json.RawMessage   `json:"extraBody"`
	// Local needs no key.
	Local bool `json:"-"`
	// address is the variable or setting that holds BaseURL.
	address string
}

// builtinService are providers that need no settings. Local servers are found
// at the ports that they listen on by themselves.
func (b *build) builtinService(name string) (service, bool) {
	first := func(names ...string) string {
		for _, n := range names {
			if b.env(n) != "" {
				return n
			}
		}
		return names[0]
	}
	at := func(variable, fallback string) string {
		if v := b.env(variable); v != "" {
			return v
		}
		return fallback
	}
	switch name {
	case "openai":
		s := service{API: "responses", BaseURL: at("OPENAI_BASE_URL", openai.DefaultBaseURL), KeyVariable: "OPENAI_API_KEY", address: "OPENAI_BASE_URL"}
		if s.BaseURL != openai.DefaultBaseURL {
			s.API = "chat" // what the many servers behind this variable have in common
		}
		return s, true
	case "gemini", "google":
		return service{API: "gemini", BaseURL: at("GEMINI_BASE_URL", gemini.DefaultBaseURL), KeyVariable: first("GEMINI_API_KEY", "GOOGLE_API_KEY"), address: "GEMINI_BASE_URL"}, true
	}
	for _, l := range localServers() {
		if l.name == name {
			return service{API: "chat", BaseURL: l.address(b.env), KeyVariable: l.key, Local: true, address: l.variable}, true
		}
	}
	e, ok := modeltable.FindEndpoint(name)
	if !ok || !e.Compatible || e.BaseURL == "" {
		return service{}, false
	}
	return service{API: "chat", BaseURL: e.BaseURL, KeyVariable: e.KeyVariable, address: "the setting providers." + name + ".baseUrl"}, true
}

// ownServices are those of the settings; the settings take them from the user,
// the command line and the administrator only, since they say where keys go.
func (b *build) ownServices() map[string]service {
	out := map[string]service{}
	if _, err := b.settings.Decode(&out, "providers"); err != nil {
		b.notice("the setting providers is left out: " + err.Error())
		return nil
	}
	for name, s := range out {
		s.address = "the setting providers." + name + ".baseUrl"
		if s.API == "" {
			s.API = "chat"
		}
		s.Local = s.KeyVariable == "" && s.Helper == ""
		out[name] = s
	}
	return out
}

// ownModels are the models of the settings, by name.
func (b *build) ownModels() []provider.Model {
	var named map[string]json.RawMessage
	if _, err := b.settings.Decode(&named, "models"); err != nil {
		b.notice("the setting models is left out: " + err.Error())
		return nil
	}
	var out []provider.Model
	for name, raw := range named {
		m := provider.Lookup(name, provider.Overrides{Other: otherModel})
		if err := json.Unmarshal(raw, &m); err != nil {
			b.notice(fmt.Sprintf("the setting models.%s is left out: %v", name, err))
			continue
		}
		if m.DefaultOutput > m.MaxOutput {
			m.DefaultOutput = m.MaxOutput
		}
		m.ID = name
		out = append(out, m)
	}
	slices.SortFunc(out, func(x, y provider.Model) int { return strings.Compare(x.ID, y.ID) })
	return out
}

// otherModel finds a model in the catalogue by "provider/model".
func otherModel(name string) (provider.Model, bool) {
	from, model, ok := strings.Cut(name, "/")
	if !ok {
		return provider.Model{}, false
	}
	if from == "google" {
		from = "gemini"
	}
	m, ok := modeltable.FindModel(from, model)
	m.ID = name
	return m, ok
}

// overrides are the user's words on models, of the environment and the settings.
func (b *build) overrides() provider.Overrides {
	o := provider.OverridesFromEnv(b.env)
	o.Own, o.Other = b.ownModels(), otherModel
	return o
}

// router makes the provider of the session: the one that the environment
// chooses, and behind it those that names of models can ask for.
func (b *build) router(lookup func(string) provider.Model) *route.Router {
	own := b.ownServices()
	find := func(name string) (service, bool) {
		if s, ok := own[name]; ok {
			return s, true
		}
		if name == "anthropic" { // the main provider takes it, with or without the prefix
			return service{}, false
		}
		s, ok := b.builtinService(name)
		if ok && !s.Local && b.env(s.KeyVariable) == "" && b.gatewayed() {
			return s, false // a gateway has models of other makers under such names
		}
		return s, ok
	}
	return route.New(route.Config{
		Main:  b.mainProvider,
		Model: lookup,
		Known: func(name string) bool { _, ok := find(name); return ok },
		Open: func(name string) (provider.Provider, error) {
			s, _ := find(name)
			return b.openService(name, s)
		},
	})
}

// gatewayed tells that requests go to another endpoint than the maker's own.
func (b *build) gatewayed() bool {
	u := b.directURL()
	return u != "" && !strings.HasPrefix(u, anthropic.DefaultBaseURL)
}

// openService makes the adapter for a service.
func (b *build) openService(name string, s service) (provider.Provider, error) {
	if _, err := url.Parse(s.BaseURL); err != nil || s.BaseURL == "" {
		return nil, fmt.Errorf("the provider %s has no address: set providers.%s.baseUrl in your settings", name, name)
	}
	c := b.endpointConfig()
	c.BaseURL, c.Address = s.BaseURL, s.address
	c.Headers, c.ExtraBody, c.Betas = nil, string(s.ExtraBody), nil // those of the environment are for the main provider
	for k, v := range s.Headers {
		c.Headers = append(c.Headers, endpoint.Header{Name: k, Value: v})
	}
	fix := "Set " + s.KeyVariable + " to a key of " + name
	if s.Helper != "" {
		fix = "Check the command in providers." + name + ".keyHelper"
	}
	c.Auth = func(ctx context.Context, rejected string) (endpoint.Auth, error) { return b.serviceKey(ctx, name, s) }
	c.Fix = map[provider.Class]string{
		provider.Auth: fix, provider.Forbidden: fix, provider.Connection: "Check the network and " + s.address,
		provider.Timeout: "Check the network and " + s.address, provider.Protocol: "Check " + s.address,
	}
	if s.Local {
		c.Fix[provider.Connection] = "Is " + name + " running? Check " + s.address
	}
	switch s.API {
	case "chat", "responses":
		o := openai.Config{Config: c, Notice: b.notice, Own: strings.HasPrefix(s.BaseURL, openai.DefaultBaseURL)}
		if s.API == "responses" {
			o.API = openai.Responses
		}
		return openai.New(o)
	case "gemini":
		return gemini.New(gemini.Config{Config: c, Notice: b.notice})
	case "messages":
		return anthropic.New(c)
	}
	return nil, fmt.Errorf("the setting providers.%s.api is %q; it can be chat, responses, gemini or messages", name, s.API)
}

// serviceKey is the key of a service.
func (b *build) serviceKey(ctx context.Context, name string, s service) (endpoint.Auth, error) {
	if s.Helper != "" {
		out, err := b.helper(ctx, s.Helper)
		if err != nil {
			return endpoint.Auth{}, fmt.Errorf("run providers.%s.keyHelper: %w", name, err)
		}
		return endpoint.Auth{Style: endpoint.APIKey, Secret: strings.TrimSpace(out)}, nil
	}
	key := ""
	if s.KeyVariable != "" {
		key = strings.TrimSpace(b.env(s.KeyVariable))
	}
	switch {
	case key != "":
		return endpoint.Auth{Style: endpoint.APIKey, Secret: key}, nil
	case s.Local:
		return endpoint.Auth{}, nil
	}
	return endpoint.Auth{}, fmt.Errorf("no key for %s: set %s", name, s.KeyVariable)
}
