package search

import (
	"context"
	"os"
	"os/exec"
	"testing"
)

// benchFiles is the size of the tree that the speed goals speak of.
const benchFiles = 10_000

// benchGrep measures the own engine and, when there is a ripgrep, the whole
// run of it with two threads.
func benchGrep(b *testing.B, q GrepQuery, flags ...string) {
	isolate(b)
	q.Root = plantMany(b, benchFiles)
	b.Run("own", func(b *testing.B) {
		for b.Loop() {
			if _, err := (Engine{}).Grep(context.Background(), q); err != nil {
				b.Fatal(err)
			}
		}
	})
	rg := FindRipgrep(os.Getenv("PATH"), ".")
	if rg == "" {
		b.Log("left out: ripgrep for comparison (needs ripgrep)")
		return
	}
	b.Run("ripgrep", func(b *testing.B) {
		for b.Loop() {
			args := append([]string{"--no-config", "-j2", "-l"}, flags...)
			cmd := exec.Command(rg, append(args, "-e", q.Pattern, "./")...)
			cmd.Dir = q.Root
			if _, err := cmd.Output(); err != nil && cmd.ProcessState.ExitCode() != 1 {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkGrepLiteral(b *testing.B) { benchGrep(b, GrepQuery{Pattern: "NeedleInHay"}) }

func BenchmarkGrepCaseFolded(b *testing.B) {
	benchGrep(b, GrepQuery{Pattern: "needleinhay", IgnoreCase: true}, "-i")
}

func BenchmarkGrepRegexpWithLiteral(b *testing.B) {
	benchGrep(b, GrepQuery{Pattern: `TODO\(\d+\):\s+\w+`})
}

func BenchmarkGrepRegexpWithoutLiteral(b *testing.B) {
	benchGrep(b, GrepQuery{Pattern: `[A-Z][a-z]+[A-Z]\w+\s+[a-z]\d\.`})
}

func BenchmarkGrepAlternation(b *testing.B) {
	benchGrep(b, GrepQuery{Pattern: "NeedleInHay|nothing|elsewhere"})
}

func BenchmarkGrepAbsent(b *testing.B) { benchGrep(b, GrepQuery{Pattern: "qqqzzzqqq"}) }

func BenchmarkGlob(b *testing.B) {
	isolate(b)
	root := plantMany(b, benchFiles)
	b.Run("own", func(b *testing.B) {
		for b.Loop() {
			r, err := Engine{}.Glob(context.Background(), GlobQuery{Root: root, Pattern: "**/*.ts", Limit: 100})
			if err != nil || r.Total != benchFiles/4 {
				b.Fatal(r.Total, err)
			}
		}
	})
	rg := FindRipgrep(os.Getenv("PATH"), ".")
	if rg == "" {
		b.Log("left out: ripgrep for comparison (needs ripgrep)")
		return
	}
	b.Run("ripgrep", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command(rg, "--no-config", "-j2", "--files", "--hidden", "--no-ignore", "--glob=**/*.ts", "./")
			cmd.Dir = root
			if _, err := cmd.Output(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
