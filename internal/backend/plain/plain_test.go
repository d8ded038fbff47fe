package plain

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain\tand\nlines\r\n":       "plain\tand\nlines\r\n",
		"over\rwritten":               `over\u000dwritten`,
		"\x1b[2Jgone":                 `\u001b[2Jgone`,
		"\x1b]52;c;eA==\a":            `\u001b]52;c;eA==\u0007`,
		"c1 \u009b31m del \x7f":       `c1 \u009b31m del \u007f`,
		"abc\u202etxt.exe":            `abc\u202etxt.exe`,
		"\u2066x\u2069\u2028":         `\u2066x\u2069\u2028`,
		"bad \xff\xfe":                "bad \ufffd\ufffd",
		"hidden \U000e0041":           `hidden \udb40\udc41`,
		"👩\u200d💻 שלום\u200f\u00a0né": "👩\u200d💻 שלום\u200f\u00a0né",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Line("a\nb\tc\u00a0\r\n"); got != `a\u000ab\u0009c\u00a0\u000d\u000a` {
		t.Errorf("Line: %q", got)
	}
}

// What was escaped inside JSON is still the same value.
func TestTextKeepsJSON(t *testing.T) {
	in := map[string]string{"k": "\x1b\u202e\U000e0041\u009b\x7f ok"}
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]string
	if err := json.Unmarshal([]byte(Text(string(raw))), &out); err != nil || out["k"] != in["k"] {
		t.Fatalf("%q %v", out["k"], err)
	}
}

func TestClip(t *testing.T) {
	if got := Clip("short", 5); got != "short" {
		t.Error(got)
	}
	if got := Clip("ééé", 3); got != "é… (4 more bytes)" {
		t.Error(got)
	}
}

func FuzzWriter(f *testing.F) {
	f.Add("a\x1b[0m\u202e\r\nß", 3)
	f.Add("\xf0\x9f\x91", 1)
	f.Fuzz(func(t *testing.T, s string, at int) {
		var out bytes.Buffer
		w := NewWriter(&out)
		at = min(max(at, 0), len(s))
		for _, part := range []string{s[:at], s[at:]} {
			if _, err := w.Write([]byte(part)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		if got != Text(s) {
			t.Fatalf("in two writes %q, at once %q", got, Text(s))
		}
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\x07\u009b\u202e\x7f") {
			t.Fatalf("%q passed as %q", s, got)
		}
	})
}
