package script_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/backend/provider/script"
)

func model(t *testing.T, scenario string) *script.Model {
	t.Helper()
	s, err := script.Parse([]byte(scenario))
	if err != nil {
		t.Fatal(err)
	}
	return script.New(s, script.Config{Keep: true})
}

const endless = `{"steps":[{"loop":true,"reply":[{"text":"ok"}]}]}`

// post sends a body and returns status and answer.
func post(t *testing.T, m http.Handler, path, body string, headers ...string) (int, string) {
	t.Helper()
	s := httptest.NewServer(m)
	defer s.Close()
	r, err := http.NewRequest(http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Anthropic-Version", "2023-06-01")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func body(messages string, more ...string) string {
	return `{"model":"m","max_tokens":100,"messages":[` + messages + `]` + strings.Join(more, "") + `}`
}

const (
	hi     = `{"role":"user","content":[{"type":"text","text":"hi"}]}`
	calls  = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"T","input":{}},{"type":"tool_use","id":"b","name":"T","input":{}}]}`
	result = `{"type":"tool_result","tool_use_id":"%s","content":"r"}`
)

func answers(ids ...string) string {
	var out []string
	for _, id := range ids {
		out = append(out, fmt.Sprintf(result, id))
	}
	return `{"role":"user","content":[` + strings.Join(out, ",") + `]}`
}

func picture(w, h int) string {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func images(n int, kind, data string) string {
	one := `{"type":"image","source":{"type":"base64","media_type":"` + kind + `","data":"` + data + `"}}`
	return `{"role":"user","content":[` + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + `]}`
}

func TestRulesOfTheAPI(t *testing.T) {
	mark := `,"cache_control":{"type":"ephemeral"}`
	small := picture(8, 8)
	for _, c := range []struct{ name, body, want string }{
		{"not JSON", `{`, "not valid JSON"},
		{"no messages", body(``), "at least one message"},
		{"no model", `{"max_tokens":1,"messages":[` + hi + `]}`, "model: Field required"},
		{"no max_tokens", `{"model":"m","messages":[` + hi + `]}`, "max_tokens: must be"},
		{"assistant first", body(`{"role":"assistant","content":"x"},` + hi), "first message must use"},
		{"assistant last", body(hi + `,{"role":"assistant","content":"x"}`), "prefill"},
		{"strange role", body(hi + `,{"role":"wizard","content":"x"},` + hi), "Unexpected role"},
		{"empty content", body(`{"role":"user","content":[]}`), "non-empty content"},
		{"empty text", body(`{"role":"user","content":[{"type":"text","text":""}]}`), "text content blocks must be non-empty"},
		{"blank text", body(`{"role":"user","content":[{"type":"text","text":" \n"}]}`), "non-whitespace"},
		{"empty system", body(hi, `,"system":[{"type":"text","text":""}]`), "system.0: text content blocks must be non-empty"},
		{"unanswered call", body(hi + "," + calls + "," + hi), "without `tool_result` blocks immediately after: a, b"},
		{"half answered", body(hi + "," + calls + "," + answers("a")), "immediately after: b"},
		{"answered twice", body(hi + "," + calls + "," + answers("a", "b", "b")), "Found multiple `tool_result` blocks with id: b"},
		{"orphan", body(hi + "," + calls + "," + answers("a", "b", "c")), "unexpected `tool_use_id` found in `tool_result` blocks: c"},
		{"orphan alone", body(answers("a")), "unexpected `tool_use_id`"},
		{"wrong order", body(hi + "," + calls + "," + answers("b", "a")), "not in the order of the calls"},
		{"text before results", body(hi + "," + calls + `,{"role":"user","content":[{"type":"text","text":"x"},` +
			fmt.Sprintf(result, "a") + "," + fmt.Sprintf(result, "b") + `]}`), "must come before other content"},
		{"input no object", body(hi + `,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"T","input":1}]},` + answers("a")), "valid dictionary"},
		{"call of the user", body(`{"role":"user","content":[{"type":"tool_use","id":"a","name":"T","input":{}}]}`), "only be in `assistant`"},
		{"forged signature", body(hi + `,{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"c2ln"},{"type":"text","text":"y"}]},` + hi), "Invalid `signature`"},
		{"five marks", body(`{"role":"user","content":[` + strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"x"`+mark+`},`, 5), ",") + `]}`), "A maximum of 4 blocks"},
		{"mark on empty", body(`{"role":"user","content":[{"type":"text","text":""` + mark + `}]}`), "cannot be set for empty"},
		{"mark on thinking", body(hi + `,{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"c2ln"` + mark + `},{"type":"text","text":"y"}]},` + hi), "Extra inputs"},
		{"long mark late", body(`{"role":"user","content":[{"type":"text","text":"x"` + mark + `},{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}]}`), "must not come after"},
		{"bad tool name", body(hi, `,"tools":[{"name":"a b","input_schema":{"type":"object"}}]`), "should match pattern"},
		{"tool twice", body(hi, `,"tools":[{"name":"a","input_schema":{"type":"object"}},{"name":"a","input_schema":{"type":"object"}}]`), "must be unique"},
		{"no schema", body(hi, `,"tools":[{"name":"a"}]`), "input_schema: Field required"},
		{"bad schema", body(hi, `,"tools":[{"name":"a","input_schema":{"type":"object","properties":{"x":{"type":5}}}}]`), "JSON schema is invalid"},
		{"required unknown", body(hi, `,"tools":[{"name":"a","input_schema":{"type":"object","required":["x"]}}]`), "required property x"},
		{"budget", body(hi, `,"thinking":{"type":"enabled","budget_tokens":2000}`), "budget_tokens"},
		{"too many images", body(images(101, "image/png", small)), "too many images"},
		{"large image", body(images(1, "image/png", strings.Repeat("A", 5<<20+4))), "exceeds 5 MB"},
		{"wide image", body(images(1, "image/png", picture(8001, 1))), "8000 pixels"},
		{"wide image of many", body(images(21, "image/png", picture(2001, 1))), "many-image requests: 2000 pixels"},
		{"wrong media type", body(images(1, "image/jpeg", small)), "appears to be a image/png"},
		{"no image", body(images(1, "image/png", "QUJD")), "Could not process image"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := model(t, endless)
			status, answer := post(t, m, "/v1/messages", c.body)
			if status != 400 || !strings.Contains(answer, `"type":"invalid_request_error"`) {
				t.Fatalf("%d %s", status, answer)
			}
			if all := strings.Join(m.Violations(), "\n"); !strings.Contains(all, c.want) {
				t.Errorf("violations\n%s\nwant one with %q", all, c.want)
			}
			if m.Done() == nil {
				t.Error("Done knows of no violation")
			}
		})
	}
}

