package wiring

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/msg"
)

// UsageRow is what one model, project, day, agent or tool was used for.
type UsageRow struct {
	Key      string    `json:"key"`
	Requests int       `json:"requests"`
	Usage    msg.Usage `json:"usage"`
	CostUSD  float64   `json:"costUSD"`
	// Unpriced counts requests of models without a known price.
	Unpriced int `json:"unpricedRequests,omitempty"`
}

// UsageQuery says what of the transcripts is added up, and by what.
type UsageQuery struct {
	// By is model, project, day, agent or tool.
	By string
	// Since leaves out what is older; zero takes all.
	Since time.Time
}

// usageKeys are the things that usage can be added up by.
func usageKeys() []string { return []string{"model", "project", "day", "agent", "tool"} }

// Usage adds up the transcripts of all projects. A reply that is stored as
// several lines, or copied into a fork, counts once. What a reply with several
// calls cost is shared among its tools in equal parts of requests' cost.
func Usage(o Options, q UsageQuery) ([]UsageRow, error) {
	if !slices.Contains(usageKeys(), q.By) {
		return nil, fmt.Errorf("--by %s: it can be %s", q.By, strings.Join(usageKeys(), ", "))
	}
	b := &build{o: &o, conv: &Conversation{}}
	if err := b.locate(); err != nil {
		return nil, err
	}
	over := b.overrides()
	t := &usageTally{q: q, replies: map[string]*usageReply{}, price: func(m string) provider.Model { return provider.Lookup(m, over) }}
	root := filepath.Join(b.home.Dir, "projects")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && (d.IsDir() || filepath.Ext(path) != ".jsonl") {
			return nil
		}
		if err != nil {
			return err
		}
		return t.read(path)
	})
	if err != nil {
		return nil, fmt.Errorf("read the transcripts: %w", err)
	}
	return t.rows(), nil
}

// usageReply is one reply of a model.
type usageReply struct {
	model, project, day, agent string
	tools                      []string
	usage                      msg.Usage
}

type usageTally struct {
	q       UsageQuery
	replies map[string]*usageReply
	order   []string
	price   func(model string) provider.Model
}

// read takes in one transcript, line by line: they can be long.
func (t *usageTally) read(path string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := bufio.NewReaderSize(f, 256<<10)
	for {
		line, err := r.ReadBytes('\n')
		t.line(line)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *usageTally) line(line []byte) {
	v := gjson.ParseBytes(line)
	m := v.Get("message")
	if v.Get("type").Str != "assistant" || m.Get("model").Str == "" || m.Get("model").Str == "<synthetic>" || !m.Get("usage").IsObject() {
		return
	}
	at, err := time.Parse(time.RFC3339, v.Get("timestamp").Str)
	if err != nil || at.Before(t.q.Since) {
		return
	}
	id := m.Get("id").Str + "|" + v.Get("requestId").Str
	p := t.replies[id]
	if p == nil {
		p = &usageReply{
			model: m.Get("model").String(), project: v.Get("cwd").String(), day: at.Local().Format(time.DateOnly),
			agent: cmp.Or(v.Get("agentId").String(), "main"),
		}
		t.replies[id], t.order = p, append(t.order, id)
	}
	u := usageOf(m.Get("usage"))
	if u.Context() >= p.usage.Context() { // figures of one reply only grow
		p.usage = u
	}
	for _, b := range m.Get("content").Array() {
		if b.Get("type").Str == "tool_use" {
			p.tools = append(p.tools, b.Get("name").String())
		}
	}
}

func usageOf(v gjson.Result) msg.Usage {
	n := func(path string) int { return int(v.Get(path).Int()) }
	return msg.Usage{
		InputTokens: n("input_tokens"), OutputTokens: n("output_tokens"), CacheReadInputTokens: n("cache_read_input_tokens"),
		CacheCreationInputTokens: n("cache_creation_input_tokens"),
		CacheCreation:            msg.CacheCreation{Ephemeral5m: n("cache_creation.ephemeral_5m_input_tokens"), Ephemeral1h: n("cache_creation.ephemeral_1h_input_tokens")},
		ServerToolUse:            msg.ServerToolUse{WebSearchRequests: n("server_tool_use.web_search_requests")},
	}
}

// rows adds up, the dearest first.
func (t *usageTally) rows() []UsageRow {
	out := []UsageRow{}
	at := map[string]int{}
	for _, id := range t.order {
		p := t.replies[id]
		m := t.price(p.model)
		keys := p.keys(t.q.By)
		for _, k := range keys {
			i, ok := at[k]
			if !ok {
				i, at[k], out = len(out), len(out), append(out, UsageRow{Key: k})
			}
			r := &out[i]
			r.Requests++
			r.Usage = r.Usage.Add(p.usage)
			r.CostUSD += m.Price.Cost(p.usage) / float64(len(keys))
			if m.Price == (provider.Price{}) {
				r.Unpriced++
			}
		}
	}
	slices.SortStableFunc(out, func(x, y UsageRow) int {
		return cmp.Or(cmp.Compare(y.CostUSD, x.CostUSD), cmp.Compare(y.Usage.Context(), x.Usage.Context()), cmp.Compare(x.Key, y.Key))
	})
	return out
}

func (p *usageReply) keys(by string) []string {
	switch by {
	case "model":
		return []string{p.model}
	case "project":
		return []string{p.project}
	case "day":
		return []string{p.day}
	case "agent":
		return []string{p.agent}
	}
	if len(p.tools) == 0 {
		return []string{"(no tool)"}
	}
	return slices.Compact(slices.Sorted(slices.Values(p.tools)))
}
