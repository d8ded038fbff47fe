package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"unicode/utf8"
)

// report writes the table, then a line for each measure that is not in it. It tells how many failed; figures never count.
func report(w io.Writer, rows []row) (failed int) {
	cells := [][]string{{"measure", "hew", "reference", "ratio", "goal"}}
	var after []string
	left := 0
	for _, r := range rows {
		if what, ok := r.leftOut(); ok {
			left++
			after = append(after, fmt.Sprintf("left out: %s (needs %s)", r.name, what))
			continue
		}
		if r.err != nil {
			failed++
			after = append(after, fmt.Sprintf("not measured: %s: %v", r.name, r.err))
			continue
		}
		cells = append(cells, []string{r.name, r.unit.text(r.hew), r.referenceText(), r.ratio(), r.goal})
	}
	grid(w, cells)
	_, _ = fmt.Fprintln(w)
	for _, line := range after {
		_, _ = fmt.Fprintln(w, line)
	}
	_, _ = fmt.Fprintf(w, "%d measured, %d left out, %d not measured; %s/%s, %d processors\n",
		len(rows)-left-failed, left, failed, runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	return failed
}

func (r row) referenceText() string {
	if len(r.ref) == 0 {
		return "–"
	}
	return r.unit.text(r.ref) + ", " + r.reference
}

// grid writes cells as a Markdown table whose columns stand under each other.
func grid(w io.Writer, cells [][]string) {
	width := make([]int, len(cells[0]))
	for _, line := range cells {
		for i, cell := range line {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for n, line := range cells {
		for i, cell := range line {
			_, _ = fmt.Fprintf(w, "| %s%s ", cell, strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)))
		}
		_, _ = fmt.Fprintln(w, "|")
		if n == 0 {
			for _, n := range width {
				_, _ = fmt.Fprintf(w, "|%s", strings.Repeat("-", n+2))
			}
			_, _ = fmt.Fprintln(w, "|")
		}
	}
}
