package dialog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// Share is a part of a whole, in tokens, such as what tools take of the window.
type Share struct {
	Name   string
	Tokens int
}

// Meter is a picture of what fills a whole: cells in the colours of the shares,
// then their names with amounts. What is left of the whole is free.
func Meter(shares []Share, whole, width int) []style.Line {
	sum := 0
	for _, s := range shares {
		sum += max(0, s.Tokens)
	}
	whole = max(whole, sum, 1)
	cols := max(1, min(width-4, 80))
	rows := min(5, max(2, 160/cols))
	counts := spread(shares, whole, cols*rows)
	var out []style.Line
	line, at := style.Line{{Text: "  "}}, 0
	put := func(sign string, role style.Role, n int) {
		for n > 0 {
			k := min(n, cols-at)
			line = append(line, style.Span{Text: strings.Repeat(sign, k), Role: role})
			n, at = n-k, at+k
			if at == cols {
				out = append(out, line)
				line, at = style.Line{{Text: "  "}}, 0
			}
		}
	}
	for i, n := range counts {
		put("■", colour(i), n)
	}
	put("□", style.Dim, cols*rows-total(counts))
	out = append(out, nil)
	out = append(out, legend(shares, whole, sum, width)...)
	for i, l := range out {
		out[i] = fitLine(l, max(1, width))
	}
	return out
}

// colour is the role of the i-th share.
func colour(i int) style.Role {
	roles := [...]style.Role{
		style.Accent, style.String, style.Number, style.Keyword, style.Function,
		style.Type, style.Link, style.Warning, style.Success, style.Comment,
	}
	return roles[i%len(roles)]
}

func total(ns []int) int {
	n := 0
	for _, x := range ns {
		n += x
	}
	return n
}

// spread gives cells to the shares: each that is not empty has one at least, the
// cells that rounding leaves go to those that lost most by it.
func spread(shares []Share, whole, cells int) []int {
	out := make([]int, len(shares))
	type rest struct{ i, of int }
	var rests []rest
	exact := 0
	for i, s := range shares {
		if s.Tokens <= 0 {
			continue
		}
		exact += s.Tokens
		out[i] = s.Tokens * cells / whole
		if out[i] == 0 {
			out[i] = 1
			continue
		}
		rests = append(rests, rest{i, s.Tokens * cells % whole})
	}
	slices.SortStableFunc(rests, func(a, b rest) int { return cmp.Compare(b.of, a.of) })
	want := min(cells, (exact*cells+whole-1)/whole)
	for _, r := range rests {
		if total(out) < want {
			out[r.i]++
		}
	}
	for total(out) > cells { // many small ones
		i := slices.Index(out, slices.Max(out))
		out[i]--
	}
	return out
}

// legend names the shares, in columns where they have room.
func legend(shares []Share, whole, sum, width int) []style.Line {
	var items []style.Line
	for i, s := range append(slices.Clone(shares), Share{"free", whole - sum}) {
		if s.Tokens <= 0 && i < len(shares) {
			continue
		}
		sign, role := "■ ", colour(i)
		if i == len(shares) {
			sign, role = "□ ", style.Dim
		}
		figures := fmt.Sprintf("%s %3d%%", thousands(s.Tokens), s.Tokens*100/whole)
		room := 30 - style.Width(figures)
		items = append(items, style.Line{
			{Text: sign, Role: role}, {Text: fmt.Sprintf("%-*s", room, label(s.Name, room))}, {Text: " " + figures, Role: style.Dim},
		})
	}
	cols := max(1, (width-2)/37)
	rows := (len(items) + cols - 1) / cols
	var out []style.Line
	for r := range rows {
		line := style.Line{{Text: "  "}}
		for c := r; c < len(items); c += rows {
			if c > r {
				gap := 2 + 37*(c/rows) - line.Width()
				line = append(line, style.Span{Text: strings.Repeat(" ", max(1, gap))})
			}
			line = append(line, items[c]...)
		}
		out = append(out, line)
	}
	return out
}

// thousands writes an amount with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
