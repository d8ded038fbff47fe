package provider

import (
	"slices"
	"strconv"
	"strings"
)

// Defaults for a model that no table lists.
const (
	defaultWindow = 200_000
	defaultOutput = 32_000
	bigWindow     = 1_000_000
)

// Overrides are a user's own words on models; the zero value has none.
type Overrides struct {
	// Opus, Sonnet, Haiku and Fable pin what the aliases stand for
	// (ANTHROPIC_DEFAULT_OPUS_MODEL, …), Default what "default" and "" do
	// (ANTHROPIC_DEFAULT_MODEL).
	Opus, Sonnet, Haiku, Fable, Default string
	// Window is CLAUDE_CODE_MAX_CONTEXT_TOKENS: it corrects the window of a
	// model that is not known. 0 means unset.
	Window int
	// Output is CLAUDE_CODE_MAX_OUTPUT_TOKENS: the cap to ask for, 0 means unset.
	Output int
	// Own are the models of the user's settings; they come first.
	Own []Model
	// Other finds models of other makers by "provider/model"; nil finds none.
	Other func(name string) (Model, bool)
}

// OverridesFromEnv reads the variables through get. Figures that are no
// positive numbers count as unset.
func OverridesFromEnv(get func(string) string) Overrides {
	number := func(name string) int {
		n, err := strconv.Atoi(strings.TrimSpace(get(name)))
		if err != nil || n < 0 {
			return 0
		}
		return n
	}
	haiku := get("ANTHROPIC_DEFAULT_HAIKU_MODEL")
	if haiku == "" {
		haiku = get("ANTHROPIC_SMALL_FAST_MODEL") // the older name
	}
	return Overrides{
		Opus:    get("ANTHROPIC_DEFAULT_OPUS_MODEL"),
		Sonnet:  get("ANTHROPIC_DEFAULT_SONNET_MODEL"),
		Haiku:   haiku,
		Fable:   get("ANTHROPIC_DEFAULT_FABLE_MODEL"),
		Default: get("ANTHROPIC_DEFAULT_MODEL"),
		Window:  number("CLAUDE_CODE_MAX_CONTEXT_TOKENS"),
		Output:  number("CLAUDE_CODE_MAX_OUTPUT_TOKENS"),
	}
}

// Lookup returns what is known of a model by its id or alias. A name with the
// suffix "[1m]" asks for a window of a million tokens; the suffix is not part
// of the ID that is returned. It never fails: the figures of an unknown model
// are defaults, and its ID is the name as it was given.
func Lookup(name string, o Overrides) Model {
	name = strings.TrimSpace(name)
	name, big := cutBig(name)
	name, pinnedBig := cutBig(o.resolve(name))
	m, ok := o.own(name)
	if !ok {
		m, ok = find(name)
	}
	if !ok && o.Other != nil {
		m, ok = o.Other(name)
	}
	if !ok {
		m = Model{
			ID: name, Window: defaultWindow, MaxOutput: defaultOutput, DefaultOutput: defaultOutput,
			Images: true,
		}
	}
	if big || pinnedBig {
		m.Window = max(m.Window, bigWindow)
	}
	if o.Window > 0 && !m.Known {
		m.Window = o.Window
	}
	if o.Output > 0 {
		m.DefaultOutput = o.Output
		if m.Known {
			m.DefaultOutput = min(o.Output, m.MaxOutput)
		} else {
			m.MaxOutput = max(m.MaxOutput, o.Output)
		}
	}
	return m
}

// own looks a name up in the user's models.
func (o Overrides) own(name string) (Model, bool) {
	for _, m := range o.Own {
		if strings.EqualFold(m.ID, name) || slices.ContainsFunc(m.Aliases, func(a string) bool { return strings.EqualFold(a, name) }) {
			m.Known = true
			return m, true
		}
	}
	return Model{}, false
}

func cutBig(name string) (string, bool) {
	if n := len(name) - len("[1m]"); n >= 0 && strings.EqualFold(name[n:], "[1m]") {
		return name[:n], true
	}
	return name, false
}

