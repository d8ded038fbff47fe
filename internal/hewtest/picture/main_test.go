package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestPictureIsWellFormedAndComplete(t *testing.T) {
	in := "plain <tag> & \"quote\"\n\ttabbed\nmodel  " + strings.Repeat("word ", 60) + "\n"
	var out strings.Builder
	if err := draw(&out, strings.NewReader(in), "hew demo"); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(out.String()))
	words := 0
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := tok.(xml.CharData); ok {
			words += strings.Count(string(c), "word")
		}
	}
	if words != 60 || !strings.Contains(out.String(), "plain &lt;tag&gt;") {
		t.Fatalf("%d words of 60 arrived", words)
	}
}
