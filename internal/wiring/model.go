package wiring

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/credential"
	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/anthropic"
	"github.com/hew-agent/hew/internal/backend/provider/cloud"
	"github.com/hew-agent/hew/internal/backend/provider/endpoint"
	"github.com/hew-agent/hew/internal/backend/provider/script"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/core/engine"
)

// scripted is how the scripted model is named: script:FILE.
const scripted = "script:"

// model chooses the provider and the model. It is settled here once; the loop
// never asks which it is.
func (b *build) model(context.Context) (engine.Model, error) {
	over := b.overrides()
	m := engine.Model{
		Name: b.modelName(), Lookup: func(name string) provider.Model { return provider.Lookup(name, over) },
		MaxOutput: over.Output, Effort: b.effort(), CacheTTL: b.cacheTTL(), Retries: b.retries(),
		NoWhole: b.env("CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK") != "",
	}
	m.Fallbacks = b.fallbacks(m.Name)
	m.Thinking = b.thinking()
	if file, ok := strings.CutPrefix(m.Name, scripted); ok {
		sc, err := script.Load(file)
		if err != nil {
			return m, fmt.Errorf("the scripted model: %w", err)
		}
		m.Provider, m.Name = script.New(sc, script.Config{}), "scripted-model"
		b.conv.KeySource = "none"
		return m, nil
	}
	r := b.router(m.Lookup)
	m.Provider = r
	b.conv.KeySource = b.keySource()
	if name, _ := r.Split(m.Lookup(m.Name).ID); name != "" {
		b.conv.KeySource = name
	}
	_, err := r.Open(m.Lookup(m.Name).ID)
	return m, err
}

// modelName follows the documented order: the command line, the environment,
// the session that is resumed, the settings, the default.
func (b *build) modelName() string {
	past := ""
	if b.past != nil {
		past = b.past.Model
	}
	for _, n := range []string{b.o.Model, b.env("ANTHROPIC_MODEL"), past, b.settings.Model(), b.env("ANTHROPIC_DEFAULT_MODEL")} {
		if n != "" {
			return n
		}
	}
	return "default"
}

// fallbacks are the models of the chain other than the main one.
func (b *build) fallbacks(main string) []string {
	list := b.o.Fallback
	if len(list) == 0 {
		list = b.settings.FallbackModel()
	}
	out := slices.DeleteFunc(slices.Clone(list), func(n string) bool { return n == main })
	if len(out) > maxFallbacks {
		b.notice(fmt.Sprintf("only the first %d fallback models are used; %s is left out", maxFallbacks, strings.Join(out[maxFallbacks:], ", ")))
		out = out[:maxFallbacks]
	}
	return out
}

// maxFallbacks is the documented length of the chain.
const maxFallbacks = 3

func (b *build) effort() string {
	for _, e := range []string{b.env("CLAUDE_CODE_EFFORT_LEVEL"), b.o.Effort, b.settings.EffortLevel()} {
		if e != "" {
			return e
		}
	}
	return ""
}

// thinking is on unless it was switched off; a budget is kept as given.
func (b *build) thinking() provider.Thinking {
	if b.o.Thinking == "disabled" || b.env("MAX_THINKING_TOKENS") == "0" {
		return provider.Thinking{}
	}
	if on, set := b.settings.AlwaysThinkingEnabled(); set && !on && b.o.Thinking == "" && b.o.MaxThinking == 0 {
		return provider.Thinking{}
	}
	budget := b.o.MaxThinking
	if budget == 0 {
		budget = b.number("MAX_THINKING_TOKENS")
	}
	return provider.Thinking{Adaptive: true, Budget: budget, Display: b.o.ThinkingDisplay}
}

func (b *build) cacheTTL() string {
	if b.env("DISABLE_PROMPT_CACHING") != "" {
		return ""
	}
	if b.settings.Text("promptCacheTtl") == "1h" {
		return "1h"
	}
	return "5m"
}

func (b *build) retries() int {
	return min(b.number("CLAUDE_CODE_MAX_RETRIES"), provider.MaxRetries)
}

