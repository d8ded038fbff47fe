package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// glyph is a character that is drawn, with its look.
type glyph struct {
	r    rune
	role style.Role
}

// signs are the characters of lines without blanks and rules, which move and
// grow with what is between them.
func signs(lines []style.Line) []glyph {
	var out []glyph
	for _, l := range lines {
		for _, s := range l {
			for _, r := range s.Text {
				if r == ' ' || r == '─' {
					continue
				}
				if s.Role >= style.Keyword && s.Role <= style.Operator { // a word of code is known at its end
					s.Role = style.Plain
				}
				out = append(out, glyph{r, s.Role})
			}
		}
	}
	return out
}

// flickers counts the pieces after which something stood on the screen that the
// whole text has not: half a mark, or text in another look.
func flickers(doc string, width int) (n int, first string) {
	want := signs(Render(doc, width))
	var s Stream
	var done []style.Line
	for i := range len(doc) {
		s.Write(doc[i : i+1])
		done = append(done, s.Finished(width)...)
		got := signs(append(done[:len(done):len(done)], s.Open(width, 1<<20)...))
		for k, g := range got {
			if k >= len(want) || want[k] != g {
				if n++; n == 1 {
					first = fmt.Sprintf("after %q: %q", doc[max(0, i-30):i+1], string(g.r))
				}
				break
			}
		}
	}
	return n, first
}

func TestWhatIsDrawnStays(t *testing.T) {
	for _, doc := range []string{
		"Some **bold words** and *slanted* ones, `code`, ***both***, ~~gone~~ and __strong__ text.\n",
		"A [link to](https://example.com/a_b) and ![an image](x.png \"t\") and <https://a.b/c> at the end.\n",
		"# Heading with `code`\n\nText\n\n## Another\ntext below\n",
		"- one\n- two **bold**\n  - three\n\n    more of three\n1. first\n2. second\n   ```sh\n   ls -l\n   ```\n- [ ] open\n- [x] done\n* star\n+ plus\n",
		"| A | B |\n|---|--:|\n| one | **two** |\n| three | `four` |\n\nafter\n",
		"> quoted **text**\n> more\n\n---\n\nend\n",
		"```go\nfunc main() { // a comment\n\tfmt.Println(\"x\")\n}\n```\ndone\n",
		"5 * 3 = 15, a_b_c, 2 ** 3 and snake_case, x < y && z > w.\n",
		"Ends with a hard break\\\nnext &amp; more  \nlast\n",
		"12 apples and 3. of them\n",
	} {
		for _, width := range []int{20, 80} {
			if n, first := flickers(doc, width); n > 0 {
				t.Errorf("%d of %d pieces of %q flicker, %s", n, len(doc), doc, first)
			}
		}
	}
	if n, first := flickers(strings.ReplaceAll(sample(t), "**bold and `code", ""), 80); n > 80 { // a reference without its address, a heading that is underlined later
		t.Errorf("%d pieces of the sample flicker, %s", n, first)
	}
}