func TestSoundRequestsPass(t *testing.T) {
	for _, b := range []string{
		body(hi),
		body(`{"role":"user","content":"plain"}`),
		body(hi + "," + calls + "," + answers("a", "b")),
		body(hi + "," + hi),
		body(hi + `,{"role":"system","content":"environment"},` + hi),
		body(images(20, "image/png", picture(2001, 1))),
	} {
		m := model(t, endless)
		if status, answer := post(t, m, "/v1/messages", b); status != 200 {
			t.Errorf("%d %s for %.200s", status, answer, b)
		}
	}
}

func TestPrefix(t *testing.T) {
	tools := `,"tools":[{"name":"a","input_schema":{"type":"object"}}]`
	more := body(hi+`,{"role":"assistant","content":"x"},`+hi, tools)
	marked := strings.Replace(more, `"text":"hi"}`, `"text":"hi","cache_control":{"type":"ephemeral"}}`, 1)
	for _, c := range []struct {
		name, first, second string
		headers             []string
		want                string
	}{
		{name: "extension", first: body(hi, tools), second: more},
		{name: "the same again", first: more, second: more},
		{name: "marks move", first: marked, second: more},
		{name: "shorter", first: more, second: body(hi, tools), want: "3 messages became 1"},
		{name: "other tools", first: body(hi, tools), second: body(hi), want: "tools changed"},
		{name: "other system", first: body(hi), second: body(hi, `,"system":"x"`), want: "system changed"},
		{name: "other words", first: more, second: strings.Replace(more, `"x"`, `"y"`, 1), want: "messages.1 changed"},
		{name: "with a reason", first: more, second: body(hi), headers: []string{"X-Hew-Prefix-Break", "compaction"}},
		{name: "with a poor reason", first: more, second: body(hi), headers: []string{"X-Hew-Prefix-Break", "because"}, want: "closed list"},
		{name: "another conversation", first: more, second: body(hi, `,"metadata":{"user_id":"other"}`)},
		{name: "side query", first: more, second: body(hi), headers: []string{"X-Hew-Side", "title"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := model(t, endless)
			if status, answer := post(t, m, "/v1/messages", c.first); status != 200 {
				t.Fatalf("%d %s", status, answer)
			}
			status, answer := post(t, m, "/v1/messages", c.second, c.headers...)
			if c.want == "" && status != 200 || c.want != "" && !strings.Contains(answer, c.want) {
				t.Errorf("%d %s, want %q", status, answer, c.want)
			}
		})
	}
}

