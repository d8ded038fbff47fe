package dialog

import (
	"time"

	"github.com/hew-agent/hew/internal/surface/tui/input"
)

// Times of the guard. Terminals repeat a key that is held about 30 times a
// second, at first after a quarter of a second to a whole one.
const (
	quiet  = 500 * time.Millisecond // after the first paint
	calm   = 250 * time.Millisecond // after the last key that came too early
	repeat = 120 * time.Millisecond // between two of a key that is held
	held   = time.Second            // until a key that is held is repeated first
)

// Options are what dialogs need that somebody may answer by mistake.
type Options struct {
	Now func() time.Time
	// LastKey is the key that was pressed last before the dialog opened, at LastAt.
	// Optional: with it, a key that is still held does not count either.
	LastKey string
	LastAt  time.Time
}

// guard keeps what was typed before somebody can have read the dialog from
// answering it. The zero guard lets nothing through.
type guard struct {
	o       Options
	ready   time.Time
	ignored []input.Event
	key     string
	at      time.Time
	patient bool // key was pressed before the dialog was there
}

func newGuard(o Options) guard {
	return guard{o: o, key: o.LastKey, at: o.LastAt, patient: o.LastKey != ""}
}

// shown notes the first paint.
func (g *guard) shown(now time.Time) {
	if g.ready.IsZero() {
		g.ready = now.Add(quiet)
	}
}

// open tells whether keys count.
func (g *guard) open() bool { return !g.ready.IsZero() && !g.o.Now().Before(g.ready) }

// stops tells whether an event came too early to be meant.
func (g *guard) stops(ev input.Event) bool {
	switch ev := ev.(type) {
	case input.Press:
		if !g.open() {
			g.early(ev)
			g.key, g.at, g.patient = ev.Key, g.o.Now(), false
			return true
		}
	case input.Paste:
		if !g.open() {
			g.early(ev)
			return true
		}
	case input.Mouse:
		return !g.open() && ev.Kind == input.Click
	case input.Focus, input.Resize, input.Resumed, input.Ended:
	}
	return false
}

func (g *guard) early(ev input.Event) {
	g.ignored = append(g.ignored, ev)
	if next := g.o.Now().Add(calm); !g.ready.IsZero() && next.After(g.ready) {
		g.ready = next
	}
}

// repeats tells whether a key is only still held.
func (g *guard) repeats(p input.Press) bool {
	now := g.o.Now()
	within := repeat
	if g.patient {
		within = held
	}
	again := p.Key == g.key && now.Sub(g.at) < within
	g.key, g.at, g.patient = p.Key, now, false
	return again
}

// refuse hands a paste back: pasted text never answers.
func (g *guard) refuse(ev input.Event) { g.ignored = append(g.ignored, ev) }

// take hands out what was ignored since the last call.
func (g *guard) take() []input.Event {
	out := g.ignored
	g.ignored = nil
	return out
}
