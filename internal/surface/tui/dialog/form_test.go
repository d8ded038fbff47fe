package dialog

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/surface/tui/frame"
)

// flat is JSON with its members sorted.
func flat(t *testing.T, raw json.RawMessage) json.RawMessage {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return msg.Encode(v)
}

const schema = `{"type":"object","properties":{
 "name":{"type":"string","title":"Your name","description":"As on the door","minLength":2},
 "mail":{"type":"string","format":"email"},
 "age":{"type":"integer","minimum":18},
 "news":{"type":"boolean","default":true},
 "colour":{"type":"string","enum":["r","g"],"enumNames":["red","green"]},
 "days":{"type":"array","maxItems":2,"items":{"anyOf":[{"const":"mo","title":"Monday"},{"const":"tu","title":"Tuesday"},{"const":"we"}]}}
},"required":["name","colour"]}`

func form() event.Form {
	return event.Form{Server: "tracker", Message: "Who are you?", Mode: "form", Schema: json.RawMessage(schema)}
}

func visit() event.Form {
	return event.Form{Server: "tracker", Message: "Log in please.", Mode: "url", URL: "https://tracker.example/login?next=" + strings.Repeat("a", 60) + "\u202e", ID: "e1"}
}

func TestFormPictures(t *testing.T) {
	for name, f := range map[string]event.Form{"form": form(), "form-url": visit(), "form-broken": {Server: "s", Mode: "form", Schema: []byte(`{"properties":3}`)}} {
		golden(t, name, func(draw func(frame.Widget)) frame.Widget {
			c := newClock()
			d := NewForm(f, c.options())
			draw(d)
			c.pass(1e9)
			if name == "form" {
				press(d, c, "down", "down", "down", "down", "down", "right", "space", "end", "down", "enter")
			}
			return d
		})
	}
}

func TestFormAnswers(t *testing.T) {
	for _, c := range []struct{ name, keys, action, content string }{
		{
			"all", "A d a enter a @ b enter 4 2 tab right down right enter right space enter enter", "accept",
			`{"name":"Ada","mail":"a@b","age":42,"news":false,"colour":"g","days":["tu"]}`,
		},
		{"a choice is missing", "A l enter tab tab tab tab tab enter", "", ""},
		{"least", "A l enter tab tab tab space tab tab enter", "accept", `{"name":"Al","news":true,"colour":"r"}`},
		{"decline", "tab tab tab tab tab tab tab enter", "decline", ""},
		{"cancel", "esc", "cancel", ""},
		{"too short", "A enter enter", "", ""},
		{"no number", "A l enter tab x enter", "", ""},
		{"too young", "A l enter tab 7 enter", "", ""},
		{"no mail", "A l enter x enter", "", ""},
	} {
		k := newClock()
		d := NewForm(form(), k.options())
		ready(d, k)
		press(d, k, strings.Fields(c.keys)...)
		got := d.Answer()
		if got.Action != c.action || d.Done() != (c.action != "") {
			t.Errorf("%s: %q, done %v\n%s", c.name, got.Action, d.Done(), picture(d.Draw(80, 24)))
			continue
		}
		if c.content == "" {
			if len(got.Content) > 0 {
				t.Errorf("%s: content %s", c.name, got.Content)
			}
			continue
		}
		if d := cmp.Diff(string(flat(t, []byte(c.content))), string(flat(t, got.Content))); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestFormByAddress(t *testing.T) {
	for keys, want := range map[string]string{"1": "accept", "2": "decline", "esc": "cancel"} {
		k := newClock()
		d := NewForm(visit(), k.options())
		ready(d, k)
		press(d, k, keys)
		if got := d.Answer(); got.Action != want || len(got.Content) > 0 {
			t.Errorf("%s: %v", keys, got)
		}
	}
}

func TestValuesOfForms(t *testing.T) {
	for _, c := range []struct {
		schema, text string
		good         bool
	}{
		{`{"type":"number"}`, "1.5e3", true},
		{`{"type":"number"}`, `"5"`, false},
		{`{"type":"number"}`, "NaN", false},
		{`{"type":"number","maximum":3}`, "4", false},
		{`{"type":"integer"}`, "-7", true},
		{`{"type":"integer"}`, "1.5", false},
		{`{"type":"integer"}`, "99999999999999999999", true},
		{`{"type":"string","format":"uri"}`, "https://x.example", true},
		{`{"type":"string","format":"uri"}`, "x", false},
		{`{"type":"string","format":"date"}`, "2026-12-31", true},
		{`{"type":"string","format":"date"}`, "31.12.", false},
		{`{"type":"string","format":"date-time"}`, "2026-12-31T09:00:00Z", true},
		{`{"type":"string","format":"date-time"}`, "2026", false},
		{`{"type":"string","pattern":"^a+$"}`, "aa", true},
		{`{"type":"string","pattern":"^a+$"}`, "b", false},
		{`{"type":"string","pattern":"("}`, "b", true},
		{`{"type":"string","maxLength":2}`, "日本語", false},
	} {
		es, err := readSchema([]byte(`{"properties":{"v":` + c.schema + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		es[0].text = c.text
		if got := es[0].fault(); (got == "") != c.good {
			t.Errorf("%s with %q: %q", c.schema, c.text, got)
		} else if c.good {
			msg.Encode(es[0].value())
		}
	}
}

func FuzzSchema(f *testing.F) {
	f.Add(schema, "42")
	f.Add(`{"properties":{"a":{"type":"string","enum":["x"],"enumNames":[]},"a":{}}}`, "")
	f.Add(`{"properties":{"a":{"type":"array","items":{"enum":null}}}}`, "1")
	f.Fuzz(func(t *testing.T, raw, text string) {
		c := newClock()
		d := NewForm(event.Form{Server: "s", Mode: "form", Schema: json.RawMessage(raw)}, c.options())
		for _, e := range d.entries {
			if e.text = text; e.fault() == "" && e.given() {
				msg.Encode(e.value())
			}
		}
		ready(d, c)
		press(d, c, "space", "right", "enter", "down", "space", "enter")
		fits(t, d, 40, 10)
	})
}
