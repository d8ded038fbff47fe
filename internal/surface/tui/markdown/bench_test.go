package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/surface/tui/style"
	"github.com/hew-agent/hew/internal/tool"
)

// deltas cuts n pieces of about five bytes, as models send them, from a text
// that is repeated.
func deltas(text string, n int) []string {
	for len(text) < n*5 {
		text += text
	}
	out := make([]string, n)
	for i := range out {
		out[i] = text[i*5 : i*5+5]
	}
	return out
}

// BenchmarkStream delivers 20,000 pieces and draws what is open after each: the
// most that a terminal can ask for. One operation is the whole message.
func BenchmarkStream(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"sample", sample(b) + "\n"},
		{"paragraph", "A very long **paragraph** without `any` line end at all, which goes on. "},
		{"word", "x"},
		{"code", "\tif x := f(\"text\"); x != nil { return x } // and so on\n"},
		{"list", "- an item with *some* words\n"},
		{"table", "| a cell | another one | 12 |\n|---|---|---|\n| a cell | another one | 12 |\n"},
		{"stars", "**a *b `c [d](e "},
	} {
		for _, n := range []int{2000, 20000} {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				head := ""
				switch c.name {
				case "code":
					head = "```go\n"
				case "table":
					head = "| A | B | C |\n|---|---|---|\n"
				}
				list := deltas(c.text, n)
				b.ReportAllocs()
				for b.Loop() {
					var s Stream
					s.Write(head)
					for _, d := range list {
						s.Write(d)
						s.Finished(100)
						s.Open(100, 20)
					}
					s.Close(100)
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/delta")
			})
		}
	}
}

// BenchmarkRender is a whole document at once.
func BenchmarkRender(b *testing.B) {
	doc := strings.Repeat(sample(b)+"\n", 32)
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		Render(doc, 100)
	}
}

func BenchmarkLexer(b *testing.B) {
	line := "\tif x := f(\"text\", 0x1F); x != nil && y.Z { return x } // and so on"
	for _, name := range []string{"go", "python", "sh", "html", "css"} {
		b.Run(name, func(b *testing.B) {
			x := newLexer(name)
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				x.line(line)
			}
		})
	}
}

func BenchmarkDiff(b *testing.B) {
	h := tool.Hunk{OldStart: 1, NewStart: 1}
	for i := range 20000 {
		h.Lines = append(h.Lines, fmt.Sprintf("-\treturn one(%d) + two", i), fmt.Sprintf("+\treturn one(%d) + three", i))
	}
	v := tool.DiffView{Path: "x.go", Hunks: []tool.Hunk{h}}
	for _, most := range []int{20, 0} {
		b.Run(fmt.Sprintf("max%d", most), func(b *testing.B) {
			for b.Loop() {
				Diff(v, 100, Options{Max: most})
			}
		})
	}
}

var kept []style.Line

// BenchmarkOutput is the short form of a large output.
func BenchmarkOutput(b *testing.B) {
	v := tool.TerminalView{Command: "x", Output: strings.Repeat("a line of output\n", 600000)}
	for b.Loop() {
		kept = View(v, 100, Options{Max: 5})
	}
}
