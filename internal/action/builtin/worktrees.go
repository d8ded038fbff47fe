package builtin

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/tool"
)

const (
	enterWorktreeName = "EnterWorktree"
	exitWorktreeName  = "ExitWorktree"
)

// Trees moves a session into worktrees and out of them.
type Trees struct {
	// Own tells that a path lies where hew makes worktrees: others need approval.
	Own func(path string) bool
	// Enter enters a worktree, by a name or the path of an existing one; "" and "":
	// a new one.
	Enter func(ctx context.Context, name, path string) (TreeMove, error)
	// Exit leaves it.
	Exit func(ctx context.Context, how TreeEnd) (TreeMove, error)
}

// TreeEnd says what becomes of a worktree that is left.
type TreeEnd string

// The ends: it stays; it goes when it holds no work; it goes with its work.
const (
	KeepTree    TreeEnd = "keep"
	RemoveTree  TreeEnd = "remove"
	DiscardTree TreeEnd = "discard"
)

// TreeMove is where the session is after a move.
type TreeMove struct {
	// Cwd is the current directory, Home the folder to which commands that lead
	// away come back.
	Cwd, Home string
	// Worktree and Branch are those that were entered or left. Note is for the model.
	Worktree, Branch, Note string
}

func (m TreeMove) result() tool.Result {
	r := tool.Text(m.Note)
	r.Effects = []tool.Effect{tool.SetCwd{Dir: m.Cwd, Home: m.Home}}
	raw, err := json.Marshal(map[string]string{"worktreePath": m.Worktree, "worktreeBranch": m.Branch, "cwd": m.Cwd, "message": m.Note})
	if err == nil { // texts: cannot fail
		r.Data = raw
	}
	r.View = tool.TextView{Text: m.Note}
	return r
}

type enterInput struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

func newEnterWorktree(c *Config) tool.Tool {
	spec := tool.Spec{Name: enterWorktreeName, MainField: "path", Condition: "in a git repository, when HEW_MORE_TOOLS names it", Deferred: true}
	return define("enter_worktree", spec, func(in enterInput, env tool.Env) (tool.Call, error) {
		if in.Name != "" && in.Path != "" {
			return nil, &tool.InputError{Tool: enterWorktreeName, Faults: []string{"Give `name` or `path`, not both"}}
		}
		f := &tool.Func{Line: "Enter a worktree"}
		if in.Path != "" {
			path, err := place(env, in.Path)
			if err != nil {
				return nil, err
			}
			in.Path = path
			f.Line = "Enter the worktree " + short(env, path)
			if !c.Trees.Own(path) {
				f.Wants = []tool.Need{{Kind: tool.NeedUse, Detail: path}}
			}
		} else if in.Name != "" {
			f.Line = "Enter the worktree " + fsys.Printable(in.Name)
		}
		f.Do = func(ctx context.Context, _ func(tool.Progress)) tool.Result {
			m, err := c.Trees.Enter(ctx, in.Name, in.Path)
			if err != nil {
				return tool.Refused(err.Error())
			}
			return m.result()
		}
		return f, nil
	})
}

type exitInput struct {
	Action  TreeEnd `json:"action"`
	Discard bool    `json:"discard_changes"`
}

func newExitWorktree(c *Config) tool.Tool {
	spec := tool.Spec{Name: exitWorktreeName, MainField: "action", Condition: "in a git repository, when HEW_MORE_TOOLS names it", Deferred: true}
	return define("exit_worktree", spec, func(in exitInput, _ tool.Env) (tool.Call, error) {
		if in.Action != KeepTree && in.Action != RemoveTree {
			return nil, &tool.InputError{Tool: exitWorktreeName, Faults: []string{fmt.Sprintf("`action` is keep or remove, not %q", in.Action)}}
		}
		f := &tool.Func{Line: "Leave the worktree (" + string(in.Action) + ")"}
		if in.Action == RemoveTree && in.Discard {
			// What is lost cannot be had again, so somebody has to agree.
			in.Action = DiscardTree
			f.Line = "Leave the worktree and lose the work in it"
			f.Facts.Destructive = true
			f.Wants = []tool.Need{{Kind: tool.NeedUse, Detail: string(DiscardTree)}}
		}
		f.Do = func(ctx context.Context, _ func(tool.Progress)) tool.Result {
			m, err := c.Trees.Exit(ctx, in.Action)
			if err != nil {
				return tool.Refused(err.Error())
			}
			return m.result()
		}
		return f, nil
	})
}
