package term

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hew-agent/hew/internal/surface/tui/input"
)

func TestDecode(t *testing.T) {
	key := func(name string) input.Event { return input.Press{Key: name} }
	typed := func(s string) input.Event { return input.Press{Key: s, Text: s} }
	for _, c := range []struct {
		name, in string
		want     []input.Event
	}{
		{"letters", "aA?", []input.Event{typed("a"), typed("A"), typed("?")}},
		{"space", " ", []input.Event{input.Press{Key: "space", Text: " "}}},
		{"control", "\x03\n\r\t\x7f\x1f\x00", []input.Event{
			key("ctrl+c"), key("ctrl+j"), key("enter"), key("tab"), key("backspace"), key("ctrl+_"), key("ctrl+space"),
		}},
		{"arrows", "\x1b[A\x1bOB\x1b[1;5C\x1b[1;2D", []input.Event{key("up"), key("down"), key("ctrl+right"), key("shift+left")}},
		{"named", "\x1b[5~\x1b[6~\x1b[H\x1b[F\x1b[3~\x1b[2~\x1bOP\x1b[24~\x1b[Z", []input.Event{
			key("pgup"), key("pgdown"), key("home"), key("end"), key("delete"), key("insert"), key("f1"), key("f12"), key("shift+tab"),
		}},
		{"alt", "\x1ba\x1b\r\x1bF", []input.Event{key("alt+a"), key("alt+enter"), key("alt+shift+f")}},
		{"kitty", "\x1b[27u\x1b[13;2u\x1b[97;6u\x1b[99;5u\x1b[57399u", []input.Event{
			key("esc"), key("shift+enter"), key("ctrl+shift+a"), key("ctrl+c"), typed("0"),
		}},
		{"super", "\x1b[97;9u", []input.Event{key("super+a")}},
		{"other keys", "\x1b[27;2;13~", []input.Event{key("shift+enter")}},
		{"wide", "é", []input.Event{typed("é")}},
		{"input method", "日本語", []input.Event{typed("日本語")}},
		{"joined", "👩‍💻", []input.Event{typed("👩‍💻")}},
		{"burst", strings.Repeat("x", 70), []input.Event{typed(strings.Repeat("x", 70))}},
		{"paste", "a\x1b[200~one\rtwo\x1b[31m\x1b[201~b", []input.Event{typed("a"), input.Paste{Text: "one\rtwo\x1b[31m"}, typed("b")}},
		{"two pastes", "\x1b[200~\x1b[201~\x1b[200~x\x1b[201~", []input.Event{input.Paste{}, input.Paste{Text: "x"}}},
		{"focus", "\x1b[I\x1b[O", []input.Event{input.Focus{In: true}, input.Focus{}}},
		{"mouse", "\x1b[<0;3;4M\x1b[<0;3;4m\x1b[<32;5;4M\x1b[<64;1;1M\x1b[<65;1;1M", []input.Event{
			input.Mouse{X: 2, Y: 3, Kind: input.Click, Button: input.LeftButton},
			input.Mouse{X: 2, Y: 3, Kind: input.Release, Button: input.LeftButton},
			input.Mouse{X: 4, Y: 3, Kind: input.Drag, Button: input.LeftButton},
			input.Mouse{Kind: input.WheelUp},
			input.Mouse{Kind: input.WheelDown},
		}},
		{"answers are no keys", "\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?2026;2$y\x1b[?0u\x1b[?62;1c\x1bP>|x\x1b\\a", []input.Event{typed("a")}},
		{"unknown sequences", "\x1b[9999z\x1b[?1;2;3q\x1b]777;x\aa", []input.Event{typed("a")}},
		{"broken text", "a\xffb\xc3", []input.Event{typed("a"), typed("b")}},
	} {
		whole := &decoder{limit: pasteLimit}
		whole.feed([]byte(c.in))
		whole.expire()
		got, _ := whole.take()
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		if c.name == "burst" || c.name == "input method" || c.name == "joined" {
			continue // these are what they are because they arrive at once
		}
		bytewise := &decoder{limit: pasteLimit}
		for i := range len(c.in) {
			bytewise.feed([]byte(c.in[i : i+1]))
		}
		bytewise.expire()
		got, _ = bytewise.take()
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s, byte by byte: %s", c.name, d)
		}
	}
}

func TestDecodeEscape(t *testing.T) {
	d := &decoder{limit: pasteLimit}
	d.feed([]byte("\x1b"))
	if waits, sequence := d.pending(); !waits || sequence {
		t.Error("a lone escape does not wait for what may follow")
	}
	if got, _ := d.take(); got != nil {
		t.Errorf("it was decoded at once: %v", got)
	}
	d.expire()
	got, _ := d.take()
	if diff := cmp.Diff([]input.Event{input.Press{Key: "esc"}}, got); diff != "" {
		t.Error(diff)
	}
}

// A paste is one event whatever its size, and takes no more memory than allowed.
func TestDecodeLongPaste(t *testing.T) {
	d := &decoder{limit: 1000}
	d.feed([]byte("\x1b[200~"))
	for range 30 {
		d.feed([]byte(strings.Repeat("0123456789", 10)))
	}
	d.feed([]byte("\x1b[20"))
	d.feed([]byte("1~x"))
	got, _ := d.take()
	want := []input.Event{input.Paste{Text: strings.Repeat("0123456789", 100), Lost: 2000}, input.Press{Key: "x", Text: "x"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A paste whose end was lost does not swallow the keyboard for ever.
func TestDecodeEndlessPaste(t *testing.T) {
	d := &decoder{limit: 1000}
	d.feed([]byte("\x1b[200~abc"))
	d.feed([]byte("\x03"))
	got, _ := d.take()
	if diff := cmp.Diff([]input.Event{input.Paste{Text: "abc"}, input.Press{Key: "ctrl+c"}}, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("a\x1b[200~p\x1b[201~\x1b[<0;3;4M\x1b]11;rgb:0/0/0\a\x1bOA日本"), uint(3))
	f.Add([]byte("\x1b[M !!\x1bP>|x\x1b\\\x1b[27;2;13~\xff"), uint(1))
	f.Add([]byte("\x1b\x1b\x1b[A\x1b[1;5"), uint(2))
	f.Fuzz(func(t *testing.T, in []byte, step uint) {
		n := int(step%16) + 1
		d := &decoder{limit: 100}
		for len(in) > 0 {
			n = min(n, len(in))
			d.feed(in[:n])
			in = in[n:]
		}
		d.expire()
		if waits, _ := d.pending(); waits {
			t.Fatalf("%q is kept for ever", d.buf)
		}
		events, _ := d.take()
		for _, ev := range events {
			switch ev := ev.(type) {
			case input.Press:
				if ev.Key == "" || strings.ContainsAny(ev.Text, "\x1b\r\n") {
					t.Fatalf("%#v", ev)
				}
			case input.Paste:
				if len(ev.Text) > 300 { // bytes that are no text become three
					t.Fatalf("%d bytes", len(ev.Text))
				}
			case input.Mouse, input.Focus:
			case input.Resize, input.Resumed, input.Ended:
				t.Fatalf("%#v came from bytes", ev)
			}
		}
	})
}
