package builtin

import (
	"context"
	"strings"

	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/tool"
)

// TaskWatch hears of changes of the shared list before they count. Both
// functions are optional; a text that is not "" refuses the change and is the
// reason for the model.
type TaskWatch struct {
	Created, Completed func(ctx context.Context, t task.Item) string
}

func (w TaskWatch) created(ctx context.Context, t *task.Item) error {
	if w.Created == nil {
		return nil
	}
	return sentBack(w.Created(ctx, *t))
}

func (w TaskWatch) completed(ctx context.Context, t *task.Item) error {
	if w.Completed == nil {
		return nil
	}
	return sentBack(w.Completed(ctx, *t))
}

func sentBack(why string) error {
	if why == "" {
		return nil
	}
	return refuse("%s", why)
}

// board is the shared list that the tools work on.
func (c *Config) board() task.Board {
	return task.Board{Dir: c.Tasks, Gone: c.TaskOwnerGone, Log: c.TaskLog}
}

func hashed(ids []string) string {
	return "#" + strings.Join(ids, ", #")
}

// taskView shows the whole list to people.
func taskView(all task.Items) tool.View {
	v := tool.ListView{Title: "Tasks"}
	for _, t := range all.Sorted() {
		text := t.Subject
		if t.Status == task.Claimed && t.ActiveForm != "" {
			text = t.ActiveForm
		}
		v.Items = append(v.Items, tool.Item{Text: "#" + t.ID + " " + text, State: t.Status})
	}
	return v
}
