package streamjson

import (
	"slices"

	"github.com/hew-agent/hew/internal/event"
)

// task tells the beginning or the end of a background task.
func (p *Printer) task(b event.TaskChanged) {
	if b.Status == event.TaskRunning {
		p.taskStarted(b)
		return
	}
	if b.Status == event.TaskProgress {
		p.write(struct {
			envelope
			Task  string    `json:"task_id"`
			Use   string    `json:"tool_use_id"`
			Text  string    `json:"description"`
			Usage taskUsage `json:"usage"`
			Tool  string    `json:"last_tool_name,omitempty"`
		}{p.head("system", "task_progress"), b.ID, b.Use, b.Summary, taskUsage(b.Spent), b.LastTool})
		return
	}
	if b.Status == event.TaskMoved {
		p.taskUpdated(b.ID, map[string]any{"is_backgrounded": true})
		p.joins(b)
		return
	}
	var usage *taskUsage
	if b.Type != "" {
		u := taskUsage(b.Spent)
		usage = &u
	}
	status := b.Status
	if status == "killed" {
		status = "stopped" // the protocol's word
	}
	p.taskUpdated(b.ID, map[string]any{"status": b.Status, "end_time": p.now().UnixMilli()})
	p.write(struct {
		envelope
		Task   string     `json:"task_id"`
		Use    string     `json:"tool_use_id"`
		Status string     `json:"status"`
		Output string     `json:"output_file"`
		Text   string     `json:"summary"`
		Usage  *taskUsage `json:"usage,omitempty"`
	}{p.head("system", "task_notification"), b.ID, b.Use, status, b.OutputFile, b.Summary, usage})
	p.leaves(b.ID)
}

// taskUsage is what a subagent took, in the protocol's words.
type taskUsage struct {
	Tokens int   `json:"total_tokens"`
	Calls  int   `json:"tool_uses"`
	Millis int64 `json:"duration_ms"`
}

// meet remembers a subagent for what is said of it later.
func (p *Printer) meet(b event.TaskChanged) {
	if b.Type == "" || b.Status != event.TaskRunning {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.agents == nil {
		p.agents = map[string]event.TaskChanged{}
	}
	p.agents[b.ID] = b
}

func (p *Printer) taskStarted(b event.TaskChanged) {
	p.meet(b)
	p.write(struct {
		envelope
		Task       string `json:"task_id"`
		Use        string `json:"tool_use_id"`
		Text       string `json:"description"`
		Kind       string `json:"task_type"`
		Type       string `json:"subagent_type,omitempty"`
		Background bool   `json:"is_backgrounded"`
		Depth      int    `json:"spawn_depth,omitempty"`
		Prompt     string `json:"prompt,omitempty"`
	}{p.head("system", "task_started"), b.ID, b.Use, b.Summary, b.Kind, b.Type, !b.Foreground, b.Depth, b.Prompt})
	if !b.Foreground {
		p.joins(b)
	}
}

// taskUpdated tells what has changed about a task.
func (p *Printer) taskUpdated(id string, patch map[string]any) {
	p.write(struct {
		envelope
		Task  string         `json:"task_id"`
		Patch map[string]any `json:"patch"`
	}{p.head("system", "task_updated"), id, patch})
}

// liveTask is work in the background as hosts see it.
type liveTask struct {
	ID   string `json:"task_id"`
	Kind string `json:"task_type"`
	Type string `json:"subagent_type,omitempty"`
	Text string `json:"description"`
}

func (p *Printer) joins(b event.TaskChanged) {
	p.changeLive(func(list []liveTask) []liveTask {
		return append(without(list, b.ID), liveTask{b.ID, b.Kind, b.Type, b.Summary})
	})
}

func (p *Printer) leaves(id string) {
	p.changeLive(func(list []liveTask) []liveTask { return without(list, id) })
}

func without(list []liveTask, id string) []liveTask {
	return slices.DeleteFunc(slices.Clone(list), func(t liveTask) bool { return t.ID == id })
}

// changeLive changes the set of work in the background and tells of the whole
// set: a host that has missed a line is right again with the next one.
func (p *Printer) changeLive(change func([]liveTask) []liveTask) {
	p.mu.Lock()
	before := p.live
	p.live = change(before)
	changed := !slices.Equal(before, p.live)
	p.mu.Unlock()
	if changed {
		p.liveTasks()
	}
}

func (p *Printer) liveTasks() {
	p.mu.Lock()
	now := append([]liveTask{}, p.live...)
	p.mu.Unlock()
	p.write(struct {
		envelope
		Tasks []liveTask `json:"tasks"`
	}{p.head("system", "background_tasks_changed"), now})
}
