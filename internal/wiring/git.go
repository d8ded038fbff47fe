package wiring

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/state/settings"
)

// gitPatience bounds how long a start waits for git: a repository can make git
// wait for ever (a named pipe as .git/HEAD), and its state is only a convenience.
const gitPatience = 5 * time.Second

// askGit begins to ask for the state of the repository, unless it is not
// wanted or there is none: git takes longer than everything else that a start
// does. What it returns waits for the answer; nil means that there is none.
func (b *build) askGit(ctx context.Context) func() *prompt.Git {
	none := func() *prompt.Git { return nil }
	off := b.o.Bare || b.env("CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS") != "" || !b.settings.IncludeGitInstructions()
	if off || b.past != nil && len(b.past.System) > 0 || b.o.SystemPrompt != "" || !b.inRepository() {
		return none
	}
	run := b.runGit()
	if run == nil {
		return none
	}
	answer := make(chan *prompt.Git, 1)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, gitPatience)
		defer cancel()
		answer <- prompt.ReadGit(ctx, run)
	}()
	return sync.OnceValue(func() *prompt.Git { return <-answer })
}

// runGit is git for hew's own questions, nil where there is none.
func (b *build) runGit() prompt.RunGit { return b.gitIn(b.place.Cwd, 0) }

// gitIn is git in a folder, with the bound of its output in bytes, 0 for the usual one.
func (b *build) gitIn(dir string, most int64) prompt.RunGit {
	path, err := shell.LookPath("git", b.o.Environ)
	if err != nil {
		return nil
	}
	return func(ctx context.Context, args ...string) (string, error) {
		res, err := b.runner.Exec(ctx, shell.Program{
			Argv: append([]string{path}, args...), Dir: dir, Env: prompt.GitEnv(), Unconfined: true, Tidy: true, MaxOutput: most,
		})
		if err == nil && res.Truncated && most > 0 {
			err = errors.New("git said more than is read")
		}
		return string(res.Stdout), exitError(res, err)
	}
}

// maxIndex bounds the list of a repository's files, of half a million or so.
const maxIndex = 64 << 20

// gitPrograms tells the policy why git's reading commands in a folder could
// start a program that the repository names; nil where the folder is trusted.
// It is asked before such a command and not at the start: then it costs nothing
// where there is none, and the answer is about the folder as it is by then.
func (b *build) gitPrograms() func(dir string) string {
	if b.trust.Level != settings.Untrusted || b.runner == nil {
		return nil
	}
	return func(dir string) string {
		ctx, cancel := context.WithTimeout(context.Background(), gitPatience)
		defer cancel()
		dir = filepath.FromSlash(dir)
		return prompt.GitPrograms(ctx, b.gitIn(dir, maxIndex), dir, b.env)
	}
}

// inRepository tells whether git would find a work tree here, by the two ways
// in which it looks for one; it spares two processes where there is none.
func (b *build) inRepository() bool {
	return b.env("GIT_DIR") != "" || underGit(b.place.Cwd)
}
