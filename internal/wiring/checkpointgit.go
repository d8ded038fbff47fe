package wiring

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/state/checkpoint"
	"github.com/hew-agent/hew/internal/state/prompt"
)

// maxBlobs bounds one answer of git about objects, in bytes.
const maxBlobs = 256 << 20

// repository is the object store of a git repository, only ever read.
type repository struct {
	format string
	run    prompt.RunGit

	mu sync.Mutex
	in []byte // what the next git reads
}

// repository finds the one that a folder lies in; nil when there is none that
// git may be asked about.
func (b *build) repository(ctx context.Context, root string) checkpoint.Git {
	if !underGit(root) || b.runner == nil {
		return nil
	}
	path, err := shell.LookPath("git", b.o.Environ)
	if err != nil {
		return nil
	}
	r := &repository{}
	plain := func(ctx context.Context, args ...string) (string, error) {
		res, err := b.runner.Exec(ctx, shell.Program{
			Argv: append([]string{path}, args...), Dir: root, Env: prompt.GitEnv(), Stdin: r.in, Unconfined: true, Tidy: true, MaxOutput: maxBlobs,
		})
		return string(res.Stdout), exitError(res, err)
	}
	if r.run, err = prompt.SafeGit(ctx, plain); err != nil {
		return nil
	}
	out, err := r.run(ctx, "rev-parse", "--show-object-format")
	if err != nil {
		return nil
	}
	r.format = strings.TrimSpace(out)
	return r
}

// underGit tells whether git would find a work tree from dir.
func underGit(dir string) bool {
	for {
		if fsys.KindOf(filepath.Join(dir, ".git")) != fsys.KindMissing {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

// Format is the name of the hash of object ids.
func (r *repository) Format() string { return r.format }

func (r *repository) ask(ctx context.Context, ids []string, args ...string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.in = []byte(strings.Join(ids, "\n") + "\n")
	return r.run(ctx, args...)
}

// Held returns those of ids that the object store has.
func (r *repository) Held(ctx context.Context, ids []string) (map[string]bool, error) {
	has := map[string]bool{}
	if len(ids) == 0 {
		return has, nil
	}
	out, err := r.ask(ctx, ids, "cat-file", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		if id, kind, _ := strings.Cut(strings.TrimSpace(line), " "); kind == "blob" {
			has[id] = true
		}
	}
	return has, nil
}

// Contents returns the bytes of blobs.
func (r *repository) Contents(ctx context.Context, ids []string) (map[string][]byte, error) {
	out, err := r.ask(ctx, ids, "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	return readBatch(strings.NewReader(out))
}

// readBatch takes apart what cat-file --batch prints: a line "id type size",
// the bytes, and a line end; for what is missing a line "id missing".
func readBatch(r *strings.Reader) (map[string][]byte, error) {
	got := map[string][]byte{}
	for r.Len() > 0 {
		var line bytes.Buffer
		for {
			c, err := r.ReadByte()
			if err != nil || c == '\n' {
				break
			}
			line.WriteByte(c)
		}
		f := strings.Fields(line.String())
		if len(f) != 3 {
			continue
		}
		size, err := strconv.Atoi(f[2])
		if err != nil || size < 0 || size > r.Len() {
			return nil, fmt.Errorf("git cat-file said %q", line.String())
		}
		data := make([]byte, size)
		if _, err := io.ReadFull(r, data); err != nil {
			return nil, err
		}
		_, _ = r.ReadByte() // the line end; at the end of a cut answer there is none
		if f[1] == "blob" {
			got[f[0]] = data
		}
	}
	return got, nil
}

// tracked returns those of the files that git tracks; all of them when git
// cannot say.
func (b *build) tracked(ctx context.Context, cwd string, files []checkpoint.LeftOut) []checkpoint.LeftOut {
	run := b.gitIn(cwd, maxIndex)
	if run == nil {
		return files
	}
	safe, err := prompt.SafeGit(ctx, run)
	if err != nil {
		return files
	}
	args := []string{"--literal-pathspecs", "ls-files", "-z", "--full-name", "--"}
	for _, f := range files {
		args = append(args, f.Path)
	}
	top, err := safe(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return files
	}
	out, err := safe(ctx, args...)
	if err != nil {
		return files
	}
	known := map[string]bool{}
	for name := range strings.SplitSeq(out, "\x00") {
		known[filepath.Join(strings.TrimSpace(top), filepath.FromSlash(name))] = true
	}
	var left []checkpoint.LeftOut
	for _, f := range files {
		if known[f.Path] {
			left = append(left, f)
		}
	}
	return left
}
