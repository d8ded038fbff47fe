package app

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseForms(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want func(*Options) any
		is   any
	}{
		{[]string{"-p", "hello"}, func(o *Options) any { return o.Prompt }, "hello"},
		{[]string{"hello", "-p"}, func(o *Options) any { return o.Prompt }, "hello"},
		{[]string{"-p", "a", "b"}, func(o *Options) any { return o.Prompt }, "a b"},
		{[]string{"--resume", "abc", "-p", "x"}, func(o *Options) any { return o.Resume }, "abc"},
		{[]string{"--resume=abc"}, func(o *Options) any { return o.Resume }, "abc"},
		{[]string{"--resume", "-p", "x"}, func(o *Options) any { return o.Given("resume") && o.Resume == "" }, true},
		{[]string{"-r", "abc"}, func(o *Options) any { return o.Resume }, "abc"},
		{[]string{"-pc", "x"}, func(o *Options) any { return o.Print && o.Continue }, true},
		{[]string{"-p", "x", "--allowedTools", "A", "B(x *)"}, func(o *Options) any { return o.Allowed }, []string{"A", "B(x *)"}},
		{[]string{"--allowed-tools=A,B(x,y)", "--model", "m"}, func(o *Options) any { return ruleList(o.Allowed) }, []string{"A", "B(x,y)"}},
		{[]string{"--tools="}, func(o *Options) any { return o.Given("tools") && len(ruleList(o.Tools)) == 0 }, true},
		{[]string{"--max-turns", "3"}, func(o *Options) any { return o.MaxTurns }, 3},
		{[]string{"--max-budget-usd=0.5"}, func(o *Options) any { return o.MaxBudget }, 0.5},
		{[]string{"--model", "-weird-"}, func(o *Options) any { return o.Model }, "-weird-"},
		{[]string{"-p", "--", "--not-an-option"}, func(o *Options) any { return o.Prompt }, "--not-an-option"},
		{[]string{"--setting-sources="}, func(o *Options) any { return o.Sources }, ""},
		{nil, func(o *Options) any { return o.Sources }, "user,project,local"},
	} {
		o, err := parse(tc.args)
		if err != nil {
			t.Errorf("%q: %v", tc.args, err)
			continue
		}
		if d := cmp.Diff(tc.is, tc.want(o)); d != "" {
			t.Errorf("%q: %s", tc.args, d)
		}
	}
}

func TestParseErrorsSayWhatToDo(t *testing.T) {
	for arg, want := range map[string]string{
		"--modle":                "Did you mean --model?",
		"--zzzzzz":               "unknown option '--zzzzzz'",
		"--model":                "needs a value",
		"--max-turns=x":          "max-turns",
		"--output-format=yaml":   "takes one of text, json, stream-json",
		"--permission-mode=wild": "takes one of manual",
		"-Z":                     "unknown option '-Z'",
	} {
		_, err := parse([]string{arg})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", arg, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("-p\x00hi\x00--allowedTools\x00Bash(a b)")
	f.Fuzz(func(t *testing.T, s string) {
		o, err := parse(strings.Split(s, "\x00"))
		if (o == nil) == (err == nil) {
			t.Fatalf("options %v, error %v", o, err)
		}
	})
}
