package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/tool"
)

type taskUpdate struct {
	TaskID       string                     `json:"taskId"`
	Subject      string                     `json:"subject"`
	Description  *string                    `json:"description"`
	ActiveForm   *string                    `json:"activeForm"`
	Status       string                     `json:"status"`
	AddBlocks    []string                   `json:"addBlocks"`
	AddBlockedBy []string                   `json:"addBlockedBy"`
	Owner        *string                    `json:"owner"`
	Metadata     map[string]json.RawMessage `json:"metadata"`
}

func newTaskUpdate(c *Config) tool.Tool {
	spec := tool.Spec{Name: "TaskUpdate", Condition: offeredWithTasks, Act: tool.ActThink}
	list := c.board()
	return define("task_update", spec, func(in taskUpdate, _ tool.Env) (tool.Call, error) {
		in.TaskID = strings.TrimPrefix(in.TaskID, "#")
		return &tool.Func{
			Line: oneLine("Update task #" + in.TaskID),
			Do: func(ctx context.Context, _ func(tool.Progress)) tool.Result {
				if err := c.completes(ctx, list, in); err != nil {
					return outcome(err)
				}
				var res tool.Result
				err := list.Change(ctx, func(all task.Items) (err error) {
					res, err = c.update(in, all)
					return err
				})
				if err != nil {
					return outcome(err)
				}
				return res
			},
		}, nil
	})
}

// update changes the list and makes the result.
func (c *Config) update(in taskUpdate, all task.Items) (tool.Result, error) {
	t := all[in.TaskID]
	if t == nil {
		return done(noTask, map[string]any{"success": false, "taskId": in.TaskID, "updatedFields": []string{}, "error": noTask},
			tool.TextView{Text: noTask}), nil
	}
	was := t.Status
	if in.Status == "deleted" {
		remove(all, in.TaskID)
		return in.result([]string{"deleted"}, was, all), nil
	}
	if why := c.claims(&in, t, all); why != "" {
		return tool.Result{}, refuse("%s", why)
	}
	fields := in.set(t)
	linked, err := in.link(all, t)
	if err != nil {
		return tool.Result{}, err
	}
	return in.result(append(fields, linked...), was, all), nil
}

// completes lets a watcher send back a task that is about to be completed. It
// is asked without the lock: it may take long.
func (c *Config) completes(ctx context.Context, list task.Board, in taskUpdate) error {
	if in.Status != task.Done || c.TaskWatch.Completed == nil {
		return nil
	}
	all, err := list.Load()
	if err != nil {
		return err
	}
	if t := all[in.TaskID]; t != nil && t.Status != task.Done {
		return c.TaskWatch.completed(ctx, t)
	}
	return nil
}

// claims makes a member of a team the owner of what it begins, unless somebody
// else is or the task waits for others; then it says so. The lock of the list
// is held, so one of several members gets the task.
func (c *Config) claims(in *taskUpdate, t *task.Item, all task.Items) string {
	if c.Member == "" || in.Status != task.Claimed {
		return ""
	}
	if in.Owner == nil {
		in.Owner = &c.Member
	}
	return t.Closed(all, *in.Owner)
}

func (in taskUpdate) set(t *task.Item) (fields []string) {
	if in.Subject != "" && in.Subject != t.Subject {
		t.Subject = in.Subject
		fields = append(fields, "subject")
	}
	for _, f := range []struct {
		name string
		to   *string
		at   *string
	}{{"description", in.Description, &t.Description}, {"activeForm", in.ActiveForm, &t.ActiveForm}, {"owner", in.Owner, &t.Owner}} {
		if f.to != nil && *f.to != *f.at {
			*f.at = *f.to
			fields = append(fields, f.name)
		}
	}
	if in.Status != "" && in.Status != t.Status {
		t.Status = in.Status
		fields = append(fields, "status")
	}
	for k, v := range in.Metadata {
		if t.Metadata == nil {
			t.Metadata = map[string]json.RawMessage{}
		}
		t.Metadata[k] = v
		if string(v) == "null" {
			delete(t.Metadata, k)
		}
	}
	if len(in.Metadata) > 0 {
		fields = append(fields, "metadata")
	}
	return fields
}

// link adds both ends of every blocking relation.
func (in taskUpdate) link(all task.Items, t *task.Item) (fields []string, err error) {
	for _, l := range []struct {
		name string
		ids  []string
		tie  func(other *task.Item)
	}{
		{"blocks", in.AddBlocks, func(o *task.Item) { add(&t.Blocks, o.ID); add(&o.BlockedBy, t.ID) }},
		{"blockedBy", in.AddBlockedBy, func(o *task.Item) { add(&t.BlockedBy, o.ID); add(&o.Blocks, t.ID) }},
	} {
		for _, id := range l.ids {
			o := all[strings.TrimPrefix(id, "#")]
			switch {
			case o == nil:
				return nil, refuse("There is no task #%s.", strings.TrimPrefix(id, "#"))
			case o == t:
				return nil, refuse("Task #%s cannot block itself.", t.ID)
			}
			l.tie(o)
		}
		if len(l.ids) > 0 {
			fields = append(fields, l.name)
		}
	}
	if loops(all, t) {
		return nil, refuse("Task #%s would wait for itself in a circle.", t.ID)
	}
	return fields, nil
}

func add(list *[]string, id string) {
	if !slices.Contains(*list, id) {
		*list = append(*list, id)
	}
}

// loops tells whether t waits for itself over others.
func loops(all task.Items, t *task.Item) bool {
	seen := map[string]bool{}
	todo := slices.Clone(t.BlockedBy)
	for len(todo) > 0 {
		id := todo[0]
		todo = todo[1:]
		if id == t.ID {
			return true
		}
		if o := all[id]; o != nil && !seen[id] {
			seen[id] = true
			todo = append(todo, o.BlockedBy...)
		}
	}
	return false
}

// remove deletes a task and the relations that name it.
func remove(all task.Items, id string) {
	delete(all, id)
	gone := func(x string) bool { return x == id }
	for _, t := range all {
		t.Blocks = slices.DeleteFunc(t.Blocks, gone)
		t.BlockedBy = slices.DeleteFunc(t.BlockedBy, gone)
	}
}

func (in taskUpdate) result(fields []string, was string, all task.Items) tool.Result {
	if fields == nil {
		fields = []string{}
	}
	data := map[string]any{"success": true, "taskId": in.TaskID, "updatedFields": fields}
	if in.Status != "" && in.Status != was {
		data["statusChange"] = map[string]string{"from": was, "to": in.Status}
	}
	text := fmt.Sprintf("Updated task #%s %s", in.TaskID, strings.Join(fields, ", "))
	if len(fields) == 0 {
		text = fmt.Sprintf("Task #%s is so already", in.TaskID)
	}
	return done(text, data, taskView(all))
}
