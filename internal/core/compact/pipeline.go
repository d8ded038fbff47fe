package compact

import (
	"context"
	"fmt"

	"github.com/hew-agent/hew/internal/backend/feature"
	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
)

// Pipeline runs the five shapers in order, the cheapest first; each sees the
// window that the one before it left. It belongs to one conversation and is not
// safe for concurrent use.
type Pipeline struct {
	c     *Config
	cheap []loop.Shaper
	first loop.Shaper
	last  *Auto
	tally tally
	// refused is the size of a request that the provider found too long, by model.
	refused map[string]int
	// exaggerated tells that a compaction was due by the provider's figure alone.
	exaggerated bool
}

// New makes the pipeline.
func New(c Config) *Pipeline {
	p := &Pipeline{refused: map[string]int{}}
	limits := c.Limits
	c.Limits = func(model string) Limits {
		l := limits(model)
		if n := p.refused[model]; n > 0 {
			l = l.shrunk(n)
		}
		return l
	}
	p.c = &c
	p.first, p.last = NewOversize(p.c), NewAuto(p.c)
	if feature.HistorySnip {
		p.cheap = append(p.cheap, NewSnip(p.c))
	}
	if feature.Microcompact {
		p.cheap = append(p.cheap, NewMicro(p.c))
	}
	if feature.ContextCollapse {
		p.cheap = append(p.cheap, NewCollapse(p.c))
	}
	return p
}

// Shape makes the next request fit. The stages between the first and the last
// count only together with what they achieve: when they cannot empty the window
// as far as is wanted, the summary is made of the whole history instead, whose
// prefix the provider still has.
func (p *Pipeline) Shape(ctx context.Context, w loop.Window, why loop.Pressure, emit func(event.Body)) (loop.Window, error) {
	l := p.c.Limits(w.Model)
	w.Size, w.Want = p.measure(ctx, w, l), 0
	if o, refused := why.(loop.Overflow); refused {
		p.refused[w.Model] = min(w.Size, l.Window, fitting(o.Tokens, o.Window, w.Size))
		l = p.c.Limits(w.Model)
	}
	w, err := p.first.Shape(ctx, w, why, emit)
	if err != nil {
		return w, err
	}
	over, again := w.Size >= l.Trigger, false
	switch o := why.(type) {
	case loop.Manual:
		return p.last.Shape(ctx, w, why, emit)
	case loop.Overflow:
		over, again, w.Want = true, o.Again, l.Target
	case loop.Routine:
		if over {
			w.Want = l.Target
		}
	}
	shaped, heard, err := p.try(ctx, w, why)
	if err != nil {
		return w, err
	}
	if !over || !p.c.On.Auto || shaped.Size <= l.Target && !again {
		tell(heard, emit)
		return p.end(ctx, shaped, why, emit)
	}
	return p.summarised(ctx, w, shaped, heard, why, emit)
}

// try runs the cheap stages without telling anybody.
func (p *Pipeline) try(ctx context.Context, w loop.Window, why loop.Pressure) (loop.Window, []event.Body, error) {
	var heard []event.Body
	for _, s := range p.cheap {
		var err error
		if w, err = s.Shape(ctx, w, why, func(b event.Body) { heard = append(heard, b) }); err != nil {
			return w, nil, err
		}
	}
	return w, heard, nil
}

func tell(heard []event.Body, emit func(event.Body)) {
	for _, b := range heard {
		emit(b)
	}
}

// summarised lets the last stage act on the window as it was before the cheap
// ones. When it leaves history alone, what those achieved is better than nothing.
func (p *Pipeline) summarised(ctx context.Context, w, shaped loop.Window, heard []event.Body, why loop.Pressure, emit func(event.Body)) (loop.Window, error) {
	for _, b := range heard {
		if s, ok := b.(event.Shaped); ok {
			detail := s.Detail
			if len(s.Edits) > 0 {
				detail = "not enough alone"
			}
			emit(event.Shaped{Stage: s.Stage, Before: w.Size, After: w.Size, Detail: detail})
		}
	}
	p.exaggerated = p.overhead()+p.tally.tokens(w.Messages) < p.c.Limits(w.Model).Target
	w.Want = 0
	if w.Size < p.c.Limits(w.Model).Trigger {
		w.Want = p.c.Limits(w.Model).Target
	}
	out, err := p.last.Shape(ctx, w, why, emit)
	if err != nil || out.Break == StageAuto || shaped.Break == w.Break {
		return p.checked(out, err, why)
	}
	if out.Size > p.c.Limits(w.Model).Hard {
		tell(heard, emit)
		out = shaped
	}
	return p.checked(out, nil, why)
}

// end runs the last stage when the ones before it were enough or it is off.
func (p *Pipeline) end(ctx context.Context, w loop.Window, why loop.Pressure, emit func(event.Body)) (loop.Window, error) {
	if !p.c.On.Auto {
		return p.checked(idle(StageAuto, w, "off", emit), nil, why)
	}
	return idle(StageAuto, w, "idle", emit), ctx.Err()
}

// checked keeps a request that cannot fit from being sent. The provider's figure
// alone is no proof; it says so itself if it minds.
func (p *Pipeline) checked(w loop.Window, err error, why loop.Pressure) (loop.Window, error) {
	if _, routine := why.(loop.Routine); err != nil || !routine {
		return w, err
	}
	l := p.c.Limits(w.Model)
	size := p.overhead() + tokens(w.Messages)
	if size <= l.Hard || w.Size <= l.Hard {
		return w, nil
	}
	return w, &loop.Halt{Reason: event.PromptTooLong, Detail: fmt.Sprintf(
		"Prompt is too long: about %d tokens, and the window holds %d. Use /compact to summarise the conversation, /clear to begin anew, or a model with a larger window", size, l.Window)}
}
