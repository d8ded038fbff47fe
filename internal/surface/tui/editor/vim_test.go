package editor

import (
	"strings"
	"testing"
	"time"
)

// vimCase is text with a bar at the cursor, keys in normal mode, and what is
// there then.
type vimCase struct{ before, keys, after string }

// vimKeys splits "dw3x<esc>" into keys.
func vimKeys(s string) string {
	var out []string
	for s != "" {
		if s[0] == '<' {
			if i := strings.IndexByte(s, '>'); i > 1 && s[1] != '<' {
				out = append(out, s[1:i])
				s = s[i+1:]
				continue
			}
		}
		n := size(s)
		k := s[:n]
		if k == " " {
			k = "space"
		}
		out = append(out, k)
		s = s[n:]
	}
	return strings.Join(out, "\x00")
}

func vimEditor(before string) *Editor {
	e := New(Config{Style: Vim})
	at(e, before)
	e.vim.mode = normalMode
	return e
}

func press(e *Editor, list string) Outcome {
	out := None
	for k := range strings.SplitSeq(vimKeys(list), "\x00") {
		out = keys(e, strings.ReplaceAll(k, "'", "''"))
	}
	return out
}

func runVim(t *testing.T, cases []vimCase) {
	t.Helper()
	for _, c := range cases {
		e := vimEditor(c.before)
		press(e, c.keys)
		if got := shown(e); got != c.after {
			t.Errorf("%q, %s: %q, want %q", c.before, c.keys, got, c.after)
		}
		if e.vim.mode == normalMode { // all of it can be taken back
			for range 20 {
				e.back()
			}
			if got, want := e.buf.String(), strings.ReplaceAll(c.before, "|", ""); got != want && !strings.ContainsAny(c.keys, "u") && !strings.Contains(c.keys, "ctrl+r") {
				t.Errorf("%q, %s: %q after undo, want %q", c.before, c.keys, got, want)
			}
		}
	}
}

func TestVimMotions(t *testing.T) {
	t.Parallel()
	runVim(t, []vimCase{
		{"a|bc", "h", "|abc"},
		{"|abc", "h", "|abc"},
		{"|abc", "l", "a|bc"},
		{"ab|c", "l", "ab|c"},
		{"|abcdef", "3l", "abc|def"},
		{"abc|def", "2h", "a|bcdef"},
		{"|abc", "99l", "ab|c"},
		{"a|b\ncd", "j", "ab\nc|d"},
		{"ab\nc|d", "k", "a|b\ncd"},
		{"abc|d\nx\nabcd", "jj", "abcd\nx\nabc|d"},
		{"|a\nb\nc", "2j", "a\nb\n|c"},
		{"ab|c", "0", "|abc"},
		{"  ab|c", "^", "  |abc"},
		{"|abc", "$", "ab|c"},
		{"|a\nbc", "2$", "a\nb|c"},
		{"  ab|c", "_", "  |abc"},
		{"abc|d\nxy\nabcd", "$jj", "abcd\nxy\nabc|d"},
		{"|one two", "w", "one |two"},
		{"|one two three", "2w", "one two |three"},
		{"one |two", "w", "one tw|o"},
		{"|foo.bar", "w", "foo|.bar"},
		{"|foo.bar baz", "W", "foo.bar |baz"},
		{"|one\ntwo", "w", "one\n|two"},
		{"|one\n\ntwo", "w", "one\n|\ntwo"},
		{"|  one", "w", "  |one"},
		{"one |two", "b", "|one two"},
		{"one t|wo", "b", "one |two"},
		{"foo.|bar", "b", "foo|.bar"},
		{"foo.b|ar", "B", "|foo.bar"},
		{"one\n|two", "b", "|one\ntwo"},
		{"a b |c", "2b", "|a b c"},
		{"|one two", "e", "on|e two"},
		{"on|e two", "e", "one tw|o"},
		{"|one two", "2e", "one tw|o"},
		{"|foo.bar x", "E", "foo.ba|r x"},
		{"on|e\ntwo", "e", "one\ntw|o"},
		{"one tw|o", "e", "one tw|o"},
		{"one |two", "ge", "on|e two"},
		{"one tw|o", "ge", "on|e two"},
		{"a.b |c", "gE", "a.|b c"},
		{"a\nb\n|c", "gg", "|a\nb\nc"},
		{"|a\nb\nc", "G", "a\nb\n|c"},
		{"|a\nb\nc", "2G", "a\n|b\nc"},
		{"|a\nb\nc", "2gg", "a\n|b\nc"},
		{"x|\n  yz", "G", "x\n  |yz"},
		{"|abcabc", "fc", "ab|cabc"},
		{"|abcabc", "2fc", "abcab|c"},
		{"|abcabc", "tc", "a|bcabc"},
		{"abcab|c", "Fa", "abc|abc"},
		{"abcab|c", "Ta", "abca|bc"},
		{"|abc", "fz", "|abc"},
		{"|abcabcabc", "fc;", "abcab|cabc"},
		{"|abcabcabc", "fc;,", "ab|cabcabc"},
		{"|abcabc", "tc;", "abca|bc"},
		{"abcabc|x", "Tc", "abcabc|x"},
		{"|a日b日c", "f日", "a|日b日c"},
		{"|a\nb\n\nc", "}", "a\nb\n|\nc"},
		{"a\n\nb\n|c", "{", "a\n|\nb\nc"},
		{"|(a(b)c)", "%", "(a(b)c|)"},
		{"(a(b)c|)", "%", "|(a(b)c)"},
		{"a |x [1]", "%", "a x [1|]"},
		{"|{\n}", "%", "{\n|}"},
		{"日本|語", "h", "日|本語"},
		{"|👩‍👩‍👧x", "l", "👩‍👩‍👧|x"},
		{"|abc", " ", "a|bc"},
		{"a|bc", "<backspace>", "|abc"},
		{"|abc", "<right>", "a|bc"},
		{"|abc", "<end>", "ab|c"},
	})
}

