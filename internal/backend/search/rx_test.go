package search

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func mustCompile(t testing.TB, src string) *pattern {
	t.Helper()
	p, err := compilePattern(GrepQuery{Pattern: src})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPatternLines(t *testing.T) {
	for _, tc := range []struct {
		pattern, line string
		want          bool
	}{
		{`\d`, "\u0663", true}, // Arabic-Indic three
		{`(?-u)\d`, "\u0663", false},
		{`\s`, "\u00a0", true},
		{`\bnat`, "\u00e9nat", false},
		{`\b{start}nat\b{end}`, "a nat b", true},
		{`\<nat\>`, "natural", false},
		{`(?i)stra\x{df}e`, "STRA\u1e9eE", true},
		{`(?i)k`, "\u212a", true},
		{`.`, "\xff", false},
		{`(?-u).`, "\xff", true},
		{`(?-u)\xff`, "a\xff", true},
		{`[\w&&[^\d_]]`, "1_2", false},
		{`[a-z--[aeiou]]`, "aei", false},
		{`[a-c~~b-d]`, "b", false},
		{`[[:alpha:]--x]`, "x", false},
		{`\p{Script=Greek}`, "\u03b1", true},
		{`\p{Lu}`, "\u00c4", true},
		{`\PL`, "a", false},
		{`(?x) a b # c`, "ab", true},
		{`a{2}{2}`, "aaa", false},
		{`(?U)a+$`, "aaa", true},
		{`x*`, "", true},
		{`^$`, "", true},
		{`\u00e4\x62\t`, "\u00e4b\t", true},
		{`(?i:A)b`, "aB", false},
		{`(?P<year>\d{4})-(?<m>\d\d)`, "2026-11", true},
	} {
		m := newLineMatcher(mustCompile(t, tc.pattern))
		if _, _, got := m.next([]byte(tc.line+"\n"), 0); got != tc.want {
			t.Errorf("%s on %q: %v", tc.pattern, tc.line, got)
		}
		if got := m.matchesSlowly([]byte(tc.line)); got != tc.want {
			t.Errorf("%s on %q, thread by thread: %v", tc.pattern, tc.line, got)
		}
	}
}

func TestPatternTooBig(t *testing.T) {
	var pe *PatternError
	for _, src := range []string{`(\w{500}){500}`, `((a{1000}){1000}){1000}`, strings.Repeat("(", 5000) + strings.Repeat(")", 5000)} {
		if _, err := compilePattern(GrepQuery{Pattern: src}); !errors.As(err, &pe) {
			t.Errorf("%.20s: %v", src, err)
		}
	}
}

func TestRequiredLiteral(t *testing.T) {
	for src, want := range map[string]string{
		"foo":                      "foo exact",
		`foo\(\w+\)`:               "foo(",
		`(?i)needle`:               "needle fold exact",
		`(?i)search`:               "earch fold",
		`(?i)tao`:                  "",
		`a|b`:                      "",
		`(foo)bar`:                 "foobar exact",
		`(foo)+bar`:                "foo",
		`(foo)?bar`:                "bar",
		`func \w+\(ctx context\.C`: "(ctx context.C",
		`\bfoo\b`:                  "foo",
	} {
		l := mustCompile(t, src).literal
		got := string(l.text)
		if got != "" && l.fold {
			got += " fold"
		}
		if got != "" && l.exact {
			got += " exact"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}

// FuzzPattern feeds both automata of the engine the same pattern and text.
// They must agree with each other and, where the two dialects mean the same,
// with package regexp.
func FuzzPattern(f *testing.F) {
	for _, p := range diffPatterns {
		f.Add(p, "foo bar\nTODO caf\u00e9\n\xff x1\n")
	}
	f.Add(`(a|ab)(c|bcd)(d*)`, "abcd")
	f.Fuzz(func(t *testing.T, src, text string) {
		if len(src) > 60 || len(text) > 300 {
			return
		}
		p, err := compilePattern(GrepQuery{Pattern: src})
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without text")
			}
			return
		}
		m := newLineMatcher(p)
		fast := map[int]bool{}
		for at := 0; at < len(text); {
			start, end, ok := m.next([]byte(text), at)
			if !ok {
				break
			}
			fast[start] = true
			at = end + 1
		}
		at := 0
		for _, line := range strings.SplitAfter(text, "\n") {
			if line == "" {
				continue
			}
			body := strings.TrimSuffix(line, "\n")
			if slow := m.matchesSlowly([]byte(body)); slow != fast[at] && !strings.Contains(src, "\\A") && !strings.Contains(src, "\\z") && !strings.Contains(src, "m") {
				t.Fatalf("%q on %q: fast %v, slow %v", src, body, fast[at], slow)
			}
			at += len(line)
		}
	})
}

func TestSpansEqualPackageRegexp(t *testing.T) {
	text := []byte("foo foobar abcd x1y22 _a if err != nil { return } ab ab aab\n")
	for _, src := range []string{`a|ab`, `ab|a`, `(a|ab)(c|bcd)?`, `[a-z]+?`, `\w+`, `o+?b`, `a*`, `(?:a*)*b`, `x?\d+`, `f.*?o`, `f.*o`, `(foo|foobar)\b`} {
		std := regexp.MustCompile(src)
		var got [][2]int
		newLineMatcher(mustCompile(t, src)).eachSpan(text, func(a, b int) bool {
			got = append(got, [2]int{a, b})
			return true
		})
		var want [][2]int
		for _, m := range std.FindAllIndex(text, -1) {
			want = append(want, [2]int{m[0], m[1]})
		}
		if len(got) != len(want) {
			t.Errorf("%s: %v, want %v", src, got, want)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: match %d is %v, want %v", src, i, got[i], want[i])
			}
		}
	}
}

func TestUTF8RangesCoverExactly(t *testing.T) {
	for _, r := range []runeRange{{0, utf8.MaxRune}, {0x7f, 0x80}, {0x7ff, 0x10001}, {0xd000, 0xe100}, {0x61, 0x61}, {0x3b1, 0x1f600}} {
		n, err := compileNFA(&node{op: opSet, set: runeSet{r}})
		if err != nil {
			t.Fatal(err)
		}
		p := newPike(n)
		for c := rune(0); c <= utf8.MaxRune; c += 1 + c/900 {
			if !utf8.ValidRune(c) {
				continue
			}
			b := utf8.AppendRune(nil, c)
			start, end, ok := p.find(b, 0)
			whole := ok && start == 0 && end == len(b)
			if whole != (r.lo <= c && c <= r.hi) {
				t.Fatalf("%#x in %#x-%#x: %v", c, r.lo, r.hi, whole)
			}
		}
	}
}

// TestDFACacheRefills runs a pattern that has more states than the cache
// holds, and compares with the slow way.
func TestDFACacheRefills(t *testing.T) {
	m := newLineMatcher(mustCompile(t, `[ab]*a[ab]{14}c`))
	var text bytes.Buffer
	for i := range 40_000 {
		text.WriteByte("ab"[(i*i/7+i*31)%13%2])
	}
	line := append(text.Bytes(), []byte("abbbbbbbbbbbbbbc")...)
	if _, _, ok := m.next(append(line, '\n'), 0); !ok {
		t.Error("no match")
	}
}
