// Package notebook reads Jupyter notebooks (nbformat 4) and changes single cells in place, byte for byte equal elsewhere.
package notebook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Notebook is a parsed notebook over its bytes.
type Notebook struct {
	raw   []byte
	bom   int
	minor int
	lang  string
	list  gjson.Result // the array of cells
	cells []gjson.Result
}

// Cell is one cell as programs see it.
type Cell struct {
	ID      string `json:"cell_id"`
	Type    string `json:"cellType"`
	Source  string `json:"source"`
	Lang    string `json:"language,omitempty"`
	Count   int    `json:"execution_count,omitempty"`
	Outputs string `json:"outputs,omitempty"`
}

// Picture is an image among the outputs of a cell.
type Picture struct{ Cell, Base64 string }

// Parse reads a notebook of nbformat 4. raw must not change afterwards.
func Parse(raw []byte) (*Notebook, error) {
	n := &Notebook{raw: raw}
	if strings.HasPrefix(string(raw[:min(3, len(raw))]), "\xef\xbb\xbf") {
		n.bom = 3
	}
	body := raw[n.bom:]
	if len(strings.TrimSpace(string(body[:min(len(body), 64)]))) == 0 {
		return nil, errors.New("the file is empty")
	}
	if !json.Valid(body) {
		var v any
		return nil, fmt.Errorf("it is not valid JSON: %w", json.Unmarshal(body, &v))
	}
	doc := gjson.ParseBytes(body)
	if v := doc.Get("nbformat").Int(); v != 4 {
		return nil, fmt.Errorf("its nbformat is %d; only 4 is understood (convert it with: jupyter nbconvert --to notebook)", v)
	}
	n.minor = int(doc.Get("nbformat_minor").Int())
	n.list = doc.Get("cells")
	if !n.list.IsArray() {
		return nil, errors.New("it has no list of cells")
	}
	n.cells = n.list.Array()
	for i, c := range n.cells {
		if !c.IsObject() {
			return nil, fmt.Errorf("its cell %d is no object", i)
		}
	}
	if n.lang = doc.Get("metadata.language_info.name").String(); n.lang == "" {
		if n.lang = doc.Get("metadata.kernelspec.language").String(); n.lang == "" {
			n.lang = "python"
		}
	}
	return n, nil
}

// Language is the notebook's programming language.
func (n *Notebook) Language() string { return n.lang }

// id is the cell's own id, or "cell-<index>" in notebooks before nbformat 4.5.
func (n *Notebook) id(i int) string {
	if id := n.cells[i].Get("id"); id.Type == gjson.String && id.Str != "" {
		return id.String()
	}
	return "cell-" + strconv.Itoa(i)
}

// Find returns the index of the cell with this id, -1 when there is none.
// "cell-<index>" names a cell by its place.
func (n *Notebook) Find(id string) int {
	for i := range n.cells {
		if n.id(i) == id {
			return i
		}
	}
	if s, ok := strings.CutPrefix(id, "cell-"); ok {
		if i, err := strconv.Atoi(s); err == nil && i >= 0 && i < len(n.cells) {
			return i
		}
	}
	return -1
}

// IDs lists the ids of all cells in order.
func (n *Notebook) IDs() []string {
	out := make([]string, len(n.cells))
	for i := range n.cells {
		out[i] = n.id(i)
	}
	return out
}

// Source is the text of a cell and its type.
func (n *Notebook) Source(i int) (text, kind string) {
	return joined(n.cells[i].Get("source")), n.cells[i].Get("cell_type").String()
}

// joined reads a multi-line string: a string, or a list of strings.
func joined(v gjson.Result) string {
	if !v.IsArray() {
		return v.String()
	}
	var b strings.Builder
	for _, s := range v.Array() {
		b.WriteString(s.String())
	}
	return b.String()
}

// Cells lists all cells.
func (n *Notebook) Cells() []Cell {
	out := make([]Cell, len(n.cells))
	for i, c := range n.cells {
		text, kind := n.Source(i)
		out[i] = Cell{ID: n.id(i), Type: kind, Source: text}
		if kind == "code" {
			out[i].Lang = n.lang
			out[i].Count = int(c.Get("execution_count").Int())
			out[i].Outputs = outputs(c.Get("outputs"))
		}
	}
	return out
}

// maxOutput bounds the text outputs of one cell, in bytes.
const maxOutput = 10_000

func outputs(list gjson.Result) string {
	var b strings.Builder
	list.ForEach(func(_, o gjson.Result) bool {
		var s string
		switch o.Get("output_type").String() {
		case "stream":
			s = joined(o.Get("text"))
		case "error":
			s = o.Get("ename").String() + ": " + o.Get("evalue").String() + "\n" + plain(joinedLines(o.Get("traceback")))
		default:
			s = shown(o.Get("data"))
		}
		b.WriteString(strings.TrimRight(s, "\n"))
		b.WriteByte('\n')
		return b.Len() <= maxOutput
	})
	s := strings.TrimSpace(b.String())
	if len(s) > maxOutput {
		s = strings.ToValidUTF8(s[:maxOutput], "") + "\n[output cut]"
	}
	return s
}

func joinedLines(v gjson.Result) string {
	var lines []string
	for _, s := range v.Array() {
		lines = append(lines, s.String())
	}
	return strings.Join(lines, "\n")
}

// shown is the plain text of a display; other forms are only named.
func shown(data gjson.Result) string {
	text := joined(data.Get("text/plain"))
	data.ForEach(func(k, _ gjson.Result) bool {
		if k.Str != "text/plain" {
			text += "\n[" + k.Str + "]"
		}
		return true
	})
	return text
}

// plain drops the colour codes that tracebacks are full of.
func plain(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			return b.String() + s
		}
		b.WriteString(s[:i])
		s = s[i+2:]
		end := strings.IndexFunc(s, func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 0 {
			return b.String()
		}
		s = s[end+1:]
	}
}

// Pictures lists the PNG and JPEG outputs in order.
func (n *Notebook) Pictures() []Picture {
	var out []Picture
	for i, c := range n.cells {
		c.Get("outputs").ForEach(func(_, o gjson.Result) bool {
			data := o.Get("data").Map()
			for _, kind := range []string{"image/png", "image/jpeg"} {
				if v, ok := data[kind]; ok {
					out = append(out, Picture{n.id(i), strings.Join(strings.Fields(joined(v)), "")})
					break
				}
			}
			return true
		})
	}
	return out
}

// Text shows all cells to a model.
func (n *Notebook) Text() string {
	var b strings.Builder
	for _, c := range n.Cells() {
		fmt.Fprintf(&b, "<cell id=%q>", c.ID)
		if c.Type != "code" {
			fmt.Fprintf(&b, "<cell_type>%s</cell_type>", c.Type)
		}
		fmt.Fprintf(&b, "%s</cell id=%q>\n", c.Source, c.ID)
		if c.Outputs != "" {
			fmt.Fprintf(&b, "<outputs>\n%s\n</outputs>\n", c.Outputs)
		}
	}
	if b.Len() == 0 {
		return "The notebook has no cells."
	}
	return b.String()
}
