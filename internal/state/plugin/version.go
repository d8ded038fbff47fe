package plugin

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// number is a version of the form 1.2.3-pre; build metadata is not compared.
type number struct {
	parts [3]int
	pre   string
	// given is how many parts were written.
	given int
}

func parseNumber(s string) (number, bool) {
	var n number
	s = strings.TrimPrefix(strings.TrimSpace(s), "v")
	s, _, _ = strings.Cut(s, "+")
	s, n.pre, _ = strings.Cut(s, "-")
	if s == "" || s == "*" || s == "x" {
		return n, true
	}
	for part := range strings.SplitSeq(s, ".") {
		if part == "x" || part == "*" {
			break
		}
		v, err := strconv.Atoi(part)
		if err != nil || v < 0 || n.given == 3 {
			return number{}, false
		}
		n.parts[n.given] = v
		n.given++
	}
	return n, true
}

func (n number) compare(o number) int {
	for i := range n.parts {
		if c := cmp.Compare(n.parts[i], o.parts[i]); c != 0 {
			return c
		}
	}
	switch {
	case n.pre == o.pre:
		return 0
	case n.pre == "":
		return 1
	case o.pre == "":
		return -1
	}
	return comparePre(n.pre, o.pre)
}

// comparePre orders pre-releases as semver.org §11 has it.
func comparePre(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		m, errM := strconv.Atoi(x[i])
		n, errN := strconv.Atoi(y[i])
		c := cmp.Compare(x[i], y[i])
		switch {
		case errM == nil && errN == nil:
			c = cmp.Compare(m, n)
		case errM == nil:
			c = -1
		case errN == nil:
			c = 1
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}

// Newer tells whether version a comes after b. Versions that are no numbers
// have no order.
func Newer(a, b string) bool {
	x, okX := parseNumber(a)
	y, okY := parseNumber(b)
	return okX && okY && x.compare(y) > 0
}

// Fits tells whether a version lies in a range: parts joined by spaces must all
// hold, "||" separates ways. Forms: 1.2.3, =, >, >=, <, <=, ^, ~, 1.x, *.
func Fits(version, want string) (bool, error) {
	v, ok := parseNumber(version)
	for way := range strings.SplitSeq(want, "||") {
		fits := true
		for part := range strings.FieldsSeq(way) {
			one, err := fitsOne(v, part)
			if err != nil {
				return false, err
			}
			fits = fits && one
		}
		if fits && (ok || strings.Trim(way, " *") == "") {
			return true, nil
		}
	}
	return false, nil
}

func fitsOne(v number, part string) (bool, error) {
	text := strings.TrimLeft(part, "^~<>=")
	sign := part[:len(part)-len(text)]
	n, ok := parseNumber(text)
	if !ok || text == "" {
		return false, fmt.Errorf("%q is no version range", part)
	}
	c := v.compare(n)
	switch sign {
	case ">":
		return c > 0, nil
	case ">=":
		return c >= 0, nil
	case "<":
		return c < 0, nil
	case "<=":
		return c <= 0, nil
	case "^":
		return c >= 0 && v.compare(n.next(n.leading())) < 0, nil
	case "~":
		return c >= 0 && v.compare(n.next(min(1, max(n.given-1, 0)))) < 0, nil
	case "", "=":
		switch n.given {
		case 3:
			return c == 0, nil
		case 0:
			return true, nil
		}
		return c >= 0 && v.compare(n.next(n.given-1)) < 0, nil
	}
	return false, fmt.Errorf("%q is no version range", part)
}

// leading is the place of the first part that is not 0: what ^ keeps.
func (n number) leading() int {
	for i := range max(n.given-1, 0) {
		if n.parts[i] != 0 {
			return i
		}
	}
	return max(n.given-1, 0)
}

// next is the first version after all that share the parts up to at.
func (n number) next(at int) number {
	out := number{given: 3, pre: "0"} // before any pre-release that a person would name
	copy(out.parts[:at+1], n.parts[:at+1])
	out.parts[at]++
	return out
}
