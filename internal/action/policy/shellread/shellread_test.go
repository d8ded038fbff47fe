package shellread

import (
	"slices"
	"strings"
	"testing"
)

// last is the part that stands outermost: what it substitutes comes before it.
func last(t *testing.T, text string) Part {
	t.Helper()
	f := Read(text, Bash)
	if len(f.Parts) == 0 {
		t.Fatalf("%q: no parts", text)
	}
	return f.Parts[len(f.Parts)-1]
}

func TestWordsAreUnquoted(t *testing.T) {
	for src, want := range map[string]string{
		`a\ b`: "a b", `'a'"b"c`: "abc", `"a\$b\x"`: `a$b\x`, `$'a\tb\x41\101\u0042\''`: "a\tbAAB'", `\a\b`: "ab", "a\\\nb": "ab", `""`: "", `a"$X"b`: "a\x00b", "~": "~", `"~"`: "~", "a=~/b": "a=~/b", `$((1+1))`: "\x00", `$(ls)x`: "\x00x", `{a,b`: "{a,b", `a#b`: "a#b",
	} {
		w := last(t, "echo "+src).Words
		if len(w) != 2 || w[1].Text != want {
			t.Errorf("%s: %+v, want %q", src, w[1:], want)
		}
	}
	for src, want := range map[string]Origin{"$X": FromVar, "$(ls)": FromSubst, "<(ls)": FromProc, "$?": FromNumber, "${#X}": FromNumber, "a": 0, "~x": FromVar, `"$X$(ls)"`: FromVar | FromSubst} {
		if w := last(t, "echo "+src).Words[1]; w.Holes != want {
			t.Errorf("%s: origins %b, want %b", src, w.Holes, want)
		}
	}
	for src, want := range map[string]string{"*.go": "*.go", `\**`: `\**`, `"*"`: "", `'['a*`: `\[a*`, "[ab]x": "[ab]x", "a[": "", "x?": "x?"} {
		if w := last(t, "echo "+src).Words[1]; w.Pattern != want {
			t.Errorf("%s: pattern %q, want %q", src, w.Pattern, want)
		}
	}
}

