package provider

import "github.com/hew-agent/hew/internal/msg"

// Model is what hew knows of a model. Prices are US dollars per million tokens.
type Model struct {
	ID      string   `json:"id"`
	Aliases []string `json:"aliases,omitempty"`
	// Window is the context window, MaxOutput the output cap, both in tokens.
	Window    int `json:"contextWindow"`
	MaxOutput int `json:"maxOutputTokens"`
	// DefaultOutput is the cap that hew asks for.
	DefaultOutput int   `json:"defaultOutputTokens"`
	Price         Price `json:"price"`
	// Adaptive models think as they see fit; others with Thinks need a budget.
	Thinks   bool `json:"thinking"`
	Adaptive bool `json:"adaptiveThinking"`
	Effort   bool `json:"effort"`
	Images   bool `json:"images"`
	// NoTools models cannot call tools, without which hew does not work.
	NoTools bool `json:"noTools,omitempty"`
	// Known is false for a model that no table lists: the figures are defaults.
	Known bool `json:"known"`
}

// Price is what a million tokens cost in US dollars.
type Price struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	// CacheWrite1h is the price of an entry that lives an hour.
	CacheWrite1h float64 `json:"cacheWrite1h"`
	// LongFrom is the size of a prompt, in tokens, above which every price of
	// the request is LongFactor times as high; 0 when there is no such step.
	LongFrom   int     `json:"longFrom,omitempty"`
	LongFactor float64 `json:"longFactor,omitempty"`
}

// Cost is the price of u, the usage of one request, in US dollars.
func (p Price) Cost(u msg.Usage) float64 {
	prompt := u.InputTokens + u.CacheCreationInputTokens + u.CacheReadInputTokens
	if p.LongFrom > 0 && prompt > p.LongFrom {
		return p.LongFactor * p.short(u)
	}
	return p.short(u)
}

func (p Price) short(u msg.Usage) float64 {
	oneHour := u.CacheCreation.Ephemeral1h
	fiveMin := u.CacheCreationInputTokens - oneHour
	return (float64(u.InputTokens)*p.Input + float64(u.OutputTokens)*p.Output +
		float64(u.CacheReadInputTokens)*p.CacheRead +
		float64(fiveMin)*p.CacheWrite + float64(oneHour)*p.CacheWrite1h) / 1e6
}
