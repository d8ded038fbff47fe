package wiring

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/worktree"
	"github.com/hew-agent/hew/internal/state/settings"
)

// reason says who has a worktree locked; id is that of a subagent, "" for the
// main conversation.
func (s *subagents) reason(id string) string {
	who := "hew"
	if id != "" {
		who = "hew subagent " + id
	}
	return fmt.Sprintf("%s of session %s (pid %d on %s)", who, s.b.id, os.Getpid(), hostName())
}

// hostName tells machines and containers apart that share a checkout: a process
// id means something on its own machine only.
func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		return "?"
	}
	return name
}

var lockHolder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^hew .*\(pid (\d+) on (.+)\)$`) })

// held tells that the process which locked a worktree may still run: one of
// another machine, and one whose words are not known, may.
func (s *subagents) held(reason string) bool {
	f := lockHolder().FindStringSubmatch(reason)
	if f == nil || f[2] == "?" || f[2] != hostName() {
		return true
	}
	pid, err := strconv.Atoi(f[1])
	return err != nil || pid == os.Getpid() || !fsys.ProcessDead(pid)
}

// sweepPatience bounds a sweep, and so how long it can hold up a session's end.
const sweepPatience = 10 * time.Second

// sweep frees the worktrees that a killed hew has left locked, beside the
// conversation: what holds work is kept and unlocked, the rest removed.
func (s *subagents) sweep() {
	root := settings.CheckoutRoot(s.b.place.Project)
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(worktree.Folder)))
	if err != nil || len(entries) < 2 || !underGit(root) { // the folder's .gitignore is one
		return
	}
	s.wg.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.life()), sweepPatience)
		defer cancel()
		list, err := worktree.List(ctx, s.git, root)
		if err != nil {
			return // a repository that git cannot read; a worktree in it would say so
		}
		for _, e := range list {
			s.sweepOne(ctx, root, e)
		}
	})
}

func (s *subagents) sweepOne(ctx context.Context, root string, e worktree.Entry) {
	real, err := fsys.Real(e.Dir)
	if err != nil || !e.Locked || filepath.Dir(real) != filepath.Join(root, filepath.FromSlash(worktree.Folder)) || s.held(e.Reason) {
		return
	}
	s.trees.Lock()
	defer s.trees.Unlock()
	t, idle, err := e.Idle(ctx, s.git, root)
	if ctx.Err() != nil {
		return // the next session does it
	}
	if fault := t.Unlock(ctx, s.git); fault != nil {
		return // another process was faster
	}
	if idle && err == nil {
		if err := t.Remove(ctx, s.git); err != nil {
			s.b.notice("a worktree that a killed session has left: " + err.Error())
		}
		return
	}
	s.b.notice(fmt.Sprintf("a session that was killed has left the worktree %s (branch %s); it may hold work and is kept", e.Dir, e.Branch))
}
