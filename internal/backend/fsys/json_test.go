package fsys

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

func doc(t *testing.T, raw string) *JSONDoc {
	t.Helper()
	d, err := ParseJSON([]byte(raw))
	must(t, err)
	return d
}

func TestJSONDocEdits(t *testing.T) {
	set := func(v any, path ...string) func(*JSONDoc) error {
		return func(d *JSONDoc) error { return d.Set(v, path...) }
	}
	app := func(v any, path ...string) func(*JSONDoc) error {
		return func(d *JSONDoc) error { return d.Append(v, path...) }
	}
	del := func(path ...string) func(*JSONDoc) error {
		return func(d *JSONDoc) error { d.Delete(path...); return nil }
	}
	rem := func(v any, path ...string) func(*JSONDoc) error {
		return func(d *JSONDoc) error { _, err := d.Remove(v, path...); return err }
	}
	for _, c := range []struct {
		name, raw string
		change    func(*JSONDoc) error
		want      string
	}{
		{"empty file", "", set("x", "model"), "{\n  \"model\": \"x\"\n}\n"},
		{"empty file nested", " \n", app("Bash(a && b)", "permissions", "allow"), "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(a && b)\"\n    ]\n  }\n}\n"},
		{"replace scalar", "{ \"a\" : 1,\n\t\"b\": 2 }", set(3, "a"), "{ \"a\" : 3,\n\t\"b\": 2 }"},
		{"new key keeps tabs", "{\n\t\"a\": 1\n}\n", set(true, "b"), "{\n\t\"a\": 1,\n\t\"b\": true\n}\n"},
		{"new key, four blanks, nested value", "{\n    \"a\": 1\n}", set(map[string]int{"c": 1}, "b"), "{\n    \"a\": 1,\n    \"b\": {\n        \"c\": 1\n    }\n}"},
		{"one line", `{"a":1}`, set(2, "b"), `{"a":1,"b": 2}`},
		{"crlf", "{\r\n  \"a\": 1\r\n}\r\n", set(2, "b"), "{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}\r\n"},
		{"keys with dots", `{"a.b": 1, "a": {"b": 2}}`, set(3, "a.b"), `{"a.b": 3, "a": {"b": 2}}`},
		{"escaped key", `{"\u0061": 1}`, set(2, "a"), `{"\u0061": 2}`},
		{"last of two keys", `{"a": 1, "a": 2}`, set(3, "a"), `{"a": 1, "a": 3}`},
		{"append", "{\n  \"l\": [\n    \"x\"\n  ]\n}", app("y", "l"), "{\n  \"l\": [\n    \"x\",\n    \"y\"\n  ]\n}"},
		{"append twice is once", `{"l": ["x", "\u0079"]}`, app("y", "l"), `{"l": ["x", "\u0079"]}`},
		{"append to empty", "{\n  \"l\": []\n}", app("y", "l"), "{\n  \"l\": [\n    \"y\"\n  ]\n}"},
		{"delete first", "{\n  \"a\": 1,\n  \"b\": 2\n}", del("a"), "{\n  \"b\": 2\n}"},
		{"delete last", "{\n  \"a\": 1,\n  \"b\": 2\n}", del("b"), "{\n  \"a\": 1\n}"},
		{"delete middle", `{"a":1, "b":2, "c":3}`, del("b"), `{"a":1, "c":3}`},
		{"delete only", `{"x": {"a": 1}}`, del("x", "a"), `{"x": {}}`},
		{"delete missing", `{"x": 1}`, del("x", "a"), `{"x": 1}`},
		{"remove element", `{"l": ["a", "b", "a", "c"]}`, rem("a", "l"), `{"l": ["b", "c"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := doc(t, c.raw)
			must(t, c.change(d))
			if got := string(d.Bytes()); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestJSONDocRefuses(t *testing.T) {
	d := doc(t, `{"a": 1, "n": null}`)
	if d.Set(1, "a", "b") == nil || d.Append(1, "a") == nil || d.Set(1, "n", "x") == nil || d.Set(1) == nil {
		t.Error("a change that destroys a value of another type went through")
	}
	if got := string(d.Bytes()); got != `{"a": 1, "n": null}` {
		t.Errorf("now %s", got)
	}
}

func TestUpdateJSONLeavesInvalidFilesAlone(t *testing.T) {
	for raw, at := range map[string][2]int{
		"{\n  \"a\": 1,\n}":      {3, 1},
		"{\n  // note\n}":        {2, 3},
		"[1]":                    {1, 1},
		"\n  \"text\"":           {2, 3},
		"{} {}":                  {1, 4},
		"{\"a\": ":               {1, 6},
		"\xef\xbb\xbf{}":         {1, 1},
		"{\"a\": \"\xff\"}":      {1, 8},
		"{\"é\": tru}":           {1, 10},
		"{\"a\": 1}\x00":         {1, 9},
		"<<<<<<< HEAD\n{}":       {1, 1},
		"{\n\"a\": 1\n\"b\": 2}": {3, 1},
	} {
		p := filepath.Join(realDir(t), "s.json")
		put(t, p, raw)
		err := UpdateJSON(t.Context(), p, WriteOptions{}, func(d *JSONDoc) error { return d.Set(1, "x") })
		var bad *InvalidJSONError
		if !errors.As(err, &bad) || content(t, p) != raw {
			t.Errorf("%q: %v; file now %q", raw, err, content(t, p))
			continue
		}
		if bad.Line != at[0] || bad.Col != at[1] {
			t.Errorf("%q: reported at %d:%d, want %d:%d (%s)", raw, bad.Line, bad.Col, at[0], at[1], bad.Reason)
		}
	}
}

func TestUpdateJSON(t *testing.T) {
	p := filepath.Join(realDir(t), "new", "s.json")
	add := func(key string) error {
		return UpdateJSON(t.Context(), p, WriteOptions{Mode: 0o600}, func(d *JSONDoc) error { return d.Set(1, key) })
	}
	must(t, add("a"))
	must(t, add("b"))
	if got := content(t, p); got != "{\n  \"a\": 1,\n  \"b\": 1\n}\n" {
		t.Errorf("file: %q", got)
	}
	before, err := os.Stat(p)
	must(t, err)
	must(t, add("b"))
	if after, _ := os.Stat(p); !os.SameFile(before, after) {
		t.Error("an update that changes nothing wrote the file")
	}
	stop := errors.New("stop")
	if err := UpdateJSON(t.Context(), p, WriteOptions{}, func(d *JSONDoc) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	if got := names(t, filepath.Dir(p)); got != "s.json" {
		t.Errorf("folder: %s", got)
	}
}

func TestUpdateJSONConcurrently(t *testing.T) {
	p := filepath.Join(realDir(t), "s.json")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if err := UpdateJSON(t.Context(), p, WriteOptions{}, func(d *JSONDoc) error { return d.Set(i, fmt.Sprint("k", i)) }); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var got map[string]int
	must(t, json.Unmarshal([]byte(content(t, p)), &got))
	if len(got) != 20 {
		t.Errorf("%d of 20 updates are there", len(got))
	}
}

func TestWithLock(t *testing.T) {
	p := filepath.Join(realDir(t), "dir", "lock")
	inner := WithLock(t.Context(), p, func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		return WithLock(ctx, p, func() error { t.Error("two holders"); return nil })
	})
	if CauseOf(inner) != CauseLocked || !errors.Is(inner, context.DeadlineExceeded) {
		t.Errorf("held lock: %v", inner)
	}
	must(t, WithLock(t.Context(), p, func() error { return nil }))
}

func FuzzJSONDoc(f *testing.F) {
	for _, s := range []string{``, `{}`, `{"a":1}`, "{\n\t\"a\": {\"b\": [1, 2]},\n\t\"b\": []\n}", `{"a": {}, "a": {"b": "x\"}"}}`, `{"a":[{"b":[[]]}]}`} {
		f.Add(s, "a", "b", "v")
	}
	f.Fuzz(func(t *testing.T, raw, k1, k2, v string) {
		k1, k2, v = strings.ToValidUTF8(k1, "?"), strings.ToValidUTF8(k2, "?"), strings.ToValidUTF8(v, "?")
		d, err := ParseJSON([]byte(raw))
		if err != nil {
			return
		}
		want := parsed(t, d)
		check := func(what string) {
			if got := parsed(t, d); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s on %q: got %v, want %v (%s)", what, raw, got, want, d.Bytes())
			}
		}
		if d.Set(v, k1) == nil {
			want[k1] = v
			check("set")
		}
		d.Delete(k1)
		delete(want, k1)
		dup := parsed(t, d)[k1] != nil
		if dup {
			t.Fatalf("delete left one of two keys in %q: %s", raw, d.Bytes())
		}
		check("delete")
		must(t, d.Set(v, k1, k2))
		want[k1] = map[string]any{k2: v}
		check("set below")
		list := k1 + "l" + k2 + "list"
		if _, taken := want[list]; !taken {
			must(t, d.Append(v, list))
			want[list] = []any{v}
			check("append")
		}
	})
}

// parsed is the oracle: what encoding/json makes of the text.
func parsed(t *testing.T, d *JSONDoc) map[string]any {
	t.Helper()
	out := map[string]any{}
	if len(strings.TrimSpace(string(d.Bytes()))) == 0 {
		return out
	}
	if err := json.Unmarshal(d.Bytes(), &out); err != nil {
		t.Fatalf("no longer JSON: %v: %q", err, d.Bytes())
	}
	return out
}
