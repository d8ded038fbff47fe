//go:build unix

package bash

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/tool"
)

func TestCwdCarriesOver(t *testing.T) {
	b := newBench(t, nil)
	project := b.env.Cwd
	b.write("sub/deep/f", "x")
	outside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(project, "sub")
	move := func(dir string) []tool.Effect { return []tool.Effect{tool.SetCwd{Dir: dir}} }
	for _, c := range []struct {
		name, cwd, command string
		agent              string
		carry              Carry
		want               []tool.Effect
		text               string
	}{
		{"into a folder", project, "cd sub", "", CarryCwd, move(sub), "(Bash completed with no output)"},
		{"back", sub, "cd ..; echo x", "", CarryCwd, move(project), "x"},
		{"stays", sub, "cd deep; cd ..", "", CarryCwd, nil, "(Bash completed with no output)"},
		{"also after a failure", project, "cd sub; exit 4", "", CarryCwd, move(sub), "Exit code 4"},
		{"subshell", project, "(cd sub)", "", CarryCwd, nil, "(Bash completed with no output)"},
		{"outside, at home", project, "cd " + outside, "", CarryCwd, nil, "(Bash completed with no output)\nShell cwd was reset to " + project},
		{"outside, from a folder", sub, "cd " + outside, "", CarryCwd, move(project), "(Bash completed with no output)\nShell cwd was reset to " + project},
		{"agent", sub, "cd deep", "a1", CarryCwd, nil, "(Bash completed with no output)\nShell cwd was reset to " + sub},
		{"switched off", project, "cd sub", "", StayInProject, nil, "(Bash completed with no output)\nShell cwd was reset to " + project},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.t, b.env.Cwd, b.env.Agent, b.s.c.Carry = t, c.cwd, c.agent, c.carry
			r := b.bash(c.command)
			if !slices.Equal(r.Effects, c.want) || text(r) != c.text {
				t.Errorf("effects %v, want %v; text %q, want %q", r.Effects, c.want, text(r), c.text)
			}
		})
	}
}

func TestCwdFollowsLinksOutOfTheRoots(t *testing.T) {
	b := newBench(t, nil)
	if err := os.Symlink(t.TempDir(), filepath.Join(b.env.Cwd, "link")); err != nil {
		t.Fatal(err)
	}
	if r := b.bash("cd link"); len(r.Effects) > 0 || !strings.Contains(text(r), "was reset") {
		t.Errorf("%v %q", r.Effects, text(r))
	}
}

func TestChangedFilesAreNamed(t *testing.T) {
	b := newBench(t, nil)
	a, other := b.write("a.txt", "one\n"), b.write("other.txt", "x\n")
	b.read(a)
	b.read(other)
	r := b.bash("echo two > a.txt")
	if got := text(r); !strings.Contains(got, "<system-reminder>") || !strings.Contains(got, "that you have read: a.txt. Read") {
		t.Errorf("%q", got)
	}
	if got := text(b.bash("echo three > a.txt; exit 1")); strings.Contains(got, "reminder") {
		t.Errorf("told twice: %q", got)
	}
	if got := text(b.bash("rm other.txt; exit 1")); !strings.Contains(got, "other.txt") {
		t.Errorf("a removed file is not told: %q", got)
	}
	if got := text(b.bash("touch new.txt")); strings.Contains(got, "reminder") {
		t.Errorf("a file nobody has read is told: %q", got)
	}
}

func TestManyChangedFilesAreCounted(t *testing.T) {
	b := newBench(t, nil)
	for i := range 13 {
		b.read(b.write("f"+string(rune('a'+i)), "x"))
	}
	if got := text(b.bash("for f in f*; do echo y > $f; done")); !strings.Contains(got, "fa, fb") || !strings.Contains(got, "fj and 3 more") {
		t.Errorf("%q", got)
	}
}

func TestViewsCountAsReading(t *testing.T) {
	for _, c := range []struct {
		command string
		want    fsys.Freshness
	}{
		{"cat f", fsys.Fresh},
		{"cat ./f", fsys.Fresh},
		{"cat -n f", fsys.Fresh},
		{"nl -b a f", fsys.Fresh},
		{"head -n 50 f", fsys.Fresh},
		{"tail -n +1 f", fsys.Fresh},
		{"sed -n 1,99p f", fsys.Fresh},
		{"sed -n '1,$p' f", fsys.Fresh},
		{"grep -n '' f", fsys.Fresh},
		{"head -n 2 f", fsys.Unread},
		{"sed -n 2,3p f", fsys.Unread},
		{"grep -n two f", fsys.Unread},
		{"cat f | cat", fsys.Unread},
		{"cat < f", fsys.Unread},
		{"cat f > g", fsys.Unread},
		{"cat f g", fsys.Unread},
		{"wc f", fsys.Unread},
		{"cat f; true", fsys.Unread},
	} {
		t.Run(c.command, func(t *testing.T) {
			b := newBench(t, nil)
			path := b.write("f", "one\ntwo\n\nfour\n")
			b.write("g", "x\n")
			b.bash(c.command)
			if got := b.s.c.Seen.Check(path); got != c.want {
				t.Errorf("freshness %v, want %v", got, c.want)
			}
		})
	}
}

func TestViewsOfWhatIsNotShownAsItIs(t *testing.T) {
	b := newBench(t, func(c *Config) { c.MaxOutput = 50 })
	for name, content := range map[string]string{
		"long":   strings.Repeat("0123456789\n", 10),
		"latin1": "caf\xe9\n",
		"escape": "a\x1b[31mb\n",
		"empty":  "",
	} {
		path := b.write(name, content)
		b.bash("cat " + name)
		if got := b.s.c.Seen.Check(path); got != fsys.Unread {
			t.Errorf("%s: freshness %v", name, got)
		}
	}
}

func TestSourcesPrefixAndEnvironment(t *testing.T) {
	b := newBench(t, nil)
	env := b.write("env.sh", "export FROM_FILE=sourced\n")
	log := b.write("bin dir/log", "#!/bin/sh\necho \"args:$#:$1:$2\" >> log\nexec sh -c \"$2\"\n")
	if err := os.Chmod(log, 0o755); err != nil {
		t.Fatal(err)
	}
	b.s.c.Sources = []string{filepath.Join(b.env.Cwd, "missing"), env}
	b.s.c.Env = map[string]string{"FROM_CONFIG": "set"}
	if got := text(b.bash("echo $FROM_FILE $FROM_CONFIG $CLAUDECODE")); got != "sourced set 1" {
		t.Errorf("%q", got)
	}
	b.s.c.Prefix = log + " -v"
	if got := text(b.bash("echo 'it'\"'s\" $FROM_FILE")); got != "it's sourced" {
		t.Errorf("with a prefix: %q", got)
	}
	if got := text(b.bash("cat log | head -n 1")); got != `args:2:-v:echo 'it'"'s" $FROM_FILE` {
		t.Errorf("the prefix was given %q", got)
	}
}
