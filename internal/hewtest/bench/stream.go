package main

import (
	"context"
	"fmt"
)

func streamMeasures() []measure {
	return []measure{
		{
			name: "CPU to take in 20,000 small deltas", goal: "≤ 1.3× (12 µs each)", unit: seconds, reference: floorChat,
			run: func(ctx context.Context, l *lab) (hew, ref samples, err error) { return deltas(ctx, l, 20_000, 7) },
		},
		{
			name: "CPU to take in 400,000 small deltas", goal: "–", unit: seconds, reference: floorChat, long: true,
			run: func(ctx context.Context, l *lab) (hew, ref samples, err error) { return deltas(ctx, l, 400_000, 3) },
		},
	}
}

// deltas takes the CPU time of a reply in n deltas above that of one in a single delta, so that start-up is not in it.
func deltas(ctx context.Context, l *lab, n, rounds int) (hew, ref samples, err error) {
	request, err := l.firstRequest(ctx)
	if err != nil {
		return nil, nil, err
	}
	h, err := l.newHome()
	if err != nil {
		return nil, nil, err
	}
	many := reply{deltas: make([]string, n)}
	for i := range many.deltas {
		many.deltas[i] = fmt.Sprintf("word%05d ", i%100_000)
	}
	takeHew := func(r reply) taking {
		return func() (float64, error) {
			_, c, err := l.prompt(ctx, h, always(r))
			return c.cpu(), err
		}
	}
	takeFloor := func(r reply) taking {
		return func() (float64, error) {
			_, c, err := l.chat(ctx, h, always(r), request)
			return c.cpu(), err
		}
	}
	one := text("word")
	out, err := interleave(ctx, rounds, takeHew(many), takeFloor(many), takeHew(one), takeFloor(one))
	if err != nil {
		return nil, nil, err
	}
	return out[0].minus(out[2]), out[1].minus(out[3]), nil
}
