package fsys

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

func utf16Bytes(s, bom string, big bool) []byte {
	out := []byte(bom)
	for _, w := range utf16.Encode([]rune(s)) {
		if big {
			out = append(out, byte(w>>8), byte(w))
		} else {
			out = append(out, byte(w), byte(w>>8))
		}
	}
	return out
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name  string
		raw   string
		enc   Encoding
		eol   EOL
		final bool
		want  string
	}{
		{"empty", "", UTF8, LF, false, ""},
		{"lf", "a\nb\n", UTF8, LF, true, "a\nb\n"},
		{"no final newline", "a\nb", UTF8, LF, false, "a\nb"},
		{"crlf", "a\r\nb\r\n", UTF8, CRLF, true, "a\nb\n"},
		{"cr only", "a\rb\r", UTF8, CR, true, "a\nb\n"},
		{"mixed", "a\r\nb\nc\rd", UTF8, Mixed, false, "a\nb\nc\rd"},
		{"bom", "\xef\xbb\xbfé\r\n", UTF8BOM, CRLF, true, "é\n"},
		{"utf16le", string(utf16Bytes("aé😀\r\n", bomLE, false)), UTF16LE, CRLF, true, "aé😀\n"},
		{"utf16be", string(utf16Bytes("aé😀\n", bomBE, true)), UTF16BE, LF, true, "aé😀\n"},
		{"utf16le unmarked", string(utf16Bytes("hello\n", "", false)), UTF16LENoBOM, LF, true, "hello\n"},
		{"utf16be unmarked", string(utf16Bytes("hello\n", "", true)), UTF16BENoBOM, LF, true, "hello\n"},
		{"latin1", "caf\xe9 \x80\n", Latin1, LF, true, "café €\n"},
		{"damaged utf8", "é ü ö \xff\n", UTF8, LF, true, "é ü ö \uFFFD\n"},
		{"nfd", "cafe\u0301\n", UTF8, LF, true, "cafe\u0301\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Decode([]byte(c.raw))
			if err != nil {
				t.Fatal(err)
			}
			if got.Encoding != c.enc || got.EOL != c.eol || got.FinalNewline != c.final || got.Content != c.want {
				t.Errorf("got %v eol=%d final=%v %q", got.Encoding, got.EOL, got.FinalNewline, got.Content)
			}
		})
	}
}

func TestDecodeRefusesBinary(t *testing.T) {
	for name, raw := range map[string]string{
		"nul":        "abc\x00",
		"elf":        "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00",
		"controls":   strings.Repeat("\x01\xff\x02\x03", 50),
		"mark only":  bomLE + strings.Repeat("\x01\x00\x00\xdc", 50),
		"16-bit pcm": strings.Repeat("\x01\x00\x02\x00", 50),
	} {
		if got, err := Decode([]byte(raw)); err == nil {
			t.Errorf("%s: taken for text in %v", name, got.Encoding)
		}
	}
}

