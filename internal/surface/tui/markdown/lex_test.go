package markdown

import (
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// letters name the roles in the tables of this package.
var letters = map[style.Role]byte{
	style.Plain: '.', style.Keyword: 'k', style.String: 's', style.Comment: 'c', style.Number: 'n', style.Function: 'f', style.Type: 't', style.Operator: 'o',
	style.Heading: 'H', style.Quote: 'q', style.InlineCode: 'i', style.Added: '+', style.Removed: '-', style.Accent: '@', style.Bold: 'b', style.Dim: 'd',
}

// drawn writes a letter for each byte of the lines that is no space.
func drawn(lines []style.Line) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, s := range l {
			for j := range len(s.Text) {
				if s.Text[j] == ' ' {
					b.WriteByte(' ')
				} else {
					b.WriteByte(letters[s.Role])
				}
			}
		}
	}
	return b.String()
}

func TestLanguages(t *testing.T) {
	for _, c := range []struct{ label, code, want string }{
		{"go", "func F(s string) int { return len(`a\nb`) + 0x1F } // end", "kkkk f.. tttttt. ttt . kkkkkk fff.ss\nss. o nnnn . cc ccc"},
		{"python", "def f(x: int): # hi\n    \"\"\"doc\n    more\"\"\"\n    return f'{x}' if None else 1.5", "kkk f..o ttt.o c cc\n    ssssss\n    sssssss\n    kkkkkk ssssss kk nnnn kkkk nnn"},
		{"ts", "const re = /a[/]b/g, n: number = a / b;", "kkkkk .. o ssssssss. .o tttttt o . o .."},
		{"tsx", "export const X = () => `a ${b}\nc`", "kkkkkk kkkkk t o .. oo ss ssss\nss"},
		{"rust", "fn f<'a>(s: &'a str) -> Vec<u8> { println!(\"{}\", 'x'); }", "kk .otto..o ott ttt. oo tttotto . ffffffff.ssss. sss.. ."},
		{"c", "#include <stdio.h>\nint main(void) { return 'a'; /* x\n y */ }", "kkkkkkkk sssssssss\nttt ffff.tttt. . kkkkkk sss. cc c\n c cc ."},
		{"bash", "FOO=1 git commit -m \"a b\" --no-edit | grep -v x # c\ncat <<EOF\nbody\nEOF\nls", "ttton ... ...... nn ss ss nnnnnnnnn o ffff nn . c c\nfff sssss\nssss\nsss\nff"},
		{"sql", "SELECT count(*) FROM t WHERE a = 'it''s' -- x", "kkkkkk fffff.o. kkkk . kkkkk . o sssssss cc c"},
		{"json", `{"a": [1, true, "b"]}`, `.fffo .n. nnnn. sss..`},
		{"yaml", "key: value # c\n- name: \"x\"\n  n: 12", "fffo ..... c c\no ffffo sss\n  fo nn"},
		{"toml", "[section]\nname = \"x\" # c", "ttttttttt\ntttt o sss c c"},
		{"html", "<a href=\"x\">text</a> <!-- c\nd -->", "kk ffff.sssk....kkkk cccc c\nc ccc"},
		{"css", "a.b { color: #fff; margin: 1px } /* c */", ".tt . fffffo nnnn. ffffffo nnn . cc c cc"},
		{"diff", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z", "bbb b\nbbb b\n@@ @@ @@ @@\n--\n++\n ."},
		{"dockerfile", "FROM go:1 AS build # c\nRUN make", "kkkk ..on kk ..... c c\nkkk ...."},
		{"make", "all: a.o\nX := 1", "fffo ...\nt oo n"},
		{"lua", "local x = [[a\nb]] --[[ c\nd]] -- e", "kkkkk . o sss\nsss cccc c\nccc cc c"},
		{"unknown", "if x", ".. ."},
	} {
		x := newLexer(c.label)
		var out []style.Line
		for l := range strings.SplitSeq(c.code, "\n") {
			out = append(out, x.line(l))
		}
		if got := drawn(out); got != c.want {
			t.Errorf("%s:\n%s\n%s\nwant\n%s", c.label, c.code, got, c.want)
		}
	}
}

func TestLanguageOfAFile(t *testing.T) {
	for path, want := range map[string]string{"a/b/main.go": " go ", "Dockerfile": " dockerfile ", `c:\x\y.TSX`: " javascript ", "Makefile": " make ", "x": "", "a.b/": ""} {
		x := lexerOf(path)
		if (x.lang == nil) != (want == "") || x.lang != nil && !strings.HasPrefix(x.lang.names, want) {
			t.Errorf("%s: %v, want %q", path, x.lang, want)
		}
	}
}

func FuzzLexer(f *testing.F) {
	for i := range languages {
		f.Add(i, "if (x == 'a\\'b') { /* c */ $y = \"d\" } # e <!-- <f g='h'>\n<<EOF\n@i :j `k` [[l]] --m 1e+5 #n: o\nEOF\n\"\"\"")
	}
	f.Fuzz(func(t *testing.T, i int, code string) {
		x := lexer{lang: languages[(i%len(languages)+len(languages))%len(languages)]}
		for l := range strings.SplitSeq(code, "\n") {
			y := x
			if got := x.line(l).String(); got != l {
				t.Fatalf("%q became %q", l, got)
			}
			if got := y.line(l).String(); got != l || y != x {
				t.Fatal("a copy of the lexer reads otherwise")
			}
		}
	})
}

// Long lines, whatever is in them, stay as they are.
func TestLongLines(t *testing.T) {
	for _, part := range []string{"a ", "${", "#[", "(/[", "--a", "'\\", "\"a\" ", "<a b", ":a", "$(", "a:", "<<"} {
		for i := range languages {
			x := lexer{lang: languages[i]}
			s := strings.Repeat(part, 400)
			if x.line(s).String() != s {
				t.Fatalf("%s: %q is not what it was", languages[i].names, part)
			}
		}
		for _, label := range []string{"sh", "css", "js", "html"} {
			x, long := newLexer(label), strings.Repeat(part, 1<<15/len(part))
			if x.line(long).String() != long {
				t.Fatalf("%s: %q is not what it was", label, part)
			}
		}
	}
}
