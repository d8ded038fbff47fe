package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
)

func startMeasures() []measure {
	return []measure{{
		name: "`hew --version`, wall", goal: "≤ 1.5× (≤ 1.8× once everything is linked)", unit: seconds,
		reference: "empty program with net/http and encoding/json", run: startWall,
	}}
}

func startWall(ctx context.Context, l *lab) (hew, ref samples, err error) {
	h, err := l.newHome()
	if err != nil {
		return nil, nil, err
	}
	take := func(program string) taking {
		return func() (float64, error) {
			c, err := l.run(ctx, command{home: h, program: program, args: []string{"--version"}})
			return c.wall(), err
		}
	}
	return both(ctx, 30, take(l.hew), take(l.empty))
}

// sizeMeasures need one taking: nothing of them depends on time.
func sizeMeasures() []measure {
	const empty = "empty program"
	return []measure{
		{name: "binary, stripped", goal: "≤ 20 MB", unit: size, reference: empty, run: binarySize},
		{
			name: "package initialisation, bytes", goal: "counted (limit in `scripts/check`)", unit: size, reference: empty,
			run: func(ctx context.Context, l *lab) (hew, ref samples, err error) { return initCost(ctx, l, initBytes) },
		},
		{
			name: "package initialisation, allocations", goal: "counted (limit in `scripts/check`)", unit: count, reference: empty,
			run: func(ctx context.Context, l *lab) (hew, ref samples, err error) { return initCost(ctx, l, initAllocs) },
		},
	}
}

func binarySize(_ context.Context, l *lab) (hew, ref samples, err error) {
	return once(func(program string) (float64, error) {
		st, err := os.Stat(program)
		if err != nil {
			return 0, err
		}
		return float64(st.Size()), nil
	}, l)
}

// once measures hew and the empty program a single time each.
func once(take func(program string) (float64, error), l *lab) (hew, ref samples, err error) {
	a, err := take(l.hew)
	if err != nil {
		return nil, nil, err
	}
	b, err := take(l.empty)
	return samples{a}, samples{b}, err
}

// Columns of a line of GODEBUG=inittrace=1: init PACKAGE @1.2 ms, 0.01 ms clock, 96 bytes, 3 allocs.
const (
	initBytes  = 1
	initAllocs = 2
)

func initCost(ctx context.Context, l *lab, column int) (hew, ref samples, err error) {
	h, err := l.newHome()
	if err != nil {
		return nil, nil, err
	}
	return once(func(program string) (float64, error) {
		c, err := l.run(ctx, command{home: h, program: program, args: []string{"--version"}, env: []string{"GODEBUG=inittrace=1"}})
		if err != nil {
			return 0, err
		}
		return initSum(c.stderr, column)
	}, l)
}

// initSum adds up a column over all packages.
func initSum(trace []byte, column int) (float64, error) {
	line := regexp.MustCompile(`(?m)^init \S+ @.* clock, (\d+) bytes, (\d+) allocs$`)
	found := line.FindAllSubmatch(trace, -1)
	if len(found) == 0 {
		return 0, fmt.Errorf("no line of an init trace in %q", trace)
	}
	var sum float64
	for _, m := range found {
		n, err := strconv.ParseFloat(string(m[column]), 64)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}
