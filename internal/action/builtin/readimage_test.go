package builtin

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/msg"
)

func pngFile(t *testing.T, w, h int) string {
	t.Helper()
	var buf bytes.Buffer
	if err := png.Encode(&buf, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func TestReadImage(t *testing.T) {
	b := newBench(t, Config{})
	raw := pngFile(t, 3000, 1500)
	r := b.run("Read", in{"file_path": b.write("shot.png", raw)})
	if r.IsError {
		t.Fatal(text(r))
	}
	img, ok := r.Content[0].(*msg.Image)
	if !ok || img.MediaType != "image/png" {
		t.Fatalf("first block is %s", r.Content[0].JSON())
	}
	sent, err := base64.StdEncoding.DecodeString(img.Data())
	if err != nil {
		t.Fatal(err)
	}
	if conf, err := png.DecodeConfig(bytes.NewReader(sent)); err != nil || conf.Width != 2000 || conf.Height != 1000 {
		t.Errorf("%v %v", conf, err)
	}
	for _, want := range []string{"3000x1500", "2000x1000", "1.50"} {
		if !strings.Contains(text(r), want) {
			t.Errorf("note %q lacks %q", text(r), want)
		}
	}
	f := data(t, r)["file"].(map[string]any)
	if data(t, r)["type"] != "image" || f["type"] != "image/png" || f["originalSize"] != float64(len(raw)) || f["base64"] == "" {
		t.Errorf("data %.200s", r.Data)
	}
	// A picture is one whatever its name says.
	if r := b.run("Read", in{"file_path": b.write("picture.txt", pngFile(t, 2, 2))}); r.IsError {
		t.Error(text(r))
	}
	b.bad("Read", in{"file_path": b.write("fake.png", "just text")}, "cannot be shown as an image", "not a PNG")
	b.bad("Read", in{"file_path": b.write("empty.jpg", "")}, "0 bytes")
	b.bad("Read", in{"file_path": b.write("half.png", raw[:len(raw)/2])}, "broken")
}

const nbRaw = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": [
    "# Title\n",
    "text"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "work",
   "metadata": {"tags": ["x"], "custom": 1.50},
   "outputs": [
    {"name": "stdout", "output_type": "stream", "text": ["hi\n"]},
    {"data": {"image/png": %q, "text/plain": ["<Figure>"]}, "metadata": {}, "output_type": "display_data"},
    {"ename": "E", "evalue": "bad", "output_type": "error", "traceback": ["\u001b[31mline\u001b[0m 1"]}
   ],
   "source": [
    "print('hi')"
   ]
  }
 ],
 "metadata": {
  "language_info": {"name": "python"}
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
`

func nbFile(t *testing.T) string {
	return fmt.Sprintf(nbRaw, base64.StdEncoding.EncodeToString([]byte(pngFile(t, 4, 4))))
}

func TestReadNotebook(t *testing.T) {
	b := newBench(t, Config{})
	p := b.write("n.ipynb", nbFile(t))
	r := b.run("Read", in{"file_path": p})
	for _, want := range []string{
		`<cell id="intro"><cell_type>markdown</cell_type># Title` + "\ntext" + `</cell id="intro">`,
		`<cell id="work">print('hi')</cell id="work">`, "hi\n", "E: bad\nline 1", "Output image of cell work",
	} {
		if !strings.Contains(text(r), want) {
			t.Errorf("%q lacks %q", text(r), want)
		}
	}
	images := 0
	for _, blk := range r.Content {
		if _, ok := blk.(*msg.Image); ok {
			images++
		}
	}
	if images != 1 || data(t, r)["type"] != "notebook" {
		t.Errorf("%d images, %.100s", images, r.Data)
	}
	b.bad("Read", in{"file_path": b.write("bad.ipynb", "{")}, "not valid JSON")
	b.bad("Read", in{"file_path": b.write("old.ipynb", `{"nbformat":3,"worksheets":[]}`)}, "nbformat is 3")
	b.bad("Read", in{"file_path": b.write("nil.ipynb", "")}, "empty")
	if got := b.ok("Read", in{"file_path": b.path("bad.ipynb"), "offset": 1}); got != "1\t{" {
		t.Errorf("%q", got)
	}
}

func TestNotebookEdit(t *testing.T) {
	b := newBench(t, Config{})
	before := nbFile(t)
	p := b.write("n.ipynb", before)
	edit := func(v in) in { v["notebook_path"] = p; return v }
	b.bad("NotebookEdit", edit(in{"cell_id": "work", "new_source": "x"}), "has not been read", "Read")
	b.ok("Read", in{"file_path": p})
	r := b.run("NotebookEdit", edit(in{"cell_id": "intro", "new_source": "# New\nmore\n"}))
	if r.IsError {
		t.Fatal(text(r))
	}
	want := strings.Replace(before, "    \"# Title\\n\",\n    \"text\"\n", "    \"# New\\n\",\n    \"more\\n\"\n", 1)
	if got := b.content("n.ipynb"); got != want {
		t.Errorf("got %s", got)
	}
	if d := data(t, r); d["old_source"] != "# Title\ntext" || d["cell_type"] != "markdown" || d["language"] != "python" || d["edit_mode"] != "replace" || d["original_file"] != before {
		t.Errorf("%s", r.Data)
	}
	if s := b.ok("NotebookEdit", edit(in{"edit_mode": "insert", "cell_type": "code", "cell_id": "intro", "new_source": "y = 1"})); !strings.Contains(s, "newcell") {
		t.Error(s)
	}
	b.ok("NotebookEdit", edit(in{"edit_mode": "delete", "cell_id": "newcell", "new_source": ""}))
	if got := b.content("n.ipynb"); got != want {
		t.Errorf("insert and delete left %s", got)
	}
	b.bad("NotebookEdit", edit(in{"cell_id": "nope", "new_source": "x"}), "No cell", "intro, work")
	b.bad("NotebookEdit", edit(in{"edit_mode": "insert", "new_source": "x"}), "cell_type is needed")
	b.bad("NotebookEdit", edit(in{"new_source": "x"}), "cell_id is needed")
	b.bad("NotebookEdit", in{"notebook_path": b.path("x.txt"), "cell_id": "a", "new_source": "x"}, "not a notebook")
	b.write("n.ipynb", before)
	b.bad("NotebookEdit", edit(in{"cell_id": "intro", "new_source": "x"}), "has changed")
}