func TestVimOperators(t *testing.T) {
	t.Parallel()
	runVim(t, []vimCase{
		{"a|bc", "x", "a|c"},
		{"ab|c", "x", "a|b"},
		{"|abcd", "2x", "|cd"},
		{"ab|c", "X", "a|c"},
		{"|", "x", "|"},
		{"a|bc", "<delete>", "a|c"},
		{"one\nt|wo\nthree", "dd", "one\n|three"},
		{"one\n|two", "dd", "|one"},
		{"o|ne", "dd", "|"},
		{"|a\nb\nc", "2dd", "|c"},
		{"|a\nb\nc", "d2d", "|c"},
		{"a\nb\n|c", "5dd", "a\n|b"},
		{"|one two", "dw", "|two"},
		{"one |two", "dw", "one| "},
		{"|one two three", "2dw", "|three"},
		{"|one two three", "d2w", "|three"},
		{"one |two\nthree", "dw", "one| \nthree"},
		{"|one.two", "dw", "|.two"},
		{"|one.two x", "dW", "|x"},
		{"|one two", "de", "| two"},
		{"one |two", "db", "|two"},
		{"one two| three", "dge", "one tw|three"},
		{"ab|cd", "d$", "a|b"},
		{"ab|cd", "D", "a|b"},
		{"ab|cd\nx", "2D", "a|b"},
		{"ab|cd", "d0", "|cd"},
		{"  ab|cd", "d^", "  |cd"},
		{"|abcabc", "dfc", "|abc"},
		{"|abcabc", "dtc", "|cabc"},
		{"abcab|c", "dFa", "abc|c"},
		{"a|b\nc\nd", "dj", "|d"},
		{"a\nb|\nc", "dk", "|c"},
		{"a\n|b\nc", "dG", "|a"},
		{"a\nb\n|c", "dgg", "|"},
		{"|a(b c)d", "d%", "|d"},
		{"|one\ntwo", "dj", "|"},
		{"one\n|two", "dj", "one\n|two"},
		{"|a,b", "dl", "|,b"},
		{"a|b", "dh", "|b"},
		{"|a\nb\n\nc", "d}", "|\nc"},
		{"one |two three", "cwX<esc>", "one |X three"},
		{"one t|wo", "cwX<esc>", "one t|X"},
		{"one| two", "cwX<esc>", "one|Xtwo"},
		{"|a b", "cwX<esc>", "|X b"},
		{"|one two three", "c2wX<esc>", "|X three"},
		{"|f.o", "cWX<esc>", "|X"},
		{"one |two", "ciwX<esc>", "one |X"},
		{"o|ne\ntwo", "ccX<esc>", "|X\ntwo"},
		{"  o|ne", "ccX<esc>", "  |X"},
		{"o|ne two", "CX<esc>", "o|X"},
		{"o|ne", "sX<esc>", "o|Xe"},
		{"|one", "3sX<esc>", "|X"},
		{"o|ne", "SX<esc>", "|X"},
		{"a|bc", "cflX<esc>", "|bc"},
		{"ab|c d", "cbX<esc>", "|Xc d"},
		{"|one two", "ceX<esc>", "|X two"},
		{"a\nb|\nc", "cjX<esc>", "a\n|X"},
		{"|one two", "ywP", "one| one two"},
		{"|one two", "yiwwp", "one ton|ewo"},
		{"|a\nb", "yyp", "a\n|a\nb"},
		{"a\n|b", "yyP", "a\n|b\nb"},
		{"|a\nb", "Yjp", "a\nb\n|a"},
		{"|ab", "xp", "b|a"},
		{"|ab", "x3p", "baa|a"},
		{"|a\nb\nc", "2yyGp", "a\nb\nc\n|a\nb"},
		{"|a\nb", "ddp", "b\n|a"},
		{"a|bc", "y$P", "ab|cbc"},
		{"|a b", "yw$p", "a ba| "},
		{"|a\nb", "yy2p", "a\n|a\na\nb"},
		{"x|y\nz", "yjP", "|xy\nz\nxy\nz"},
		{"|one two", `"ayww"byiw"ap`, "one tone| wo"},
		{"|a\nb\nc", `"ayyj"Ayy"ap`, "a\nb\n|a\nb\nc"},
		{"|a b", `yiwwdiw"0P`, "a|a "},
		{"|a b", `yiww"_diwP`, "a|a "},
		{"|ab", ">>", "  |ab"},
		{"  a|b", "<<", "|ab"},
		{"|a\nb\nc", "2>>", "  |a\n  b\nc"},
		{"|a\nb", ">j", "  |a\n  b"},
		{"\ta|b", "<<", "|ab"},
		{"|ab", "<<", "|ab"},
		{"a\n|\nb", ">>", "a\n|\nb"},
		{" a|b", "<<", "|ab"},
		{"a|b\ncd", "J", "ab| cd"},
		{"|a\n  b\nc", "3J", "a b| c"},
		{"|a\n\nb", "J", "|a\nb"},
		{"|f(\n)", "J", "f(|)"},
		{"|a", "J", "|a"},
		{"|abc", "rx", "|xbc"},
		{"|abc", "2rx", "x|xc"},
		{"ab|c", "2rx", "ab|c"},
		{"a|bc", "r<enter>", "a\n|c"},
		{"|abc", "r日", "|日bc"},
		{"|aBc", "~", "A|Bc"},
		{"|aBc", "3~", "Ab|C"},
		{"ab|c", "~", "ab|C"},
		{"|one two", "gUiw", "|ONE two"},
		{"ONE |TWO", "guw", "ONE |two"},
		{"|aB c", "g~~", "|Ab C"},
		{"|ab\ncd", "gUU", "|AB\ncd"},
		{"|ab\ncd", "gUj", "|AB\nCD"},
	})
}

