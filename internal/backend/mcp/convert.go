package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hew-agent/hew/internal/msg"
)

// toolOf cleans a tool; why is set when it cannot be used.
func (o *Server) toolOf(t *sdk.Tool) (_ Tool, why string) {
	if t == nil || t.Name == "" || len(t.Name) > 4*maxFull {
		return Tool{}, "a tool without a usable name"
	}
	given, err := json.Marshal(t.InputSchema)
	if err != nil || len(given) > maxSchema {
		return Tool{}, fmt.Sprintf("the tool %q: its schema cannot be read or is larger than %d KB", line(t.Name, 80), maxSchema>>10)
	}
	schema, notes := objectSchema(given)
	out := Tool{
		Server: o.name, Full: FullName(o.name, t.Name), Name: t.Name, Title: line(t.Title, 120),
		Description: clean(t.Description+notes, maxText), Schema: schema, Digest: digest(t.Name, t.Description, string(given)),
		Destructive: true,
	}
	if a := t.Annotations; a != nil {
		out.ReadOnly = a.ReadOnlyHint
		out.Destructive = !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint)
		if out.Title == "" {
			out.Title = line(a.Title, 120)
		}
	}
	out.AlwaysLoad = o.entry.AlwaysLoad || flagged(t.Meta, "anthropic/alwaysLoad")
	out.NeedsUser = flagged(t.Meta, "anthropic/requiresUserInteraction")
	if n, ok := t.Meta["anthropic/maxResultSizeChars"].(float64); ok && n > 0 {
		out.MaxResult = int(min(n, 500_000))
	}
	return out, ""
}

func flagged(m sdk.Meta, key string) bool {
	on, ok := m[key].(bool)
	return ok && on
}

func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s;", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// objectSchema makes a schema one that the model API takes: an object of type
// object without anyOf, oneOf or allOf at its root, whose branches are then
// told in words.
func objectSchema(given json.RawMessage) (schema json.RawMessage, notes string) {
	var m map[string]json.RawMessage
	if json.Unmarshal(given, &m) != nil || m == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`), ""
	}
	props := map[string]json.RawMessage{}
	_ = json.Unmarshal(m["properties"], &props) // what is no object counts as none
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		raw, ok := m[key]
		if !ok {
			continue
		}
		delete(m, key)
		notes += "\n\nThe input must fit " + inWords(key) + " of these schemas: " + string(raw)
		var branches []struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		_ = json.Unmarshal(raw, &branches)
		for _, b := range branches {
			for k, v := range b.Properties {
				if _, there := props[k]; !there {
					props[k] = v
				}
			}
		}
	}
	m["type"] = json.RawMessage(`"object"`)
	if raw, err := msg.Marshal(props); err == nil {
		m["properties"] = raw
	}
	out, err := json.Marshal(m)
	if err != nil {
		return json.RawMessage(`{"type":"object","properties":{}}`), notes
	}
	return out, notes
}

func inWords(key string) string {
	switch key {
	case "oneOf":
		return "exactly one"
	case "allOf":
		return "all"
	}
	return "one"
}

// partsOf reads the content of a result.
func partsOf(list []sdk.Content) []Part {
	var out []Part
	for _, c := range list {
		switch c := c.(type) {
		case *sdk.TextContent:
			out = append(out, Part{Text: c.Text})
		case *sdk.ImageContent:
			out = append(out, Part{Data: c.Data, MIMEType: line(c.MIMEType, 100)})
		case *sdk.AudioContent:
			out = append(out, Part{Data: c.Data, MIMEType: line(c.MIMEType, 100)})
		case *sdk.ResourceLink:
			out = append(out, Part{Text: "[Resource " + line(c.Name, 200) + " at " + line(c.URI, 1000) + "]", URI: line(c.URI, 1000)})
		case *sdk.EmbeddedResource:
			if c.Resource != nil {
				out = append(out, contentsOf(c.Resource))
			}
		}
	}
	return out
}

func contentsOf(r *sdk.ResourceContents) Part {
	p := Part{Text: r.Text, URI: line(r.URI, 1000), MIMEType: line(r.MIMEType, 100)}
	if len(r.Blob) > 0 {
		p.Text, p.Data = "", r.Blob
	}
	return p
}
