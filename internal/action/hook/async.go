package hook

import (
	"context"
	"strings"

	"github.com/hew-agent/hew/internal/event"
)

// Late is what a hook in the background had to say once it ended.
type Late struct {
	// Agent is the conversation it belongs to, "" for the main one.
	Agent string
	// Context is for the model, with the next request; Messages for the person.
	Context  []string
	Messages []string
	// Wake asks for a turn even when the agent is idle (asyncRewake, exit code 2).
	Wake   bool
	Events []event.Body
}

// background starts a hook that nobody waits for. It ends by itself, by its time
// limit, or at Close.
func (d *Dispatcher) background(h *loaded, o *occasion) {
	ctx, cancel := context.WithCancel(context.Background())
	d.wg.Go(func() {
		select {
		case <-d.closing:
			cancel()
		case <-ctx.Done():
		}
	})
	d.wg.Go(func() {
		defer cancel()
		a := d.run(ctx, h, o, h.Timeout)
		if a.cancelled {
			return
		}
		d.tell(h, o, a)
	})
}

// tell keeps what a background hook said for the next turn. Its decision comes
// too late to count.
func (d *Dispatcher) tell(h *loaded, o *occasion, a answer) {
	res := d.interpret(h, o, a)
	l := Late{Agent: o.in.who().ID, Context: res.Context, Messages: res.Messages, Events: res.events}
	if h.Rewake && a.exit == 2 {
		words := strings.TrimSpace(a.stderr)
		if words == "" {
			words = strings.TrimSpace(a.stdout)
		}
		l.Wake = true
		l.Context = append(l.Context, d.cut(words))
	}
	d.mu.Lock()
	d.late = append(d.late, l)
	d.mu.Unlock()
	if l.Wake && d.c.Woke != nil {
		d.c.Woke()
	}
}

// Late takes what background hooks of a conversation have said since the last call.
func (d *Dispatcher) Late(agent string) []Late {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out, rest []Late
	for _, l := range d.late {
		if l.Agent == agent {
			out = append(out, l)
		} else {
			rest = append(rest, l)
		}
	}
	d.late = rest
	return out
}