// edit replaces every place of old by text.
func edit(t *testing.T, raw, old, text string) (string, Match) {
	t.Helper()
	d, err := Decode([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	spans, how := d.Find(old)
	var edits []Edit
	for _, s := range spans {
		edits = append(edits, Edit{s, text})
	}
	out, err := d.Apply(edits)
	if err != nil {
		t.Fatal(err)
	}
	return string(out), how
}

func TestApplyChangesNothingOutsideTheEdit(t *testing.T) {
	for _, c := range []struct {
		name, raw, old, text, want string
	}{
		{"lf", "a\nb\nc\n", "b", "B", "a\nB\nc\n"},
		{"crlf keeps", "a\r\nb\r\nc\r\n", "a\nb", "a\nx\nb", "a\r\nx\r\nb\r\nc\r\n"},
		{"crlf in both texts", "a\r\nb\r\n", "a\r\nb", "a\r\nB", "a\r\nB\r\n"},
		{"cr only", "a\rb\r", "a\nb", "a\nx\nb", "a\rx\rb\r"},
		{"lf file gets crlf when asked", "a\nb\n", "a\n", "a\r\n", "a\r\nb\n"},
		{"mixed keeps each ending", "a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "A\nB\nC\nD", "A\r\nB\nC\r\nD\n"},
		{"mixed new lines take the last ending", "a\nb\r\nc\n", "b\n", "b\nx\ny\n", "a\nb\r\nx\r\ny\r\nc\n"},
		{"mixed lone cr stays", "p\r1\nq\r2\n", "q\r2", "Q\r2", "p\r1\nQ\r2\n"},
		{"crcrlf", "a\r\r\nb\n", "a\r\nb", "a\r\nB", "a\r\r\nB\n"},
		{"bom", "\xef\xbb\xbfa\nb", "a", "é", "\xef\xbb\xbfé\nb"},
		{"no final newline", "a\nb", "b", "c", "a\nc"},
		{"latin1", "caf\xe9 \xfc\n", "café", "thé", "th\xe9 \xfc\n"},
		{"damage survives", "é ü ö \xff a\n", "a", "b", "é ü ö \xff b\n"},
		{"damage inside the context survives", "é ü ö \xff a\n", "\uFFFD a", "\uFFFD b", "é ü ö \xff b\n"},
		{"nfd content, nfc wanted", "cafe\u0301 e\u0301te\u0301\n", "café été", "café thé", "cafe\u0301 the\u0301\n"},
		{"utf16", string(utf16Bytes("a\r\nb😀\r\n", bomLE, false)), "b😀", "c\né", string(utf16Bytes("a\r\nc\r\né\r\n", bomLE, false))},
		{"delete line", "a\r\nb\r\nc", "b\n", "", "a\r\nc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := edit(t, c.raw, c.old, c.text); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestFindSaysHow(t *testing.T) {
	d, err := Decode([]byte("cafe\u0301\nx"))
	if err != nil {
		t.Fatal(err)
	}
	for want, how := range map[string]Match{"x": Exact, "café": Equivalent, "cafe": Exact, "nothing": NoMatch, "": NoMatch} {
		if _, got := d.Find(want); got != how {
			t.Errorf("Find(%q) = %v, want %v", want, got, how)
		}
	}
}

func TestApplyRefuses(t *testing.T) {
	latin, err := Decode([]byte("caf\xe9"))
	if err != nil {
		t.Fatal(err)
	}
	var enc *EncodeError
	if _, err := latin.Apply([]Edit{{Span{0, 1}, "日"}}); !errors.As(err, &enc) || enc.Rune != '日' {
		t.Errorf("a character outside the encoding: %v", err)
	}
	if _, err := latin.Apply([]Edit{{Span{4, 4}, "x"}}); err == nil {
		t.Error("an edit inside a character was applied")
	}
	if _, err := latin.Apply([]Edit{{Span{0, 2}, "x"}, {Span{1, 3}, "y"}}); err == nil {
		t.Error("overlapping edits were applied")
	}
	damaged, err := Decode([]byte("é ü ö \xff"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := damaged.Apply([]Edit{{Span{0, 0}, "\uFFFD"}}); err == nil {
		t.Error("U+FFFD was written into a damaged file")
	}
}

func TestTwoMegabyteLine(t *testing.T) {
	raw := strings.Repeat("x", 1<<20) + "needle" + strings.Repeat("é", 1<<19) + "\r\nend"
	got, _ := edit(t, raw, "needle", "pin")
	if want := strings.Replace(raw, "needle", "pin", 1); got != want {
		t.Error("bytes outside the edit changed")
	}
}

func TestEncodeInvertsDecode(t *testing.T) {
	for _, enc := range []Encoding{UTF8, UTF8BOM, UTF16LE, UTF16BE, UTF16LENoBOM, UTF16BENoBOM, Latin1} {
		for _, eol := range []EOL{LF, CRLF, CR} {
			raw, err := Encode("one\ntwo é\nthree\n", enc, eol)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode(raw)
			if err != nil {
				t.Fatalf("%v: %v", enc, err)
			}
			if got.Encoding != enc || got.EOL != eol || got.Content != "one\ntwo é\nthree\n" {
				t.Errorf("%v %v came back as %v %v %q", enc, eol, got.Encoding, got.EOL, got.Content)
			}
		}
	}
}

func TestLatin1IsOneToOne(t *testing.T) {
	for i := range 256 {
		if b, ok := latin1Byte(latin1Rune(byte(i))); !ok || int(b) != i {
			t.Errorf("byte %#x came back as %#x, %v", i, b, ok)
		}
	}
}

func TestReadTextRefusesBySize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sparse")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(20<<30), f.Close()); err != nil {
		t.Skip("left out: sparse file (needs a file system with sparse files):", err)
	}
	_, err = ReadText(path, Limits{MaxBytes: 256 << 10})
	var large *TooLargeError
	if CauseOf(err) != CauseTooLarge || !errors.As(err, &large) || large.Size != 20<<30 {
		t.Errorf("got %v", err)
	}
}

func FuzzEditRoundTrip(f *testing.F) {
	f.Add([]byte("a\r\nb\nc\rd"), 1, 3, "x\ny")
	f.Add([]byte("\xef\xbb\xbfé\r\n"), 0, 2, "")
	f.Add(utf16Bytes("aé😀\r\n", bomLE, false), 2, 3, "\r\n")
	f.Add([]byte("caf\xe9 \x80\n"), 0, 1, "é")
	f.Add([]byte("é ü ö \xff\ncafe\u0301\r\n"), 7, 9, "q")
	f.Add([]byte("000000\u030100"), 7, 9, "")
	f.Fuzz(func(t *testing.T, raw []byte, start, end int, text string) {
		d, err := Decode(raw)
		if err != nil {
			return
		}
		if !utf8.ValidString(d.Content) {
			t.Fatalf("content is not UTF-8: %q", d.Content)
		}
		same, err := d.Apply([]Edit{{Span{0, len(d.Content)}, d.Content}})
		if err != nil || !bytes.Equal(same, raw) {
			t.Fatalf("an edit that changes nothing changed bytes: %v", err)
		}
		out, err := d.Apply([]Edit{{Span{start, end}, text}})
		if err != nil {
			return
		}
		// The prefix of Raw that stands for Content[:start], and the suffix for Content[end:], are untouched.
		head, tail := rawBefore(d, start), len(raw)-rawBefore(d, end)
		if !bytes.HasPrefix(out, raw[:head]) || !bytes.HasSuffix(out, raw[len(raw)-tail:]) {
			t.Fatalf("bytes outside %d..%d of %q changed: %q", start, end, raw, out)
		}
		if spans, _ := d.Find(d.Content[start:end]); end > start && len(spans) == 0 {
			t.Fatalf("a part of the content was not found: %q", d.Content[start:end])
		}
	})
}

func rawBefore(d *Text, pos int) int {
	at, off := 0, d.Encoding.bomLen()
	for u := range d.units(d.EOL) {
		if at >= pos {
			break
		}
		at += utf8.RuneLen(u.r)
		off += u.size
	}
	return off
}
