package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/state/checkpoint"
)

func snapshotMeasures() []measure {
	const walk = "parallel lstat walk"
	var all []measure
	for _, size := range []struct {
		files int
		long  bool
	}{{1_000, false}, {50_000, false}, {500_000, true}} {
		all = append(all, measure{
			name: fmt.Sprintf("snapshot before a command, %d files", size.files), goal: "≤ 1.5×", unit: seconds, reference: walk, long: size.long,
			run: func(ctx context.Context, l *lab) (hew, ref samples, err error) {
				return snapshots(ctx, l, size.files, false)
			},
		})
	}
	return append(all, measure{
		name: "snapshot before a command, 50000 files, watched", goal: "≤ 10 ms", unit: seconds, reference: walk,
		run: func(ctx context.Context, l *lab) (hew, ref samples, err error) {
			return snapshots(ctx, l, 50_000, true)
		},
	})
}

const snapshotRounds = 7

// snapshots times what a command costs beside itself, in a tree that is known
// already and in which each command changes one file.
func snapshots(ctx context.Context, l *lab, files int, watch bool) (hew, ref samples, err error) {
	root, err := flatTree(l, files)
	if err != nil {
		return nil, nil, err
	}
	t, err := checkpoint.Open(checkpoint.Config{
		Dir: l.path("history"), Roots: []string{root}, Limits: checkpoint.DefaultLimits(), Now: time.Now, Watch: watch,
	})
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = t.Close() }() // only measured
	if _, err := t.Before(ctx, checkpoint.Command{Use: "first", Text: "true"}); err != nil {
		return nil, nil, err
	}
	round := 0
	return both(ctx, snapshotRounds,
		func() (float64, error) {
			round++
			use := fmt.Sprint("use", round)
			began := time.Now()
			if _, err := t.Before(ctx, checkpoint.Command{Use: use, Text: "true"}); err != nil {
				return 0, err
			}
			took := time.Since(began)
			if err := os.WriteFile(filepath.Join(root, "d0", "f0"), fmt.Appendf(nil, "round %d", round), 0o600); err != nil {
				return 0, err
			}
			began = time.Now()
			err := t.After(checkpoint.End{Use: use})
			return (took + time.Since(began)).Seconds(), err
		},
		func() (float64, error) {
			began := time.Now()
			err := lstatWalk(root)
			return time.Since(began).Seconds(), err
		})
}

// flatTree makes a tree of small files.
func flatTree(l *lab, files int) (string, error) {
	root := l.path("files")
	for i := range files {
		dir := filepath.Join(root, fmt.Sprintf("d%d", i/perFolder))
		if i%perFolder == 0 {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return "", err
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d", i)), fmt.Appendf(nil, "file %d\n", i), 0o600); err != nil {
			return "", err
		}
	}
	return root, nil
}

// lstatWalk looks at every name of a tree, with as many goroutines as hew uses.
func lstatWalk(root string) error {
	var mu sync.Mutex
	wake := sync.NewCond(&mu)
	todo, busy := []string{root}, 0
	var failed error
	var wg sync.WaitGroup
	for range max(2, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			for {
				for len(todo) == 0 && busy > 0 {
					wake.Wait()
				}
				if len(todo) == 0 {
					wake.Broadcast()
					return
				}
				dir := todo[len(todo)-1]
				todo = todo[:len(todo)-1]
				busy++
				mu.Unlock()
				below, err := lstatFolder(dir)
				mu.Lock()
				busy--
				todo = append(todo, below...)
				if err != nil {
					failed = err
				}
				wake.Broadcast()
			}
		})
	}
	wg.Wait()
	return failed
}

func lstatFolder(dir string) (below []string, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		st, err := os.Lstat(path)
		if err != nil {
			return nil, err
		}
		if st.IsDir() {
			below = append(below, path)
		}
	}
	return below, nil
}