// env reads a variable as commands see it: the settings' env block wins.
func (b *build) env(name string) string {
	if v, ok := b.settings.Env()[name]; ok {
		return v
	}
	return b.o.getenv(name)
}

// endpointConfig is what all ways to a model have in common.
func (b *build) endpointConfig() endpoint.Config {
	return endpoint.Config{
		Version: b.o.Version, Now: b.o.Now,
		HeaderTimeout: b.millis("API_TIMEOUT_MS"), StallTimeout: b.millis("API_FORCE_IDLE_TIMEOUT"),
		Network: endpoint.NetworkFromEnv(b.env),
	}
}

// mainProvider is the one that takes models without a provider in their name.
func (b *build) mainProvider() (provider.Provider, error) {
	headers, err := endpoint.ParseHeaders(b.env("ANTHROPIC_CUSTOM_HEADERS"))
	if err != nil {
		return nil, fmt.Errorf("ANTHROPIC_CUSTOM_HEADERS: %w", err)
	}
	c := b.endpointConfig()
	c.Headers, c.Betas, c.ExtraBody = headers, b.betas(), b.env("CLAUDE_CODE_EXTRA_BODY")
	switch {
	case b.env("CLAUDE_CODE_USE_BEDROCK") != "":
		c.BaseURL = b.env("ANTHROPIC_BEDROCK_BASE_URL")
		return cloud.NewBedrock(cloud.Bedrock{Config: c, Env: b.cloudEnv()})
	case b.env("CLAUDE_CODE_USE_VERTEX") != "":
		c.BaseURL = b.env("ANTHROPIC_VERTEX_BASE_URL")
		return cloud.NewVertex(cloud.Vertex{Config: c, Env: b.cloudEnv()})
	case b.env("CLAUDE_CODE_USE_FOUNDRY") != "":
		return b.foundry(c)
	}
	return b.direct(c)
}

// cloudName is the cloud that the environment chooses, "" for none.
func (b *build) cloudName() string {
	for _, n := range []string{"bedrock", "vertex", "foundry"} {
		if b.env("CLAUDE_CODE_USE_"+strings.ToUpper(n)) != "" {
			return n
		}
	}
	return ""
}

// cloudEnv is what the clouds' credentials are found with.
func (b *build) cloudEnv() cloud.Env {
	client := http.DefaultClient
	if t, err := endpoint.NetworkFromEnv(b.env).Transport(); err == nil {
		client = &http.Client{Transport: t, Timeout: helperTimeout}
	}
	return cloud.Env{Get: b.env, Home: b.o.userHome(), Run: b.helper, HTTP: client, Now: b.o.Now}
}

// foundry is the API at Microsoft Foundry: only address and credential differ.
func (b *build) foundry(c endpoint.Config) (provider.Provider, error) {
	c.Address, c.BaseURL = "ANTHROPIC_FOUNDRY_BASE_URL", b.env("ANTHROPIC_FOUNDRY_BASE_URL")
	if c.BaseURL == "" {
		if b.env("ANTHROPIC_FOUNDRY_RESOURCE") == "" {
			return nil, errors.New("foundry: set ANTHROPIC_FOUNDRY_RESOURCE to the name of your resource, or ANTHROPIC_FOUNDRY_BASE_URL")
		}
		c.BaseURL = cloud.FoundryURL(b.env("ANTHROPIC_FOUNDRY_RESOURCE"))
	}
	fix := "Check ANTHROPIC_FOUNDRY_API_KEY, or the Entra ID login (az login)"
	c.Fix = map[provider.Class]string{
		provider.Auth: fix, provider.Forbidden: "The account needs the role Cognitive Services User on the resource",
		provider.NotFound: "Deploy the model to this resource, or name a deployment of yours with --model; check ANTHROPIC_FOUNDRY_RESOURCE",
	}
	key, token := b.env("ANTHROPIC_FOUNDRY_API_KEY"), b.env("ANTHROPIC_FOUNDRY_AUTH_TOKEN")
	switch {
	case b.env("CLAUDE_CODE_SKIP_FOUNDRY_AUTH") != "": // a gateway adds the credentials
	case token != "":
		c.Auth = func(context.Context, string) (endpoint.Auth, error) {
			return endpoint.Auth{Style: endpoint.Bearer, Secret: token}, nil
		}
	case key != "":
		c.Auth = func(context.Context, string) (endpoint.Auth, error) {
			return endpoint.Auth{Style: endpoint.APIKey, Secret: key}, nil
		}
	default:
		c.Auth = (&cloud.Entra{Env: b.cloudEnv()}).Auth
	}
	return anthropic.New(c)
}

