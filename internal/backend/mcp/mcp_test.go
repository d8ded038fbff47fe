package mcp

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestParseEntry(t *testing.T) {
	for raw, want := range map[string]string{
		`{"command":"x"}`:                        "",
		`{"type":"stdio","command":"x"}`:         "",
		`{"type":"streamable-http","url":"u"}`:   "",
		`{"type":"ws","url":"u"}`:                "",
		`{"type":"sdk","name":"x"}`:              "",
		`{"url":"https://x"}`:                    `it has a url and no type`,
		`{}`:                                     "names no command",
		`{"type":"http"}`:                        "needs a url",
		`{"type":"carrier-pigeon"}`:              "not one of",
		`{"command":"x","timeout":5}`:            "at least 1000",
		`{"command":["x"]}`:                      "cannot unmarshal",
		`[1]`:                                    "cannot unmarshal",
		`{"command":"x","args":"one two three"}`: "cannot unmarshal",
	} {
		_, err := ParseEntry("name", json.RawMessage(raw))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", raw, err, want)
		}
	}
	for _, name := range []string{"", "workspace", "Computer-Use", "///", strings.Repeat("x", 100)} {
		if CheckName(name) == "" {
			t.Errorf("the name %q was taken", name)
		}
	}
}

func TestEntryDigestBindsWhatRuns(t *testing.T) {
	digest := func(raw string) string {
		e, err := ParseEntry("n", json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		return e.Digest
	}
	base := digest(`{"command":"x","args":["a"],"env":{"K":"v"}}`)
	if base != digest(`{ "command": "x", "args": ["a"], "env": {"K": "v"} }`) {
		t.Error("spaces changed the digest")
	}
	for _, other := range []string{`{"command":"y","args":["a"],"env":{"K":"v"}}`, `{"command":"x","args":["b"],"env":{"K":"v"}}`, `{"command":"x","args":["a"],"env":{"K":"w"}}`} {
		if digest(other) == base {
			t.Errorf("%s has the digest of another entry", other)
		}
	}
}

func TestExpand(t *testing.T) {
	env := map[string]string{"A": "1", "EMPTY": ""}
	e := Entry{
		Command: "${A}", Args: []string{"${B:-two}", "${EMPTY:-three}", "${EMPTY}", "${NOPE}", "${", "$A", "${bad name}", "x${A}y${A}"},
		Env: map[string]string{"K": "${A}${NOPE}"}, URL: "http://${A}/", Headers: map[string]string{"H": "${C:-a:-b}"},
	}
	out, missing := e.Expand(func(n string) (string, bool) { v, ok := env[n]; return v, ok })
	got := fmt.Sprint(out.Command, out.Args, out.Env, out.URL, out.Headers, missing)
	want := "1[two three  ${NOPE} ${ $A ${bad name} x1y1] map[K:1${NOPE}]http://1/map[H:a:-b] [NOPE]"
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestNames(t *testing.T) {
	for in, want := range map[string]string{"a b": "a_b", "a__b": "a_b", "_a_": "a", "é": "", "plugin:x:y": "plugin_x_y", "a____b__": "a_b"} {
		if got := Normal(in); got != want {
			t.Errorf("Normal(%q) = %q, want %q", in, got, want)
		}
	}
	long := FullName("server", strings.Repeat("tool", 60))
	if len(long) > maxFull || long == FullName("server", strings.Repeat("tool", 59)) {
		t.Errorf("%q is too long or not told from another", long)
	}
	if got := clean("a\x1b[31m\u202eb\u200b\r\n\U000E0041c", 100); got != "a[31mb\nc" {
		t.Errorf("cleaned to %q", got)
	}
}

func TestObjectSchema(t *testing.T) {
	schema, notes := objectSchema(json.RawMessage(`{"anyOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{}}}],"properties":{"a":{"type":"integer"}}}`))
	var m struct {
		Type       string                     `json:"type"`
		AnyOf      any                        `json:"anyOf"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(schema, &m); err != nil || m.Type != "object" || m.AnyOf != nil || string(m.Properties["a"]) != `{"type":"integer"}` || m.Properties["b"] == nil {
		t.Errorf("%s %v", schema, err)
	}
	if !strings.Contains(notes, "one of these schemas") {
		t.Errorf("notes %q", notes)
	}
	for _, odd := range []string{`null`, `true`, `[]`, `{"properties":[]}`, ``} {
		if s, _ := objectSchema(json.RawMessage(odd)); json.Unmarshal(s, &m) != nil || m.Type != "object" {
			t.Errorf("%q became %s", odd, s)
		}
	}
}

func TestTooLongAnswers(t *testing.T) {
	long := strings.Repeat("x", 500)
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","result":{"id":9,"a":["` + long + `",{"id":8}]},"id":"seven,\"}"}`,
		`{"jsonrpc":"2.0","method":"notifications/x","id":4,"params":"` + long + `"}`,
		`not JSON ` + long,
		`{"jsonrpc":"2.0","id":2,"result":{}}`,
	}, "\n")
	r := newLineReader(strings.NewReader(in), 300)
	var got []string
	for {
		line, err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.TrimSpace(string(line)))
	}
	if len(got) != 5 || !strings.Contains(got[1], `"id":"seven,\"}","error"`) || got[2] != "" || got[3] != "" || got[4] != `{"jsonrpc":"2.0","id":2,"result":{}}` {
		t.Errorf("%q", got)
	}
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1}\n[1,{}]\n\x00"))
	f.Add([]byte(`{"id":"a\"b","x":{"y":[` + strings.Repeat("1,", 200) + `2]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newLineReader(strings.NewReader(string(data)), 64)
		for range 1000 {
			line, err := r.next()
			if err != nil {
				return
			}
			if len(line) > 64+4*maxWord {
				t.Fatalf("a line of %d bytes came through", len(line))
			}
			_, _ = decode(line)
		}
	})
}

func FuzzEntry(f *testing.F) {
	f.Add("n", []byte(`{"command":"${A:-b}","args":["${"]}`))
	f.Fuzz(func(t *testing.T, name string, raw []byte) {
		e, err := ParseEntry(name, raw)
		if err != nil {
			return
		}
		out, _ := e.Expand(func(string) (string, bool) { return "v", true })
		if n := Normal(out.Name); n == "" || strings.Contains(n, "__") || strings.IndexFunc(n, odd) >= 0 {
			t.Fatalf("%q became %q", name, n)
		}
	})
}
