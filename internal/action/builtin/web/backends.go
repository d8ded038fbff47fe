package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Backend is a search service of the setting webSearch.
type Backend struct {
	// Kind is searxng, brave or tavily.
	Kind string
	// URL replaces the service's own address; SearXNG has none.
	URL string
	Key string
	// Variable names where Key is from, for error texts.
	Variable string
	// Proxy as in Config.
	Proxy func(*http.Request) (*url.URL, error)
}

// Bounds of an answer.
const (
	searchTimeout = 30 * time.Second
	maxAnswer     = 4 << 20
	maxHits       = 10
)

// Find asks the service.
func (b Backend) Find(ctx context.Context, q Query) ([]Hit, error) {
	r, err := b.request(ctx, q)
	if err != nil {
		return nil, err
	}
	client := &http.Client{
		Transport: &http.Transport{Proxy: b.Proxy, DisableKeepAlives: true, TLSHandshakeTimeout: 15 * time.Second}, Timeout: searchTimeout,
		// A key is not carried to another address.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Kind, plainError(err))
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", b.Kind, err)
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return nil, fmt.Errorf("%s answers %s: check %s", b.Kind, resp.Status, b.where())
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answers %s", b.Kind, resp.Status)
	}
	return b.read(body)
}

func (b Backend) where() string {
	if b.Variable == "" {
		return "that it serves JSON (search.formats in its settings.yml)"
	}
	return b.Variable
}

func (b Backend) request(ctx context.Context, q Query) (*http.Request, error) {
	at := func(fallback string) string {
		if b.URL != "" {
			return strings.TrimRight(b.URL, "/")
		}
		return fallback
	}
	text := q.Text
	if len(q.Allowed) > 0 {
		text += " site:" + strings.Join(q.Allowed, " OR site:")
	}
	if len(q.Blocked) > 0 {
		text += " -site:" + strings.Join(q.Blocked, " -site:")
	}
	switch b.Kind {
	case "searxng":
		if b.URL == "" {
			return nil, errors.New("searxng has no address: set webSearch.url or SEARXNG_URL")
		}
		return http.NewRequestWithContext(ctx, http.MethodGet, at("")+"/search?"+url.Values{"q": {text}, "format": {"json"}}.Encode(), nil)
	case "brave":
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, at("https://api.search.brave.com/res/v1/web/search")+"?"+url.Values{"q": {text}}.Encode(), nil)
		if err == nil {
			r.Header.Set("X-Subscription-Token", b.Key)
		}
		return r, err
	case "tavily":
		body, err := json.Marshal(map[string]any{"query": q.Text, "max_results": maxHits, "include_domains": list(q.Allowed), "exclude_domains": list(q.Blocked)})
		if err != nil {
			return nil, err
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, at("https://api.tavily.com/search"), bytes.NewReader(body))
		if err == nil {
			r.Header.Set("Authorization", "Bearer "+b.Key)
			r.Header.Set("Content-Type", "application/json")
		}
		return r, err
	}
	return nil, fmt.Errorf("the setting webSearch.backend is %q; it can be provider, searxng, brave, tavily or mcp", b.Kind)
}

func list(l []string) []string { return append([]string{}, l...) }

func (b Backend) read(body []byte) ([]Hit, error) {
	type item struct{ Title, URL, Content, Description string }
	var v struct {
		Results []item
		Web     struct{ Results []item }
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return nil, fmt.Errorf("%s sent something that is no answer: check %s", b.Kind, b.where())
	}
	var out []Hit
	for _, i := range append(v.Results, v.Web.Results...) {
		if len(out) == maxHits {
			break
		}
		out = append(out, Hit{i.Title, i.URL, i.Content + i.Description})
	}
	return out, nil
}