// direct is the API of the maker, or a gateway that speaks it.
func (b *build) direct(c endpoint.Config) (provider.Provider, error) {
	conf, err := b.credentials()
	if err != nil {
		return nil, err
	}
	keys := credential.New(conf)
	c.BaseURL, c.APIVersion = b.directURL(), b.env("HEW_ANTHROPIC_VERSION")
	c.Auth = func(ctx context.Context, rejected string) (endpoint.Auth, error) { return auth(ctx, keys, rejected) }
	return anthropic.New(c)
}

func (b *build) betas() []string {
	out := append([]string(nil), b.o.Betas...)
	for v := range strings.SplitSeq(b.env("ANTHROPIC_BETAS"), ",") {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}

// auth turns a credential into what the endpoint is sent.
func auth(ctx context.Context, keys *credential.Resolver, rejected string) (endpoint.Auth, error) {
	c, err := keys.Key(ctx, rejected)
	if err != nil {
		return endpoint.Auth{}, err
	}
	style := endpoint.APIKey
	if c.Bearer() {
		style = endpoint.Bearer
	}
	return endpoint.Auth{Style: style, Secret: c.Secret.Reveal(), Betas: c.Betas()}, nil
}

func (b *build) credentials() (credential.Config, error) {
	l, err := b.login()
	return credential.Config{
		Env: b.env, Helper: b.settings.APIKeyHelper(), Run: b.helper, Home: b.home.Dir, Login: l,
		KeysOnly: b.o.Bare, Notice: b.notice, Now: b.o.Now,
	}, err
}

// helperTimeout bounds a program that prints a key.
const helperTimeout = time.Minute

// helper runs a command line that prints a credential. Its output is in no error.
func (b *build) helper(ctx context.Context, command string) (string, error) {
	r := shell.New(shell.Config{NoSnapshot: true, Env: b.environ()})
	res, err := r.Exec(ctx, shell.Program{Argv: []string{r.Shell(), "-c", command}, Dir: b.place.Project, Timeout: helperTimeout, Unconfined: true})
	if err = exitError(res, errors.Join(err, r.Close())); err != nil {
		return "", err
	}
	return string(res.Stdout), nil
}

// exitError makes an exit code an error.
func exitError(r shell.Result, err error) error {
	if err == nil && r.ExitCode != 0 {
		return fmt.Errorf("it ended with exit code %d", r.ExitCode)
	}
	return err
}

// keySource names the credential in the words of system/init.
func (b *build) keySource() string {
	switch {
	case b.cloudName() != "":
		return b.cloudName()
	case b.env("ANTHROPIC_AUTH_TOKEN") != "":
		return "ANTHROPIC_AUTH_TOKEN"
	case b.env("ANTHROPIC_API_KEY") != "":
		return "ANTHROPIC_API_KEY"
	case b.settings.APIKeyHelper() != "":
		return "apiKeyHelper"
	case b.env("CLAUDE_CODE_OAUTH_TOKEN") != "":
		return "CLAUDE_CODE_OAUTH_TOKEN"
	}
	if l, err := b.login(); err == nil && l != nil {
		if _, ok := l.Until(); ok {
			return "oauth"
		}
	}
	if _, err := os.Stat(b.home.Dir + "/" + credential.FileName); err == nil {
		return "oauth"
	}
	return "none"
}
