package settings

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"sort"
	"strings"
)

// kind is the JSON type of a node.
type kind byte

const (
	object kind = iota
	list
	scalar // string, number or bool; null is never kept: it means "not set"
)

// node is a JSON value that knows where each of its parts came from.
type node struct {
	kind   kind
	raw    json.RawMessage // scalar only
	keys   []string        // object: order of first appearance
	fields map[string]*node
	items  []Element
	index  map[string]int // list: raw element → place in items
	from   Origin
}

func newObject(from Origin) *node {
	return &node{kind: object, fields: map[string]*node{}, from: from}
}

// parser turns the text of one file into nodes. The text has been checked to be a strict JSON object.
type parser struct {
	raw   []byte
	dec   *json.Decoder
	lines []int // offsets of line starts
	from  Origin
}

func parse(raw []byte, from Origin) (*node, error) {
	p := &parser{raw: raw, dec: json.NewDecoder(bytes.NewReader(raw)), from: from, lines: []int{0}}
	p.dec.UseNumber()
	for i, c := range raw {
		if c == '\n' {
			p.lines = append(p.lines, i+1)
		}
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return newObject(from), nil
	}
	return p.value()
}

// here is the origin of the token that was read last.
func (p *parser) here() Origin {
	at := p.from
	at.Line = sort.SearchInts(p.lines, int(p.dec.InputOffset()))
	return at
}

func (p *parser) value() (*node, error) {
	tok, err := p.dec.Token()
	if err != nil {
		return nil, err
	}
	at := p.here()
	switch tok {
	case json.Delim('{'):
		return p.object(at)
	case json.Delim('['):
		return p.list(at)
	case nil:
		return nil, nil
	}
	raw, err := compact(tok)
	return &node{kind: scalar, raw: raw, from: at}, err
}

func (p *parser) object(at Origin) (*node, error) {
	n := newObject(at)
	for p.dec.More() {
		tok, err := p.dec.Token()
		if err != nil {
			return nil, err
		}
		key, _ := tok.(string)
		keyAt := p.here()
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		if v == nil {
			n.drop(key)
			continue
		}
		v.from = keyAt
		n.set(key, v)
	}
	_, err := p.dec.Token()
	return n, err
}

func (p *parser) list(at Origin) (*node, error) {
	n := &node{kind: list, from: at}
	for p.dec.More() {
		var v json.RawMessage
		if err := p.dec.Decode(&v); err != nil {
			return nil, err
		}
		raw, err := canonical(v)
		if err != nil {
			return nil, err
		}
		n.add(Element{Raw: raw, Origins: []Origin{p.here()}})
	}
	_, err := p.dec.Token()
	return n, err
}

// canonical makes equal elements equal bytes: no white space, and one way to escape a string.
func canonical(raw json.RawMessage) ([]byte, error) {
	var s string
	if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return compact(s)
	}
	var b bytes.Buffer
	err := json.Compact(&b, raw)
	return b.Bytes(), err
}

// compact is json.Marshal without HTML escapes.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

func (n *node) set(key string, v *node) {
	if _, ok := n.fields[key]; !ok {
		n.keys = append(n.keys, key)
	}
	n.fields[key] = v
}

func (n *node) drop(key string) {
	if _, ok := n.fields[key]; ok {
		delete(n.fields, key)
		n.keys = slices.DeleteFunc(n.keys, func(k string) bool { return k == key })
	}
}

// add appends an element, or its origins to the equal element that is there.
func (n *node) add(e Element) {
	if i, ok := n.index[string(e.Raw)]; ok {
		n.items[i].Origins = append(slices.Clip(n.items[i].Origins), e.Origins...)
		return
	}
	if n.index == nil {
		n.index = make(map[string]int)
	}
	n.index[string(e.Raw)] = len(n.items)
	n.items = append(n.items, e)
}

// get walks down; nil when something on the way is missing.
func (n *node) get(path []string) *node {
	for _, key := range path {
		if n == nil || n.kind != object {
			return nil
		}
		n = n.fields[key]
	}
	return n
}

// merge puts a stronger file over what weaker ones gave: objects key by key, lists one after the other without
// doubles, everything else replaced. Both trees stay as they are; the result shares their leaves.
func merge(weak, strong *node, path string) *node {
	if weak == nil || weak.kind != strong.kind || takenWhole(path, strong.from.Scope) {
		return strong
	}
	switch strong.kind {
	case object:
		out := newObject(strong.from)
		for _, k := range weak.keys {
			out.set(k, weak.fields[k])
		}
		for _, k := range strong.keys {
			out.set(k, merge(out.fields[k], strong.fields[k], join(path, k)))
		}
		return out
	case list:
		out := &node{kind: list, from: strong.from, items: slices.Clone(weak.items), index: maps.Clone(weak.index)}
		for _, e := range strong.items {
			out.add(e)
		}
		return out
	case scalar:
	}
	return strong
}

// takenWhole lists the exceptions to joining lists.
func takenWhole(path string, s Scope) bool {
	return path == "fallbackModel" || (path == "availableModels" && s == Managed)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// render writes the node as JSON; objects keep the order in which their keys first appeared.
func (n *node) render(b *bytes.Buffer) {
	switch n.kind {
	case scalar:
		b.Write(n.raw)
	case list:
		b.WriteByte('[')
		for i, e := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(e.Raw)
		}
		b.WriteByte(']')
	case object:
		b.WriteByte('{')
		for i, k := range n.keys {
			if i > 0 {
				b.WriteByte(',')
			}
			// A string always marshals.
			key, _ := compact(k)
			b.Write(key)
			b.WriteByte(':')
			n.fields[k].render(b)
		}
		b.WriteByte('}')
	}
}

// text returns the string of a scalar.
func (n *node) text() (string, bool) {
	var s string
	if n == nil || n.kind != scalar || json.Unmarshal(n.raw, &s) != nil {
		return "", false
	}
	return s, true
}

func dotted(path []string) string { return strings.Join(path, ".") }
