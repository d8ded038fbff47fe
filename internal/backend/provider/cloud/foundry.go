package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider/endpoint"
)

// FoundryURL is the address of a resource at Microsoft Foundry.
func FoundryURL(resource string) string {
	return "https://" + resource + ".services.ai.azure.com/anthropic"
}

// entraScope is what the tokens must be for.
const entraScope = "https://cognitiveservices.azure.com/.default"

// Entra gets tokens of Entra ID: of an application (secret or federated token),
// of the machine, or of the login of the az program. It is safe for concurrent use.
type Entra struct {
	Env   Env
	mu    sync.Mutex
	token string
	until time.Time
}

// Auth returns a token; one that was rejected is dropped.
func (e *Entra) Auth(ctx context.Context, rejected string) (endpoint.Auth, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.token == "" || e.token == rejected || !e.Env.Now().Add(renewBefore).Before(e.until) {
		t, life, err := e.ask(ctx)
		if err != nil {
			return endpoint.Auth{}, err
		}
		e.token, e.until = t, e.Env.Now().Add(life)
	}
	return endpoint.Auth{Style: endpoint.Bearer, Secret: e.token}, nil
}

func (e *Entra) ask(ctx context.Context) (string, time.Duration, error) {
	get := e.Env.Get
	tenant, id := get("AZURE_TENANT_ID"), get("AZURE_CLIENT_ID")
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "scope": {entraScope}}
	switch {
	case tenant != "" && id != "" && get("AZURE_CLIENT_SECRET") != "":
		form.Set("client_secret", get("AZURE_CLIENT_SECRET"))
		return e.application(ctx, tenant, form)
	case tenant != "" && id != "" && get("AZURE_FEDERATED_TOKEN_FILE") != "":
		data, err := os.ReadFile(get("AZURE_FEDERATED_TOKEN_FILE"))
		if err != nil {
			return "", 0, fmt.Errorf("AZURE_FEDERATED_TOKEN_FILE: %w", err)
		}
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", strings.TrimSpace(string(data)))
		return e.application(ctx, tenant, form)
	case get("IDENTITY_ENDPOINT") != "":
		return e.machine(ctx, id)
	}
	return e.program(ctx)
}

func (e *Entra) application(ctx context.Context, tenant string, form url.Values) (string, time.Duration, error) {
	host := get(e.Env.Get, "AZURE_AUTHORITY_HOST", "https://login.microsoftonline.com")
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(host, "/")+"/"+url.PathEscape(tenant)+"/oauth2/v2.0/token", strings.NewReader(form.Encode()))
	if err != nil {
		return "", 0, fmt.Errorf("entra ID: %w", err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return e.read(r)
}

func get(env func(string) string, name, fallback string) string {
	if v := env(name); v != "" {
		return v
	}
	return fallback
}

func (e *Entra) machine(ctx context.Context, id string) (string, time.Duration, error) {
	q := url.Values{"api-version": {"2019-08-01"}, "resource": {"https://cognitiveservices.azure.com"}}
	if id != "" {
		q.Set("client_id", id)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, e.Env.Get("IDENTITY_ENDPOINT")+"?"+q.Encode(), nil)
	if err != nil {
		return "", 0, fmt.Errorf("entra ID: %w", err)
	}
	r.Header.Set("X-Identity-Header", e.Env.Get("IDENTITY_HEADER"))
	return e.read(r)
}

// defaultLife is how long a token counts as fresh when nobody says.
const defaultLife = 10 * time.Minute

func (e *Entra) read(r *http.Request) (string, time.Duration, error) {
	body, err := fetch(e.Env.HTTP, r)
	if err != nil {
		return "", 0, fmt.Errorf("entra ID gives no token: %w; check AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET", err)
	}
	var v struct {
		Token string      `json:"access_token"`
		Life  json.Number `json:"expires_in"`
	}
	if json.Unmarshal(body, &v) != nil || v.Token == "" {
		return "", 0, errors.New("entra ID gives no token: the answer holds none")
	}
	life := defaultLife
	if n, err := v.Life.Int64(); err == nil && n > 0 {
		life = time.Duration(n) * time.Second
	}
	return v.Token, life, nil
}

// program asks the az program for the token of its login.
func (e *Entra) program(ctx context.Context) (string, time.Duration, error) {
	none := errors.New("no credential for Foundry: set ANTHROPIC_FOUNDRY_API_KEY, or AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or run az login")
	if e.Env.Run == nil {
		return "", 0, none
	}
	out, err := e.Env.Run(ctx, "az account get-access-token --scope "+entraScope+" --query accessToken -o tsv")
	if err != nil || strings.TrimSpace(out) == "" {
		return "", 0, none
	}
	return strings.TrimSpace(out), defaultLife, nil
}
