package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// told writes lines with what the roles and links of their spans are.
func told(lines []style.Line) string {
	names := map[style.Role]string{
		style.Bold: "b", style.Italic: "i", style.Strike: "s", style.Heading: "h", style.Link: "a", style.Quote: "q", style.InlineCode: "c",
		style.Rule: "r", style.Dim: "d", style.Success: "ok",
	}
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, s := range l {
			switch name := names[s.Role]; {
			case s.Link != "":
				fmt.Fprintf(&b, "<%s %s>%s</>", name, s.Link, s.Text)
			case name != "" && s.Role != style.Dim && s.Role != style.Rule:
				fmt.Fprintf(&b, "<%s>%s</>", name, s.Text)
			default:
				b.WriteString(s.Text)
			}
		}
	}
	return b.String()
}

func TestInline(t *testing.T) {
	for in, want := range map[string]string{
		"*a* **b** ***c*** _d_ __e__":       "<i>a</> <b>b</> <b>c</> <i>d</> <b>e</>",
		"a*b*c snake_case_name 2 * 3 * 4":   "a<i>b</>c snake_case_name 2 * 3 * 4",
		"**bold *and* more**":               "<b>bold and more</>",
		"*a **b* c**":                       "<i>a b c</>",
		"**open and `x":                     "**open and `x",
		"~~gone~~ ~not~ a~b":                "<s>gone</> ~not~ a~b",
		"`a ``b`` c` ``d`e``":               "<c>a ``b`` c</> <c>d`e</>",
		"`` ` ``":                           "<c>`</>",
		`\*no\* \_ \q`:                      `*no* _ \q`,
		"`\\*`":                             `<c>\*</>`,
		"&amp; &lt; &#65; &#x1b; &nope; &;": "& < A \\u001b &nope; &;",
		"[a](b) [c](<d e> \"t\") [e]( f )":  "<a b>a</> <a d e>c</> <a f>e</>",
		"[a](b(c)d) [x](y":                  "<a b(c)d>a</> [x](y",
		"[**a** `b`](c)":                    "<a c>a </><c c>b</>",
		"[a [b](c) d](e)":                   "[a <a c>b</> d](e)",
		"![a](b) [![i](j)](k)":              "<a b>image: a</> <a k>image: i</>",
		"[x] [1] [^note] a[0]":              "[x] [1] [^note] a[0]",
		"<https://a.b> <me@a.b> <b>x</b>":   "<a https://a.b>https://a.b</> <a mailto:me@a.b>me@a.b</> <b>x</b>",
		"see https://a.b/c_d_e, (http://x.y/(z)) xhttp://n": "see <a https://a.b/c_d_e>https://a.b/c_d_e</>, (<a http://x.y/(z)>http://x.y/(z)</>) xhttp://n",
		"one<br>two<br/>three":                              "one\ntwo\nthree",
		"*強調*と**太字**":                                       "<i>強調</>と<b>太字</>",
		"a \x1b[31m b \u202ec":                              "a \\u001b[31m b \\u202ec",
		"[a](javascript:x\x1b)":                             "<a javascript:x\\u001b>a</>",
	} {
		if got := told(Render(in, 200)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
}

func TestBlocks(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"short lines stay", "Name: x\nAge: y", "Name: x\nAge: y"},
		{"filled lines flow", strings.Repeat("word ", 13) + "\nnext", strings.Repeat("word ", 13) + "next"},
		{"hard breaks", "a  \nb\\\nc", "a\nb\nc"},
		{"headings", "# A #\ntext\n## B\n#no\n####### no", "<h>A</>\ntext\n\n<h>B</>\n#no\n####### no"},
		{"underlined", "A\n===\nB\n---\nA sentence.\n---", "<h>A</>\n\n<h>B</>\nA sentence.\n\n" + strings.Repeat("─", 60)},
		{"rules", "a\n\n***\n* * *\nb", "a\n\n" + strings.Repeat("─", 60) + "\n\n" + strings.Repeat("─", 60) + "\n\nb"},
		{"bullets", "- a\n- b\n\n- c\n  more\n\n  para\n* d", "• a\n• b\n\n• c\n  more\n\n  para\n• d"},
		{"nested", "- a\n  - b\n    - c\n      - d\n- e", "• a\n  ◦ b\n    ▪ c\n      • d\n• e"},
		{"numbers", "1. a\n2. b\n   - c\n10) d\n\n3. e", "1. a\n2. b\n   • c\n10) d\n\n3. e"},
		{"two blanks under a number", "1. a\n  - b\n2. c", "1. a\n   • b\n2. c"},
		{"no list", "2 apples\n- \n1.x\nand\n2. no", "2 apples\n-\n1.x\nand\n2. no"},
		{"tasks", "- [ ] a\n- [x] b\n- [y] c", "☐ a\n<ok>✔ </>b\n• [y] c"},
		{"empty items", "-\n- a\n-", "•\n• a\n•"},
		{"quotes", "> a\nlazy\n\n> b\n>\n> > c\n\nd", "│ <q>a</>\n│ <q>lazy</>\n\n│ <q>b</>\n│\n│ │ <q>c</>\n\nd"},
		{"a quote in a list", "- a\n  > b\n  > - c", "• a\n  │ <q>b</>\n  │ ◦ <q>c</>"},
		{"code", "a\n```\nx\n\n  y\n```\nb", "a\n\n  x\n\n    y\n\nb"},
		{"code in a list", "- a\n  ```\n  x\n  ```\n- b", "• a\n\n    x\n\n• b"},
		{"code too far left", "1. a\n   ```\nx\n   ```\n2. b", "1. a\n\n     x\n\n2. b"},
		{"code in code", "````\n```\nx\n```\n````", "  ```\n  x\n  ```"},
		{"code without an end", "~~~\nx", "  x"},
		{"indented code", "a\n\n    x\n\n      y\n\nb", "a\n\n  <c>x</>\n\n  <c>  y</>\n\nb"},
		{"no code in a paragraph", "a\n    b", "a\nb"},
		{"table", "| A | B |\n|:-:|--:|\n| a\\|b | 1 |\n| `x|y` |\nend", " <b>A</>   <b>B</>\n───  ─\na|b  1\n<c>x|y</>\n\nend"},
		{"no table", "a | b\nc | d\n\n|--|", "a | b\nc | d\n\n|--|"},
		{"table after text", "text\n| A |\n|---|\n| x |", "text\n\n<b>A</>\n─\nx"},
		{"html", "<div>\n<!-- no -->\n</div>", "<div>\n<!-- no -->\n</div>"},
		{"references", "[d]: http://x 'title'\n\nsee [the *d*][d], [D] and [e]", "<a http://x>d</>: <a http://x>http://x</> 'title'\n\nsee <a http://x>the d</>, <a http://x>D</> and [e]"},
		{"footnotes", "text[^1]\n\n[^1]: note", "text[^1]\n\n[^1]: note"},
		{"line ends", "a\r\nb\r\n\r\n- c\r\n", "a\nb\n\n• c"},
		{"tabs", "-\ta\n\n\tb\n\n```\n\tx\n```", "• a\n\n  b\n\n      x"},
		{"nothing", " \n\n", ""},
	} {
		if got := told(Render(c.in, 100)); got != c.want {
			t.Errorf("%s:\n%s\ngot\n%s\nwant\n%s", c.name, c.in, got, c.want)
		}
	}
}

