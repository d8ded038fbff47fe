package prompt

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/msg"
)

// valid checks the wire form against the rules of the Messages API, by its own
// reading of the JSON: nothing here uses the code under test.
func valid(ms []*msg.Message) error {
	plain := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,256}$`)
	if len(ms) == 0 {
		return fmt.Errorf("no messages")
	}
	var wire []gjson.Result
	for _, m := range ms {
		if !gjson.ValidBytes(m.JSON()) {
			return fmt.Errorf("not JSON: %s", m.JSON())
		}
		wire = append(wire, gjson.ParseBytes(m.JSON()))
	}
	if wire[0].Get("role").Str != "user" {
		return fmt.Errorf("first message is not the user's")
	}
	ids := map[string]bool{}
	var open []string
	for i, m := range wire {
		blocks := m.Get("content").Array()
		if len(blocks) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
		role := m.Get("role").Str
		var calls, answers []string
		for j, b := range blocks {
			kind := b.Get("type").Str
			switch {
			case kind == "text" && strings.TrimSpace(b.Get("text").String()) == "":
				return fmt.Errorf("%d.%d: empty text", i, j)
			case kind == "tool_use":
				id := b.Get("id").String()
				if role != "assistant" || ids[id] || !plain.MatchString(id) || !plain.MatchString(b.Get("name").String()) || !b.Get("input").IsObject() {
					return fmt.Errorf("%d.%d: bad call %s", i, j, b)
				}
				ids[id] = true
				calls = append(calls, id)
			case kind == "tool_result":
				if role != "user" || len(answers) < j {
					return fmt.Errorf("%d.%d: result out of place", i, j)
				}
				answers = append(answers, b.Get("tool_use_id").String())
				for _, n := range b.Get("content").Array() {
					if n.IsObject() && n.Get("type").Str == "text" && strings.TrimSpace(n.Get("text").String()) == "" {
						return fmt.Errorf("%d.%d: empty text in a result", i, j)
					}
				}
			case strings.Contains(kind, "thinking"):
				if role != "assistant" || j == len(blocks)-1 {
					return fmt.Errorf("%d.%d: thinking out of place", i, j)
				}
				if kind == "thinking" && b.Get("signature").String() == "" {
					return fmt.Errorf("%d.%d: thinking without signature", i, j)
				}
			case (kind == "image" || kind == "document") && role != "user":
				return fmt.Errorf("%d.%d: %s from the model", i, j, kind)
			}
		}
		switch role {
		case "user":
			if strings.Join(open, " ") != strings.Join(answers, " ") {
				return fmt.Errorf("message %d answers %v, open are %v", i, answers, open)
			}
		case "assistant":
			if len(open) > 0 {
				return fmt.Errorf("message %d comes before the answers to %v", i, open)
			}
		default:
			return fmt.Errorf("message %d has the role %q", i, role)
		}
		open = calls
	}
	if last := ms[len(ms)-1]; last.Role == msg.RoleAssistant && (last.Reply == nil || last.Reply.StopReason != "pause_turn" || len(open) > 0) {
		return fmt.Errorf("the last message is the model's")
	}
	return nil
}

// dot is a PNG of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgZGIGAAAOAAfXb+R4AAAAAElFTkSuQmCC"

func raw(t testing.TB, s string) msg.Block {
	t.Helper()
	b, err := msg.DecodeBlock(json.RawMessage(s))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func u(blocks ...msg.Block) *msg.Message { return &msg.Message{Role: msg.RoleUser, Blocks: blocks} }

func a(reply string, blocks ...msg.Block) *msg.Message {
	return &msg.Message{Role: msg.RoleAssistant, Blocks: blocks, Reply: &msg.Reply{ID: reply, RequestID: "q", Model: "m"}}
}

func text(s string) msg.Block { return msg.NewText(s) }
func use(id string) msg.Block { return msg.NewToolUse(id, "T", json.RawMessage(`{}`)) }
func res(id string) msg.Block {
	return msg.NewToolResult(id, []msg.Block{msg.NewText("ok " + id)}, msg.OK)
}

func think(sig string) msg.Block {
	b, _ := msg.DecodeBlock(json.RawMessage(fmt.Sprintf(`{"type":"thinking","thinking":"hm","signature":%q}`, sig)))
	return b
}

// show prints messages as "u text | a call" words.
func show(ms []*msg.Message) string {
	var out []string
	for _, m := range ms {
		words := []string{string(m.Role[:1])}
		for _, b := range m.Blocks {
			switch b := b.(type) {
			case *msg.Text:
				words = append(words, strings.ReplaceAll(b.Text, "\n", " "))
			case *msg.ToolUse:
				words = append(words, "?"+b.ID)
			case *msg.ToolResult:
				word := "!" + b.ToolUseID
				if len(b.Content) == 1 {
					if t, ok := b.Content[0].(*msg.Text); ok && t.Text == Interrupted {
						word += "(interrupted)"
					}
				}
				words = append(words, word)
			case *msg.Thinking:
				words = append(words, "thinking")
			case *msg.Image, *msg.Document, *msg.Opaque:
				words = append(words, "other")
			}
		}
		out = append(out, strings.Join(words, " "))
	}
	return strings.Join(out, " | ")
}

func TestRepair(t *testing.T) {
	img := msg.NewImage("image/png", dot)
	for name, c := range map[string]struct {
		in   []*msg.Message
		want string
	}{
		"clean":                 {[]*msg.Message{u(text("hi")), a("1", text("x"), use("p"), use("q")), u(res("p"), res("q")), a("2", text("done")), u(text("next"))}, "u hi | a x ?p ?q | u !p !q | a done | u next"},
		"empty":                 {nil, "u Continue."},
		"nil message and block": {[]*msg.Message{nil, u(nil, text("hi"), &msg.Text{Text: "no wire form"})}, "u hi"},
		"starts with the model": {[]*msg.Message{a("1", text("x")), u(text("hi"))}, "u " + lostStart + " | a x | u hi"},
		"ends with the model":   {[]*msg.Message{u(text("hi")), a("1", text("x"))}, "u hi | a x | u Continue."},
		"missing result":        {[]*msg.Message{u(text("hi")), a("1", use("p"), use("q")), u(res("q")), u(text("go"))}, "u hi | a ?p ?q | u !p(interrupted) !q | u go"},
		"results apart":         {[]*msg.Message{u(text("hi")), a("1", use("p"), use("q")), u(res("q")), u(res("p"))}, "u hi | a ?p ?q | u !p !q"},
		"results with words":    {[]*msg.Message{u(text("hi")), a("1", use("p")), u(text("steer"), res("p"))}, "u hi | a ?p | u !p | u steer"},
		"late result":           {[]*msg.Message{u(text("hi")), a("1", use("p")), a("2", text("x")), u(res("p")), a("3", text("y")), u(text("z"))}, "u hi | a ?p | u !p | a x | a y | u z"},
		"early result":          {[]*msg.Message{u(text("hi"), res("p")), a("1", use("p")), u(text("z"))}, "u hi | a ?p | u !p | u z"},
		"orphan, duplicate":     {[]*msg.Message{u(text("hi"), res("zz")), a("1", use("p")), u(res("p"), res("p")), u(res("p"))}, "u hi | a ?p | u !p"},
		"pieces of a reply":     {[]*msg.Message{u(text("hi")), a("1", use("p")), u(res("p")), a("1", use("q")), u(res("q"))}, "u hi | a ?p ?q | u !p !q"},
		"same id again":         {[]*msg.Message{u(text("hi")), a("1", use("p")), u(res("p")), a("2", use("p")), u(res("p")), a("3", use("p"))}, "u hi | a ?p | u !p | a ?p_2 | u !p_2 | a ?p_3 | u !p_3(interrupted)"},
		"copy of a call":        {[]*msg.Message{u(text("hi")), a("1", use("p"), use("p")), u(res("p"))}, "u hi | a ?p | u !p"},
		"unanswered, id reused": {[]*msg.Message{u(text("hi")), a("1", use("p")), a("2", use("p")), u(res("p"))}, "u hi | a ?p | u !p(interrupted) | a ?p_2 | u !p_2"},
		"empty texts":           {[]*msg.Message{u(text(" \n")), u(text("hi"), text("")), a("1", text("")), u(text("x"))}, "u hi | u x"},
		"foreign thinking":      {[]*msg.Message{u(text("hi")), {Role: msg.RoleAssistant, Blocks: []msg.Block{think("s"), text("x")}, Reply: &msg.Reply{ID: "1", Model: "other"}}, u(text("y"))}, "u hi | a x | u y"},
		"own thinking":          {[]*msg.Message{u(text("hi")), a("1", think("s"), text("x")), u(text("y"))}, "u hi | a thinking x | u y"},
		"unsigned, unfollowed":  {[]*msg.Message{u(text("hi")), a("1", think(""), text("x"), think("s")), u(text("y")), a("2", think("s")), u(text("z"))}, "u hi | a x | u y | u z"},
		"system":                {[]*msg.Message{u(text("hi")), {Role: msg.RoleSystem, Blocks: []msg.Block{text("date")}}, a("1", text("x")), u(text("y"))}, "u hi | u <system-reminder> date </system-reminder> | a x | u y"},
		"unknown role":          {[]*msg.Message{{Role: "tool", Blocks: []msg.Block{text("x")}}, u(text("hi"))}, "u hi"},
		"synthetic":             {[]*msg.Message{u(text("hi")), {Role: msg.RoleAssistant, Blocks: []msg.Block{text("API Error")}, Reply: &msg.Reply{Synthetic: true}}, u(text("again"))}, "u hi | u again"},
		"wrong side":            {[]*msg.Message{u(text("hi"), use("p"), think("s")), a("1", text("x"), res("p"), img), u(img)}, "u hi | a x | u other"},
		"unusable calls":        {[]*msg.Message{u(text("hi")), a("1", text("x"), raw(t, `{"type":"tool_use","id":"p","name":"T","input":"s"}`), raw(t, `{"type":"tool_use","id":"p"}`)), u(res("p"), text("y"))}, "u hi | a x | u y"},
		"ids of elsewhere":      {[]*msg.Message{u(text("hi")), a("1", use("f.x:0"), use("f/x:0")), u(res("f.x:0"), res("f/x:0")), a("2", use("f_x_0"), use("f.x:0")), u(res("f_x_0"))}, "u hi | a ?f_x_0 ?f_x_0_2 | u !f_x_0 !f_x_0_2 | a ?f_x_0_3 ?f_x_0_4 | u !f_x_0_3 !f_x_0_4(interrupted)"},
		"name of elsewhere":     {[]*msg.Message{u(text("hi")), a("1", raw(t, `{"type":"tool_use","id":"p","name":"../\u001b T","input":{}}`)), u(res("p"))}, "u hi | a ?p | u !p"},
		"call without id":       {[]*msg.Message{u(text("hi")), a("1", use("")), u(res(""))}, "u hi | a ?call_2 | u !call_2"},
		"opaque":                {[]*msg.Message{u(text("hi")), a("1", raw(t, `{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`)), u(raw(t, `{"type":"search_result"}`), raw(t, `{"type":"text","text":5}`))}, "u hi | u other"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := Repair(c.in, "m")
			if d := cmp.Diff(c.want, show(got)); d != "" {
				t.Error(d)
			}
			if err := valid(got); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRepairKeepsAPausedReplyLast(t *testing.T) {
	p := a("1", raw(t, `{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`))
	p.Reply.StopReason = "pause_turn"
	in := []*msg.Message{u(text("hi")), p}
	got, notes := Repair(in, "m")
	if len(got) != 2 || got[1] != p || notes != nil {
		t.Fatalf("%s %v", show(got), notes)
	}
}

func TestRepairFixesResults(t *testing.T) {
	img := msg.NewImage("image/png", dot)
	failed := msg.NewToolResult("p", []msg.Block{img, msg.NewText(" ")}, msg.Failed)
	blank := msg.NewToolResult("q", []msg.Block{msg.NewText("\n"), msg.NewText("x")}, msg.OK)
	fine := msg.NewToolResult("r", []msg.Block{img}, msg.OK)
	got, _ := Repair([]*msg.Message{u(text("hi")), a("1", use("p"), use("q"), use("r")), u(failed, blank, fine)}, "m")
	b := got[2].Blocks
	if s := string(b[0].JSON()); s != `{"type":"tool_result","tool_use_id":"p","content":[{"type":"text","text":"(no output)"}],"is_error":true}` {
		t.Error(s)
	}
	if s := string(b[1].JSON()); s != `{"type":"tool_result","tool_use_id":"q","content":[{"type":"text","text":"x"}]}` {
		t.Error(s)
	}
	if b[2] != msg.Block(fine) {
		t.Error("a good result was encoded again")
	}
}

func TestRepairModelNames(t *testing.T) {
	m := &msg.Message{Role: msg.RoleAssistant, Blocks: []msg.Block{think("s"), text("x")}, Reply: &msg.Reply{ID: "1", Model: "m-20260101", Requested: "m[1m]"}}
	for model, kept := range map[string]bool{"m": true, "m[1m]": true, "m-20260101": true, "": true, "n": false} {
		got, _ := Repair([]*msg.Message{u(text("hi")), m, u(text("y"))}, model)
		if (len(got[1].Blocks) == 2) != kept {
			t.Errorf("model %q: %s", model, show(got))
		}
		if kept && got[1] != m {
			t.Errorf("model %q: an unchanged message lost its pointer", model)
		}
	}
}

// random makes a history in which everything may be wrong.
func random(t testing.TB, r *rand.Rand, n int) []*msg.Message {
	ids := []string{"p", "q", "r", "s", "", "p:q", "p_q"}
	id := func() string { return ids[r.IntN(len(ids))] }
	block := func() msg.Block {
		switch r.IntN(12) {
		case 0, 1:
			return text([]string{"hi", "", " ", "x"}[r.IntN(4)])
		case 2, 3, 4:
			return use(id())
		case 5, 6, 7:
			return res(id())
		case 8:
			return think([]string{"", "s"}[r.IntN(2)])
		case 9:
			return raw(t, []string{`{"type":"tool_use","id":"p"}`, `{"type":"odd"}`, `{"type":"tool_use","id":"q","name":"T","input":[]}`}[r.IntN(3)])
		case 10:
			return msg.NewImage("image/png", dot)
		}
		return msg.NewToolResult(id(), []msg.Block{msg.NewText("")}, msg.Outcome(r.IntN(2) == 0))
	}
	var out []*msg.Message
	for range n {
		m := &msg.Message{Role: []msg.Role{msg.RoleUser, msg.RoleAssistant, msg.RoleUser, msg.RoleAssistant, msg.RoleSystem, "x"}[r.IntN(6)]}
		for range r.IntN(4) {
			m.Blocks = append(m.Blocks, block())
		}
		if m.Role == msg.RoleAssistant && r.IntN(3) > 0 {
			m.Reply = &msg.Reply{ID: fmt.Sprint(r.IntN(4)), Model: []string{"m", "n"}[r.IntN(2)], StopReason: []string{"", "pause_turn"}[r.IntN(2)]}
		}
		out = append(out, m)
	}
	return out
}

func wire(ms []*msg.Message) []string {
	var out []string
	for _, m := range ms {
		out = append(out, string(m.JSON()))
	}
	return out
}

func checkLaws(t testing.TB, in []*msg.Message) {
	t.Helper()
	before := wire(in)
	got, _ := Repair(in, "m")
	if err := valid(got); err != nil {
		t.Fatalf("%v\nin  %s\nout %s", err, show2(in), show(got))
	}
	again, notes := Repair(got, "m")
	if len(notes) > 0 || len(again) != len(got) {
		t.Fatalf("not idempotent: %v\nin    %s\nout   %s\nagain %s", notes, show2(in), show(got), show(again))
	}
	for i := range got {
		if got[i] != again[i] {
			t.Fatalf("message %d lost its pointer\nin    %s\nout   %s\nagain %s", i, show2(in), show(got), show(again))
		}
	}
	twice, _ := Repair(in, "m")
	if d := cmp.Diff(wire(got), wire(twice)); d != "" {
		t.Fatalf("not deterministic: %s", d)
	}
	if d := cmp.Diff(before, wire(in)); d != "" {
		t.Fatalf("the history was changed: %s", d)
	}
}

func show2(ms []*msg.Message) string {
	var out []string
	for _, m := range ms {
		if m == nil {
			out = append(out, "nil")
			continue
		}
		out = append(out, string(m.JSON()))
	}
	return strings.Join(out, "\n")
}

func TestRepairLawsOnRandomHistories(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5_000 {
		checkLaws(t, random(t, r, r.IntN(9)))
	}
}

// TestRepairExtends: a history that ends with the user and has all calls
// answered is the start of every longer one.
func TestRepairExtends(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	checked := 0
	for range 5_000 {
		long := random(t, r, 2+r.IntN(8))
		for i, m := range long {
			if m.Reply != nil {
				m.Reply.ID = fmt.Sprint(i) // pieces of one reply never straddle a request
			}
		}
		cut := 1 + r.IntN(len(long)-1)
		head, notes := Repair(long[:cut], "m")
		complete := len(head) > 0 && head[len(head)-1].Blocks[0] != nil && head[len(head)-1].Role == msg.RoleUser
		for _, n := range notes {
			complete = complete && !strings.Contains(n.Text, "interrupted")
		}
		if show(head[len(head)-1:]) == "u "+goOn || !complete {
			continue
		}
		checked++
		all, _ := Repair(long, "m")
		h, w := wire(head), wire(all)
		if len(w) < len(h) || !cmp.Equal(h, w[:len(h)]) {
			t.Fatalf("cut %d\nin   %s\nhead %s\nall  %s", cut, show2(long), show(head), show(all))
		}
	}
	if checked < 300 {
		t.Fatalf("only %d histories were complete", checked)
	}
}

func TestRepairSharesBlocks(t *testing.T) {
	big := strings.Repeat("x", 1<<16)
	var in []*msg.Message
	in = append(in, u(text("hi")))
	for i := range 200 {
		id := fmt.Sprint("t", i)
		in = append(in, a(id, text(big), use(id)), u(res(id), text("note")))
	}
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Repair(in, "m")
		}
	}).AllocedBytesPerOp()
	if allocated > 400_000 {
		t.Errorf("%d bytes allocated for 200 turns", allocated)
	}
}

func FuzzRepair(f *testing.F) {
	f.Add(uint64(1), uint64(2), uint8(5))
	f.Fuzz(func(t *testing.T, s1, s2 uint64, n uint8) {
		checkLaws(t, random(t, rand.New(rand.NewPCG(s1, s2)), int(n%20)))
	})
}
