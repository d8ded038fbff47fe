package main

import (
	"fmt"
	"slices"
)

// samples are repeated takings of one figure: seconds, bytes or a plain number.
type samples []float64

// median is the middle value, or the mean of the two in the middle; 0 of nothing.
func (s samples) median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return (sorted[mid-1] + sorted[mid]) / 2
}

// minus gives the differences sample by sample: what s cost above other in the same round.
func (s samples) minus(other samples) samples {
	out := make(samples, min(len(s), len(other)))
	for i := range out {
		out[i] = s[i] - other[i]
	}
	return out
}

// unit says how samples are written.
type unit uint8

const (
	seconds unit = iota
	size
	count
)

// text writes the median and, when the samples differ, the smallest and the largest.
func (u unit) text(s samples) string {
	if len(s) == 0 {
		return "–"
	}
	low, mid, high := slices.Min(s), s.median(), slices.Max(s)
	scale, suffix, digits := u.scale(mid)
	number := func(v float64) string { return fmt.Sprintf("%.*f", digits, v/scale) }
	if number(low) == number(high) {
		return number(mid) + suffix
	}
	return fmt.Sprintf("%s%s (%s–%s)", number(mid), suffix, number(low), number(high))
}

// scale picks the size of the unit by the median, and the digits that still mean something.
func (u unit) scale(v float64) (scale float64, suffix string, digits int) {
	v = max(v, -v)
	for _, step := range u.steps() {
		scale, suffix = step.scale, step.suffix
		if v >= scale {
			break
		}
	}
	switch scaled := v / scale; {
	case u != seconds && scale == 1, scaled >= 100:
		return scale, suffix, 0
	case scaled >= 10:
		return scale, suffix, 1
	}
	return scale, suffix, 2
}

type step struct {
	scale  float64
	suffix string
}

// steps are the sizes of a unit, largest first.
func (u unit) steps() []step {
	switch u {
	case seconds:
		return []step{{1, " s"}, {1e-3, " ms"}, {1e-6, " µs"}}
	case size:
		return []step{{1e6, " MB"}, {1e3, " KB"}, {1, " B"}}
	case count:
	}
	return []step{{1, ""}}
}