func TestVimObjects(t *testing.T) {
	t.Parallel()
	runVim(t, []vimCase{
		{"one t|wo three", "diw", "one | three"},
		{"one t|wo three", "daw", "one |three"},
		{"one tw|o", "daw", "on|e"},
		{"one| two", "diw", "one|two"},
		{"one| two", "daw", "on|e"},
		{"|one two three", "d2aw", "|three"},
		{"|one two three", "d3iw", "| three"},
		{"a f|oo.bar b", "diW", "a | b"},
		{"a f|oo.bar b", "daW", "a |b"},
		{"foo|.bar", "diw", "foo|bar"},
		{"|", "diw", "|"},
		{`a "b|c" d`, `di"`, `a "|" d`},
		{`a "b|c" d`, `da"`, `a |d`},
		{`|a "bc" d`, `ci"X<esc>`, `a "|X" d`},
		{`a 'b|c'`, "di'", "a '|'"},
		{"a `b|c`", "di`", "a `|`"},
		{`"a\"|b"`, `di"`, `"|"`},
		{"|abc", `di"`, "|abc"},
		{`a| "b" "c"`, `di"`, `a "|" "c"`},
		{`x "a|"`, `da"`, `|x`},
		{"f(a|, b)", "di(", "f(|)"},
		{"f(a|, b)", "da(", "|f"},
		{"f(a, |b)", "dib", "f(|)"},
		{"f(a|)", "ci)X<esc>", "f(|X)"},
		{"f(g(|x), y)", "d2i(", "f(|)"},
		{"f|(a)", "di(", "f(|)"},
		{"a[b|c]", "di[", "a[|]"},
		{"a[b|c]", "da]", "|a"},
		{"{a|b}", "di{", "{|}"},
		{"{a|b}", "diB", "{|}"},
		{"<a|b>", "di<", "<|>"},
		{"|abc", "di(", "|abc"},
		{"f|(", "di(", "f|("},
		{"if {\n  a|\n  b\n}", "di{", "if {\n|}"},
		{"f(\n|x\n)", "ci(y<esc>", "f(\n|y\n)"},
		{"a\n|b\n\nc", "dip", "|\nc"},
		{"a\n|b\n\nc", "dap", "|c"},
		{"a|b c", "yiwP", "a|bab c"},
	})
}

