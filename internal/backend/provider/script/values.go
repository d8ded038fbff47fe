package script

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

var placeholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{\{([A-Za-z_][A-Za-z0-9_.]*)\}\}`)
})

// values fills placeholders from one request.
type values struct {
	r    *request
	vars map[string]string
}

// capture adds what exprs find in the request to vars. A value that was found
// once stays until it is found anew.
func capture(vars map[string]string, exprs map[string]string, r *request) {
	for name, e := range exprs {
		re, err := regexp.Compile(e)
		if err != nil {
			continue // Parse refuses these
		}
		if v, ok := r.find(re); ok {
			vars[name] = v
		}
	}
}

// expand replaces the placeholders in s; escape treats each value.
func (v values) expand(s string, escape func(string) string) (string, error) {
	if !strings.Contains(s, "{{") {
		return s, nil
	}
	var failed error
	out := placeholder().ReplaceAllStringFunc(s, func(m string) string {
		val, err := v.lookup(m[2 : len(m)-2])
		if err != nil {
			failed = err
			return m
		}
		return escape(val)
	})
	return out, failed
}

func (v values) lookup(name string) (string, error) {
	if val, ok := v.vars[name]; ok {
		return val, nil
	}
	switch name {
	case "cwd":
		if dir, ok := v.r.find(cwdExpr()); ok {
			return dir, nil
		}
		return "", fmt.Errorf("{{cwd}}: the request names no working directory")
	case "user":
		return v.r.user(), nil
	case "model":
		return v.r.model, nil
	case "replies":
		return strconv.Itoa(v.r.replies()), nil
	case "result":
		name = "result.1"
	}
	if num, ok := strings.CutPrefix(name, "result."); ok {
		n, err := strconv.Atoi(num)
		all := v.r.results()
		if err != nil || n < 1 || n > len(all) {
			return "", fmt.Errorf("{{%s}}: the newest message holds %d results", name, len(all))
		}
		return all[n-1], nil
	}
	return "", fmt.Errorf("{{%s}}: no such value (known: cwd, user, model, replies, result, result.N%s)", name, names(v.vars))
}

func names(vars map[string]string) string {
	var b strings.Builder
	for k := range maps.Keys(vars) {
		b.WriteString(", " + k)
	}
	return b.String()
}

// plain leaves a value as it is; inString makes it fit into a JSON string.
func plain(s string) string { return s }

func inString(s string) string {
	q := quote(s)
	return q[1 : len(q)-1]
}
