package lsp

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
)

func TestReadFrame(t *testing.T) {
	for in, want := range map[string]string{
		"Content-Length: 2\r\n\r\n{}":                              "{}",
		"content-length:2\nContent-Type: x; charset=utf-8\n\n{}{}": "{}",
		"Content-Length: 3\r\n\r\n{}":                              "ERR 2 of 3 bytes came",
		"Hello\n":                                                  "ERR no line of a message's head",
		"Content-Length: -1\r\n\r\n":                               "ERR no length",
		"Content-Length: 99999999999\r\n\r\n":                      "ERR longer than",
		"X: y\r\n\r\n":                                             "ERR no Content-Length",
		"Content-Length: 2":                                        "ERR unexpected EOF",
		"":                                                         "ERR EOF",
		strings.Repeat("A: b\n", 1000) + "\n":                      "ERR longer than",
	} {
		got, err := readFrame(bufio.NewReader(strings.NewReader(in)))
		text := string(got)
		if err != nil {
			text = "ERR " + err.Error()
		}
		if text != want && (!strings.HasPrefix(want, "ERR ") || !strings.Contains(text, strings.TrimPrefix(want, "ERR "))) {
			t.Errorf("%.40q: %s, want %s", in, text, want)
		}
	}
}

func FuzzReadFrame(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}"))
	f.Add([]byte("Content-Length: 70000000\r\n\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		body, err := readFrame(bufio.NewReader(bytes.NewReader(in)))
		if err != nil {
			return
		}
		again, err := readFrame(bufio.NewReader(bytes.NewReader(frame(body))))
		if err != nil || !bytes.Equal(again, body) {
			t.Errorf("%q came back as %q, %v", body, again, err)
		}
	})
}

// TestColumns: a place survives the way to the server and back in each of the
// units that servers count in.
func TestColumns(t *testing.T) {
	const text = "first\r\naé😀b\n"
	for u, want := range map[units][]int{"utf-8": {0, 1, 3, 7, 8}, "utf-16": {0, 1, 2, 4, 5}, "": {0, 1, 2, 4, 5}, "utf-32": {0, 1, 2, 3, 4}} {
		l := &Client{units: u}
		for i, units := range want {
			at := l.At(text, 2, i+1)
			if at != (Position{1, units}) {
				t.Errorf("%q: column %d is %v, want %d", u, i+1, at, units)
			}
			if back := l.Column("aé😀b", units); back != i+1 {
				t.Errorf("%q: %d units are column %d, want %d", u, units, back, i+1)
			}
		}
		if at := l.At(text, 9, 9); at.Character != 0 {
			t.Errorf("a line that is not there has the column %d", at.Character)
		}
	}
}

func TestSection(t *testing.T) {
	s := []byte(`{"go":{"build":{"flags":["-x"]}}}`)
	if got := section(s, "go.build"); string(got) != `{"flags":["-x"]}` {
		t.Errorf("%s", got)
	}
	if got := section(s, "go.test.x"); got != nil {
		t.Errorf("%s", got)
	}
}