// resolve turns an alias into a model's name, by the user's word or the table.
func (o Overrides) resolve(name string) string {
	pick := func(pin, alias string) string {
		if pin != "" {
			return pin
		}
		return alias
	}
	switch alias := strings.ToLower(name); alias {
	case "opus", "opusplan":
		return pick(o.Opus, "opus")
	case "sonnet":
		return pick(o.Sonnet, alias)
	case "haiku":
		return pick(o.Haiku, alias)
	case "fable", "best":
		return pick(o.Fable, "fable")
	case "", "default":
		if o.Default != "" {
			def := o.Default
			o.Default = ""
			return o.resolve(def)
		}
		return pick(o.Opus, "opus")
	}
	return name
}

// find looks a name up. Dated ids and ids of clouds and gateways that hold a
// known one ("anthropic/claude-opus-5-5", "claude-haiku-4-5-20251001") have
// its figures under their own name.
func find(name string) (Model, bool) {
	lower := strings.ToLower(name)
	best := Model{}
	for _, m := range Models() {
		if slices.Contains(m.Aliases, lower) {
			return m, true
		}
		if len(m.ID) > len(best.ID) && holds(lower, m.ID) {
			best = m
		}
	}
	if !best.Known {
		return Model{}, false
	}
	best.ID = name
	return best, true
}

// holds tells whether id is a part of name that no further version follows.
func holds(name, id string) bool {
	i := strings.Index(name, id)
	if i < 0 || i > 0 && name[i-1] != '/' && name[i-1] != '.' {
		return false
	}
	rest := name[i+len(id):]
	if rest == "" || rest[0] == '@' || rest[0] == ':' {
		return true
	}
	date := strings.TrimPrefix(rest, "-")
	return len(rest) != len(date) && len(date) >= 8 && strings.Trim(date[:8], "0123456789") == "" || strings.HasPrefix(rest, "-v")
}

// Models lists the models that hew knows, newest first in each family.
// Source: the public model overview and price list of the Claude platform, November 2026.
func Models() []Model {
	adaptive := func(id string, p Price, aliases ...string) Model {
		return Model{
			ID: id, Aliases: aliases, Window: bigWindow, MaxOutput: 128_000, DefaultOutput: 64_000, Price: p,
			Thinks: true, Adaptive: true, Effort: true, Images: true, Known: true,
		}
	}
	older := func(id string, output int, p Price) Model {
		return Model{
			ID: id, Window: defaultWindow, MaxOutput: output, DefaultOutput: defaultOutput, Price: p,
			Thinks: true, Images: true, Known: true,
		}
	}
	withEffort := func(m Model) Model { m.Effort = true; return m }
	opus, sonnet := price(5, 25, 0.5), price(3, 15, 0.3)
	haiku := price(0.1, 0.5, 0.01)
	haiku.LongFrom, haiku.LongFactor = 100_000, 5
	return []Model{
		adaptive("claude-opus-5-5", price(4, 20, 0.2), "opus", "default"),
		adaptive("claude-opus-5", opus),
		adaptive("claude-opus-4-8", opus),
		adaptive("claude-opus-4-7", opus),
		adaptive("claude-opus-4-6", opus),
		withEffort(older("claude-opus-4-5", 64_000, opus)),
		adaptive("claude-fable-5-2", price(8, 40, 0.2), "fable", "best"),
		adaptive("claude-fable-5-1", price(10, 50, 0.25)),
		adaptive("claude-fable-5", price(10, 50, 1)),
		adaptive("claude-sonnet-5-5", price(2, 10, 0.1), "sonnet"),
		adaptive("claude-sonnet-5", price(2, 10, 0.2)),
		adaptive("claude-sonnet-4-6", sonnet),
		older("claude-sonnet-4-5", 64_000, sonnet),
		adaptive("claude-haiku-5-5", haiku, "haiku"),
		older("claude-haiku-4-5", 64_000, price(1, 5, 0.1)),
	}
}

// price fills in the prices of cache writes, which are 1.25 and 2 times the input's.
func price(input, output, read float64) Price {
	return Price{Input: input, Output: output, CacheRead: read, CacheWrite: 1.25 * input, CacheWrite1h: 2 * input}
}
