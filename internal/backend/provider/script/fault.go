package script

import (
	"fmt"
	"strconv"
	"strings"
)

// plan is a Fault with its place read.
type plan struct {
	Fault
	point string // "headers", "start", "stop", "in", "block", "byte"
	n     int
}

func (f *Fault) plan() (*plan, error) {
	p := &plan{Fault: *f, point: f.At}
	if p.point == "" {
		p.point = "headers"
	}
	if kind, num, ok := strings.Cut(p.point, ":"); ok {
		n, err := strconv.Atoi(num)
		least := 1
		if kind == "byte" {
			least = 0
		}
		if err != nil || n < least {
			return nil, fmt.Errorf("fault: at %q: not a number from %d", f.At, least)
		}
		p.point, p.n = kind, n
	}
	switch p.point {
	case "headers", "start", "stop":
		if strings.Contains(f.At, ":") {
			return nil, fmt.Errorf("fault: at %q takes no number", f.At)
		}
	case "in", "block", "byte":
		if !strings.Contains(f.At, ":") {
			return nil, fmt.Errorf("fault: at %q needs a number", f.At)
		}
	default:
		return nil, fmt.Errorf("fault: at %q is no place", f.At)
	}
	return p, p.check()
}

func (p *plan) check() error {
	switch p.Do {
	case "status":
		if p.Status < 300 || p.Status > 599 {
			return fmt.Errorf("fault: status %d is no failure", p.Status)
		}
		if p.point != "headers" {
			return fmt.Errorf("fault: a status is sent before the stream; inside it use \"error\"")
		}
	case "error":
		if p.point == "headers" {
			return fmt.Errorf("fault: an error event needs a place in the stream; for an HTTP error use \"status\"")
		}
	case "cut", "stall", "raw", "drip":
	default:
		return fmt.Errorf("fault: do %q is none of status, cut, stall, error, raw, drip", p.Do)
	}
	if p.MS < 0 || p.Bytes < 0 || p.Status < 0 || p.Status > 999 {
		return fmt.Errorf("fault: a negative or impossible figure")
	}
	return nil
}
