package fsys

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(content), 0o644))
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

// realDir is a temporary folder by its canonical name (macOS puts them behind a link).
func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir
}

func TestAbs(t *testing.T) {
	home := realDir(t)
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	cwd := filepath.Join(home, "work")
	for in, want := range map[string]string{
		"a/../b":                 filepath.Join(cwd, "b"),
		".":                      cwd,
		"~":                      home,
		"~/x":                    filepath.Join(home, "x"),
		"~user/x":                filepath.Join(cwd, "~user", "x"),
		filepath.Join(home, "y"): filepath.Join(home, "y"),
		"line\nbreak":            filepath.Join(cwd, "line\nbreak"),
	} {
		if got, err := Abs(cwd, in); err != nil || got != want {
			t.Errorf("Abs(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
	for _, bad := range []string{"", "a\x00b"} {
		if _, err := Abs(cwd, bad); CauseOf(err) != CauseBadPath {
			t.Errorf("Abs(%q): %v", bad, err)
		}
	}
	if _, err := Abs("rel", "x"); CauseOf(err) != CauseBadPath {
		t.Errorf("relative working directory: %v", err)
	}
}

func TestReal(t *testing.T) {
	d := realDir(t)
	must(t, os.MkdirAll(filepath.Join(d, "real", "sub"), 0o755))
	put(t, filepath.Join(d, "file"), "x")
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(d, name)); err != nil {
			t.Skip("left out: links (needs the right to make them):", err)
		}
	}
	link("real", "rel")
	link(filepath.Join(d, "rel", "sub"), "abs")
	link("nowhere/x", "dangling")
	link("loop2", "loop1")
	link("loop1", "loop2")
	for in, want := range map[string]string{
		"rel":              "real",
		"rel/new/file":     "real/new/file",
		"abs/../up":        "real/up", // as the system does it: after the link
		"dangling":         "nowhere/x",
		"missing/a/../b":   "missing/b",
		"file/below":       "file/below",
		"real/./sub//deep": "real/sub/deep",
	} {
		got, err := Real(d + "/" + in)
		if want = filepath.Join(d, filepath.FromSlash(want)); err != nil || got != want {
			t.Errorf("Real(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
	if _, err := Real(filepath.Join(d, "loop1", "x")); CauseOf(err) != CauseLinkLoop {
		t.Errorf("loop: %v", err)
	}
	if KindOf(filepath.Join(d, "loop1")) != KindLinkLoop {
		t.Error("a loop has another kind")
	}
	loc, err := Locate(d, "rel/f")
	if err != nil || !loc.Linked() || loc.Name != filepath.Join(d, "rel", "f") || loc.Real != filepath.Join(d, "real", "f") {
		t.Errorf("Locate = %+v, %v", loc, err)
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		root, path string
		want       bool
	}{
		{"/a/b", "/a/b", true},
		{"/a/b", "/a/b/c", true},
		{"/a/b", "/a/bc", false},
		{"/a/b", "/a", false},
		{"/", "/x", true},
	} {
		if got := Within(filepath.FromSlash(c.root), filepath.FromSlash(c.path)); got != c.want {
			t.Errorf("Within(%q, %q) = %v", c.root, c.path, got)
		}
	}
}

func TestKinds(t *testing.T) {
	d := realDir(t)
	put(t, filepath.Join(d, "f"), "x")
	sock := filepath.Join(d, "s")
	if l, err := net.Listen("unix", sock); err == nil {
		defer func() { must(t, l.Close()) }()
		if k := KindOf(sock); k != KindSocket && runtime.GOOS != "windows" {
			t.Errorf("socket is %v", k)
		}
	}
	for path, want := range map[string]Kind{
		filepath.Join(d, "f"):      KindRegular,
		d:                          KindDir,
		filepath.Join(d, "f", "x"): KindMissing,
		filepath.Join(d, "none"):   KindMissing,
		os.DevNull:                 KindDevice,
	} {
		if got := KindOf(path); got != want && (runtime.GOOS != "windows" || path != os.DevNull) {
			t.Errorf("KindOf(%q) = %v, want %v", path, got, want)
		}
	}
	for path, want := range map[string]Cause{d: CauseIsDir, filepath.Join(d, "none"): CauseMissing} {
		if _, err := ReadText(path, Limits{}); CauseOf(err) != want {
			t.Errorf("ReadText(%q): %v", path, err)
		}
	}
}

func TestErrorTexts(t *testing.T) {
	e := &Error{Op: "write", Path: "a\nb", Cause: CauseDiskFull, Err: &fs.PathError{Op: "write", Path: "tmp", Err: errors.New("no space left on device")}}
	if got := e.Error(); strings.Contains(got, "\n") || strings.Contains(got, "tmp") || !strings.Contains(got, "free some") {
		t.Errorf("text: %q", got)
	}
	for in, want := range map[string]string{"/a b/é": "/a b/é", `c:\x"y`: `c:\x"y`, "\x1b[31m": `"\x1b[31m"`, "a\xff": `"a\xff"`} {
		if got := Printable(in); got != want {
			t.Errorf("Printable(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestReadState(t *testing.T) {
	d := realDir(t)
	p := filepath.Join(d, "f")
	put(t, p, "one\n")
	var r ReadState
	if r.Check(p) != Unread {
		t.Error("never read, yet known")
	}
	see := func(e Extent) {
		raw, st, err := ReadRaw(p, Limits{})
		must(t, err)
		r.Record(p, View{Status: st, Content: raw, Extent: e})
	}
	expect := func(what string, want Freshness) {
		t.Helper()
		if got := r.Check(p); got != want {
			t.Errorf("%s: Check = %v, want %v", what, got, want)
		}
	}
	see(Partial)
	expect("partial", PartialView)
	see(Whole)
	expect("whole", Fresh)
	see(Partial)
	expect("partial after whole, unchanged", Fresh)

	st, err := os.Stat(p)
	must(t, err)
	put(t, p, "two\n") // same size
	must(t, os.Chtimes(p, st.ModTime(), st.ModTime()))
	expect("in place, size and time kept", Changed)
	if got := r.CheckContent(p, []byte("two\n")); got != Changed {
		t.Errorf("CheckContent = %v", got)
	}
	see(Whole)
	must(t, os.Chtimes(p, st.ModTime().Add(1e9), st.ModTime().Add(1e9)))
	expect("touched", Fresh)

	clone := r.Clone()
	r.Forget(p)
	expect("forgotten", Unread)
	if clone.Check(p) != Fresh {
		t.Error("the clone forgot, too")
	}
	if err := os.Symlink(p, filepath.Join(d, "l")); err == nil && clone.Check(filepath.Join(d, "l")) != Fresh {
		t.Error("a link to the file is another file")
	}
	must(t, os.Remove(p))
	if clone.Check(p) != Changed {
		t.Error("a removed file is not changed")
	}
}

func TestReadStateWithoutContent(t *testing.T) {
	p := filepath.Join(realDir(t), "f")
	put(t, p, "one\n")
	st, err := Stat(p)
	must(t, err)
	var r ReadState
	r.Record(p, View{Status: st, Extent: Partial})
	if got := r.Check(p); got != PartialView {
		t.Errorf("Check = %v", got)
	}
	put(t, p, "longer\n")
	if r.Check(p) != Changed || r.CheckContent(p, []byte("longer\n")) != Changed {
		t.Error("the change was not seen")
	}
}
