package editor

import (
	"strconv"
	"strings"
)

// command is a command of vim, parsed.
type command struct {
	reg   string // register, "" for the usual one
	count int    // 0 for none
	op    string // operator: d c y > < gu gU g~, "" for none
	verb  string // motion, text object or command by itself
	arg   string // the character of f F t T r
}

func (c command) times() int { return max(1, c.count) }

type parsed uint8

const (
	complete parsed = iota
	incomplete
	wrong
)

// maxCount bounds counts: more is a slip.
const maxCount = 9999

func digitsOf(n int) []string { return strings.Split(strconv.Itoa(n), "") }

// parse reads the keys of a command.
func parse(keys []string, visual bool) (command, parsed) {
	var c command
	k := keys
	next := func() string {
		if len(k) == 0 {
			return ""
		}
		s := k[0]
		k = k[1:]
		return s
	}
	number := func() int {
		n := 0
		for len(k) > 0 && len(k[0]) == 1 && (k[0] >= "1" && k[0] <= "9" || n > 0 && k[0] == "0") {
			n = min(maxCount, n*10+int(k[0][0]-'0'))
			k = k[1:]
		}
		return n
	}
	first := number()
	if len(k) > 0 && k[0] == `"` {
		next()
		if c.reg = next(); c.reg == "" {
			return c, incomplete
		}
		if n := number(); n > 0 {
			first = n
		}
	}
	verb := next()
	if verb == "g" {
		if verb += next(); verb == "g" {
			return c, incomplete
		}
	}
	second := 0
	if !visual && operators()[verb] {
		c.op = verb
		second = number()
		verb = next()
		if verb == "g" {
			if verb += next(); verb == "g" {
				return c, incomplete
			}
		}
		if verb == c.op || len(c.op) == 2 && (verb == c.op[1:] || verb == c.op) {
			verb = "line"
		}
	}
	if verb == "" {
		return c, incomplete
	}
	if c.count = first; second > 0 {
		c.count = min(maxCount, max(1, first)*second)
	}
	if (c.op != "" || visual) && (verb == "i" || verb == "a") {
		object := next()
		if object == "" {
			return c, incomplete
		}
		verb += object
	}
	switch verb {
	case "f", "F", "t", "T", "r":
		if c.arg = next(); c.arg == "" {
			return c, incomplete
		}
		if len(c.arg) > 1 && c.arg[0] < 0x80 { // the name of a key
			if c.arg != "enter" || verb != "r" {
				return c, wrong
			}
			c.arg = "\n"
		}
	}
	c.verb = verb
	return c, complete
}

func operators() map[string]bool {
	return map[string]bool{"d": true, "c": true, "y": true, ">": true, "<": true, "gu": true, "gU": true, "g~": true}
}
