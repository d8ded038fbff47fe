package notebook

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

const pretty = `{
 "cells": [
  {
   "cell_type": "code",
   "execution_count": 1,
   "id": "a",
   "metadata": {"keep":  [1.0,2]},
   "outputs": [
    {"output_type": "stream", "name": "stdout", "text": "x"}
   ],
   "source": "one",
   "unknown": {"k": "v"}
  },
  {
   "cell_type": "markdown",
   "id": "b",
   "metadata": {},
   "source": []
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5,
 "extra": 1e3
}`

const compact = `{"cells":[{"cell_type":"code","metadata":{},"execution_count":null,"outputs":[],"source":["a\n","b"]}],"metadata":{},"nbformat":4,"nbformat_minor":4}`

func parse(t *testing.T, raw string) *Notebook {
	t.Helper()
	n, err := Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestReplace(t *testing.T) {
	got := string(parse(t, pretty).Replace(0, "two\nlines <&>", ""))
	want := strings.NewReplacer(`"one"`, `"two\nlines <&>"`, `"execution_count": 1`, `"execution_count": null`,
		"[\n    {\"output_type\": \"stream\", \"name\": \"stdout\", \"text\": \"x\"}\n   ]", "[]").Replace(pretty)
	if got != want {
		t.Errorf("%s", got)
	}
	if got := string(parse(t, pretty).Replace(1, "x\ny", "")); !strings.Contains(got, "\"source\": [\n    \"x\\n\",\n    \"y\"\n   ]\n") {
		t.Errorf("%s", got)
	}
	if got := string(parse(t, compact).Replace(0, "c\nd\n", "")); !strings.Contains(got, `"source":["c\n", "d\n"]`) {
		t.Errorf("%s", got)
	}
	if got := string(parse(t, compact).Replace(0, "", "")); !strings.Contains(got, `"source":[]`) {
		t.Errorf("%s", got)
	}
}

func TestRetype(t *testing.T) {
	n := parse(t, string(parse(t, pretty).Replace(0, "# h", "markdown")))
	c := n.cells[0]
	if c.Get("cell_type").Str != "markdown" || c.Get("outputs").Exists() || c.Get("execution_count").Exists() ||
		c.Get("unknown.k").Str != "v" || c.Get("id").Str != "a" || c.Get("metadata.keep").Raw == "" {
		t.Errorf("%s", c.Raw)
	}
	n = parse(t, string(n.Replace(0, "x = 1", "code")))
	if c := n.cells[0]; c.Get("outputs").Raw != "[]" || c.Get("execution_count").Raw != "null" {
		t.Errorf("%s", c.Raw)
	}
}

func TestInsertAndDelete(t *testing.T) {
	for name, raw := range map[string]string{
		"pretty": pretty, "compact": compact, "crlf": strings.ReplaceAll(pretty, "\n", "\r\n"), "bom": "\xef\xbb\xbf" + pretty,
		"tabs": strings.ReplaceAll(pretty, "\n ", "\n\t"),
	} {
		n := parse(t, raw)
		for after := -1; after < len(n.cells); after++ {
			out := n.Insert(after, "new\ncell", "code", "fresh")
			m := parse(t, string(out))
			if text, kind := m.Source(after + 1); text != "new\ncell" || kind != "code" || len(m.cells) != len(n.cells)+1 {
				t.Fatalf("%s after %d: %s", name, after, out)
			}
			if wants := m.cells[after+1].Get("id").Exists(); wants != m.WantsIDs() {
				t.Errorf("%s: id %v", name, wants)
			}
			if name == "crlf" && strings.Count(string(out), "\n") != strings.Count(string(out), "\r\n") {
				t.Errorf("%s: a bare line feed in %q", name, out)
			}
			if back := string(m.Delete(after + 1)); back != raw {
				t.Errorf("%s after %d: delete gives %s", name, after, back)
			}
		}
	}
	empty := parse(t, string(parse(t, compact).Delete(0)))
	if got := parse(t, string(empty.Insert(-1, "x", "markdown", ""))); len(got.cells) != 1 {
		t.Error("insert into an empty notebook")
	}
	one := parse(t, string(parse(t, pretty).Delete(0)))
	if got := parse(t, string(one.Delete(0))); len(got.cells) != 0 {
		t.Error("delete of the last cell")
	} else if out := string(got.Insert(-1, "x", "code", "i")); !json.Valid([]byte(out)) || !strings.Contains(out, "\n  {\n   \"cell_type\"") {
		t.Errorf("%s", out)
	}
}

func TestFind(t *testing.T) {
	n := parse(t, compact)
	if !slices.Equal(n.IDs(), []string{"cell-0"}) || n.Find("cell-0") != 0 || n.Find("cell-1") != -1 || n.Find("x") != -1 {
		t.Errorf("%v", n.IDs())
	}
	if n := parse(t, pretty); n.Find("b") != 1 || n.Find("cell-1") != 1 {
		t.Error("by place")
	}
}

func FuzzChange(f *testing.F) {
	f.Add([]byte(pretty), "x\ny", uint8(0))
	f.Add([]byte(compact), "", uint8(1))
	f.Add([]byte(`{"nbformat":4,"cells":[{},{"source":null,"cell_type":"code"}]}`), "a", uint8(2))
	f.Fuzz(func(t *testing.T, raw []byte, source string, what uint8) {
		n, err := Parse(raw)
		if err != nil {
			return
		}
		n.Text()
		n.Pictures()
		var out []byte
		switch i := int(what/4) % max(1, len(n.cells)); {
		case len(n.cells) == 0 || what%4 == 0:
			out = n.Insert(len(n.cells)-1, source, "code", "i")
		case what%4 == 1:
			out = n.Delete(i)
		case what%4 == 2:
			out = n.Replace(i, source, "")
		default:
			out = n.Replace(i, source, "markdown")
		}
		if err := Check(out); err != nil {
			t.Fatalf("%q becomes %q: %v", raw, out, err)
		}
	})
}