func TestSideQueriesTakeNoStep(t *testing.T) {
	m := model(t, `{"steps":[{"reply":[{"text":"main"}]}],"side":{"title":[{"reply":[{"text":"A title"}]}]}}`)
	for _, want := range []string{"A title", "A title"} {
		if _, a := post(t, m, "/v1/messages", body(hi), "X-Hew-Side", "title"); !strings.Contains(a, want) {
			t.Errorf("got %s", a)
		}
	}
	if _, a := post(t, m, "/v1/messages", body(hi), "X-Hew-Side", "other"); !strings.Contains(a, `"OK"`) {
		t.Errorf("got %s", a)
	}
	if _, a := post(t, m, "/v1/messages", body(hi)); !strings.Contains(a, `"main"`) {
		t.Errorf("got %s", a)
	}
	if err := m.Done(); err != nil {
		t.Error(err)
	}
	if c := m.Counts(); c.Turns != 1 || c.Sides != 3 {
		t.Errorf("%+v", c)
	}
}

func TestMismatchAndUnusedAreExplained(t *testing.T) {
	m := model(t, `{"name":"demo","steps":[{"name":"first","match":{"user":"Fix","tools":["Read"],"messages":3},"reply":[{"text":"x"}]}]}`)
	status, a := post(t, m, "/v1/messages", body(hi))
	if status != 400 {
		t.Fatalf("%d %s", status, a)
	}
	err := m.Done()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"demo", "step 1 first does not match", `want text holding "Fix", got "hi"`, "Read offered", "messages: want 3, got 1", "was never used"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
}

func TestNoStepLeft(t *testing.T) {
	m := model(t, `{"steps":[{"repeat":2,"reply":[{"text":"x"}]}]}`)
	for range 2 {
		if status, a := post(t, m, "/v1/messages", body(hi)); status != 200 {
			t.Fatal(a)
		}
	}
	if status, a := post(t, m, "/v1/messages", body(hi)); status != 400 || !strings.Contains(a, "no step is left") {
		t.Fatalf("%d %s", status, a)
	}
}

