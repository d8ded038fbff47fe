package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"time"

	"github.com/hew-agent/hew/internal/backend/search"
)

// threads of ripgrep, and of the own engine while it is measured.
const threads = 2

func searchMeasures() []measure {
	const ripgrep = "ripgrep, two threads"
	all := []measure{}
	for _, g := range []struct {
		kind, goal string
		query      search.GrepQuery
	}{
		{"literal", "≤ 1.5×", search.GrepQuery{Pattern: rareWord}},
		{"case-folded", "≤ 1.5×", search.GrepQuery{Pattern: rareWord, IgnoreCase: true}},
		{"regexp", "≤ 1.5×", search.GrepQuery{Pattern: `func \w+\(ctx context\.Context, key string\)`}},
		{"regexp without a literal", "≤ 3×", search.GrepQuery{Pattern: `\b[0-9]{4}[a-f]{2}\b`}},
		{"none (nothing matches)", "≤ 1.5×", search.GrepQuery{Pattern: "no such words in there"}},
	} {
		all = append(all, measure{
			name: "Grep, own engine, 10,000 files: " + g.kind, goal: g.goal, unit: seconds, reference: ripgrep,
			run: func(ctx context.Context, l *lab) (hew, ref samples, err error) { return grep(ctx, l, g.query) },
		})
	}
	return append(all, measure{
		name: "Glob, own engine, 10,000 files", goal: "≤ 1.5×", unit: seconds, reference: ripgrep + ", unsorted", run: glob,
	})
}

const searchRounds = 7

// grep lists the files with a match, as the tool does unless told otherwise. Ripgrep's time includes its start, which hew saves.
func grep(ctx context.Context, l *lab, q search.GrepQuery) (hew, ref samples, err error) {
	args := []string{"--files-with-matches", "-e", q.Pattern}
	if q.IgnoreCase {
		args = append(args, "--ignore-case")
	}
	return againstRipgrep(ctx, l, args, func(root string) (int, error) {
		q.Root = root
		r, err := search.Engine{}.Grep(ctx, q)
		return r.TotalFiles, err
	})
}

func glob(ctx context.Context, l *lab) (hew, ref samples, err error) {
	const pattern = "**/*_test.go"
	return againstRipgrep(ctx, l, []string{"--files", "--glob", pattern}, func(root string) (int, error) {
		r, err := search.Engine{}.Glob(ctx, search.GlobQuery{Root: root, Pattern: pattern, Rules: search.IgnoreLikeGrep})
		return r.Total, err
	})
}

// againstRipgrep times own and rg with args on the same tree, and makes sure that they find equally many files.
func againstRipgrep(ctx context.Context, l *lab, args []string, own func(root string) (files int, err error)) (hew, ref samples, err error) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		return nil, nil, missing{"ripgrep"}
	}
	root, err := l.searchTree()
	if err != nil {
		return nil, nil, err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	var found int
	return both(ctx, searchRounds,
		func() (float64, error) {
			began := time.Now()
			n, err := own(root)
			found = n
			return time.Since(began).Seconds(), err
		},
		func() (float64, error) {
			c := exec.CommandContext(ctx, rg, append([]string{"--no-config", "--threads", fmt.Sprint(threads)}, args...)...)
			c.Dir = root
			began := time.Now()
			out, err := c.Output()
			took := time.Since(began).Seconds()
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() == 1 { // nothing found
				err = nil
			}
			if n := bytes.Count(out, []byte("\n")); err == nil && n != found {
				err = fmt.Errorf("ripgrep finds %d files and hew %d", n, found)
			}
			return took, err
		})
}
