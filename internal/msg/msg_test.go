package msg

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestBlocksRoundTripByteForByte(t *testing.T) {
	for _, in := range []string{
		`{"type":"text","text":"a<b","citations":[{"x":1.0}]}`,
		`{"type":"thinking","thinking":"hm","signature":"c2ln","extra":12345678901234567890}`,
		`{"type":"redacted_thinking","data":"AAAA"}`,
		`{"type":"tool_use","id":"t1","name":"Read","input":{"b":1.0,"a":"\u00e9"},"caller":{"type":"direct"}}`,
		`{"type":"tool_result","tool_use_id":"t1","content":"plain","is_error":true}`,
		`{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"x"},{"type":"mystery","q":[]}]}`,
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}`,
		`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"hi"},"title":"T"}`,
		`{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`,
		`{"type":"kind_of_tomorrow","deep":{"a":[1,2,{"z":null}]}}`,
		`{"type":"text"}`,
		`{"type":"tool_use","id":"x"}`,
		`{"type":"tool_result","tool_use_id":"t","content":42}`,
	} {
		b, err := DecodeBlock(json.RawMessage(in))
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		if got := string(b.JSON()); got != in {
			t.Errorf("round trip\n got %s\nwant %s", got, in)
		}
	}
}

func TestDecodeKnownFields(t *testing.T) {
	b, err := DecodeBlock(json.RawMessage(`{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"x"}],"is_error":true}`))
	if err != nil {
		t.Fatal(err)
	}
	r, ok := b.(*ToolResult)
	if !ok || r.ToolUseID != "t1" || !r.IsError || len(r.Content) != 1 || r.Content[0].(*Text).Text != "x" {
		t.Fatalf("got %#v", b)
	}
	b, err = DecodeBlock(json.RawMessage(`{"type":"thinking","thinking":"t","signature":"s"}`))
	if err != nil {
		t.Fatal(err)
	}
	if th := b.(*Thinking); th.Text != "t" || th.Signature != "s" || th.Data != "" {
		t.Fatalf("got %#v", th)
	}
}

func TestDecodeRejectsWhatIsNoBlock(t *testing.T) {
	for _, in := range []string{``, `{`, `[]`, `"x"`, `{"type":1}`, `{}`, `null`} {
		if b, err := DecodeBlock(json.RawMessage(in)); err == nil {
			t.Errorf("%q decoded to %#v", in, b)
		}
	}
}

func TestSegmentsAddUpAndCarryTheMark(t *testing.T) {
	m := &Message{Role: RoleUser, Blocks: []Block{NewText("one"), NewText("two")}}
	if got, want := string(m.JSON()), `{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}`; got != want {
		t.Fatalf("got %s", got)
	}
	if len(m.JSON()) != m.Size() {
		t.Fatalf("size %d, bytes %d", m.Size(), len(m.JSON()))
	}
	mark := []byte(`"cache_control":{"type":"ephemeral"}`)
	got := string(bytes.Join(m.Segments(nil, mark), nil))
	want := `{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two","cache_control":{"type":"ephemeral"}}]}`
	if got != want {
		t.Fatalf("got %s", got)
	}
	th, err := DecodeBlock(json.RawMessage(`{"type":"thinking","thinking":"t","signature":"s"}`))
	if err != nil {
		t.Fatal(err)
	}
	m = &Message{Role: RoleAssistant, Blocks: []Block{NewText("a"), th}}
	got = string(bytes.Join(m.Segments(nil, mark), nil))
	if !strings.Contains(got, `"a","cache_control"`) || strings.Count(got, "cache_control") != 1 {
		t.Fatalf("mark is misplaced: %s", got)
	}
}

func TestSegmentsShareMemory(t *testing.T) {
	big := NewText(strings.Repeat("x", 1<<20))
	m := &Message{Role: RoleUser, Blocks: []Block{big}}
	if n := testing.AllocsPerRun(10, func() { m.Segments(make([][]byte, 0, 8), nil) }); n > 8 {
		t.Fatalf("%v allocations", n)
	}
	segs := m.Segments(nil, nil)
	if &segs[3][0] != &big.JSON()[0] {
		t.Fatal("the block was copied")
	}
}

func TestTextIsNotHTMLEscaped(t *testing.T) {
	if got := string(NewText("<a> & \u2028").JSON()); !strings.Contains(got, "<a> &") {
		t.Fatalf("got %s", got)
	}
}

func TestDecodeMessage(t *testing.T) {
	m, err := Decode(json.RawMessage(`{"role":"user","content":"hi"}`))
	if err != nil || m.Text() != "hi" {
		t.Fatalf("%v %v", m, err)
	}
	if _, err := Decode(json.RawMessage(`{"role":"wizard","content":"hi"}`)); err == nil {
		t.Fatal("an unknown role was taken")
	}
	u := User("id", time.Time{}, "x")
	if u.EstimateTokens() <= 0 {
		t.Fatal("no estimate")
	}
}

func FuzzDecodeBlock(f *testing.F) {
	f.Add([]byte(`{"type":"text","text":"a"}`))
	f.Add([]byte(`{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"x"}]}`))
	f.Add([]byte(` {"type":"tool_use","input":{},"id":"a","name":"b"} `))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := DecodeBlock(data)
		if err != nil {
			return
		}
		if !json.Valid(b.JSON()) {
			t.Fatalf("invalid JSON out of %q", data)
		}
		if !bytes.Equal(b.JSON(), bytes.TrimSpace(data)) {
			t.Fatalf("%q became %q", data, b.JSON())
		}
		m := &Message{Role: RoleUser, Blocks: []Block{b}}
		if !json.Valid(bytes.Join(m.Segments(nil, []byte(`"cache_control":{"type":"ephemeral"}`)), nil)) {
			t.Fatalf("a mark breaks %q", data)
		}
	})
}
