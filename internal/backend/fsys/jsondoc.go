package fsys

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// JSONDoc is a JSON object as text. Its methods change single keys and keep order, spacing and every other byte.
// A path is a list of keys from the top; of a key that stands twice, the last counts, as everywhere in JSON.
// Not safe for concurrent use.
type JSONDoc struct {
	raw []byte
}

// ParseJSON accepts what CheckJSON accepts and keeps raw.
func ParseJSON(raw []byte) (*JSONDoc, error) {
	if err := CheckJSON(raw); err != nil {
		return nil, err
	}
	return &JSONDoc{raw: raw}, nil
}

// Bytes returns the text. Treat it as read-only.
func (d *JSONDoc) Bytes() []byte { return d.raw }

// Get returns the raw value at path.
func (d *JSONDoc) Get(path ...string) (json.RawMessage, bool) {
	at, depth := d.find(path)
	if depth < len(path) {
		return nil, false
	}
	return json.RawMessage(d.raw[at.start:at.end]), true
}

// Set puts value at path; missing objects on the way are created, and a key that is new goes last. It fails when
// something on the way is there and is no object.
func (d *JSONDoc) Set(value any, path ...string) error {
	if len(path) == 0 {
		return errors.New("a key is needed")
	}
	at, depth := d.find(path)
	if depth == len(path) {
		raw, err := marshal(value)
		if err != nil {
			return err
		}
		d.replace(at, d.format(raw, at.start))
		return nil
	}
	if len(d.raw) > 0 && at.end > at.start && d.raw[at.start] != '{' {
		return fmt.Errorf("key %q is no object, so %q cannot be set in it", strings.Join(path[:depth], "."), path[depth])
	}
	for i := len(path) - 1; i > depth; i-- {
		value = map[string]any{path[i]: value}
	}
	raw, err := marshal(value)
	if err != nil {
		return err
	}
	key, err := marshal(path[depth])
	if err != nil {
		return err
	}
	d.insert(at, key, raw)
	return nil
}

// Append adds value to the array at path unless an equal element is there; the array is created when missing.
func (d *JSONDoc) Append(value any, path ...string) error {
	at, depth := d.find(path)
	if depth < len(path) {
		return d.Set([]any{value}, path...)
	}
	if d.raw[at.start] != '[' {
		return fmt.Errorf("key %q is no list, so nothing can be added to it", strings.Join(path, "."))
	}
	raw, err := marshal(value)
	if err != nil {
		return err
	}
	for _, e := range members(d.raw, at) {
		if sameJSON(d.raw[e.value.start:e.value.end], raw) {
			return nil
		}
	}
	d.insert(at, nil, raw)
	return nil
}

// Delete removes the key at path and reports whether it was there.
func (d *JSONDoc) Delete(path ...string) bool {
	if len(path) == 0 {
		return false
	}
	parent, depth := d.find(path[:len(path)-1])
	if depth < len(path)-1 {
		return false
	}
	return d.remove(parent, func(m member) bool { return m.key == path[len(path)-1] })
}

// Remove takes all elements equal to value out of the array at path and reports whether one was there.
func (d *JSONDoc) Remove(value any, path ...string) (bool, error) {
	at, depth := d.find(path)
	if depth < len(path) || d.raw[at.start] != '[' {
		return false, nil
	}
	raw, err := marshal(value)
	if err != nil {
		return false, err
	}
	return d.remove(at, func(m member) bool { return sameJSON(d.raw[m.value.start:m.value.end], raw) }), nil
}

// remove cuts the members of the object or array in at that drop names, each with the comma that it needs no more.
func (d *JSONDoc) remove(at extent, drop func(member) bool) bool {
	if at.end <= at.start || (d.raw[at.start] != '{' && d.raw[at.start] != '[') {
		return false
	}
	all := members(d.raw, at)
	var out []byte
	kept, from := 0, at.start+1 // from: end of the text that is decided
	out = append(out, d.raw[:from]...)
	for _, m := range all {
		end := m.value.end
		if !drop(m) {
			lead := d.raw[from:m.start]
			if kept == 0 { // the comma before it belonged to a member that went
				lead = d.raw[at.start+1 : all[0].start]
			}
			out = append(append(out, lead...), d.raw[m.start:end]...)
			kept++
		}
		from = end
	}
	if kept == len(all) {
		return false
	}
	if kept == 0 {
		d.raw = append(out, d.raw[at.end-1:]...)
		return true
	}
	d.raw = append(out, d.raw[from:]...)
	return true
}

