package keys

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Changes are what a person's file changes, in its order.
type Changes []Change

// Change gives keys an action in a context, or takes it away with Action "".
type Change struct{ Context, Keys, Action string }

// Problem is something in the file that cannot be obeyed. Lines and columns count
// from 1.
type Problem struct {
	Line, Col int
	Text      string
}

func (p Problem) String() string { return fmt.Sprintf("line %d, column %d: %s", p.Line, p.Col, p.Text) }

// Parse reads the text of a keybindings.json. What is wrong is a Problem and
// changes nothing; the rest holds. Of a file that is no JSON nothing holds.
func Parse(raw []byte) (Changes, []Problem) {
	p := &parser{raw: raw, d: json.NewDecoder(bytes.NewReader(raw)), known: actions()}
	var whole json.RawMessage
	err := json.Unmarshal(raw, &whole)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax) && syntax.Offset >= int64(len(raw)) && strings.HasPrefix(syntax.Error(), "unexpected end"):
		p.problem(int64(len(raw)), "the file ends too early")
	case errors.As(err, &syntax):
		p.problem(max(0, syntax.Offset-1), "%v", syntax)
	default:
		if err := p.file(); err != nil {
			p.problem(p.d.InputOffset(), "%v", err)
		}
	}
	return p.changes, p.problems
}

// actions are the actions that each context knows.
func actions() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for c, bound := range defaults().bound {
		out[c] = map[string]bool{}
		for _, a := range bound {
			out[c][a] = true
		}
		for _, a := range more()[c] {
			out[c][a] = true
		}
	}
	return out
}

type parser struct {
	raw      []byte
	d        *json.Decoder
	known    map[string]map[string]bool
	changes  Changes
	problems []Problem
}

func (p *parser) problem(at int64, format string, args ...any) {
	before := p.raw[:min(int(at), len(p.raw))]
	line := bytes.Count(before, []byte("\n"))
	col := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	p.problems = append(p.problems, Problem{line + 1, col + 1, fmt.Sprintf(format, args...)})
}

// here is where the next token begins.
func (p *parser) here() int64 {
	at := p.d.InputOffset()
	for at < int64(len(p.raw)) && strings.IndexByte(" \t\r\n,:", p.raw[at]) >= 0 {
		at++
	}
	return at
}

// skip passes over the next value.
func (p *parser) skip() error {
	var v json.RawMessage
	return p.d.Decode(&v)
}

// object calls member for each key of the next value. Anything but an object is
// a problem that speaks of what.
func (p *parser) object(what string, member func(at int64, key string) error) error {
	at := p.here()
	if at < int64(len(p.raw)) && p.raw[at] != '{' {
		p.problem(at, "%s must be an object", what)
		return p.skip()
	}
	if _, err := p.d.Token(); err != nil {
		return err
	}
	for p.d.More() {
		at := p.here()
		t, err := p.d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		if err := member(at, key); err != nil {
			return err
		}
	}
	_, err := p.d.Token()
	return err
}

func (p *parser) file() error {
	found := false
	err := p.object("the file", func(at int64, key string) error {
		switch key {
		case "bindings":
			found = true
			return p.blocks()
		case "$schema", "$docs":
		default:
			p.problem(at, "unknown field %q; the file has bindings", key)
		}
		return p.skip()
	})
	if err != nil {
		return err
	}
	if !found && len(p.problems) == 0 {
		p.problem(0, `there is no "bindings"`)
	}
	return nil
}

func (p *parser) blocks() error {
	at := p.here()
	if at < int64(len(p.raw)) && p.raw[at] != '[' {
		p.problem(at, "bindings must be a list of blocks, each with context and bindings")
		return p.skip()
	}
	if _, err := p.d.Token(); err != nil {
		return err
	}
	for p.d.More() {
		if err := p.block(); err != nil {
			return err
		}
	}
	_, err := p.d.Token()
	return err
}

// pair is a binding as it stands in the file, with its places.
type pair struct {
	keyAt, valueAt int64
	key            string
	value          json.RawMessage
}

// block reads one block: the context may stand behind the bindings.
func (p *parser) block() error {
	start := p.here()
	context, contextAt := "", start
	var pairs []pair
	err := p.object("a block of bindings", func(at int64, key string) error {
		switch key {
		case "context":
			contextAt = p.here()
			var v any
			if err := p.d.Decode(&v); err != nil {
				return err
			}
			context, _ = v.(string)
			return nil
		case "bindings":
			return p.object("bindings", func(at int64, key string) error {
				one := pair{keyAt: at, valueAt: p.here(), key: key}
				err := p.d.Decode(&one.value)
				pairs = append(pairs, one)
				return err
			})
		}
		p.problem(at, "unknown field %q; a block has context and bindings", key)
		return p.skip()
	})
	if err != nil {
		return err
	}
	if p.known[context] == nil {
		if start < int64(len(p.raw)) && p.raw[start] == '{' {
			p.problem(contextAt, "unknown context %q; there are %s", context, strings.Join(slices.Sorted(maps.Keys(p.known)), ", "))
		}
		return nil
	}
	seen := map[string]bool{}
	for _, one := range pairs {
		p.pair(context, one, seen)
	}
	return nil
}