func TestBracesExpand(t *testing.T) {
	for src, want := range map[string]string{"{a,b}": "a b", "x{a,b}y": "xay xby", "{a,b}{1,2}": "a1 a2 b1 b2", "{1..3}": "1 2 3", "{c..a}": "c b a", "{a,{b,c}}": "a b c", "{a}": "{a}", "'{a,b}'": "{a,b}", "{,x}": " x"} {
		var got []string
		for _, w := range last(t, "echo "+src).Words[1:] {
			got = append(got, w.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}

// TestEveryPartIsFound lists the programs of nested constructs.
func TestEveryPartIsFound(t *testing.T) {
	for src, want := range map[string]string{
		"a && b || c; d | e |& f\ng":                             "a b c d e f g",
		"(a; { b; }); ! c; time d":                               "a b c d",
		"if a; then b; elif c; then d; else e; fi":               "a b c d e",
		"while a; do b; done; until c; do d; done":               "a b c d",
		"for i in $(a); do b; done":                              "a b",
		"for i in 1 2; do a $i; done":                            "a a",
		"case $(a) in b) c;; *) d;; esac":                        "a c d",
		"a $(b `c`) <(d) > >(e)":                                 "c b d e a",
		"a <<E\n$(b)\nE\nc":                                      "b a c",
		"X=$(a) b; Y=$(c)":                                       "a b c",
		"a ${X:-$(b)} $((1 + $(c)))":                             "b c a",
		"[[ $(a) = $(b) ]]":                                      "a b [[",
		"timeout 5 nice -n 3 a b":                                "a",
		"command a; builtin b; nohup c; stdbuf -oL d; time -p e": "a b c d e",
		"export X=$(a)":                                          "a export",
	} {
		var got []string
		for _, p := range Read(src, Bash).Parts {
			if p.Name != "" && !p.Shadow {
				got = append(got, p.Name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
}

func TestShadowsOfRunners(t *testing.T) {
	for src, want := range map[string]string{
		"sudo -u root a b": "a b", "env -i X=1 a b": "a b", "xargs -n1 a": "a \x00", "find . -exec a b ;": "a b", "bash -c 'a b'": "a b", "eval a b": "a b", "sudo bash -c 'env a b'": "a b", "watch 'a b'": "a b", "setsid nohup a b": "a b", "f() { a b; }": "a b", "bash <<E\na b\nE": "a b", "trap 'a b' EXIT": "a b", "flock /l -c 'a b'": "a b",
	} {
		found := false
		for _, p := range Read(src, Bash).Parts {
			found = found || p.Shadow && slices.Contains(p.Forms.Deny, want)
		}
		if !found {
			t.Errorf("%q: no reading %q", src, want)
		}
	}
}

func TestDirsFollowCd(t *testing.T) {
	for src, want := range map[string]string{
		"a": "", "cd x && a": "x", "cd x; a": " x", "cd x || a": "", "(cd x); a": "", "cd x | a": "", "cd x && cd y && a": "x/y", "if cd x; then a; fi": "x", "cd && a": "~", "! cd x && a": "", "{ cd x; } && a": " x", "command cd x && a": "x", "nice cd x && a": "", "cd x & a": "",
	} {
		var got []string
		for _, c := range last(t, src).Dirs.Chains {
			got = append(got, strings.Join(c, "/"))
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want || last(t, src).Dirs.Unknown {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
	for _, src := range []string{"cd $X && a", "cd - && a", "pushd x; a", "while b; do cd x; done; a", "eval x; a", "$X; a", "f() { cd x; }; f; a"} {
		if !last(t, src).Dirs.Unknown {
			t.Errorf("%q: the directory is taken as known", src)
		}
	}
}

func TestVariablesResolveOnlyWhenCertain(t *testing.T) {
	for src, want := range map[string]bool{
		"X=a; b $X": true, "X=a && b \"$X\"": true, "X='a b'; b \"$X\"": true, "for X in a; do b $X; done": true,
		"X='a b'; b $X": false, "X=a; X=c; b $X": false, "X=a b $X": false, "if c; then X=a; fi; b $X": false, "(X=a); b $X": false, "X=a | b $X": false, "X=a; read X; b $X": false, "X=a; printf -v X c; b $X": false, "X=*; b $X": false, "X=$(c); b $X": false, "X=~; b $X": false, "c && X=a; b $X": true, "c || X=a; b $X": false, "PATH=a; b $PATH": false, "X=a; f() { X=c; }; f; b $X": false,
		"X=a; : ${X:=c}; b $X": false, "X=a; ((X=2)); b $X": false, "X+=a; b $X": false, "X=a; unset X; b $X": false, "X=a; declare X=c; b $X": false, "X=a; $Y; b $X": false, "while c; do X=a; done; b $X": false, "for X in a; do X=c; b $X; done": false, "X=a & b $X": false,
	} {
		parts := Read(src, Bash).Parts
		known := false
		for _, p := range parts {
			if p.Name == "b" {
				known = p.Words[1].Holes == 0
			}
		}
		if known != want {
			t.Errorf("%q: resolved %v, want %v", src, known, want)
		}
	}
}

func TestEveryEntryHasAReason(t *testing.T) {
	for _, set := range []map[string]*program{programs(), editors(), gitCommands(), dockerCommands()} {
		for name, p := range set {
			if len(p.why) < 10 {
				t.Errorf("%s has no reason", name)
			}
			for o := range p.grammar() {
				if !strings.HasPrefix(o, "-") && !strings.HasPrefix(o, "+") {
					t.Errorf("%s: option %q", name, o)
				}
			}
		}
	}
}

func TestSedScripts(t *testing.T) {
	for script, want := range map[string]bool{
		"p": true, "1,5p": true, "$d": true, "/a/,/b/p": true, "/a/!d": true, "s/a/b/": true, "s|a|b|gI": true, "s/a\\/b/c/": true, "y/ab/cd/": true, "1{p;q}": true, "a hello; w x": true, "i\\\nfoo": true, ":a;s/x/y/;ta": true, "0~3d": true, "1,+2d": true, "\\,a,p": true, "# w x": true, "=": true, "q5": true, "": true,
		"w x": false, "r x": false, "e": false, "1e id": false, "s/a/b/w x": false, "s/a/b/e": false, "s/a/b/ge": false, "W x": false, "R x": false, "p;w x": false, "/a/w x": false, "{w x": false, "a x\nw y": false, "s/a/b": false, "s\na\nb\n": false, "v": false, "1,2,3p": false, "p x": false, "F;M": false, "y/a/b/w": false, "\\": false,
	} {
		if got := plainSed(script); got != want {
			t.Errorf("%q: %v", script, got)
		}
	}
}

func TestLimits(t *testing.T) {
	for name, text := range map[string]string{"long": strings.Repeat("a ", 6000), "deep": strings.Repeat("(", 101), "huge": strings.Repeat("a;", 40_000), "many ifs": strings.Repeat("if a; then ", 500)} {
		f := Read(text, Bash)
		if f.Opaque() == "" || f.ReadOnly() {
			t.Errorf("%s: not opaque", name)
		}
	}
	if f := Read(strings.Repeat("a; ", 3000)+"b", Bash); f.Opaque() != "" || len(f.Parts) != 3001 {
		t.Errorf("3001 parts: %q, %d", f.Opaque(), len(f.Parts))
	}
}

func TestReadOnlyFacts(t *testing.T) {
	for text, want := range map[string]bool{"ls": true, "ls | wc": true, "ls > a": false, "mkdir a": false, "x": false, "ls &": false, "": false, "ls &&": false, "cd a && ls": true, "ls 2>&1 >/dev/null": true} {
		if got := Read(text, Bash).ReadOnly(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestZshAsksMore(t *testing.T) {
	for _, text := range []string{"ls =ls", "ls *(.)", "cat =(ls)", "ls ^a", "ls a#"} {
		if f := Read(text, Zsh); f.ReadOnly() {
			t.Errorf("%q is read-only for zsh", text)
		}
	}
	if !Read("noglob ls a", Zsh).ReadOnly() {
		t.Error("noglob is not looked through")
	}
}

func TestReaderIsShared(t *testing.T) {
	r := NewReader(2)
	first := r.Read("ls", Bash)
	if first != r.Read("ls", Bash) || first == r.Read("ls", Zsh) {
		t.Error("facts are not remembered by text and shell")
	}
	for _, s := range []string{"a", "b", "c", "d"} {
		r.Read(s, Bash)
	}
	if len(r.known) > 2 {
		t.Errorf("%d texts remembered, limit 2", len(r.known))
	}
	if (*Reader)(nil).Read("ls", Bash) == nil {
		t.Error("a nil reader does not read")
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"ls", "a && b", "cat <<E\n$(x)\nE", "for i in {1..3}; do x \"$i\"; done", "sed -n '1,3p' a", "X=1; echo $X", "((", "'", "$'\\x4", "a[$(x)]=1", "find . -exec x {} \\;", "git -C x log", "bash -c 'bash -c x'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, shell := range []Shell{Bash, Zsh} {
			facts := Read(text, shell)
			if facts.ReadOnly() && strings.ContainsAny(text, "\x00\r\x1b") {
				t.Fatalf("%q is read-only", text)
			}
			for _, p := range facts.Parts {
				if p.Start > len(p.Words) || p.Class == ReadOnly && p.Name == "" && len(p.Words) > 0 {
					t.Fatalf("%q: bad part %+v", text, p)
				}
			}
		}
	})
}