func TestVimInsert(t *testing.T) {
	t.Parallel()
	runVim(t, []vimCase{
		{"a|b", "iX<esc>", "a|Xb"},
		{"a|b", "aX<esc>", "ab|X"},
		{"  a|b", "IX<esc>", "  |Xab"},
		{"|ab", "AX<esc>", "ab|X"},
		{"|ab", "oX<esc>", "ab\n|X"},
		{"|ab", "OX<esc>", "|X\nab"},
		{"  a|b", "oX<esc>", "  ab\n  |X"},
		{"a\nb|\nc", "oX<esc>", "a\nb\n|X\nc"},
		{"|", "iab<esc>", "a|b"},
		{"|a", "3iX<esc>", "XX|Xa"},
		{"|a", "3ab<esc>", "abb|b"},
		{"|a", "2oX<esc>", "a\nX\n|X"},
		{"|a", "i<ctrl+j>x<esc>", "\n|xa"},
		{"|", "iab<backspace>c<esc>", "a|c"},
		{"|ab", "a<esc>", "|ab"},
	})
}

func TestVimDotAndUndo(t *testing.T) {
	t.Parallel()
	runVim(t, []vimCase{
		{"|abcd", "x.", "|cd"},
		{"|abcdef", "2x.", "|ef"},
		{"|abcdef", "x3.", "|ef"},
		{"|a\nb\nc", "dd.", "|c"},
		{"|one two three", "dw.", "|three"},
		{"|one two", "cwX<esc>w.", "X |X"},
		{"|a b", "iX<esc>w.", "Xa |Xb"},
		{"|a b c", "ciwxy<esc>w.w.", "xy xy x|y"},
		{"|a\nb", "A!<esc>j.", "a!\nb|!"},
		{"|a", "p.", "|a"},
		{"|ab ab", "fbrx;.", "ax a|x"},
		{"|a\nb", ">>j.", "  a\n  |b"},
		{"|abc", "~.", "AB|c"},
		{"|a", "oX<esc>.", "a\nX\n|X"},
		{"|a\nb\nc\nd", "J.", "a b| c\nd"},
		{"|abc abc", "vlrxw.", "xxc |xxc"},
		{"|a\nb\nc\nd", "Vjd.", "|"},
		{"|abc abc", "veUw.", "ABC |ABC"},
		{"|abc", "xu", "|abc"},
		{"|abc", "xxuu", "|abc"},
		{"|abc", "xx2u", "|abc"},
		{"|abc", "xxu<ctrl+r>", "|c"},
		{"|one two", "ciwa b c<esc>u", "|one two"},
		{"|a", "oX<esc>u", "|a"},
		{"|a", "iX<esc>u", "|a"},
		{"|ab", "u", "|ab"},
		{"|a\nb", "ddu", "|a\nb"},
		{"|a", "A b c<esc>u", "|a"},
	})
}

