package plugin

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFits(t *testing.T) {
	for _, c := range []struct {
		version, want string
		fits          bool
	}{
		{"1.2.3", "", true},
		{"1.2.3", "*", true},
		{"1.2.3", "1.2.3", true},
		{"1.2.4", "1.2.3", false},
		{"v1.2.3", "=1.2.3", true},
		{"1.9.0", "^1.2", true},
		{"2.0.0", "^1.2", false},
		{"2.0.0-rc.1", "^1.2", false},
		{"0.2.9", "^0.2.3", true},
		{"0.3.0", "^0.2.3", false},
		{"1.2.9", "~1.2.3", true},
		{"1.3.0", "~1.2.3", false},
		{"1.9.0", "~1", true},
		{"1.2.3", ">=1 <2", true},
		{"2.0.0", ">=1 <2", false},
		{"3.1.0", "1.x || ^3", true},
		{"1.5.0", "1.x", true},
		{"1.0.0-a", "1.0.0", false},
		{"abcdef012345", "^1", false},
		{"abcdef012345", "*", true},
	} {
		if got, err := Fits(c.version, c.want); got != c.fits || err != nil {
			t.Errorf("Fits(%q, %q) = %v, %v", c.version, c.want, got, err)
		}
	}
	if _, err := Fits("1.0.0", "^^1"); err == nil {
		t.Error("nonsense is a range")
	}
	for _, order := range []string{"1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 1.0.1 1.10.0"} {
		list := strings.Fields(order)
		for i := 1; i < len(list); i++ {
			if !Newer(list[i], list[i-1]) || Newer(list[i-1], list[i]) {
				t.Errorf("%s and %s are out of order", list[i-1], list[i])
			}
		}
	}
}

