package markdown

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// inPieces writes doc in pieces of at most most bytes and compares, after each,
// what is final and what is open with a Stream that got the same bytes at once.
func inPieces(t *testing.T, doc string, width, most int, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	var s Stream
	var done []style.Line
	for at := 0; at < len(doc); {
		n := min(at+1+r.IntN(most), len(doc))
		s.Write(doc[at:n])
		at = n
		done = append(done, s.Finished(width)...)
		if r.IntN(4) > 0 {
			continue
		}
		var once Stream
		once.Write(doc[:at])
		want := append(once.Finished(width), once.Open(width, 1<<20)...)
		got := append(done[:len(done):len(done)], s.Open(width, 1<<20)...)
		same(t, fmt.Sprintf("the first %d bytes", at), got, want)
	}
	done = append(done, s.Close(width)...)
	same(t, "all", done, Render(doc, width))
	for _, l := range done {
		if l.Width() > width {
			t.Fatalf("%q is %d wide, more than %d", l.String(), l.Width(), width)
		}
	}
}

func same(t *testing.T, what string, got, want []style.Line) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		a, b := "(none)", "(none)"
		if i < len(got) {
			a = fmt.Sprintf("%v", got[i])
		}
		if i < len(want) {
			b = fmt.Sprintf("%v", want[i])
		}
		if a != b {
			t.Fatalf("%s: line %d is %q in pieces, %q at once", what, i, a, b)
		}
	}
}

func sample(t testing.TB) string {
	b, err := os.ReadFile("testdata/sample.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestPiecesMakeTheSameLines(t *testing.T) {
	doc := sample(t)
	long := "# long\n" + strings.Repeat("A sentence of **words** that goes on and on. ", 400) + "\n\n```go\n" + strings.Repeat("x := 1; ", 3000) + "\n```\n" +
		"| a | b |\n|---|--:|\n" + strings.Repeat("| one | 2 |\n", 90) + "\nend"
	for seed := range uint64(6) {
		inPieces(t, doc, []int{40, 80, 200}[seed%3], int(2+seed*seed*3), seed)
	}
	inPieces(t, long, 80, 4000, 1)
}

func FuzzStream(f *testing.F) {
	f.Add(sample(f), uint64(1), 40)
	for _, s := range []string{"a\n===\n- b\n  - [x] c\n\n> q\n> - r\n", "| a | b |\n|--|:-:|\n| `x|y` | 日本 |\n", "1. a\n   ```go\ncode\n```\n2. b", "[a]: http://x\n[a] **b *c** d* <br> ![i](j)"} {
		f.Add(s, uint64(2), 20)
	}
	f.Fuzz(func(t *testing.T, doc string, seed uint64, width int) {
		if len(doc) < 2500 {
			inPieces(t, doc, 2+max(width, -width, 0)%200, 1+int(seed%40), seed)
		}
	})
}
