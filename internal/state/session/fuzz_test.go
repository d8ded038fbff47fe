package session

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/msg"
)

// FuzzLoad: whatever a file holds, Load returns, twice the same, and its
// messages consist of blocks that are valid JSON.
func FuzzLoad(f *testing.F) {
	f.Add(strings.Join([]string{user("u1", "", "one"), assistant("c1", "u1", "r1", useBlock("a")), assistant("c2", "c1", "r1", useBlock("b")), result("x1", "c1", "c1", "a"), result("x2", "c2", "", "b"), assistant("e", "x2", "r2", textBlock("end"))}, "\n"))
	f.Add(strings.Join([]string{user("u1", "", "one"), `{"type":"system","subtype":"compact_boundary","uuid":"b","parentUuid":null,"compactMetadata":{"preservedSegment":{"headUuid":"u1","anchorUuid":"s","tailUuid":"u1"}}}`, user("s", "b", "sum"), user("n", "s", "next")}, "\n"))
	f.Add(strings.Join([]string{user("u1", "u2", "one"), user("u2", "u1", "two"), `{"type":"system","subtype":"retracted","uuid":"r","parentUuid":"u1","retractedUuids":["u2","r"]}`}, "\r\n"))
	f.Add(`{"type":"attachment","uuid":"a","client":"hew","attachment":{"type":"prompt_snapshot"},"rendered":["x",{"content":"y"},7]}` + "\n{\"type\":\"cost-state\",\"totalCostUSD\":[]}\n{")
	path := filepath.Join(f.TempDir(), "x.jsonl")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, reports, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Messages {
			if len(m.Blocks) == 0 || !gjson.ValidBytes(m.JSON()) {
				t.Fatalf("%s", m.JSON())
			}
		}
		again, reports2, err := Load(path)
		if err != nil || strings.Join(shape(c.Messages), "\n") != strings.Join(shape(again.Messages), "\n") || len(reports) != len(reports2) {
			t.Fatal("two loads differ")
		}
		var copied bytes.Buffer
		if err := copyFork(&copied, strings.NewReader(text), id2); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzFields: the scan agrees with a parser on every valid object.
func FuzzFields(f *testing.F) {
	f.Add(`{"a":1,"b":"x\\\"y","c":{"d":["}"]},"e":null}`)
	f.Add(` { } `)
	f.Add(`{"a" : [1,2,{"b":"\\"}] , "a": -1.5e3}`)
	f.Fuzz(func(t *testing.T, text string) {
		if !gjson.Valid(text) || !gjson.Parse(text).IsObject() {
			eachField([]byte(text), func(_, _ []byte) bool { return true }) // must only return
			return
		}
		type member struct{ key, val string }
		var want, got []member
		gjson.Parse(text).ForEach(func(k, v gjson.Result) bool {
			want = append(want, member{k.Raw, v.Raw})
			return true
		})
		ok := eachField([]byte(text), func(key, val []byte) bool {
			got = append(got, member{`"` + string(key) + `"`, string(val)})
			return true
		})
		if !ok || len(want) != len(got) {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
		for i := range want {
			if want[i] != got[i] {
				t.Fatalf("%q: %v, want %v", text, got[i], want[i])
			}
		}
	})
}

// FuzzValid: the fast check agrees with encoding/json.
func FuzzValid(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,true,null,"x\u00e9\n"]}`, `"` + strings.Repeat("é", 20) + `\"`, "\"a\x1fb\"", `01`, `-`, `1.`, `[1,]`, `{"a"}`, `"\u12g4"`, ` [] `, `nul`, ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := valid([]byte(text)), json.Valid([]byte(text)); got != want {
			t.Fatalf("valid(%q) = %v", text, got)
		}
	})
}

func TestValidAgreesOnDamagedLines(t *testing.T) {
	line := assistant("c1", "u1", "r1", useBlock("a")+","+textBlock("long \\ \" text \n é 😀 \x01"+strings.Repeat("abc", 20)))
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		b := []byte(line)
		for range 1 + rnd.IntN(3) {
			b[rnd.IntN(len(b))] = " \"\\{}[]:,0e-\x00\x1f\x7f\xff"[rnd.IntN(16)]
		}
		if got, want := valid(b), json.Valid(b); got != want {
			t.Fatalf("valid(%q) = %v", b, got)
		}
	}
	if valid([]byte(strings.Repeat("[", 1<<20))) {
		t.Fatal("too deep")
	}
}

// FuzzBlocks: the one-pass reader makes the same blocks as the codec.
func FuzzBlocks(f *testing.F) {
	for _, s := range []string{
		useBlock("a"), `{"type":"text","text":"x\n\u00e9\ud83d\ude00\ud83d"}`, `{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a\\"},{"type":"image"},{"type":"tool_result","content":[{"type":"text","text":"deep"}]}],"is_error":true}`,
		`{"type":"tool_result","content":"s"}`, `{"type":"tool_result","content":null,"x":[[]]}`, `{"text":5,"type":"text"}`, `{"type":"tool_result","content":[1]}`, `{"type":"text","text":"a","text":"b"}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line := []byte("[" + text + "]")
		d := &decoded{}
		end := d.readContent(line, 0)
		if json.Valid(line) != (end == len(line)) {
			t.Fatalf("valid %v, end %d of %d", json.Valid(line), end, len(line))
		}
		if !json.Valid([]byte(text)) || end != len(line) || d.bad > 0 || strings.Count(text, `"type"`) > 4 || duplicateKeys(text) {
			return
		}
		want, err := msg.DecodeBlock(json.RawMessage(text))
		if err != nil || len(d.blocks) != 1 {
			t.Fatalf("%v, %d blocks", err, len(d.blocks))
		}
		if !reflect.DeepEqual(want, d.blocks[0]) {
			t.Fatalf("got %#v, want %#v", d.blocks[0], want)
		}
	})
}

// duplicateKeys tells whether an object names a field twice, where parsers differ.
func duplicateKeys(text string) bool {
	dup := false
	var look func(v gjson.Result)
	look = func(v gjson.Result) {
		seen := map[string]bool{}
		v.ForEach(func(k, e gjson.Result) bool {
			if v.IsObject() {
				dup = dup || seen[k.String()] || strings.Contains(k.Raw, "\\")
				seen[k.String()] = true
			}
			if e.IsObject() || e.IsArray() {
				look(e)
			}
			return true
		})
	}
	look(gjson.Parse(text))
	return dup
}

func TestReadString(t *testing.T) {
	for _, s := range []string{`a`, ``, `\n\t\r\b\f\/\\\"`, `\u00e9x`, `\ud83d\ude00`, `\ud83d`, `\ude00z`, `\ud83d\u0041`, `\ud83dA\n`, `é\u2028`} {
		var want string
		if err := json.Unmarshal([]byte(`"`+s+`"`), &want); err != nil {
			t.Fatal(err)
		}
		if got, end := (&decoded{}).readString([]byte(s+`"`), 0); got != want || end != len(s)+1 {
			t.Errorf("readString(%s) = %q, %d, want %q", s, got, end, want)
		}
	}
}