func zipped(t *testing.T, add func(*zip.Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	add(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarred(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, h := range headers {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write(make([]byte, h.Size)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestHostileArchives(t *testing.T) {
	file := func(name string) func(*zip.Writer) {
		return func(w *zip.Writer) {
			if f, err := w.Create(name); err == nil {
				_, _ = f.Write([]byte("x"))
			}
		}
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"up":       {zipped(t, file("../evil")), "leads out"},
		"absolute": {zipped(t, file("/etc/evil")), "leads out"},
		"windows":  {zipped(t, file(`..\evil`)), "leads out"},
		"deep":     {zipped(t, file(strings.Repeat("a/", maxDepth+2)+"x")), "leads out"},
		"twice":    {zipped(t, func(w *zip.Writer) { file("a")(w); file("a")(w) }), "exists"},
		"link": {zipped(t, func(w *zip.Writer) {
			h := &zip.FileHeader{Name: "l"}
			h.SetMode(os.ModeSymlink | 0o777)
			if f, err := w.CreateHeader(h); err == nil {
				_, _ = f.Write([]byte("/etc/passwd"))
			}
		}), "neither a file nor a folder"},
		"tar link":  {tarred(t, tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "/etc"}), "neither a file nor a folder"},
		"hard link": {tarred(t, tar.Header{Name: "l", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}), "neither a file nor a folder"},
		"device":    {tarred(t, tar.Header{Name: "l", Typeflag: tar.TypeChar}), "neither a file nor a folder"},
		"bomb":      {tarred(t, tar.Header{Name: "b", Typeflag: tar.TypeReg, Size: 1<<20 + 1, Mode: 0o644}), "more than"},
		"neither":   {[]byte("hello"), "neither a zip"},
	} {
		t.Run(name, func(t *testing.T) {
			outer := t.TempDir()
			dir := filepath.Join(outer, "in")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := unpack(c.data, dir, 1<<20); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if list, err := os.ReadDir(outer); err != nil || len(list) != 1 {
				t.Errorf("something came out: %v, %v", list, err)
			}
		})
	}
}

func TestArchive(t *testing.T) {
	dir := t.TempDir()
	data := zipped(t, func(w *zip.Writer) {
		h := &zip.FileHeader{Name: "p-1.0/bin/x"}
		h.SetMode(0o755)
		if f, err := w.CreateHeader(h); err == nil {
			_, _ = f.Write([]byte("#!/bin/sh\n"))
		}
	})
	if err := unpack(data, dir, maxUnpack); err != nil {
		t.Fatal(err)
	}
	root := single(dir)
	if st, err := os.Stat(filepath.Join(root, "bin", "x")); err != nil || filepath.Base(root) != "p-1.0" || st.Size() != 10 {
		t.Errorf("%s: %v", root, err)
	}
}

func TestSources(t *testing.T) {
	for _, c := range [][2]string{
		{`"./a/b"`, "a/b"},
		{`{"source":"github","repo":"o/r","ref":"v1"}`, "github o/r at v1"},
		{`{"github":"o/r"}`, "github o/r"},
		{`{"source":"url","url":"https://x.invalid/r.git"}`, "https://x.invalid/r.git"},
		{`{"source":"url","url":"git@x.invalid:o/r.git"}`, "git@x.invalid:o/r.git"},
		{`{"source":"git-subdir","url":"o/r","path":"tools/p"}`, "https://github.com/o/r tools/p"},
		{`{"source":"url","url":"ext::sh -c id"}`, "!no address"},
		{`{"source":"url","url":"--upload-pack=id"}`, "!no address"},
		{`{"source":"url","url":"http://x.invalid/r"}`, "!https"},
		{`{"source":"url","url":"https://x.invalid/r","ref":"-x"}`, "!no name of a commit"},
		{`{"source":"git-subdir","url":"o/r","path":"../p"}`, "!inside"},
		{`{"source":"npm","package":"x"}`, "!refused"},
		{`{"source":"command","command":"x"}`, "!refused"},
		{`{"source":"archive","url":"https://x.invalid/a.zip"}`, "!sha256"},
		{`"../x"`, "!inside"},
		{`"/x"`, "!inside"},
		{`7`, "!source"},
		{`{}`, "!kind"},
	} {
		raw, want := c[0], c[1]
		s, err := parseSource(json.RawMessage(raw))
		bad, isBad := strings.CutPrefix(want, "!")
		switch {
		case isBad && (err == nil || !strings.Contains(err.Error(), bad)):
			t.Errorf("%s: %v, want %q", raw, err, bad)
		case !isBad && (err != nil || s.String() != want):
			t.Errorf("%s: %q, %v", raw, s, err)
		}
	}
}

func TestAdministratorsLists(t *testing.T) {
	src := Source{Kind: "git", URL: "https://github.com/Evil/Shop.git"}
	for entry, want := range map[string]bool{
		`{"source":"github","repo":"evil/shop"}`:                    true,
		`{"source":"github","repo":"evil/other"}`:                   false,
		`{"source":"hostPattern","hostPattern":"github\\.com"}`:     true,
		`{"source":"hostPattern","hostPattern":"git"}`:              false,
		`{"source":"hostPattern","hostPattern":"("}`:                false,
		`{"source":"git","url":"https://github.com/Evil/Shop.git"}`: true,
		`{}`: false, `"x"`: false,
	} {
		if got := src.matches(json.RawMessage(entry)); got != want {
			t.Errorf("%s: %v", entry, got)
		}
	}
}

func FuzzMarket(f *testing.F) {
	f.Add([]byte(`{"name":"m","owner":{"name":"a"},"plugins":[{"name":"p","source":"./p"}]}`))
	f.Add([]byte(`{"name":"m","owner":{"name":"a"},"plugins":[{"name":"p","source":{"github":"a/b"}},7]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := parseMarket(raw)
		if err != nil {
			return
		}
		for _, l := range m.Plugins {
			if !validName(l.Name) || l.Err == nil && l.Source.Kind == "relative" && !filepath.IsLocal(l.Source.Path) {
				t.Errorf("%+v", l)
			}
		}
	})
}