func TestLanes(t *testing.T) {
	m := model(t, `{"steps":[{"reply":[{"text":"main"}]}],"lanes":[{"name":"explore","match":{"system":"explorer"},"steps":[{"reply":[{"text":"child"}]}]}]}`)
	if _, a := post(t, m, "/v1/messages", body(hi, `,"system":"You are an explorer","metadata":{"user_id":"s:child"}`)); !strings.Contains(a, "child") {
		t.Error(a)
	}
	if _, a := post(t, m, "/v1/messages", body(hi, `,"metadata":{"user_id":"s"}`)); !strings.Contains(a, "main") {
		t.Error(a)
	}
	if err := m.Done(); err != nil {
		t.Error(err)
	}
}

func TestSelectMatchSurvivesARestart(t *testing.T) {
	s := `{"select":"match","steps":[
	 {"match":{"unseen":["edited"]},"reply":[{"text":"edit"}]},
	 {"match":{"seen":["edited"]},"reply":[{"text":"done"}]}]}`
	for range 2 { // two models, as after a restart
		m := model(t, s)
		if _, a := post(t, m, "/v1/messages", body(`{"role":"user","content":"the file was edited"}`)); !strings.Contains(a, "done") {
			t.Error(a)
		}
	}
}

func TestValues(t *testing.T) {
	m := model(t, `{"vars":{"who":"me"},"capture":{"file":"(\\S+_test\\.go)"},"steps":[{"reply":[
	 {"text":"{{who}} in {{cwd}} runs {{result.2}} for ${{ literal }}"},
	 {"tool":"Read","input":{"file_path":"{{cwd}}/{{file}}"}}]}]}`)
	dir := `C:\\work \"x\"`
	b := body(hi+","+calls+`,{"role":"user","content":[`+fmt.Sprintf(result, "a")+`,{"type":"tool_result","tool_use_id":"b","content":"FAIL auth_test.go"}]}`,
		`,"system":"Environment:\n- Working directory: `+dir+`\n- Platform: linux"`)
	_, a := post(t, m, "/v1/messages", b)
	var got struct {
		Content []struct{ Text, Input json.RawMessage }
	}
	if err := json.Unmarshal([]byte(a), &got); err != nil || len(got.Content) != 2 {
		t.Fatalf("%v %s", err, a)
	}
	if want := `"me in ` + dir + ` runs FAIL auth_test.go for ${{ literal }}"`; string(got.Content[0].Text) != want {
		t.Errorf("got %s\nwant %s", got.Content[0].Text, want)
	}
	if want := `{"file_path":"` + dir + `/auth_test.go"}`; string(got.Content[1].Input) != want {
		t.Errorf("got %s\nwant %s", got.Content[1].Input, want)
	}
}

func TestUnknownValueIsAnError(t *testing.T) {
	m := model(t, `{"steps":[{"reply":[{"text":"{{nope}}"}]}]}`)
	if status, a := post(t, m, "/v1/messages", body(hi)); status != 400 || !strings.Contains(a, "no such value") {
		t.Errorf("%d %s", status, a)
	}
}

func TestLimits(t *testing.T) {
	long := `{"role":"user","content":"` + strings.Repeat("word ", 2000) + `"}`
	m := model(t, `{"limits":{"window":1000,"sum":true,"output":500},"steps":[{"reply":[{"text":"x"}]}]}`)
	for _, c := range []struct{ body, want string }{
		{body(long), "prompt is too long: 25"},
		{`{"model":"m","max_tokens":600,"messages":[` + hi + `]}`, "max_tokens: 600 > 500, which is the maximum allowed"},
		{`{"model":"m","max_tokens":490,"messages":[{"role":"user","content":"` + strings.Repeat("word ", 500) + `"}]}`, "exceed context limit: 63"},
		{body(hi), `"text":"x"`}, // a refusal has used up no step
	} {
		if _, a := post(t, m, "/v1/messages", c.body); !strings.Contains(a, c.want) {
			t.Errorf("got %s, want %s", a, c.want)
		}
	}
	if err := m.Done(); err != nil {
		t.Errorf("a limit is no violation: %v", err)
	}
}

