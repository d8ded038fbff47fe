package compact

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// Bounds of clearing.
const (
	// newest results are never cleared.
	newest = 4
	// smallest is the size from which a result is worth clearing, in tokens.
	smallest = 80
)

// Micro is the third stage: it clears the bodies of old results of calls that
// can be made again, and leaves the calls. It is aware of the cache: when the
// provider has forgotten the prefix anyway it clears early, since that is free
// then; otherwise it waits until the window is full.
type Micro struct{ c *Config }

// NewMicro makes the stage.
func NewMicro(c *Config) *Micro { return &Micro{c} }

// Shape clears as many results as is needed, the most dispensable first.
func (s *Micro) Shape(_ context.Context, w loop.Window, why loop.Pressure, emit func(event.Body)) (loop.Window, error) {
	if !s.c.On.Micro {
		return idle(StageMicro, w, "off", emit), nil
	}
	w, want, act := s.c.aim(w, why)
	if !act && s.cold(w) {
		want = s.c.Limits(w.Model).Target / 2
		act = w.Size > 2*want
	}
	if !act {
		return idle(StageMicro, w, "idle", emit), nil
	}
	var edits []event.Edit
	size, sum := w.Size, 0
	for _, r := range stale(w.Messages, s.c.Clearable) {
		if size-sum <= want {
			break
		}
		e := clearing(r)
		sum += e.Tokens
		edits = append(edits, e)
	}
	if w = commit(StageMicro, w, edits, emit); len(edits) > 0 {
		emit(event.Notice{Level: event.Info, Code: StageMicro, Text: fmt.Sprintf("%s (%d tokens) cleared from the window; the transcript has them", plural(len(edits), "old tool result was", "old tool results were"), sum)})
	}
	return w, nil
}

// cold tells that the provider has forgotten the prefix.
func (s *Micro) cold(w loop.Window) bool {
	if s.c.CacheLife == 0 {
		return false
	}
	for _, m := range slices.Backward(w.Messages) {
		if m.Role == msg.RoleAssistant {
			return s.c.Now().Sub(m.Time) > s.c.CacheLife
		}
	}
	return false
}

func clearing(r old) event.Edit {
	text := fmt.Sprintf("[This old result (about %d tokens) was cleared to save space. Call the tool again if it is needed.]", r.tokens)
	if r.spilled != "" {
		text = "[This old result was cleared to save space. It is in " + r.spilled + ".]"
	}
	return event.Edit{Use: r.use.ID, Text: text, Tokens: r.tokens - textTokens(text) - 8, Where: r.spilled}
}

// old is a result that may be cleared.
type old struct {
	use    *msg.ToolUse
	tokens int
	// again tells that a later call shows the same thing.
	again   bool
	index   int
	spilled string
}

// stale lists the results that may be cleared, the most dispensable first: those
// of calls that were repeated later, then the bulky ones, then by age. The newest
// ones and those that the model has not seen yet are not among them.
func stale(ms []*msg.Message, clearable func(*msg.ToolUse) (string, bool)) []old {
	if clearable == nil {
		return nil
	}
	calls, later := uses(ms), map[string]bool{}
	seen := len(ms)
	for seen > 0 && ms[seen-1].Role != msg.RoleAssistant {
		seen--
	}
	var all []old
	kept := 0
	for i := len(ms) - 1; i >= 0; i-- {
		for _, b := range slices.Backward(ms[i].Blocks) {
			r, ok := b.(*msg.ToolResult)
			if !ok || calls[r.ToolUseID] == nil {
				continue
			}
			use := calls[r.ToolUseID]
			key, may := clearable(use)
			if !may {
				continue
			}
			o := old{use: use, tokens: resultTokens(r), again: later[key], index: i, spilled: spilledTo(resultText(r))}
			later[key] = later[key] || !r.IsError
			if i >= seen || (kept < newest && !o.again) {
				kept++
				continue
			}
			if o.tokens >= smallest {
				all = append(all, o)
			}
		}
	}
	sum := 0
	for _, o := range all {
		sum += o.tokens
	}
	rank := func(o old) int {
		switch {
		case o.again:
			return 0
		case o.tokens*len(all) > 4*sum:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(a, b old) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.index, b.index))
	})
	return all
}

// CacheLifeOf is the time that a cache mark of the given kind asks for.
func CacheLifeOf(mark string) time.Duration {
	switch mark {
	case "":
		return 0
	case "1h":
		return time.Hour
	}
	return 5 * time.Minute
}
