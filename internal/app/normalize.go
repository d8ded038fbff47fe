package app

import (
	"fmt"
	"slices"
	"strings"
)

// normalize rewrites a command line to --name=value words, because the flag
// library has no optional and no repeated values in the ecosystem's sense:
// "--resume" alone, "--resume ID", "--allowedTools A B".
func normalize(table []option, args []string) ([]string, error) {
	var out, rest []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if !isOption(a) {
			rest = append(rest, a)
			continue
		}
		word, used, err := takeOption(table, a, args[i+1:])
		if err != nil {
			return nil, err
		}
		out = append(out, word...)
		i += used
	}
	return append(append(out, "--"), rest...), nil
}

func isOption(a string) bool { return len(a) > 1 && a[0] == '-' && a != "-" }

// takeOption turns one option and its values into words of the form --name=value.
func takeOption(table []option, a string, next []string) (out []string, used int, err error) {
	if !strings.HasPrefix(a, "--") {
		return takeShort(table, a, next)
	}
	name, value, inline := strings.Cut(a[2:], "=")
	r, ok := lookup(table, name)
	if !ok {
		return nil, 0, unknown(table, "--"+name)
	}
	return r.take(value, inline, next)
}

// takeShort reads "-p", "-r ID", "-rID" and bundles of switches such as "-pc".
func takeShort(table []option, a string, next []string) (out []string, used int, err error) {
	for at := 1; at < len(a); at++ {
		r, ok := short(table, a[at:at+1])
		if !ok {
			return nil, 0, unknown(table, "-"+a[at:at+1])
		}
		if r.arity == none {
			out = append(out, "--"+r.name)
			continue
		}
		value := strings.TrimPrefix(a[at+1:], "=")
		words, n, err := r.take(value, value != "", next)
		return append(out, words...), n, err
	}
	return out, 0, nil
}

func (r option) take(value string, inline bool, next []string) (out []string, used int, err error) {
	dash := "--" + r.name
	switch r.arity {
	case none:
		if inline {
			return []string{dash + "=" + value}, 0, nil
		}
		return []string{dash}, 0, nil
	case one:
		if inline {
			return []string{dash + "=" + value}, 0, nil
		}
		if len(next) == 0 {
			return nil, 0, &usageError{fmt.Sprintf("option '%s' needs a value <%s>", dash, r.value)}
		}
		return []string{dash + "=" + next[0]}, 1, nil
	case optional:
		if inline || len(next) == 0 || isOption(next[0]) {
			return []string{dash + "=" + value}, 0, nil
		}
		return []string{dash + "=" + next[0]}, 1, nil
	case many:
		if inline {
			return []string{dash + "=" + value}, 0, nil
		}
		for used < len(next) && !isOption(next[used]) {
			out = append(out, dash+"="+next[used])
			used++
		}
		if used == 0 {
			return nil, 0, &usageError{fmt.Sprintf("option '%s' needs at least one value <%s>", dash, r.value)}
		}
		return out, used, nil
	}
	return nil, 0, nil
}

func lookup(table []option, name string) (option, bool) {
	for _, r := range table {
		if r.name == name || slices.Contains(r.aliases, name) {
			return r, true
		}
	}
	return option{}, false
}

func short(table []option, c string) (option, bool) {
	for _, r := range table {
		if r.short == c && c != "" {
			return r, true
		}
	}
	return option{}, false
}

func unknown(table []option, name string) error {
	e := &usageError{fmt.Sprintf("unknown option '%s'", name)}
	names := make([]string, 0, len(table))
	for _, r := range table {
		names = append(names, "--"+r.name)
	}
	if near := nearest(names, name); near != "" {
		e.text += fmt.Sprintf("\n(Did you mean %s?)", near)
	}
	return e
}

// nearest is the name that is at most a third of its letters away, "" if none is.
func nearest(names []string, got string) string {
	best, at := "", len(got)/3+1
	for _, n := range names {
		if d := distance(n, got); d < at {
			best, at = n, d
		}
	}
	return best
}

// distance is the number of single-letter changes between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diag := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diag
			if a[i-1] != b[j-1] {
				cost++
			}
			diag = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}

// ruleList splits the values of a rule option: words, or lists with commas or
// blanks. What stands in parentheses is one piece.
func ruleList(values []string) []string {
	var out []string
	for _, v := range values {
		depth, start := 0, 0
		for i, c := range v {
			switch {
			case c == '(':
				depth++
			case c == ')' && depth > 0:
				depth--
			case depth == 0 && (c == ',' || c == ' ' || c == '\n' || c == '\t'):
				out = appendWord(out, v[start:i])
				start = i + 1
			}
		}
		out = appendWord(out, v[start:])
	}
	return out
}

func appendWord(out []string, w string) []string {
	if w = strings.TrimSpace(w); w != "" {
		out = append(out, w)
	}
	return out
}