func TestEndpoints(t *testing.T) {
	m := model(t, `{"key":"k1","models":["m"],"steps":[{"loop":true,"reply":[{"text":"x"}]}]}`)
	if status, a := post(t, m, "/v1/messages", body(hi)); status != 401 || !strings.Contains(a, "authentication_error") {
		t.Errorf("%d %s", status, a)
	}
	if status, _ := post(t, m, "/v1/messages", body(hi), "X-Api-Key", "k1"); status != 200 {
		t.Errorf("%d", status)
	}
	if status, _ := post(t, m, "/gate/v1/messages", body(hi), "Authorization", "Bearer k1"); status != 200 {
		t.Errorf("%d", status)
	}
	if status, a := post(t, m, "/v1/messages/count_tokens", `{"model":"m","messages":[`+hi+`]}`, "X-Api-Key", "k1"); status != 200 || !strings.HasPrefix(a, `{"input_tokens":`) {
		t.Errorf("%d %s", status, a)
	}
	if status, a := post(t, m, "/v1/messages", strings.Replace(body(hi), `"m"`, `"n"`, 1), "X-Api-Key", "k1"); status != 404 || !strings.Contains(a, "model: n") {
		t.Errorf("%d %s", status, a)
	}
	s := httptest.NewServer(m)
	defer s.Close()
	resp, err := http.Get(s.URL + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, _ := io.ReadAll(resp.Body)
	if !json.Valid(b) || !strings.Contains(string(b), `"id":"m"`) {
		t.Errorf("%s", b)
	}
}

func TestLog(t *testing.T) {
	dir := t.TempDir()
	s, err := script.Parse([]byte(endless))
	if err != nil {
		t.Fatal(err)
	}
	m := script.New(s, script.Config{LogDir: dir})
	post(t, m, "/v1/messages", body(hi), "X-Api-Key", "secret-key-1")
	post(t, m, "/v1/messages", body(hi), "X-Hew-Side", "a/b")
	for name, want := range map[string]string{"R1.json": body(hi), "S1-a_b.json": body(hi)} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != want {
			t.Errorf("%s: %v %s", name, err, got)
		}
	}
	h, err := os.ReadFile(filepath.Join(dir, "R1.headers.json"))
	if err != nil || strings.Contains(string(h), "secret-key-1") || !strings.Contains(string(h), "Anthropic-Version") {
		t.Errorf("%v %s", err, h)
	}
}