func TestVimVisual(t *testing.T) {
	t.Parallel()
	runVim(t, []vimCase{
		{"|abcd", "vd", "|bcd"},
		{"|abcd", "vld", "|cd"},
		{"ab|cd", "vhd", "a|d"},
		{"a|b\ncd", "vjd", "|a"},
		{"|abc", "v$d", "|"},
		{"|one two", "vex", "| two"},
		{"|one two", "vwd", "|wo"},
		{"a|bc", "vy$p", "abc|b"},
		{"|abc", "vlcX<esc>", "|Xc"},
		{"|abc", "vlsX<esc>", "|Xc"},
		{"|a\nb\nc", "Vd", "|b\nc"},
		{"|a\nb\nc", "Vjd", "|c"},
		{"a|b\ncd", "Vyjp", "ab\ncd\n|ab"},
		{"a|b", "VcX<esc>", "|X"},
		{"|a\nb", "V>", "  |a\nb"},
		{"|a\nb", "Vj>", "  |a\n  b"},
		{"  |a", "V<", "|a"},
		{"|a\nb\nc", "VjJ", "a| b\nc"},
		{"|a\nb", "vjJ", "a| b"},
		{"|a", "V2>", "    |a"},
		{"|aBc", "vl~", "|Abc"},
		{"|aBc", "v$u", "|abc"},
		{"|aBc", "v$U", "|ABC"},
		{"|abc", "vlrx", "|xxc"},
		{"a|b\ncd", "vjrx", "a|x\nxx"},
		{"|abc", "vlod", "|c"},
		{"a|bcd", "vlohd", "|d"},
		{"|abc", "v<esc>", "|abc"},
		{"|abc", "vlv", "a|bc"},
		{"|abc", "vV<esc>", "|abc"},
		{"|a\nb", "vVd", "|b"},
		{"|abc\nx", "Vvd", "|bc\nx"},
		{"one t|wo three", "viwd", "one | three"},
		{"one t|wo three", "vawd", "one |three"},
		{"f(a|b)", "vi(d", "f(|)"},
		{"f(a|b)", "va(d", "|f"},
		{`"a|b"`, `vi"d`, `"|"`},
		{"a\n|b\n\nc", "vipd", "|\nc"},
		{"|a b", "yiwwvp", "a |a"},
		{"|a b", "yiwwvp0P", "|ba a"},
		{"|abcabc", "vfcd", "|abc"},
		{"|a\nb", "yyjVp", "a\n|a"},
		{"|a\nb\nc", "VGd", "|"},
		{"a\nb\n|c", "Vggd", "|"},
		{"|ab\ncd", "vD", "|cd"},
		{"|ab\ncd", "vYjp", "ab\ncd\n|ab"},
		{"|abc", "v\"ay\"ap", "a|abc"},
		{"|日本語", "vld", "|語"},
		{"|abc", "v2ld", "|"},
		{"|abc", "vX", "|"},
	})
}

