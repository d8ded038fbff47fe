package wiring

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// localServer is a kind of model server that people run on their own machine.
type localServer struct {
	name string
	// variable holds another address, port is where it listens by itself, key
	// names the variable of a key that some set-ups ask for.
	variable, port, key string
}

func localServers() []localServer {
	return []localServer{
		{"ollama", "OLLAMA_HOST", "11434", "OLLAMA_API_KEY"},
		{"lmstudio", "LMSTUDIO_BASE_URL", "1234", "LMSTUDIO_API_KEY"},
		{"llamacpp", "LLAMACPP_BASE_URL", "8080", "LLAMACPP_API_KEY"},
		{"vllm", "VLLM_BASE_URL", "8000", "VLLM_API_KEY"},
	}
}

// address is the base URL of the server's OpenAI-compatible API.
func (l localServer) address(env func(string) string) string {
	at := strings.TrimRight(env(l.variable), "/")
	if at == "" {
		return "http://127.0.0.1:" + l.port + "/v1"
	}
	if !strings.Contains(at, "://") {
		at = "http://" + at
	}
	u, err := url.Parse(at)
	if err != nil {
		return at
	}
	if u.Port() == "" && l.name == "ollama" {
		u.Host = net.JoinHostPort(u.Hostname(), l.port)
	}
	if u.Hostname() == "0.0.0.0" { // what a server listens on is no address to call
		u.Host = net.JoinHostPort("127.0.0.1", u.Port())
	}
	if u.Path == "" {
		u.Path = "/v1"
	}
	return u.String()
}

// Found is a model of a local server.
type Found struct {
	Model  string `json:"model"`
	Server string `json:"server"`
	URL    string `json:"url"`
}

// Limits of discovery.
const (
	discoverWait = 2 * time.Second
	discoverBody = 4 << 20
)

// Discover asks the local servers of this machine for their models. It looks
// at loopback addresses only, and sends no key.
func Discover(ctx context.Context, getenv func(string) string) []Found {
	out := []Found{}
	for _, l := range localServers() {
		at := l.address(getenv)
		if !loopbackURL(at) {
			continue
		}
		for _, id := range listModels(ctx, at) {
			out = append(out, Found{l.name + "/" + id, l.name, at})
		}
	}
	return out
}

func loopbackURL(at string) bool {
	u, err := url.Parse(at)
	if err != nil {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.Unmap().IsLoopback()
}

func listModels(ctx context.Context, base string) []string {
	ctx, cancel := context.WithTimeout(ctx, discoverWait)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/models", nil)
	if err != nil {
		return nil
	}
	dial := &net.Dialer{Control: onlyLoopback}
	client := &http.Client{
		Transport:     &http.Transport{DialContext: dial.DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(r)
	if err != nil {
		return nil // nobody is there
	}
	defer func() { _ = resp.Body.Close() }()
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if resp.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(resp.Body, discoverBody)).Decode(&list) != nil {
		return nil
	}
	var out []string
	for _, m := range list.Data {
		out = append(out, m.ID)
	}
	return out
}
