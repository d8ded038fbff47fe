package builtin

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/hew-agent/hew/internal/tool"
)

// Todo is one item of a to-do list.
type Todo struct {
	Content    string `json:"content"`
	Status     string `json:"status"` // pending, in_progress or completed
	ActiveForm string `json:"activeForm"`
}

// Todos holds one to-do list per agent. Safe for concurrent use; the zero value works.
type Todos struct {
	mu    sync.Mutex
	lists map[string][]Todo
}

// Get returns the list of an agent ("" is the main conversation), never nil.
func (t *Todos) Get(agent string) []Todo {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Todo{}, t.lists[agent]...)
}

// Set replaces the list of an agent; a resumed conversation begins with it.
func (t *Todos) Set(agent string, list []Todo) {
	t.swap(agent, list)
}

func (t *Todos) swap(agent string, list []Todo) (old []Todo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lists == nil {
		t.lists = make(map[string][]Todo)
	}
	old = append([]Todo{}, t.lists[agent]...)
	t.lists[agent] = slices.Clone(list)
	return old
}

func newTodoWrite(c *Config) tool.Tool {
	type input struct {
		Todos []Todo `json:"todos"`
	}
	spec := tool.Spec{Name: "TodoWrite", Condition: "when the shared task list is switched off", Act: tool.ActThink}
	return define("todo_write", spec, func(in input, env tool.Env) (tool.Call, error) {
		list := append([]Todo{}, in.Todos...)
		return &tool.Func{
			Line:   fmt.Sprintf("Update to-do list (%d items)", len(list)),
			Before: todoView(list),
			Do: func(context.Context, func(tool.Progress)) tool.Result {
				old := c.Todos.swap(env.Agent, list)
				return done(todoText(list), map[string]any{"oldTodos": old, "newTodos": list}, todoView(list))
			},
		}, nil
	})
}

func todoView(list []Todo) tool.View {
	v := tool.ListView{Title: "To-do"}
	for _, t := range list {
		text := t.Content
		if t.Status == "in_progress" {
			text = t.ActiveForm
		}
		v.Items = append(v.Items, tool.Item{Text: text, State: t.Status})
	}
	return v
}

func todoText(list []Todo) string {
	n := map[string]int{}
	for _, t := range list {
		n[t.Status]++
	}
	text := fmt.Sprintf("To-do list stored: %d completed, %d in progress, %d pending.", n["completed"], n["in_progress"], n["pending"])
	switch {
	case len(list) == 0:
		return "The to-do list is empty now."
	case n["in_progress"] > 1:
		return text + " Keep only one item in progress."
	case n["in_progress"] == 0 && n["pending"] > 0:
		return text + " Mark the item that you work on as in progress."
	case n["pending"]+n["in_progress"] == 0:
		return text + " Everything is done."
	}
	return text + " Go on with the item in progress."
}
