package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   samples
		want float64
	}{
		{nil, 0}, {samples{3}, 3}, {samples{9, 1, 5}, 5}, {samples{4, 1, 100, 2}, 3},
	} {
		if got := c.in.median(); got != c.want {
			t.Errorf("median of %v = %v, want %v", c.in, got, c.want)
		}
	}
	s := samples{3, 1, 2}
	s.median()
	if diff := cmp.Diff(samples{3, 1, 2}, s); diff != "" {
		t.Errorf("median changed the order of takings: %s", diff)
	}
}

func TestMinusPairsRounds(t *testing.T) {
	got := samples{5, 7, 9}.minus(samples{1, 2})
	if diff := cmp.Diff(samples{4, 5}, got); diff != "" {
		t.Error(diff)
	}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct {
		unit unit
		in   samples
		want string
	}{
		{seconds, nil, "–"},
		{seconds, samples{0.0123}, "12.3 ms"},
		{seconds, samples{0.0123, 0.0101, 0.25}, "12.3 ms (10.1–250.0)"},
		{seconds, samples{0.00000123}, "1.23 µs"},
		{seconds, samples{0.0000001}, "0.10 µs"},
		{seconds, samples{1.5, 1.5}, "1.50 s"},
		{seconds, samples{-0.002, 0.001, -0.002}, "-2.00 ms (-2.00–1.00)"},
		{seconds, samples{0.3}, "300 ms"},
		{size, samples{18_432}, "18.4 KB"},
		{size, samples{13_900_000}, "13.9 MB"},
		{size, samples{999}, "999 B"},
		{count, samples{1817}, "1817"},
	} {
		if got := c.unit.text(c.in); got != c.want {
			t.Errorf("%v: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestInterleaveAlternates(t *testing.T) {
	var order strings.Builder
	n := 0.0
	take := func(name string) taking {
		return func() (float64, error) {
			order.WriteString(name)
			n++
			return n, nil
		}
	}
	a, b, err := both(t.Context(), 2, take("A"), take("B"))
	if err != nil {
		t.Fatal(err)
	}
	if order.String() != "ABABAB" {
		t.Errorf("takings in the order %s", &order)
	}
	if diff := cmp.Diff([]samples{{3, 5}, {4, 6}}, []samples{a, b}); diff != "" {
		t.Errorf("the first round must not count: %s", diff)
	}
}

func TestInterleaveEnds(t *testing.T) {
	broken := errors.New("broken")
	fail := func() (float64, error) { return 0, broken }
	if _, _, err := both(t.Context(), 3, fail, fail); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	taken := false
	_, _, err := both(ctx, 3, func() (float64, error) { taken = true; return 0, nil }, fail)
	if !errors.Is(err, context.Canceled) || taken {
		t.Errorf("after the end of the context: error %v, taken %v", err, taken)
	}
}

func TestReport(t *testing.T) {
	rows := []row{
		{measure: measure{name: "start", goal: "≤ 1.5×", unit: seconds, reference: "empty"}, hew: samples{0.02, 0.02}, ref: samples{0.01}},
		{measure: measure{name: "request", goal: "≤ 20 KB", unit: size}, hew: samples{18_000}},
		{measure: measure{name: "above noise", unit: seconds, reference: "floor"}, hew: samples{-0.001}, ref: samples{0.01}},
		{measure: measure{name: "search"}, err: missing{"ripgrep"}},
		{measure: measure{name: "resume"}, err: errors.New("no file")},
	}
	var out bytes.Buffer
	if failed := report(&out, rows); failed != 1 {
		t.Errorf("%d failed, want 1: only what could not be taken counts", failed)
	}
	want := `| measure     | hew      | reference      | ratio | goal    |
|-------------|----------|----------------|-------|---------|
| start       | 20.0 ms  | 10.0 ms, empty | 2.00× | ≤ 1.5×  |
| request     | 18.0 KB  | –              | –     | ≤ 20 KB |
| above noise | -1.00 ms | 10.0 ms, floor | –     |         |

left out: search (needs ripgrep)
not measured: resume: no file
3 measured, 1 left out, 1 not measured`
	got, _, _ := strings.Cut(out.String(), "; ")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestInitSum(t *testing.T) {
	trace := []byte("init runtime @0.04 ms, 0.01 ms clock, 96 bytes, 3 allocs\nother\ninit net/http @1.2 ms, 0.2 ms clock, 1000 bytes, 40 allocs\n")
	for column, want := range map[int]float64{initBytes: 1096, initAllocs: 43} {
		if got, err := initSum(trace, column); err != nil || got != want {
			t.Errorf("column %d: %v, %v; want %v", column, got, err, want)
		}
	}
	if _, err := initSum([]byte("hew 0.1.0\n"), initBytes); err == nil {
		t.Error("a program without a trace was measured")
	}
}

// TestMeasures: names are what -run and people find rows by.
func TestMeasures(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range measures() {
		if m.name == "" || seen[m.name] || m.goal == "" || m.run == nil {
			t.Errorf("measure %q: no name, a name twice, no goal or nothing to run", m.name)
		}
		seen[m.name] = true
	}
}