func TestVimLeavesAndSubmits(t *testing.T) {
	t.Parallel()
	e := New(Config{Style: Vim})
	if e.Mode() != "INSERT" || !e.Escapes() {
		t.Error(e.Mode())
	}
	keys(e, "'hello esc")
	if e.Mode() != "NORMAL" || e.Escapes() || shown(e) != "hell|o" {
		t.Error(e.Mode(), shown(e))
	}
	press(e, "2d")
	if e.Mode() != "NORMAL 2d" || !e.Escapes() {
		t.Error(e.Mode())
	}
	if press(e, "<esc>") != Changed || press(e, "<esc>") != None {
		t.Error("esc in the middle of a command is not the editor's, or one without is")
	}
	if press(e, "<enter>") != Submit {
		t.Error("enter does not submit in normal mode")
	}
	press(e, "v")
	if e.Mode() != "VISUAL" {
		t.Error(e.Mode())
	}
	press(e, "V")
	if e.Mode() != "VISUAL LINE" {
		t.Error(e.Mode())
	}
}

func TestVimWalksHistory(t *testing.T) {
	t.Parallel()
	e := New(Config{Style: Vim, Recall: func(string) []Entry { return []Entry{{Text: "one"}, {Text: "two\nlines"}} }})
	keys(e, "'draft esc")
	press(e, "k")
	if got := e.buf.String(); got != "one" {
		t.Error(got)
	}
	press(e, "k")
	if got := e.buf.String(); got != "two\nlines" {
		t.Error(got)
	}
	press(e, "jj")
	press(e, "j")
	if got := e.buf.String(); got != "draft" {
		t.Error(got)
	}
	press(e, "/li")
	press(e, "<enter>")
	if got := e.buf.String(); got != "two\nlines" {
		t.Error(got)
	}
}

func TestVimRemaps(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	e := New(Config{Style: Vim, Now: func() time.Time { return now }, Remaps: map[string]string{"jj": "<Esc>", "kk": "<Esc>A!"}})
	keys(e, "'ajj")
	if e.Mode() != "NORMAL" || shown(e) != "|a" {
		t.Error(e.Mode(), shown(e))
	}
	press(e, "ob")
	keys(e, "'j")
	now = now.Add(2 * time.Second)
	keys(e, "'j")
	if got := e.buf.String(); got != "a\nbjj" || e.Mode() != "INSERT" {
		t.Error("after the window:", got, e.Mode())
	}
	keys(e, "'kk")
	if got := e.buf.String(); got != "a\nbjj!" || e.Mode() != "INSERT" {
		t.Error(got, e.Mode())
	}
	press(e, "<esc>u")
	press(e, "0.")
	if strings.Contains(e.buf.String(), "kk") {
		t.Error("a remap is repeated as text:", e.buf.String())
	}
}

// FuzzVim: no keys break the editor, and undo leads back to nothing.
func FuzzVim(f *testing.F) {
	for _, s := range []string{"ione two<esc>bdwu.", "iabc<esc>vyP3.J>>", "ia(b)<esc>di(ua\"x\"<esc>da\"", "i日本\tx<esc>0f本rx~gUUVd", "9999p", "\"ayy\"Ap2u<ctrl+r>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		if len(list) > 200 || strings.ContainsAny(list, "\r\n\x00") {
			return
		}
		e := New(Config{Style: Vim, Remaps: map[string]string{"jj": "<Esc>"}})
		for k := range strings.SplitSeq(vimKeys(list), "\x00") {
			keys(e, strings.ReplaceAll(k, "'", "''"))
			if e.cur.row >= len(e.buf.lines) || e.cur.col > len(e.buf.lines[e.cur.row]) {
				t.Fatalf("after %q the cursor is at %v of %q", k, e.cur, e.buf.lines)
			}
			if len(e.buf.String()) > 1<<20 {
				return
			}
			e.Draw(40, 10)
		}
		for len(e.undo) > 0 {
			e.back()
		}
		if !e.Empty() {
			t.Errorf("undo leaves %q", e.buf.String())
		}
	})
}
