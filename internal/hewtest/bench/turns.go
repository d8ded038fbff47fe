package main

import (
	"context"
	"fmt"
)

// fileBytes is the size of the files that turns read: some fifteen lines.
const fileBytes = 1 << 10

func turnMeasures() []measure {
	return []measure{
		{
			name: "last byte of an answer to next request, 50 turns that read a file", goal: "≤ 2× (2 ms)", unit: seconds,
			reference: floorChat, run: turnGap,
		},
		{
			name: "the same gap, last 10 of 300 turns over first 10", goal: "≤ 1.3×", unit: seconds, reference: "first 10",
			run: func(ctx context.Context, l *lab) (hew, ref samples, err error) { return turnGrowth(ctx, l, 300, 5) },
		},
		{
			name: "gap between answer and next request, last 10 of 2,000 turns over first 10", goal: "–", unit: seconds, reference: "first 10", long: true,
			run: func(ctx context.Context, l *lab) (hew, ref samples, err error) { return turnGrowth(ctx, l, 2000, 3) },
		},
	}
}

// inner are the gaps of a talk in which the client has warmed up; the first is start-up's.
func inner(t *talk) samples {
	gaps := t.gaps()
	return gaps[min(1, len(gaps)):]
}

// turns runs hew over the files, one a turn, and makes sure that it did: that the last request holds them.
func (l *lab) turns(ctx context.Context, h *home, files []string, flags ...string) (*talk, cost, error) {
	t, c, err := l.prompt(ctx, h, readAll(files), flags...)
	if err == nil {
		err = t.holds(len(files))
	}
	return t, c, err
}

// floorTurns is the same for the floor.
func (l *lab) floorTurns(ctx context.Context, h *home, files []string, request string) (*talk, cost, error) {
	t, c, err := l.chat(ctx, h, readAll(files), request)
	if err == nil {
		err = t.holds(len(files))
	}
	return t, c, err
}

func (t *talk) holds(turns int) error {
	if len(t.arrive) != turns+1 {
		return fmt.Errorf("%d requests; %d turns make %d", len(t.arrive), turns, turns+1)
	}
	if got := t.bytes - len(t.first); got < turns*fileBytes {
		return fmt.Errorf("%d turns added %d bytes to the request: the files are not in it", turns, got)
	}
	return nil
}

func turnGap(ctx context.Context, l *lab) (hew, ref samples, err error) {
	request, err := l.firstRequest(ctx)
	if err != nil {
		return nil, nil, err
	}
	h, err := l.newHome()
	if err != nil {
		return nil, nil, err
	}
	files, err := l.plant(h, 50, fileBytes)
	if err != nil {
		return nil, nil, err
	}
	return both(ctx, 10,
		func() (float64, error) {
			t, _, err := l.turns(ctx, h, files)
			return inner(t).median(), err
		},
		func() (float64, error) {
			t, _, err := l.floorTurns(ctx, h, files, request)
			return inner(t).median(), err
		})
}

// turnGrowth compares hew with itself: both samples of a round are of one run.
func turnGrowth(ctx context.Context, l *lab, turns, rounds int) (hew, ref samples, err error) {
	h, err := l.newHome()
	if err != nil {
		return nil, nil, err
	}
	files, err := l.plant(h, turns, fileBytes)
	if err != nil {
		return nil, nil, err
	}
	var gaps samples
	return both(ctx, rounds,
		func() (float64, error) {
			t, _, err := l.turns(ctx, h, files)
			if err != nil {
				return 0, err
			}
			gaps = inner(t)
			return gaps[len(gaps)-10:].median(), nil
		},
		func() (float64, error) { return gaps[:10].median(), nil })
}
