package fsys

import "encoding/json"

// extent is a byte range of a JSON text: one value without the white space around it.
type extent struct {
	start, end int
}

// member is one key of an object, or one element of an array (key "" and start at the value).
type member struct {
	key   string
	start int // of the key, or of the element
	value extent
}

// find walks down path and returns the deepest value that exists and how many keys lead to it. The text is valid JSON
// or empty, in which case the extent is empty.
func (d *JSONDoc) find(path []string) (extent, int) {
	at := valueAt(d.raw, skipSpace(d.raw, 0))
	for depth, key := range path {
		next, ok := lookup(d.raw, at, key)
		if !ok {
			return at, depth
		}
		at = next
	}
	return at, len(path)
}

func lookup(raw []byte, at extent, key string) (v extent, ok bool) {
	if at.end <= at.start || raw[at.start] != '{' {
		return extent{}, false
	}
	for _, m := range members(raw, at) {
		if m.key == key {
			v, ok = m.value, true
		}
	}
	return v, ok
}

// members lists the members of the object or array at; of any other value it lists none.
func members(raw []byte, at extent) (out []member) {
	if at.end <= at.start || (raw[at.start] != '{' && raw[at.start] != '[') {
		return nil
	}
	object := raw[at.start] == '{'
	for i := skipSpace(raw, at.start+1); i < at.end-1; {
		m := member{start: i}
		if object {
			k := valueAt(raw, i)
			// The text is valid JSON, so this is a string.
			_ = json.Unmarshal(raw[k.start:k.end], &m.key)
			i = skipSpace(raw, k.end) + 1 // the colon
			i = skipSpace(raw, i)
		}
		m.value = valueAt(raw, i)
		out = append(out, m)
		i = skipSpace(raw, m.value.end)
		if i < at.end-1 { // a comma
			i = skipSpace(raw, i+1)
		}
	}
	return out
}

func skipSpace(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r') {
		i++
	}
	return i
}

// valueAt returns the value that begins at i.
func valueAt(raw []byte, i int) extent {
	start, depth := i, 0
	for i < len(raw) {
		switch raw[i] {
		case '"':
			i = stringEnd(raw, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		default:
			if depth == 0 {
				return extent{start, wordEnd(raw, i)}
			}
			i++
		}
		if depth == 0 {
			break
		}
	}
	return extent{start, min(i, len(raw))}
}

func stringEnd(raw []byte, i int) int {
	for i++; i < len(raw) && raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// wordEnd is the end of a number or of true, false, null.
func wordEnd(raw []byte, i int) int {
	for i < len(raw) {
		switch raw[i] {
		case ',', '}', ']', ' ', '\t', '\n', '\r', ':':
			return i
		}
		i++
	}
	return i
}
