// Command picture draws what a program prints as an SVG of a terminal, for the documents.
//
// The README's picture is made by `make picture`, from a real run of the demo.
package main

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

const (
	size    = 13   // font size, px
	advance = 7.83 // width of a character at that size
	leading = 18   // line height
	pad     = 18
	bar     = 30 // title bar
	columns = 100
)

// colours by the first word of a line; anything else is plain.
var colours = []struct{ prefix, class string }{
	{"$ ", "cmd"},
	{"model ", "model"},
	{"tool ", "tool"},
	{"       +", "add"},
	{"       -", "del"},
	{"       --- FAIL", "del"},
	{"       FAIL", "del"},
	{"       ok", "add"},
	{"summary", "tool"},
	{"note ", "cmd"},
}

func main() {
	if err := draw(os.Stdout, os.Stdin, strings.Join(os.Args[1:], " ")); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func draw(w io.Writer, r io.Reader, command string) error {
	lines, err := read(r)
	if err != nil {
		return err
	}
	lines = append([]string{"$ " + command}, lines...)
	width := int(columns*advance) + 2*pad
	height := bar + len(lines)*leading + 2*pad
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" xml:space="preserve" width="%d" height="%d" role="img" aria-label="%s in a terminal">
<style>text{font:%dpx ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#c9d1d9;white-space:pre}.cmd{fill:#8b949e}.model{fill:#e6edf3;font-weight:600}.tool{fill:#79c0ff}.add{fill:#7ee787}.del{fill:#ff7b72}</style>
<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>
<circle cx="20" cy="16" r="5" fill="#ff5f56"/><circle cx="38" cy="16" r="5" fill="#ffbd2e"/><circle cx="56" cy="16" r="5" fill="#27c93f"/>
`, width, height, width, height, html.EscapeString(command), size)
	for i, l := range lines {
		fmt.Fprintf(w, "<text x=\"%d\" y=\"%d\"%s>%s</text>\n", pad, bar+pad+i*leading, class(l), html.EscapeString(l))
	}
	_, err = fmt.Fprintln(w, "</svg>")
	return err
}

func class(l string) string {
	for _, c := range colours {
		if strings.HasPrefix(l, c.prefix) {
			return ` class="` + c.class + `"`
		}
	}
	return ""
}

// read wraps long lines as a terminal would, and spells tabs out.
func read(r io.Reader) ([]string, error) {
	var out []string
	s := bufio.NewScanner(r)
	for s.Scan() {
		l := strings.TrimRight(strings.ReplaceAll(s.Text(), "\t", "    "), " ")
		for utf8.RuneCountInString(l) > columns {
			cut := strings.LastIndex(string([]rune(l)[:columns]), " ")
			if cut <= 8 {
				cut = len(string([]rune(l)[:columns]))
			}
			out = append(out, l[:cut])
			l = "       " + strings.TrimLeft(l[cut:], " ")
		}
		out = append(out, l)
	}
	return out, s.Err()
}
