package prompt

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/msg"
)

func TestMended(t *testing.T) {
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	for in, want := range map[string]string{
		`{"type":"text","text":"a"}`:                                                                         `{"type":"text","text":"a"}`,
		`{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}`:                                    `{"type":"text","text":"a"}`,
		`{"type":"text","text":"\ud83d x \u0000 \\u0000 \ud83d\ude00"}`:                                      `{"type":"text","text":"\ufffd x \ufffd \\u0000 \ud83d\ude00"}`,
		"{\"type\":\"text\",\"text\":\"\xff\"}":                                                              `{"type":"text","text":"` + "\uFFFD" + `"}`,
		`{"type":"tool_use","id":"p","name":"T","input":{"a":` + deep + `}}`:                                 `{"type":"tool_use","id":"p","name":"T","input":{}}`,
		`{"type":"tool_use","id":"p","name":"T","input":{"a":1e999}}`:                                        `{"type":"tool_use","id":"p","name":"T","input":{}}`,
		`{"type":"tool_use","id":"p","name":"T","input":{"a":-1.5e3,"b":"1e999 [[[ \" ]"}}`:                  `{"type":"tool_use","id":"p","name":"T","input":{"a":-1.5e3,"b":"1e999 [[[ \" ]"}}`,
		`{"type":"thinking","thinking":"\ud83d","signature":"s"}`:                                            "",
		`{"type":"new_kind","x":` + deep + `}`:                                                               "",
		`{"type":"tool_result","tool_use_id":"p","content":[{"type":"text","text":"a","cache_control":{}}]}`: `{"type":"tool_result","tool_use_id":"p","content":[{"type":"text","text":"a"}]}`,
	} {
		got := ""
		if b := mended(raw(t, in)); b != nil {
			got = string(b.JSON())
		}
		if got != want {
			t.Errorf("%.80s:\n got %s\nwant %s", in, got, want)
		}
	}
}

func FuzzMended(f *testing.F) {
	f.Add(`{"type":"text","text":"\ud83d\u0000","cache_control":1}`)
	f.Fuzz(func(t *testing.T, in string) {
		b, err := msg.DecodeBlock(json.RawMessage(in))
		if err != nil {
			return
		}
		once := mended(b)
		if once == nil {
			return
		}
		if !json.Valid(once.JSON()) {
			t.Fatalf("not JSON: %s", once.JSON())
		}
		if again := mended(once); again != once && (again == nil || string(again.JSON()) != string(once.JSON())) {
			t.Errorf("mended twice: %s", once.JSON())
		}
	})
}

// TestManyImages: the oldest give way, a longer conversation lets go of at
// least the same, and the break of the prefix is told where it happens.
func TestManyImages(t *testing.T) {
	var history []*msg.Message
	var l Layouter
	breaks := 0
	for i := range 230 {
		history = append(history, u(msg.NewImage("image/png", dot), text("look")))
		r := &provider.Request{Model: "m"}
		l.Layout(r, history)
		if r.Break != "" {
			breaks++
		}
		n := 0
		for _, m := range r.Messages {
			n += len(pictures(m.Blocks))
		}
		if n > mostImages || i >= mostImages && n < lowImages {
			t.Fatalf("%d images of %d", n, i+1)
		}
		if _, ok := r.Messages[len(r.Messages)-1].Blocks[0].(*msg.Image); !ok {
			t.Fatal("the newest image gave way")
		}
		history = append(history, a(fmt.Sprint(i), text("seen")))
	}
	if want := (230 - lowImages) / (mostImages + 1 - lowImages); breaks != want {
		t.Errorf("%d breaks of the prefix, want %d", breaks, want)
	}
}

func TestBlame(t *testing.T) {
	history := []*msg.Message{
		u(text("hi")), a("1", use("p")), u(res("p")), a("2", text("x")), u(text("old")),
		u(msg.NewImage("image/png", dot), text("new")),
	}
	for message, want := range map[string]string{
		"messages.2.content.0: bad":               "u hi | a ?p | u !p | a x | u old | u other new",
		"messages.5.content.0.image: bad":         "u hi | a ?p | u !p | a x | u old | u [An image was left out here: the model's API refused it; it is kept in the session file] new",
		"messages.1.content.0.tool_use.input: no": "u hi | a x | u old | u other new", // its input was empty already
		"something else":                          "u hi | a ?p | u !p | a x | u old | u [An image was left out here: the model's API refused it; it is kept in the session file] new",
	} {
		var l Layouter
		r := &provider.Request{Model: "m"}
		l.Layout(r, history)
		n, ok := l.Blame(r.Messages, &provider.Error{Class: provider.Invalid, Status: 400, Message: message})
		if !ok || len(n.Blocks) != 1 || !strings.Contains(n.Text, message) {
			t.Fatalf("%s: %+v", message, n)
		}
		l.Layout(r, history)
		if got := show(r.Messages); got != want || r.Break != "repair" {
			t.Errorf("%s: break %q\n got %s\nwant %s", message, r.Break, got, want)
		}
		if err := valid(r.Messages); err != nil {
			t.Error(err)
		}
		var resumed Layouter
		resumed.Withhold(n.Blocks...)
		after := &provider.Request{Model: "m"}
		resumed.Layout(after, history)
		if show(after.Messages) != show(r.Messages) {
			t.Errorf("%s: a resume lays out %s", message, show(after.Messages))
		}
	}
}

// TestBlameEnds: however often the server refuses, in the end nothing is left
// to blame, and the turn can be given up.
func TestBlameEnds(t *testing.T) {
	history := []*msg.Message{u(text("hi")), a("1", think("s"), use("p"), use("q")), u(res("p"), res("q"))}
	var l Layouter
	for i := 0; ; i++ {
		r := &provider.Request{Model: "m"}
		l.Layout(r, history)
		if err := valid(r.Messages); err != nil {
			t.Fatal(err)
		}
		e := &provider.Error{Class: provider.Invalid, Message: fmt.Sprintf("messages.%d.content.%d: no", i%4, i%3)}
		if _, more := l.Blame(r.Messages, e); !more {
			if _, ok := l.GiveUp(r.Messages, e); !ok && i < 4 {
				t.Error("nothing was given up")
			}
			return
		}
		if i > 100 {
			t.Fatal("there is no end")
		}
	}
}