func TestSignaturesAreBoundToTextAndModel(t *testing.T) {
	first := model(t, `{"steps":[{"reply":[{"thinking":"hm"},{"text":"x"}]}]}`)
	_, a := post(t, first, "/v1/messages", body(hi))
	var got struct{ Content []json.RawMessage }
	if err := json.Unmarshal([]byte(a), &got); err != nil || len(got.Content) != 2 {
		t.Fatalf("%v %s", err, a)
	}
	again := body(hi + `,{"role":"assistant","content":[` + string(got.Content[0]) + `,` + string(got.Content[1]) + `]},` + hi)
	for _, c := range []struct{ body, want string }{
		{again, ""},
		{strings.Replace(again, `"hm"`, `"hmm"`, 1), "was changed"},
		{strings.Replace(again, `"m"`, `"other"`, 1), "is of model m"},
	} {
		m := model(t, endless) // a new instance, as after a restart
		if _, a := post(t, m, "/v1/messages", c.body); c.want == "" != strings.Contains(a, `"ok"`) || !strings.Contains(a, c.want) {
			t.Errorf("got %s, want %q", a, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for in, want := range map[string]string{
		`{`:                          "line 1",
		"{\n\"stepps\":1}":           "unknown field",
		`{"steps":[{"reply":[{}]}]}`: "exactly one of",
		`{"steps":[{"reply":[{"text":"x","tool":"y"}]}]}`: "exactly one of",
		`{"steps":[{}]}`:                                                                           "neither a reply nor a fault",
		`{"steps":[{"fault":{"do":"explode"}}]}`:                                                   "none of status, cut",
		`{"steps":[{"fault":{"do":"cut","at":"block:x"}}]}`:                                        "not a number",
		`{"steps":[{"fault":{"do":"cut","at":"moon"}}]}`:                                           "is no place",
		`{"steps":[{"fault":{"do":"status","status":200}}]}`:                                       "is no failure",
		`{"steps":[{"fault":{"do":"error"}}]}`:                                                     "needs a place",
		`{"steps":[{"match":{"user_regexp":"("},"reply":[{"text":"x"}]}]}`:                         "missing closing",
		`{"capture":{"a":"x"},"steps":[]}`:                                                         "no group",
		`{"select":"random","steps":[]}`:                                                           "neither",
		`{"steps":[]} x`:                                                                           "more text",
		`{"steps":[{"reply":[{"text":"x","input":{}}]}]}`:                                          "belong to a tool",
		`{"lanes":[{"name":"l","match":{"thinking":"deep"},"steps":[]}],"steps":[]}`:               "none of adaptive",
		`{"side":{"t":[{"reply":[{"block":5}]}]},"steps":[]}`:                                      "block is not an object",
		`{"steps":[{"reply":[{"tool":"T","input":{},"raw":"x"}]}]}`:                                "exclude",
		`{"steps":[{"usage":[1],"reply":[{"text":"x"}]}]}`:                                         "usage is not",
		`{"steps":[{"reply":[{"text":"x"}],"fault":{"do":"status","status":529,"at":"block:1"}}]}`: "before the stream",
	} {
		if _, err := script.Parse([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", in, err, want)
		}
	}
}

func TestRequestsAreKept(t *testing.T) {
	m := model(t, `{"steps":[{"name":"one","reply":[{"text":"x"}]}]}`)
	post(t, m, "/v1/messages", body(hi, `,"metadata":{"user_id":"s"}`), "X-Hew-Prefix-Break", "resume")
	rs := m.Requests()
	if len(rs) != 1 || rs[0].Session != "s" || rs[0].Step != "one" || rs[0].Break != "resume" || rs[0].Status != 200 {
		t.Errorf("%+v", rs)
	}
	if !slices.Equal(rs[0].Body, []byte(body(hi, `,"metadata":{"user_id":"s"}`))) {
		t.Errorf("%s", rs[0].Body)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(endless))
	f.Add([]byte(`{"select":"match","steps":[{"match":{"seen":["x"]},"reply":[{"tool":"T","raw":"{"}],"fault":{"do":"cut","at":"in:1"}}]}`))
	f.Add([]byte(`{"steps":[{"reply":[{"thinking":"{{user}}"},{"block":{"type":"x"}},{"text":"é","times":2}],"chunk":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := script.Parse(data)
		if err != nil {
			return
		}
		for i := range s.Steps {
			st := &s.Steps[i]
			st.DelayMS, st.PaceMS = 0, 0
			if st.Fault != nil && st.Fault.Do != "cut" || len(st.Reply) > 20 {
				return
			}
			for _, r := range st.Reply {
				if r.Times > 1000 || r.DelayMS != 0 || len(r.Block) > 0 {
					return
				}
			}
		}
		// Whatever the scenario, a model must not panic, and what it answers is JSON or a stream of it.
		m := script.New(s, script.Config{})
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/v1/messages", strings.NewReader(body(hi, `,"stream":false`)))
		r.Header.Set("Anthropic-Version", "1")
		defer func() {
			if e := recover(); e != nil && e != http.ErrAbortHandler {
				t.Fatalf("panic: %v", e)
			}
		}()
		m.ServeHTTP(w, r)
		if cut := len(s.Steps) > 0 && s.Steps[0].Fault != nil; !cut && !json.Valid(w.Body.Bytes()) {
			t.Fatalf("not JSON: %s", w.Body)
		}
	})
}
