package wiring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/action/builtin/web"
	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/endpoint"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// webTools are the tools that read the web.
func (b *build) webTools() []tool.Tool {
	c := web.Config{
		Ask: func(ctx context.Context, label, system, user string) (string, error) {
			return b.conv.Engine.Query(ctx, label, b.smallModel(), system, user)
		},
		Private: b.namedHost, Proxy: endpoint.NetworkFromEnv(b.env).Proxy(), Version: b.o.Version, Now: b.o.Now,
		CacheFor: b.millis("CLAUDE_CODE_WEBFETCH_CACHE_TTL_MS"),
	}
	out := []tool.Tool{web.NewFetch(c)}
	if c.Search = b.searcher(); c.Search != nil {
		out = append(out, web.NewSearch(c))
	}
	return out
}

// smallModel answers side queries about pages: the small one of the maker, the
// conversation's own where another provider serves it.
func (b *build) smallModel() string {
	if strings.Contains(b.conv.Engine.Model().ID, "/") {
		return ""
	}
	return "haiku"
}

// namedHost tells whether an allow rule names host itself: what is on a private
// network is not opened by a rule for all hosts.
func (b *build) namedHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for _, r := range b.gateRef.Snapshot().Rules(tool.Allow) {
		d, ok := strings.CutPrefix(r.Specifier, "domain:")
		if ok && r.Tool == families.Fetch && strings.EqualFold(strings.TrimSuffix(d, "."), host) {
			return true
		}
	}
	return false
}

// searchSetting is the setting webSearch.
type searchSetting struct {
	Backend     string `json:"backend"`
	URL         string `json:"url"`
	KeyVariable string `json:"keyVariable"`
	Tool        string `json:"tool"`
}

// searcher is who searches: the setting's choice, what the environment has a
// key for, or the provider; nil for nobody.
func (b *build) searcher() func(context.Context, web.Query) ([]web.Hit, error) {
	var s searchSetting
	if _, err := b.settings.Decode(&s, "webSearch"); err != nil {
		b.notice("the setting webSearch is left out: " + err.Error())
	}
	if s.Backend == "" {
		s.Backend = b.foundSearch()
	}
	keys := map[string]string{"brave": "BRAVE_API_KEY", "tavily": "TAVILY_API_KEY"}
	switch s.Backend {
	case "":
		return nil
	case "provider":
		return b.providerSearch
	case "mcp":
		return func(ctx context.Context, q web.Query) ([]web.Hit, error) { return b.toolSearch(ctx, s.Tool, q) }
	}
	if s.KeyVariable == "" {
		s.KeyVariable = keys[s.Backend]
	}
	if s.URL == "" && s.Backend == "searxng" {
		s.URL = b.env("SEARXNG_URL")
	}
	back := web.Backend{Kind: s.Backend, URL: s.URL, Variable: s.KeyVariable, Proxy: endpoint.NetworkFromEnv(b.env).Proxy()}
	return func(ctx context.Context, q web.Query) ([]web.Hit, error) {
		if s.KeyVariable != "" {
			if back.Key = strings.TrimSpace(b.env(s.KeyVariable)); back.Key == "" {
				return nil, fmt.Errorf("%s has no key: set %s", s.Backend, s.KeyVariable)
			}
		}
		return back.Find(ctx, q)
	}
}

func (b *build) foundSearch() string {
	switch {
	case b.env("SEARXNG_URL") != "":
		return "searxng"
	case b.env("TAVILY_API_KEY") != "":
		return "tavily"
	case b.env("BRAVE_API_KEY") != "":
		return "brave"
	case b.cloudName() == "bedrock" || b.gatewayed() && b.cloudName() == "" || strings.HasPrefix(b.modelName(), scripted):
		return "" // nobody knows whether the other side can search
	}
	return "provider"
}

// serverSearch is the Messages API's own tool.
type serverSearch struct {
	Type    string   `json:"type"`
	Name    string   `json:"name"`
	Uses    int      `json:"max_uses"`
	Allowed []string `json:"allowed_domains,omitempty"`
	Blocked []string `json:"blocked_domains,omitempty"`
}

// providerSearch lets the provider search, in a request of its own.
func (b *build) providerSearch(ctx context.Context, q web.Query) ([]web.Hit, error) {
	if strings.Contains(b.conv.Engine.Model().ID, "/") {
		return nil, errors.New("this model's provider does not search; name another service in the setting webSearch.backend (searxng, brave, tavily or mcp)")
	}
	def := msg.Encode(serverSearch{"web_search_20250305", "web_search", 8, q.Allowed, q.Blocked})
	blocks, err := b.conv.Engine.QueryBlocks(ctx, "websearch", b.smallModel(), "You search the web.", "Perform a web search for the query: "+q.Text,
		[]provider.ToolDef{{Name: "web_search", JSON: def}})
	if err != nil {
		return nil, err
	}
	var out []web.Hit
	for _, bl := range blocks {
		v := gjson.ParseBytes(bl.JSON())
		if v.Get("type").Str != "web_search_tool_result" {
			continue
		}
		if code := v.Get("content.error_code"); code.Exists() {
			return out, fmt.Errorf("the provider's search: %s", code.String())
		}
		for _, r := range v.Get("content").Array() {
			out = append(out, web.Hit{Title: r.Get("title").String(), URL: r.Get("url").String()})
		}
	}
	return out, nil
}

// toolSearch lets a tool of an MCP server search: it gets {"query"} and answers
// JSON with results, or text.
func (b *build) toolSearch(ctx context.Context, name string, q web.Query) ([]web.Hit, error) {
	pool := b.mcp.tools()
	i := slices.IndexFunc(pool, func(t tool.Tool) bool { return t.Spec().Name == name })
	if i < 0 {
		return nil, fmt.Errorf("the setting webSearch.tool names %q, which no connected MCP server has", name)
	}
	in, err := json.Marshal(map[string]string{"query": q.Text})
	if err != nil {
		return nil, err
	}
	c, err := pool[i].Plan(in, tool.Env{Cwd: b.place.Cwd, Project: b.place.Project, Roots: b.place.Roots, Session: b.id, SpillDir: b.place.SpillDir})
	if err != nil {
		return nil, err
	}
	r := c.Run(ctx, func(tool.Progress) {})
	text := (&msg.Message{Blocks: r.Content}).Text()
	if r.IsError {
		return nil, errors.New(text)
	}
	var hits []web.Hit
	list := gjson.Parse(text)
	if list.IsObject() {
		list = list.Get("results")
	}
	for _, h := range list.Array() {
		if u := h.Get("url").String(); u != "" {
			hits = append(hits, web.Hit{Title: h.Get("title").String(), URL: u, Snippet: h.Get("content").String() + h.Get("snippet").String()})
		}
	}
	if len(hits) == 0 && strings.TrimSpace(text) != "" {
		return nil, fmt.Errorf("%s answers in a form that holds no list of results: %.200s", name, text)
	}
	return hits, nil
}
