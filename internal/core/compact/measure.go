package compact

import (
	"context"

	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/msg"
)

// distrust is by how much a provider's figure may fall short of the estimate
// before it is taken for wrong: no text has as few tokens as that.
const distrust = 4

// tally adds up the estimates of a history, and remembers the sum: a history
// that begins with the messages of the last one costs those that are new.
type tally struct {
	first, last *msg.Message
	n, sum      int
}

func (t *tally) tokens(history []*msg.Message) int {
	if t.n == 0 || t.n > len(history) || history[0] != t.first || history[t.n-1] != t.last {
		*t = tally{}
	}
	for _, m := range history[t.n:] {
		t.sum += m.EstimateTokens()
	}
	t.n = len(history)
	if t.n > 0 {
		t.first, t.last = history[0], history[t.n-1]
	}
	return t.sum
}

func tokens(ms []*msg.Message) int {
	n := 0
	for _, m := range ms {
		n += m.EstimateTokens()
	}
	return n
}

// textTokens is msg's estimate for a text, which has no JSON around it.
func textTokens(s string) int { return len(s)*2/7 + 1 }

// Estimate guesses the tokens of a text.
func Estimate(s string) int { return textTokens(s) }

// bytesOf is how many bytes of text fit into n tokens.
func bytesOf(n int) int { return max(0, n*7/2) }

// measure is the size of the next request: what the provider said of the last
// one and an estimate of what came since; all estimate when it said nothing, or
// what cannot be. exact asks the provider when the answer decides something.
func (p *Pipeline) measure(ctx context.Context, w loop.Window, l Limits) int {
	whole := p.overhead() + p.tally.tokens(w.Messages)
	size, unsure := whole, whole
	if p.exaggerated && w.Used > 2*whole {
		return whole // the figure was wrong before: what it asked for was done, and it stayed
	}
	if w.Used > 0 && w.Used >= (whole-tokens(fresh(w)))/distrust {
		unsure = tokens(fresh(w))
		size = w.Used + unsure
	}
	if p.c.Count == nil || size < l.Trigger*3/4 || size > l.Trigger*2 || unsure < l.Window/10 {
		return size
	}
	if n, ok := p.c.Count(ctx, w.Model, w.Messages); ok {
		return n
	}
	return size
}

func fresh(w loop.Window) []*msg.Message {
	return w.Messages[max(0, len(w.Messages)-w.Fresh):]
}

func (p *Pipeline) overhead() int {
	if p.c.Overhead == nil {
		return 0
	}
	return p.c.Overhead()
}