func (p *parser) pair(context string, one pair, seen map[string]bool) {
	keys, err := chord(one.key)
	if err != nil {
		p.problem(one.keyAt, "%v", err)
		return
	}
	if seen[keys] {
		p.problem(one.keyAt, "%q is bound twice in this block; the later one holds", one.key)
	}
	seen[keys] = true
	if first, _, _ := strings.Cut(keys, " "); first == "ctrl+c" || first == "ctrl+d" {
		p.problem(one.keyAt, "%s cannot be bound: it always interrupts or leaves", first)
		return
	}
	var action *string
	if json.Unmarshal(one.value, &action) != nil {
		p.problem(one.valueAt, "the action of %q must be a text such as \"chat:submit\", or null to take the key's meaning away", one.key)
		return
	}
	if action == nil {
		p.changes = append(p.changes, Change{context, keys, ""})
		return
	}
	if why := p.refuse(context, *action); why != "" {
		p.problem(one.valueAt, "%s", why)
		return
	}
	p.changes = append(p.changes, Change{context, keys, *action})
}

// refuse says why a context cannot have an action, "" when it can.
func (p *parser) refuse(context, action string) string {
	if name, ok := strings.CutPrefix(action, "command:"); ok {
		if context != "Chat" {
			return fmt.Sprintf("%q works in the context Chat only", action)
		}
		if name == "" || strings.IndexFunc(name, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(":-_", r)
		}) >= 0 {
			return fmt.Sprintf("%q names no command", action)
		}
		return ""
	}
	if p.known[context][action] {
		return ""
	}
	var at []string
	for c, known := range p.known {
		if known[action] {
			at = append(at, c)
		}
	}
	if len(at) > 0 {
		slices.Sort(at)
		return fmt.Sprintf("%q is no action of the context %s but of %s", action, context, strings.Join(at, ", "))
	}
	return fmt.Sprintf("unknown action %q; the context %s has %s", action, context, strings.Join(slices.Sorted(maps.Keys(p.known[context])), ", "))
}

// chord writes keys as the terminal names them: modifiers in their order, the
// keys of a chord with a space between.
func chord(s string) (string, error) {
	var out []string
	for key := range strings.FieldsSeq(s) {
		name, err := stroke(key)
		if err != nil {
			return "", err
		}
		out = append(out, name)
	}
	switch len(out) {
	case 0:
		return "", errors.New("an empty text names no key")
	case 1, 2, 3, 4:
		return strings.Join(out, " "), nil
	}
	return "", fmt.Errorf("%q: a chord has at most four keys", s)
}

func modifiers() map[string]string {
	return map[string]string{
		"ctrl": "ctrl", "control": "ctrl", "alt": "alt", "opt": "alt", "option": "alt", "meta": "alt", "shift": "shift",
		"cmd": "super", "command": "super", "super": "super", "win": "super",
	}
}

func names() map[string]string {
	out := map[string]string{
		"esc": "esc", "escape": "esc", "enter": "enter", "return": "enter", "tab": "tab", "space": "space", "up": "up", "down": "down", "left": "left", "right": "right",
		"backspace": "backspace", "delete": "delete", "del": "delete", "insert": "insert", "home": "home", "end": "end",
		"pageup": "pgup", "pgup": "pgup", "pagedown": "pgdown", "pgdown": "pgdown", "plus": "+", "minus": "-",
	}
	for i := range 12 {
		f := fmt.Sprintf("f%d", i+1)
		out[f] = f
	}
	return out
}

// stroke writes one key as the terminal names it.
func stroke(s string) (string, error) {
	parts := strings.Split(s, "+")
	if s == "+" || strings.HasSuffix(s, "++") { // the key + itself
		parts = append(parts[:len(parts)-2], "+")
	}
	mods := map[string]bool{}
	for _, m := range parts[:len(parts)-1] {
		name := modifiers()[strings.ToLower(m)]
		if name == "" {
			return "", fmt.Errorf("%q: %q is no modifier; there are ctrl, alt, shift and cmd", s, m)
		}
		mods[name] = true
	}
	key := parts[len(parts)-1]
	if name := names()[strings.ToLower(key)]; name != "" {
		key = name
	} else if r, n := utf8.DecodeRuneInString(key); n != len(key) || r == utf8.RuneError || !unicode.IsPrint(r) {
		return "", fmt.Errorf("%q: %q is no key", s, key)
	} else if unicode.IsLetter(r) {
		shifted := mods["shift"] && len(mods) == 1 || unicode.IsUpper(r) && len(mods) == 0
		key = strings.ToLower(key)
		if shifted {
			key = strings.ToUpper(key)
			delete(mods, "shift")
		}
	}
	if mods["ctrl"] && len(mods) == 1 {
		switch key { // what a terminal cannot tell apart
		case "m":
			return "enter", nil
		case "i":
			return "tab", nil
		case "-", "/":
			key = "_"
		}
	}
	var name strings.Builder
	for _, m := range []string{"ctrl", "alt", "shift", "super"} {
		if mods[m] {
			name.WriteString(m + "+")
		}
	}
	return name.String() + key, nil
}
