package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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
	spec := tool.Spec{Name: "TaskUpdate", Condition: offeredWithTasks}
	list := taskList{c.Tasks}
	return define("task_update", spec, func(in taskUpdate, _ tool.Env) (tool.Call, error) {
		in.TaskID = strings.TrimPrefix(in.TaskID, "#")
		return &tool.Func{
			Line: oneLine("Update task #" + in.TaskID),
			Do: func(ctx context.Context, _ func(tool.Progress)) tool.Result {
				var res tool.Result
				err := list.change(ctx, func(all map[string]*item) (err error) {
					res, err = in.apply(all)
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

// apply changes the list and makes the result.
func (in taskUpdate) apply(all map[string]*item) (tool.Result, error) {
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
	fields := in.set(t)
	linked, err := in.link(all, t)
	if err != nil {
		return tool.Result{}, err
	}
	return in.result(append(fields, linked...), was, all), nil
}

func (in taskUpdate) set(t *item) (fields []string) {
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
func (in taskUpdate) link(all map[string]*item, t *item) (fields []string, err error) {
	for _, l := range []struct {
		name string
		ids  []string
		tie  func(other *item)
	}{
		{"blocks", in.AddBlocks, func(o *item) { add(&t.Blocks, o.ID); add(&o.BlockedBy, t.ID) }},
		{"blockedBy", in.AddBlockedBy, func(o *item) { add(&t.BlockedBy, o.ID); add(&o.Blocks, t.ID) }},
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
func loops(all map[string]*item, t *item) bool {
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
func remove(all map[string]*item, id string) {
	delete(all, id)
	gone := func(x string) bool { return x == id }
	for _, t := range all {
		t.Blocks = slices.DeleteFunc(t.Blocks, gone)
		t.BlockedBy = slices.DeleteFunc(t.BlockedBy, gone)
	}
}

func (in taskUpdate) result(fields []string, was string, all map[string]*item) tool.Result {
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
