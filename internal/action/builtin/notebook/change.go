package notebook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Replace gives cell i a new source and, when kind is not empty, a new type.
// The outputs of a code cell are cleared: they belong to the old source. All
// other fields and cells keep their bytes.
func (n *Notebook) Replace(i int, source, kind string) []byte {
	cell := n.cells[i]
	if kind != "" && kind != cell.Get("cell_type").String() {
		return n.put(i, n.retyped(i, source, kind))
	}
	raw := setMember(cell.Raw, "source", n.lines(source, n.isList(cell), n.indentOf(i)+n.unit()))
	if cell.Get("cell_type").String() == "code" {
		raw = setMember(raw, "outputs", "[]")
		raw = setMember(raw, "execution_count", "null")
	}
	return n.put(i, raw)
}

func (n *Notebook) put(i int, raw string) []byte {
	at := n.bom + n.cells[i].Index
	return n.splice(at, at+len(n.cells[i].Raw), raw)
}

func (n *Notebook) splice(from, to int, s string) []byte {
	return slices.Concat(n.raw[:from], []byte(s), n.raw[to:])
}

// setMember replaces the value of a member of an object, or adds it as the last.
func setMember(obj, key, value string) string {
	v := gjson.Get(obj, key)
	if v.Exists() && v.Index > 0 {
		return obj[:v.Index] + value + obj[v.Index+len(v.Raw):]
	}
	body := strings.TrimRight(obj[:len(obj)-1], " \t\r\n")
	sep := ","
	if strings.HasSuffix(body, "{") {
		sep = ""
	}
	return body + sep + `"` + key + `":` + value + obj[len(body):]
}

// isList tells in which of its two forms a cell's source is kept.
func (n *Notebook) isList(cell gjson.Result) bool {
	s := cell.Get("source")
	return !s.Exists() || s.IsArray()
}

// lines writes a multi-line string as a list, one line an element, or as one
// string. indent stands before the closing bracket; a notebook on one line gets
// no line breaks.
func (n *Notebook) lines(source string, asList bool, indent string) string {
	if !asList {
		return quote(source)
	}
	parts := strings.SplitAfter(source, "\n")
	if parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	if len(parts) == 0 {
		return "[]"
	}
	open, sep, end := "[", ", ", "]"
	if n.pretty() {
		inner := n.eol() + indent + n.unit()
		open, sep, end = "["+inner, ","+inner, n.eol()+indent+"]"
	}
	for i, p := range parts {
		parts[i] = quote(p)
	}
	return open + strings.Join(parts, sep) + end
}

func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// A string always encodes.
	_ = e.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}

// retyped is cell i as a cell of another type, with its id, metadata and unknown fields.
func (n *Notebook) retyped(i int, source, kind string) string {
	members := []member{{"cell_type", quote(kind)}}
	n.cells[i].ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "cell_type", "source", "outputs", "execution_count":
		default:
			members = append(members, member{k.Str, v.Raw})
		}
		return true
	})
	return n.object(n.withCode(members, source, kind), n.indentOf(i))
}

type member struct{ key, value string }

func (n *Notebook) withCode(m []member, source, kind string) []member {
	if kind == "code" {
		m = append(m, member{"execution_count", "null"}, member{"outputs", "[]"})
	}
	m = append(m, member{"source", n.lines(source, true, "")})
	slices.SortStableFunc(m, func(a, b member) int { return strings.Compare(a.key, b.key) }) // as nbformat writes them
	return m
}

// object writes a cell in the notebook's own layout.
func (n *Notebook) object(m []member, indent string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, x := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quote(x.key) + ":" + x.value)
	}
	b.WriteByte('}')
	if !n.pretty() {
		return b.String()
	}
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(b.String()), indent, n.unit()); err != nil {
		return b.String() // made of valid parts, so this cannot happen; compact is right, too
	}
	if n.eol() == "\n" {
		return out.String()
	}
	return strings.ReplaceAll(out.String(), "\n", n.eol())
}

// Insert puts a new cell behind cell after (-1: first). id is used when the
// notebook's format wants ids.
func (n *Notebook) Insert(after int, source, kind, id string) []byte {
	members := []member{{"cell_type", quote(kind)}, {"metadata", "{}"}}
	if n.WantsIDs() {
		members = append(members, member{"id", quote(id)})
	}
	indent := n.unit() + n.unit()
	if len(n.cells) > 0 {
		indent = n.indentOf(0)
	}
	cell := n.object(n.withCode(members, source, kind), indent)
	gap := ""
	if n.pretty() {
		gap = n.eol() + indent
	}
	start := n.bom + n.list.Index
	switch {
	case len(n.cells) == 0:
		if n.pretty() {
			cell = gap + cell + n.eol() + n.unit()
		}
		return n.splice(start, start+len(n.list.Raw), "["+cell+"]")
	case after < 0:
		at := n.bom + n.cells[0].Index
		return n.splice(at, at, cell+","+gap)
	}
	at := n.bom + n.cells[after].Index + len(n.cells[after].Raw)
	return n.splice(at, at, ","+gap+cell)
}

// Delete removes cell i with the comma that belongs to it.
func (n *Notebook) Delete(i int) []byte {
	end := func(j int) int { return n.bom + n.cells[j].Index + len(n.cells[j].Raw) }
	start := n.bom + n.cells[i].Index
	switch {
	case len(n.cells) == 1:
		from := n.bom + n.list.Index
		return n.splice(from, from+len(n.list.Raw), "[]")
	case i == 0:
		return n.splice(start, n.bom+n.cells[1].Index, "")
	}
	return n.splice(end(i-1), end(i), "")
}

// WantsIDs tells whether cells must have ids: from nbformat 4.5 on.
func (n *Notebook) WantsIDs() bool { return n.minor >= 5 }

// pretty tells whether the notebook is written over several lines.
func (n *Notebook) pretty() bool { return bytes.IndexByte(bytes.TrimSpace(n.raw), '\n') >= 0 }

func (n *Notebook) eol() string {
	if i := bytes.IndexByte(n.raw, '\n'); i > 0 && n.raw[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// unit is one step of indentation: what stands before the first member.
func (n *Notebook) unit() string {
	body := n.raw[n.bom:]
	open := bytes.IndexByte(body, '{')
	rest := body[open+1:]
	lead := rest[:len(rest)-len(bytes.TrimLeft(rest, " \t\r\n"))]
	if i := bytes.LastIndexByte(lead, '\n'); i >= 0 {
		return string(lead[i+1:])
	}
	return " "
}

// indentOf is the white space before cell i when that begins a line.
func (n *Notebook) indentOf(i int) string {
	before := n.raw[:n.bom+n.cells[i].Index]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	if len(bytes.TrimLeft(line, " \t")) > 0 {
		return n.unit() + n.unit()
	}
	return string(line)
}

// Check reads the bytes of a changed notebook back, as a guard before they are written.
func Check(raw []byte) error {
	if _, err := Parse(raw); err != nil {
		return fmt.Errorf("the changed notebook would be broken: %w", err)
	}
	return nil
}
