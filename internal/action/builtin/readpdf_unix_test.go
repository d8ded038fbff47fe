//go:build unix

package builtin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// renderer puts stand-ins for poppler's programs into a folder: what hew does
// with pages does not depend on who draws them. PAGES is the number of pages;
// page 2 has no text.
func renderer(t *testing.T, programs map[string]string) func(string, tool.Env) string {
	t.Helper()
	dir := t.TempDir()
	for name, script := range programs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return func(name string, _ tool.Env) string {
		if programs[name] == "" {
			return ""
		}
		return filepath.Join(dir, name)
	}
}

const (
	args      = `while [ $# -gt 0 ]; do case $1 in -f) f=$2;; -l) l=$2;; esac; shift; done; [ "$l" -gt "$PAGES" ] && l=$PAGES` + "\n"
	pageRange = `[ "$f" -gt "$PAGES" ] && { echo "Wrong page range given" >&2; exit 99; }` + "\n"
	totext    = args + pageRange + `n=$f; while [ "$n" -le "$l" ]; do [ $n = 2 ] || printf 'text of the page %s' "$n"; printf '\f'; n=$((n+1)); done`
)

func TestReadPDF(t *testing.T) {
	t.Setenv("PAGES", "3")
	pic := filepath.Join(t.TempDir(), "pic.png")
	if err := os.WriteFile(pic, []byte(pngFile(t, 8, 8)), 0o600); err != nil {
		t.Fatal(err)
	}
	toimage := args + pageRange + `cat '` + pic + `'`

	both := newBench(t, Config{Program: renderer(t, map[string]string{"pdftotext": totext, "pdftoppm": toimage})})
	p := both.write("d.pdf", "%PDF-1.7 …")
	r := both.run("Read", in{"file_path": p})
	if r.IsError || data(t, r)["file"].(map[string]any)["count"] != 3.0 {
		t.Fatalf("%s %s", text(r), r.Data)
	}
	if !strings.Contains(text(r), "<page number=\"3\">\ntext of the page 3\n</page>") {
		t.Errorf("%s", text(r))
	}
	if _, ok := r.Content[2].(*msg.Image); !ok {
		t.Errorf("page 2 has no text and is not shown: %s", text(r))
	}
	if got := both.ok("Read", in{"file_path": p, "pages": "3-4"}); got != "<page number=\"3\">\ntext of the page 3\n</page>" {
		t.Errorf("%q", got)
	}
	both.bad("Read", in{"file_path": p, "pages": "7"}, "has no page 7")

	images := newBench(t, Config{Program: renderer(t, map[string]string{"pdftoppm": toimage})})
	p = images.write("d.pdf", "%PDF-1.7 …")
	if r := images.run("Read", in{"file_path": p, "pages": "1-2"}); r.IsError || len(r.Content) != 4 {
		t.Errorf("%d blocks: %s", len(r.Content), text(r))
	}

	none := newBench(t, Config{Program: renderer(t, nil)})
	none.bad("Read", in{"file_path": none.write("d.pdf", "%PDF-1.7 …")}, "no program to read it is installed", "pdftotext", "PATH")

	broken := newBench(t, Config{Program: renderer(t, map[string]string{"pdftotext": "echo 'Syntax Error: no trailer' >&2; exit 1"})})
	broken.bad("Read", in{"file_path": broken.write("d.pdf", "%PDF-1.7 …")}, "cannot be read", "no trailer")

	t.Setenv("PAGES", "12")
	both.bad("Read", in{"file_path": both.path("d.pdf")}, "more than 10 pages", "pages")
	if got := both.ok("Read", in{"file_path": both.path("d.pdf"), "pages": "11-12"}); !strings.Contains(got, "page 12") {
		t.Errorf("%q", got)
	}
}