// insert puts "key": value (key nil: an array element) last into the container at, spaced like its last member.
func (d *JSONDoc) insert(at extent, key, value []byte) {
	if at.end <= at.start {
		d.raw = []byte("{}\n")
		at = extent{0, 2}
	}
	all := members(d.raw, at)
	lead, tail, pos := d.spacing(at, all)
	var b bytes.Buffer
	b.Write(d.raw[:pos])
	if len(all) > 0 {
		b.WriteByte(',')
	}
	b.WriteString(lead)
	if key != nil {
		b.Write(key)
		b.WriteString(": ")
	}
	b.Write(indentAs(value, lead, unitOf(d.raw)))
	if len(all) == 0 {
		b.WriteString(tail)
		b.Write(d.raw[at.end-1:])
	} else {
		b.Write(d.raw[pos:])
	}
	d.raw = b.Bytes()
}

// spacing returns the white space before a new last member, that after it, and where it goes.
func (d *JSONDoc) spacing(at extent, all []member) (lead, tail string, pos int) {
	if n := len(all); n > 0 {
		from := at.start + 1
		if n > 1 {
			from = all[n-2].value.end
		}
		lead = strings.Replace(string(d.raw[from:all[n-1].start]), ",", "", 1)
		return lead, "", all[n-1].value.end
	}
	if at.start > 0 && !bytes.ContainsRune(bytes.TrimSpace(d.raw), '\n') && len(bytes.TrimSpace(d.raw)) > 2 {
		return "", "", at.start + 1 // a file on one line stays on one line
	}
	base := lineIndent(d.raw, at.start)
	eol := "\n"
	if bytes.Contains(d.raw, []byte("\r\n")) {
		eol = "\r\n"
	}
	return eol + base + unitOf(d.raw), eol + base, at.start + 1
}

// format lays a value out for the line that it starts on.
func (d *JSONDoc) format(value []byte, pos int) []byte {
	lead := ""
	if bytes.ContainsRune(bytes.TrimSpace(d.raw), '\n') {
		lead = "\n" + lineIndent(d.raw, pos)
	}
	return indentAs(value, lead, unitOf(d.raw))
}

func (d *JSONDoc) replace(at extent, value []byte) {
	d.raw = bytes.Join([][]byte{d.raw[:at.start], value, d.raw[at.end:]}, nil)
}

// indentAs spreads a compact value over lines when lead, the white space before it, begins a new line.
func indentAs(value []byte, lead, unit string) []byte {
	i := strings.LastIndexByte(lead, '\n')
	if i < 0 {
		return value
	}
	var b bytes.Buffer
	if err := json.Indent(&b, value, lead[i+1:], unit); err != nil {
		return value
	}
	return b.Bytes()
}

// unitOf is the indentation step of a document: that of its first indented line, else two blanks.
func unitOf(raw []byte) string {
	for line := range bytes.Lines(raw) {
		rest := bytes.TrimLeft(line, " \t")
		if n := len(line) - len(rest); n > 0 && n <= 8 && len(bytes.TrimSpace(rest)) > 0 {
			return string(line[:n])
		}
	}
	return "  "
}

// lineIndent is the white space at the beginning of the line that holds pos.
func lineIndent(raw []byte, pos int) string {
	line := raw[bytes.LastIndexByte(raw[:pos], '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// marshal is json.Marshal without its HTML escapes, which would make rules such as "Bash(a && b)" unreadable.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		return false
	}
	if bytes.Equal(x.Bytes(), y.Bytes()) {
		return true
	}
	var s, t string // the same string can be escaped in many ways
	return json.Unmarshal(a, &s) == nil && json.Unmarshal(b, &t) == nil && s == t
}
