package prompt

import (
	"maps"
	"slices"
	"sync"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/msg"
)

// Layouter lays out the requests of one conversation, as Layout does, and
// remembers what it has laid out: a request whose history begins with the
// messages of the last one, the same pointers, costs the messages that are
// new. Any other history is laid out from its beginning. The zero value is
// ready; it is safe for concurrent use.
type Layouter struct {
	mu     sync.Mutex
	filter *filter
	// broken tells that what was withheld may have been in the last request that
	// the server has seen; it holds until there are more than the replies that
	// were in that one (-1: not known, those of the next one count).
	broken  bool
	replies int
	// urged is the length of the history whose request ended with words of hew,
	// because it ends with a reply; 0 for none. They stand in no later request,
	// which then cannot extend that one.
	urged int
	laid
}

// laid is what was laid out.
type laid struct {
	model string
	// seen is the history that out was made of. It ended with a message of the
	// user and all its calls were answered, so that whatever follows leaves out
	// as it is (see Repair).
	seen, out []*msg.Message
	ids       map[string]bool
	early     map[string]answer
	// last is the newest item of seen, which a piece of the same reply would join.
	last *item
	// weights are those of out.
	weights weights
}

// Layout fills r.Messages and r.MarkAt as the function of that name does.
// Requests share the memory of the list; nobody may write to it. When old
// images or documents give way for the first time, and nothing else is the
// reason already, r.Break says so.
func (l *Layouter) Layout(r *provider.Request, history []*msg.Message) {
	ms, broke := l.messages(history, plainModel(r.Model))
	fill(r, ms)
	if (l.breaks(ms) || broke) && r.Break == "" {
		r.Break = "repair"
	}
}

func (l *Layouter) breaks(ms []*msg.Message) bool {
	defer l.locked()()
	if l.broken && l.replies < 0 {
		l.replies = repliesIn(ms)
	}
	l.broken = l.broken && repliesIn(ms) <= l.replies
	return l.broken
}

func repliesIn(ms []*msg.Message) int {
	n := 0
	for _, m := range ms {
		if m.Role == msg.RoleAssistant {
			n++
		}
	}
	return n
}

// Withhold leaves blocks out of every request from now on, by their digests.
// The next request then may not extend the last one.
func (l *Layouter) Withhold(digests ...string) {
	defer l.locked()()
	l.withhold(digests, -1)
}

func (l *Layouter) withhold(digests []string, replies int) {
	for _, d := range digests {
		l.filter.withheld[d] = true
	}
	l.laid = laid{}
	l.broken, l.replies = l.broken || len(digests) > 0, replies
}

// Fork is a Layouter for another conversation that may hold the same messages:
// it leaves out the same.
func (l *Layouter) Fork() *Layouter {
	defer l.locked()()
	own := new(Layouter)
	own.locked()()
	maps.Copy(own.filter.withheld, l.filter.withheld)
	return own
}

// locked takes the lock and returns its release.
func (l *Layouter) locked() (release func()) {
	l.mu.Lock()
	if l.filter == nil {
		l.filter = newFilter()
	}
	return l.mu.Unlock
}

func (l *Layouter) messages(history []*msg.Message, model string) (ms []*msg.Message, broke bool) {
	defer l.locked()()
	if l.urged > 0 && len(history) > l.urged {
		l.broken, l.replies, l.urged = true, -1, 0
	}
	if l.model != model || !l.extended(history) {
		l.laid = laid{model: model}
	}
	r := newRepair(model, l.filter)
	if l.ids != nil {
		r.ids, r.early = l.ids, l.early
	}
	for i, m := range history[len(l.seen):] {
		r.take(len(l.seen)+i, m)
	}
	last := r.newest(l.last)
	all := r.lay(l.out)
	out := all[:len(all):len(all)] // the room behind it is for the next turn
	w := l.weights
	for _, m := range out[w.n:] {
		w.add(l.filter, m)
	}
	broke = w.gone != w.before
	if r.waiting > 0 || len(out) == 0 || out[len(out)-1].Role != msg.RoleUser || r.newest(l.last) != last {
		l.laid = laid{}
		closed := r.close(w.relieved(out))
		if n := len(closed); n > len(out) && closed[n-1].Text() == goOn {
			l.urged = len(history)
		}
		return closed, broke
	}
	l.seen = append(l.seen, history[len(l.seen):]...)
	l.out, l.ids, l.early, l.last, l.weights = all, r.ids, r.early, last, w
	return w.relieved(out), broke
}

// newest is the last item, before when there is none.
func (r *repair) newest(before *item) *item {
	if n := len(r.items); n > 0 {
		return r.items[n-1]
	}
	return before
}

// extended tells whether history goes on where the last one ended.
func (l *Layouter) extended(history []*msg.Message) bool {
	n := len(l.seen)
	if len(history) < n || !slices.Equal(l.seen, history[:n]) {
		return false
	}
	return l.last == nil || !slices.ContainsFunc(history[n:], func(m *msg.Message) bool { return m != nil && l.last.sameReply(m) })
}
