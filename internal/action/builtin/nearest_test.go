package builtin

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestNearestFindsTheBestPlace(t *testing.T) {
	var src strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&src, "\tfunction%d(argument, %d) // line\n", i, i*7)
	}
	content := src.String()
	for name, c := range map[string]struct {
		want, line string
		parts      []string
	}{
		"spaces for tabs":   {"    function40000(argument, 280000) // line", "line 40001", []string{"→function40000", "····function40000", "white space only"}},
		"typo":              {"\tfunction31234(argumnt, 218638) // line", "line 31235", []string{"argument", "argumnt"}},
		"second line right": {"what never stood here\n\tfunction77(argument, 539) // line", "line 77", []string{"line 77"}},
		"trailing blanks":   {"\tfunction5(argument, 35) // line  \n\tfunction6(argument, 42) // line", "line 6", []string{"line··", "white space only"}},
	} {
		start := time.Now()
		got := nearest(content, c.want)
		if !strings.Contains(got, c.line) {
			t.Errorf("%s: %q lacks %q", name, got, c.line)
		}
		for _, p := range c.parts {
			if !strings.Contains(got, p) {
				t.Errorf("%s: %q lacks %q", name, got, p)
			}
		}
		if len(got) > 3000 {
			t.Errorf("%s: %d bytes", name, len(got))
		}
		t.Logf("%s took %v", name, time.Since(start))
	}
}

func FuzzNearest(f *testing.F) {
	f.Add("a\r\nb\n\tc", "b\n c")
	f.Add(strings.Repeat("long ", 2000), "long long x")
	f.Add("é\u0301\xff", "e")
	f.Fuzz(func(t *testing.T, content, want string) {
		if got := nearest(content, want); len(got) > 20_000 {
			t.Errorf("%d bytes for %q", len(got), want)
		}
	})
}
