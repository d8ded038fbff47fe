package main

import (
	"context"
	"errors"
	"fmt"
)

// measure is a row of the table. A new one is a file with a run function and an entry in measures.
type measure struct {
	name      string
	goal      string // as the requirement words it; the bench prints it and does not judge
	reference string // what the second figure is of; empty when there is none
	unit      unit
	long      bool // more than 20 s: only in the long table
	run       func(ctx context.Context, l *lab) (hew, ref samples, err error)
}

// missing is why a measure is left out on this machine.
type missing struct{ what string }

func (m missing) Error() string { return "needs " + m.what }

// measures lists all rows in the order of the table.
func measures() []measure {
	var all []measure
	for _, group := range [][]measure{
		startMeasures(), promptMeasures(), hostMeasures(), turnMeasures(), streamMeasures(), resumeMeasures(), sessionMeasures(), searchMeasures(), snapshotMeasures(), safetyMeasures(), agentMeasures(), servedMeasures(), terminalMeasures(), sizeMeasures(),
	} {
		all = append(all, group...)
	}
	return all
}

// taking takes one sample.
type taking func() (float64, error)

// interleave takes rounds samples of each in turn, A B A B, so that a slow minute of the machine meets both. The first round warms
// caches and does not count.
func interleave(ctx context.Context, rounds int, takings ...taking) ([]samples, error) {
	out := make([]samples, len(takings))
	for round := range rounds + 1 {
		for i, take := range takings {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			v, err := take()
			if err != nil {
				return nil, fmt.Errorf("round %d: %w", round, err)
			}
			if round > 0 {
				out[i] = append(out[i], v)
			}
		}
	}
	return out, nil
}

// both is interleave for hew and its reference.
func both(ctx context.Context, rounds int, hew, ref taking) (samples, samples, error) {
	out, err := interleave(ctx, rounds, hew, ref)
	if err != nil {
		return nil, nil, err
	}
	return out[0], out[1], nil
}

// row is a measure that was taken, or why not.
type row struct {
	measure
	hew, ref samples
	err      error
}

// leftOut tells whether the machine lacks something, as opposed to a failure.
func (r row) leftOut() (what string, ok bool) {
	var m missing
	if errors.As(r.err, &m) {
		return m.what, true
	}
	return "", false
}

// ratio is the quotient of the medians, "–" without a reference. A share of noise can turn a difference negative: then there is none.
func (r row) ratio() string {
	hew, ref := r.hew.median(), r.ref.median()
	if len(r.ref) == 0 || ref <= 0 || hew < 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f×", hew/ref)
}
