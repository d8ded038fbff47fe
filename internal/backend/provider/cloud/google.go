package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"

	"github.com/hew-agent/hew/internal/backend/provider/endpoint"
)

// googleTokens are the application default credentials: a key file of a service
// account, the login of gcloud, or the machine's account. They are found with
// the first request. The library's own search is not used: it links every way
// of federation, which each start of hew would pay for.
type googleTokens struct {
	env    Env
	mu     sync.Mutex
	file   *googleFile
	source oauth2.TokenSource
}

// googleFile is a credentials file.
type googleFile struct {
	Type         string `json:"type"`
	Project      string `json:"project_id"`
	QuotaProject string `json:"quota_project_id"`
	Email        string `json:"client_email"`
	Key          string `json:"private_key"`
	KeyID        string `json:"private_key_id"`
	TokenURL     string `json:"token_uri"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	Refresh      string `json:"refresh_token"`
}

const googleTokenURL = "https://oauth2.googleapis.com/token"

func (g *googleTokens) find() error {
	if g.source != nil {
		return nil
	}
	// The source outlives the request that asks first, so it has a context of its own.
	ctx := context.Background()
	if g.env.HTTP != nil {
		ctx = context.WithValue(ctx, oauth2.HTTPClient, g.env.HTTP)
	}
	f, err := g.read()
	if err != nil {
		return err
	}
	g.file = f
	if f.TokenURL == "" {
		f.TokenURL = googleTokenURL
	}
	switch f.Type {
	case "service_account":
		c := jwt.Config{Email: f.Email, PrivateKey: []byte(f.Key), PrivateKeyID: f.KeyID, Scopes: []string{vertexScope}, TokenURL: f.TokenURL}
		g.source = c.TokenSource(ctx)
	case "authorized_user":
		c := oauth2.Config{ClientID: f.ClientID, ClientSecret: f.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: f.TokenURL}}
		g.source = c.TokenSource(ctx, &oauth2.Token{RefreshToken: f.Refresh})
	case "":
		g.source = oauth2.ReuseTokenSource(nil, &googleMachine{ctx, g.env})
	default:
		return fmt.Errorf("google credentials of type %q cannot be used; hew knows service_account, authorized_user and the machine's own", f.Type)
	}
	return nil
}

// read finds the file; one of no type stands for the machine's account.
func (g *googleTokens) read() (*googleFile, error) {
	path := g.env.Get("GOOGLE_APPLICATION_CREDENTIALS")
	named := path != ""
	if !named {
		path = filepath.Join(gcloudFolder(g.env), "application_default_credentials.json")
	}
	data, err := os.ReadFile(path)
	switch {
	case err != nil && named:
		return nil, fmt.Errorf("GOOGLE_APPLICATION_CREDENTIALS: %w", err)
	case err != nil:
		return &googleFile{}, nil
	}
	var f googleFile
	if json.Unmarshal(data, &f) != nil || f.Type == "" {
		return nil, fmt.Errorf("google credentials: %s is no credentials file; check GOOGLE_APPLICATION_CREDENTIALS", path)
	}
	return &f, nil
}

func gcloudFolder(e Env) string {
	switch {
	case e.Get("CLOUDSDK_CONFIG") != "":
		return e.Get("CLOUDSDK_CONFIG")
	case runtime.GOOS == "windows":
		return filepath.Join(e.Get("APPDATA"), "gcloud")
	}
	return filepath.Join(e.Home, ".config", "gcloud")
}

func (g *googleTokens) project() (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.find(); err != nil {
		return "", err
	}
	for _, p := range []string{g.file.Project, g.file.QuotaProject} {
		if p != "" {
			return p, nil
		}
	}
	return "", errors.New("vertex: set ANTHROPIC_VERTEX_PROJECT_ID to your project")
}

// auth returns a token; one that was rejected is dropped with its source.
func (g *googleTokens) auth(_ context.Context, rejected string) (endpoint.Auth, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if rejected != "" {
		g.source = nil
	}
	if err := g.find(); err != nil {
		return endpoint.Auth{}, err
	}
	t, err := g.source.Token()
	if err != nil {
		var re *oauth2.RetrieveError
		if errors.As(err, &re) {
			return endpoint.Auth{}, fmt.Errorf("google gives no token: %s %s", re.ErrorCode, re.ErrorDescription)
		}
		return endpoint.Auth{}, fmt.Errorf("google gives no token: %w", err)
	}
	return endpoint.Auth{Style: endpoint.Bearer, Secret: t.AccessToken}, nil
}

// googleMachine gets tokens of the account of the machine that hew runs on.
type googleMachine struct {
	ctx context.Context // the source's own; see find
	env Env
}

// metadataWait bounds the question to a machine that may have no metadata.
const metadataWait = 3 * time.Second

// Token asks the metadata server.
func (m *googleMachine) Token() (*oauth2.Token, error) {
	ctx, cancel := context.WithTimeout(m.ctx, metadataWait)
	defer cancel()
	host := get(m.env.Get, "GCE_METADATA_HOST", "metadata.google.internal")
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/computeMetadata/v1/instance/service-accounts/default/token", nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Metadata-Flavor", "Google")
	body, err := fetch(m.env.HTTP, r)
	if err != nil {
		return nil, errors.New("no Google credentials were found")
	}
	var v struct {
		Token string `json:"access_token"`
		Life  int64  `json:"expires_in"`
	}
	if json.Unmarshal(body, &v) != nil || strings.TrimSpace(v.Token) == "" {
		return nil, errors.New("the metadata server gave no token")
	}
	return &oauth2.Token{AccessToken: v.Token, Expiry: m.env.Now().Add(time.Duration(v.Life) * time.Second)}, nil
}