// What is open is drawn as it will most likely end.
func TestHalfWritten(t *testing.T) {
	for in, want := range map[string]string{
		"a **b":           "a <b>b</>",
		"a **b*":          "a <b>b</>",
		"a **":            "a ",
		"a `b c":          "a <c>b c</>",
		"a ~~b":           "a <s>b</>",
		"*a **b":          "<i>a </><b>b</>",
		"5 * 3 and a_b":   "5 * 3 and a_b",
		"see [the":        "see <a>the</>",
		"see [the](htt":   "see <a>the</>",
		"![gra":           "<a>image: gra</>",
		"x[0":             "x[0",
		"- [ ":            "",
		"- [x] d":         "<ok>✔ </>d",
		"##":              "",
		"## a":            "<h>a</>",
		"``":              "",
		"12":              "",
		"12 a":            "12 a",
		"| a | b":         "<b>a</>  <b>b</>\n─  ─",
		"| a | b |\n|--":  "<b>a</>  <b>b</>\n─  ─",
		"```go\nx\n``":    "  x",
		"text\n--":        "text",
		"a &am":           "a ",
		"> ":              "",
		"a\\":             "a",
		"日本\xe8\xaa":      "日本",
		"1. one\n2. **tw": "1. one\n2. <b>tw</>",
	} {
		var s Stream
		s.Write(in)
		if got := told(append(s.Finished(80), s.Open(80, 100)...)); got != want {
			t.Errorf("%q\ngot  %q\nwant %q", in, got, want)
		}
	}
}

// Open draws the end of what is high.
func TestOpenIsNoHigherThanAsked(t *testing.T) {
	var s Stream
	s.Write(strings.Repeat("| a | b |\n|---|---|\n", 1) + strings.Repeat("| x | y |\n", 30))
	if got := s.Open(40, 5); len(got) != 5 || got[4].String() != "x  y" {
		t.Errorf("%v", got)
	}
}

// A table that is too wide shrinks its widest columns, and is a list when it must.
func TestNarrowTables(t *testing.T) {
	doc := "| Name | Words |\n|---|---|\n| alpha | " + strings.Repeat("many words ", 8) + "|\n| beta | few |\n"
	if got := told(Render(doc, 30)); got != "<b>Name</>   <b>Words</>\n─────  ───────────────────────\nalpha  many words many words\n       many words many words\n       many words many words\n       many words many words\nbeta   few" {
		t.Error(got)
	}
	wide := "| One | Two | Three | Four |\n|---|---|---|---|\n| first cell | second cell | third cell | fourth |\n| a | b | c | d |\n"
	if got := told(Render(wide, 30)); got != "<b>One: </>first cell\n<b>Two: </>second cell\n<b>Three: </>third cell\n<b>Four: </>fourth\n\n<b>One: </>a\n<b>Two: </>b\n<b>Three: </>c\n<b>Four: </>d" {
		t.Error(got)
	}
}
