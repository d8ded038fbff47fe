package messages

import (
	"slices"
	"sync"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/msg"
)

// Encoder encodes requests as Encode does and remembers the messages of the
// last one: what a request has in common with it, the same pointers from the
// first on, is not looked at again. It is safe for concurrent use;
// conversations that take turns on one Encoder only lose what it saves.
type Encoder struct {
	extra []Member
	mu    sync.Mutex
	known prefix
}

// NewEncoder makes an encoder that puts extra into each request.
func NewEncoder(extra []Member) *Encoder { return &Encoder{extra: extra} }

// Encode writes r as a request to create a message.
func (e *Encoder) Encode(r *provider.Request) *Body {
	if r.Side != "" { // its messages are not the conversation's
		return encode(r, e.extra, nil)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return encode(r, e.extra, &e.known)
}

// prefix is the wire form of messages in order, commas between them, none of
// them marked.
type prefix struct {
	messages []*msg.Message
	segs     [][]byte
	// ends[i] is where message i ends.
	ends []end
}

// end counts what lies before it.
type end struct {
	segs int
	size int64
}

// share lets the body begin with the known messages before the first mark, and
// returns how many they are.
func (e *encoder) share(ms []*msg.Message, marked map[int]bool) int {
	if e.known == nil {
		return 0
	}
	n := len(ms)
	for i := range marked {
		n = min(n, i)
	}
	var size int64
	e.head, e.segs = e.segs, make([][]byte, 0, segments(ms[n:])+4)
	e.shared, size = e.known.take(ms[:n])
	e.size += size
	return n
}

// take returns the wire form of ms and remembers it. Bodies share the memory of
// segs, so what is in it is never written over.
func (p *prefix) take(ms []*msg.Message) ([][]byte, int64) {
	same := 0
	for same < min(len(ms), len(p.messages)) && ms[same] == p.messages[same] {
		same++
	}
	if same < len(ms) {
		p.cut(same)
		for _, m := range ms[same:] {
			p.add(m)
		}
	}
	at := p.at(len(ms))
	return p.segs[:at.segs:at.segs], at.size
}

// at is the end of the first n messages.
func (p *prefix) at(n int) end {
	if n == 0 {
		return end{}
	}
	return p.ends[n-1]
}

// cut forgets all but the first n messages.
func (p *prefix) cut(n int) {
	if n == len(p.messages) {
		return
	}
	*p = prefix{slices.Clone(p.messages[:n]), slices.Clone(p.segs[:p.at(n).segs]), slices.Clone(p.ends[:n])}
}

func (p *prefix) add(m *msg.Message) {
	at := p.at(len(p.messages))
	if len(p.messages) > 0 {
		p.segs = append(p.segs, comma)
	}
	p.segs = m.Segments(p.segs, nil)
	for _, s := range p.segs[at.segs:] {
		at.size += int64(len(s))
	}
	at.segs = len(p.segs)
	p.messages, p.ends = append(p.messages, m), append(p.ends, at)
}
