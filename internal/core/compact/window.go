package compact

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseWindow reads the size of a window as people write it: a number of tokens,
// "500k", "1M", or from 100 to 1000 thousands of them. "auto" is 0.
func ParseWindow(s string) (int, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	if text == "auto" {
		return 0, nil
	}
	unit := 1.0
	if t, ok := strings.CutSuffix(text, "k"); ok {
		text, unit = t, 1e3
	} else if t, ok := strings.CutSuffix(text, "m"); ok {
		text, unit = t, 1e6
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n > 0) || n*unit > 1e9 {
		return 0, fmt.Errorf("%.40q is no size: use auto, or tokens as in 200000, 500k or 1M", s)
	}
	if unit == 1 && n >= 100 && n <= 1000 {
		unit = 1e3
	}
	return int(n * unit), nil
}
