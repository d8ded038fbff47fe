package dialog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// entry is one value of a form, as its schema describes it.
type entry struct {
	name, title, about string
	kind               string // string, number, integer, boolean, enum, many
	format, pattern    string
	names, values      []string // of an enum: what is shown and what is sent
	required           bool
	least, most        float64 // length of text, value of a number, number of choices
	text               string
	picked             []bool
	touched            bool
}

// property is the part of a JSON schema that forms use.
type property struct {
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Format      string          `json:"format"`
	Pattern     string          `json:"pattern"`
	Enum        []string        `json:"enum"`
	EnumNames   []string        `json:"enumNames"`
	OneOf       []constant      `json:"oneOf"`
	AnyOf       []constant      `json:"anyOf"`
	Items       *property       `json:"items"`
	Default     json.RawMessage `json:"default"`
	MinLength   *float64        `json:"minLength"`
	MaxLength   *float64        `json:"maxLength"`
	Minimum     *float64        `json:"minimum"`
	Maximum     *float64        `json:"maximum"`
	MinItems    *float64        `json:"minItems"`
	MaxItems    *float64        `json:"maxItems"`
}

type constant struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// readSchema lists the values that a form asks for, in the schema's order.
func readSchema(raw json.RawMessage) ([]*entry, error) {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("read the form's schema: %w", err)
	}
	names, err := keys(s.Properties)
	if err != nil {
		return nil, fmt.Errorf("read the form's properties: %w", err)
	}
	var all map[string]json.RawMessage
	if len(names) > 0 {
		if err := json.Unmarshal(s.Properties, &all); err != nil {
			return nil, fmt.Errorf("read the form's properties: %w", err)
		}
	}
	var out []*entry
	for _, n := range names {
		var p property
		if err := json.Unmarshal(all[n], &p); err != nil {
			return nil, fmt.Errorf("read %q of the form's schema: %w", n, err)
		}
		e := p.entry(n)
		e.required = slices.Contains(s.Required, n)
		out = append(out, e)
	}
	return out, nil
}

// keys are the names of a JSON object, in its order, each once.
func keys(raw json.RawMessage) ([]string, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("it is no object: %w", err)
	}
	var out []string
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string) // what comes before a colon is a string
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (p *property) entry(name string) *entry {
	e := &entry{name: name, title: p.Title, about: p.Description, kind: p.Type, format: p.Format, pattern: p.Pattern, least: math.Inf(-1), most: math.Inf(1)}
	if e.title == "" {
		e.title = name
	}
	limits := [][2]*float64{{p.MinLength, p.MaxLength}, {p.Minimum, p.Maximum}, {p.MinItems, p.MaxItems}}
	for _, l := range limits {
		if l[0] != nil {
			e.least = *l[0]
		}
		if l[1] != nil {
			e.most = *l[1]
		}
	}
	of := p
	if p.Type == "array" && p.Items != nil {
		of, e.kind = p.Items, "many"
	}
	e.values, e.names = of.Enum, of.EnumNames
	for _, c := range append(of.OneOf, of.AnyOf...) {
		e.values, e.names = append(e.values, c.Const), append(e.names, c.Title)
	}
	for i, v := range e.values {
		if i >= len(e.names) {
			e.names = append(e.names, v)
		} else if e.names[i] == "" {
			e.names[i] = v
		}
	}
	if len(e.values) > 0 && e.kind != "many" {
		e.kind = "enum"
	}
	e.picked = make([]bool, len(e.values))
	e.preset(p.Default)
	return e
}

// preset takes the schema's default.
func (e *entry) preset(raw json.RawMessage) {
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	var one string
	var many []string
	switch {
	case json.Unmarshal(raw, &one) == nil:
		many, e.text = []string{one}, one
	case json.Unmarshal(raw, &many) == nil:
	default:
		e.text = string(raw)
	}
	for i, v := range e.values {
		e.picked[i] = slices.Contains(many, v)
	}
	e.touched = true
}

// typed tells that the value is written, not chosen.
func (e *entry) typed() bool { return e.kind != "enum" && e.kind != "many" && e.kind != "boolean" }

// given tells whether there is a value to send.
func (e *entry) given() bool {
	switch e.kind {
	case "enum", "many":
		return slices.Contains(e.picked, true)
	case "boolean":
		return e.touched || e.required
	}
	return e.text != ""
}

// value is what is sent.
func (e *entry) value() any {
	switch e.kind {
	case "boolean":
		return e.text == "true"
	case "number":
		return json.Number(strings.TrimSpace(e.text))
	case "integer":
		n, err := strconv.ParseInt(strings.TrimSpace(e.text), 10, 64)
		if err != nil {
			return json.Number(strings.TrimSpace(e.text))
		}
		return n
	case "enum", "many":
		picked := []string{}
		for i, v := range e.values {
			if e.picked[i] {
				picked = append(picked, v)
			}
		}
		if e.kind == "enum" {
			return picked[0]
		}
		return picked
	}
	return e.text
}

// fault says what is wrong with the value, "" for nothing.
func (e *entry) fault() string {
	if !e.given() {
		if e.required {
			return "this is needed"
		}
		return ""
	}
	switch e.kind {
	case "boolean", "enum":
		return ""
	case "many":
		n := 0
		for _, p := range e.picked {
			if p {
				n++
			}
		}
		return e.within(float64(n), "choose")
	case "number", "integer":
		return e.badNumber()
	}
	if f := e.within(float64(utf8.RuneCountInString(e.text)), "characters:"); f != "" {
		return f
	}
	if e.pattern != "" {
		if re, err := regexp.Compile(e.pattern); err == nil && !re.MatchString(e.text) {
			return "it must fit " + e.pattern
		}
	}
	return badFormat(e.format, e.text)
}

func (e *entry) badNumber() string {
	text := strings.TrimSpace(e.text)
	if !json.Valid([]byte(text)) || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return "this is no number"
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || e.kind == "integer" && f != math.Trunc(f) {
		return "this is no whole number"
	}
	return e.within(f, "it must be")
}

func (e *entry) within(n float64, what string) string {
	switch {
	case n < e.least:
		return fmt.Sprintf("%s at least %v", what, e.least)
	case n > e.most:
		return fmt.Sprintf("%s at most %v", what, e.most)
	}
	return ""
}

func badFormat(format, text string) string {
	var err error
	switch format {
	case "email":
		_, err = mail.ParseAddress(text)
	case "uri":
		var u *url.URL
		if u, err = url.Parse(text); err == nil && u.Scheme == "" {
			return "this is no address; it begins with a scheme such as https:"
		}
	case "date":
		_, err = time.Parse(time.DateOnly, text)
	case "date-time":
		_, err = time.Parse(time.RFC3339, text)
	}
	if err == nil {
		return ""
	}
	return map[string]string{
		"email": "this is no e-mail address", "uri": "this is no address",
		"date": "a date looks like 2026-12-31", "date-time": "a time looks like 2026-12-31T09:00:00Z",
	}[format]
}
