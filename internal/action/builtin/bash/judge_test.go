package bash

import (
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/tool"
)

func TestTraits(t *testing.T) {
	safe := tool.Traits{ReadOnly: true, ConcurrencySafe: true}
	for _, c := range []struct {
		command string
		want    tool.Traits
	}{
		{"ls -l", safe},
		{"cat a | grep b", safe},
		{"git status", safe},
		{"sleep 1; date", safe},
		{"cd sub && ls", tool.Traits{ReadOnly: true}},
		{"ls > out", tool.Traits{}},
		{"go test ./...", tool.Traits{Check: "go test"}},
		{"rm -rf build", tool.Traits{Destructive: true}},
		{"echo 'unclosed", tool.Traits{}},
		{"$x", tool.Traits{}},
	} {
		if got := traits(shellread.Read(c.command, shellread.Bash), true); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.command, got, c.want)
		}
	}
	if !traits(shellread.Read("cd sub && ls", shellread.Bash), false).ConcurrencySafe {
		t.Error("a move that is not kept needs no turn of its own")
	}
}

func TestAtTimeout(t *testing.T) {
	for command, want := range map[string]shell.OnTimeout{
		"npm run build":                shell.Detach,
		"make && ./server":             shell.Detach,
		"for i in 1 2; do make; done":  shell.Detach,
		"echo a; sleep 500":            shell.Detach,
		"cat .git/HEAD; ./x":           shell.Detach,
		"./legit.sh digit":             shell.Detach,
		"sleep 500":                    shell.Kill,
		"sleep 5 && make":              shell.Kill,
		"timeout 600 sleep 500":        shell.Kill,
		"git fetch":                    shell.Kill,
		"cd x && /usr/bin/git fetch":   shell.Kill,
		"make; C:/bin/git.exe log":     shell.Kill,
		"sh -c 'x; git gc'":            shell.Kill,
		"'gi't fetch":                  shell.Kill,
		"if true; then echo (; fi":     shell.Kill,
		"while true; do echo 'x; done": shell.Kill,
	} {
		if got := atTimeout(command, shellread.Read(command, shellread.Bash)); got != want {
			t.Errorf("%s: %v, want %v", command, got, want)
		}
	}
}

func TestBenign(t *testing.T) {
	for _, c := range []struct{ command, output, want string }{
		{"grep x f", "", "no match"},
		{"/usr/bin/egrep x f", "", "no match"},
		{"cat f | rg x", "", "no match"},
		{"make || fgrep x f", "", "no match"},
		{"make; grep x f", "", "no match"},
		{"cd sub && grep x f", "", "no match"},
		{"cd sub && grep x f", "bash: cd: sub: No such file", ""},
		{"LC_ALL=C grep x f", "", "no match"},
		{"(cd sub; diff a b)", "1c1", "the files differ"},
		{"find . -name x", "", "some places could not be searched"},
		{"test -f x", "", "the test is false"},
		{"[ -f x ]", "", "the test is false"},
		{"[[ -f x ]]", "", "the test is false"},
		{"[ -f x ] && grep x f", "", "no match"},
		{"git diff --exit-code", "", "there are differences"},
		{"git -C sub -c a=b --no-pager grep x", "", "no match"},
		{"git push", "", ""},
		{"git -C diff push", "", ""},
		{"make && grep x f", "", ""},
		{"grep x f && make", "", ""},
		{"! grep x f", "", ""},
		{"if grep x f; then false; fi", "", ""},
		{"$tool x f", "", ""},
		{"grep 'x", "", ""},
		{"", "", ""},
	} {
		got, ok := benign(c.command, c.output)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q %v, want %q", c.command, got, ok, c.want)
		}
	}
}

func FuzzBenign(f *testing.F) {
	f.Add("cd a && grep x y | (test -f z)", "")
	f.Add("git -c", "x")
	f.Add("{ [[ a ]]; } &", "")
	f.Fuzz(func(t *testing.T, command, output string) {
		if meaning, ok := benign(command, output); ok != (meaning != "") {
			t.Fatalf("%q: %q %v", command, meaning, ok)
		}
	})
}

func TestTitle(t *testing.T) {
	long := strings.Repeat("é", 300)
	for _, c := range []struct{ command, description, want string }{
		{"go test ./...", "Run the tests", "Run the tests"},
		{"go test ./...\nls", "", "go test ./..."},
		{"\n  \n\tmake  all\n", " \n", "make all"},
		{"ls \x1b[2K\u202etxt", "", `ls \x1b[2K\u202etxt`},
		{long, "", long[:2*(maxTitle-1)] + "…"},
	} {
		if got := title(bashInput{Command: c.command, Description: c.description}); got != c.want {
			t.Errorf("%q %q: %q, want %q", c.command, c.description, got, c.want)
		}
	}
}

func TestShowsAll(t *testing.T) {
	for _, c := range []struct {
		shown, content string
		want           bool
	}{
		{"a\nb\n", "a\nb\n", true},
		{"a\nb", "a\nb\n", true},
		{"     1\ta\n     2\t\n     3\tb\n", "a\n\nb\n", true},
		{"1:a\n2:b\n", "a\nb", true},
		{"a\n", "a\nb\n", false},
		{"b\na\n", "a\nb\n", false},
		{"a\nb\nc\n", "a\nb\n", false},
	} {
		if got := showsAll(c.shown, c.content); got != c.want {
			t.Errorf("%q of %q: %v", c.shown, c.content, got)
		}
	}
}
