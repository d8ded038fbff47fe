package remote

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/surface/view"
	"github.com/hew-agent/hew/internal/tool"
)

// picture is what views have added up to.
type picture struct {
	items []view.Item
	live  []view.Item
	rest  view.State // all but the items
	// Facts of the session.
	facts map[string]string
}

// state is the picture as surfaces draw it.
func (p *picture) state() view.State {
	s := p.rest
	s.Items, s.Live = slices.Clip(p.items), slices.Clone(p.live)
	return s
}

// apply takes in a view message.
func (p *picture) apply(v gjson.Result) {
	if v.Get("reset").Bool() {
		*p = picture{}
	}
	for _, id := range v.Get("gone").Array() {
		p.live = slices.DeleteFunc(slices.Clone(p.live), func(it view.Item) bool { return it.Key() == id.Str })
	}
	for _, raw := range v.Get("items").Array() {
		if it := item(raw); it != nil {
			p.items = append(p.items, it)
		}
	}
	for _, raw := range v.Get("live").Array() {
		if it := item(raw); it != nil {
			p.put(it)
		}
	}
	for _, g := range v.Get("grow").Array() {
		p.grow(g.Get("id").Str, g.Get("more").Str)
	}
	p.fields(v)
}

func (p *picture) put(it view.Item) {
	p.live = slices.Clone(p.live)
	if i := slices.IndexFunc(p.live, func(have view.Item) bool { return have.Key() == it.Key() }); i >= 0 {
		p.live[i] = it
		return
	}
	p.live = append(p.live, it)
}

func (p *picture) grow(id, more string) {
	for i, it := range p.live {
		if it.Key() != id {
			continue
		}
		p.live = slices.Clone(p.live)
		switch it := it.(type) {
		case view.Reply:
			it.Text += more
			p.live[i] = it
		case view.Thought:
			it.Text += more
			p.live[i] = it
		case view.Prompt, view.Call, view.Note, view.Command, view.Compaction, view.Ending:
		}
	}
}

// fields takes up what comes whole when it has changed.
func (p *picture) fields(v gjson.Result) {
	if todo := v.Get("todo"); todo.Exists() {
		p.rest.Todo = nil
		for _, t := range todo.Array() {
			p.rest.Todo = append(p.rest.Todo, tool.Item{Text: t.Get("text").Str, State: t.Get("state").Str})
		}
	}
	if tasks := v.Get("tasks"); tasks.Exists() {
		p.rest.Tasks = nil
		for _, t := range tasks.Array() {
			p.rest.Tasks = append(p.rest.Tasks, task(t))
		}
	}
	if run := v.Get("run"); run.Exists() {
		p.rest.Run = view.Progress{Busy: run.Get("busy").Bool(), Turn: int(run.Get("turn").Int()), Output: int(run.Get("tokens").Int()), Waits: run.Get("waits").Str, Active: run.Get("active").Str}
		if at := run.Get("began_ms"); at.Type == gjson.Number {
			p.rest.Run.Began = time.UnixMilli(at.Int())
		}
	}
	if w := v.Get("window.used"); w.Exists() {
		p.rest.Window = int(w.Int())
	}
	if questions := v.Get("questions"); questions.Exists() {
		p.rest.Questions = nil
		for _, q := range questions.Array() {
			p.rest.Questions = append(p.rest.Questions, question(q))
		}
	}
	for _, name := range []string{"state", "mode", "model"} {
		if f := v.Get(name); f.Exists() {
			if p.facts == nil {
				p.facts = map[string]string{}
			}
			p.facts[name] = f.Str
		}
	}
}

func task(t gjson.Result) event.TaskChanged {
	return event.TaskChanged{
		ID: t.Get("id").Str, Kind: t.Get("kind").Str, Status: t.Get("status").Str, Summary: t.Get("summary").Str, Use: t.Get("tool_use_id").Str,
		Foreground: t.Get("foreground").Bool(), Type: t.Get("subagent_type").Str, Prompt: t.Get("prompt").Str, Depth: int(t.Get("depth").Int()),
		LastTool: t.Get("last_tool").Str,
		Spent:    event.TaskSpent{Tokens: int(t.Get("tokens").Int()), Calls: int(t.Get("calls").Int()), Millis: t.Get("took_ms").Int()},
	}
}

// question is an open question. Its ID is what Answer takes.
func question(q gjson.Result) event.Question {
	r := q.Get("request")
	out := event.Question{
		ID: q.Get("request_id").Str, Kind: event.QuestionKind(q.Get("kind").Str), Tool: r.Get("tool_name").Str, Title: q.Get("title").Str, Preview: shown(q.Get("preview")),
		Decision: tool.Decision{Behavior: tool.Ask, Layer: r.Get("decision_reason_type").Str, Reason: r.Get("decision_reason").Str},
		Risk:     q.Get("risk").Str, Origin: event.Origin{Agent: q.Get("agent").Str},
	}
	input := json.RawMessage(r.Get("input").Raw)
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	out.Use = msg.NewToolUse(r.Get("tool_use_id").Str, out.Tool, input)
	_ = json.Unmarshal([]byte(r.Get("permission_suggestions").Raw), &out.Suggestions) // absent is none
	return out
}

// item decodes an item; nil for a kind that this client does not know.
func item(v gjson.Result) view.Item {
	id, took := v.Get("id").Str, time.Duration(v.Get("took_ms").Int())*time.Millisecond
	switch v.Get("kind").Str {
	case "prompt":
		return view.Prompt{ID: id, Text: v.Get("text").Str, Images: int(v.Get("images").Int()), Source: v.Get("source").Str, At: time.UnixMilli(v.Get("at").Int())}
	case "reply":
		return view.Reply{ID: id, Text: v.Get("text").Str, Open: v.Get("open").Bool()}
	case "thought":
		return view.Thought{ID: id, Text: v.Get("text").Str, Open: v.Get("open").Bool(), Took: took}
	case "call":
		c := view.Call{
			ID: id, Tool: v.Get("tool").Str, Title: v.Get("title").Str, Act: tool.Act(v.Get("act").Str), Status: view.Status(v.Get("status").Str),
			Preview: shown(v.Get("preview")), View: shown(v.Get("view")), Text: v.Get("text").Str, Progress: v.Get("progress").Str, Why: v.Get("why").Str,
			Took: took, Agent: v.Get("agent").Str, WithinN: int(v.Get("within_count").Int()),
		}
		for _, w := range v.Get("within").Array() {
			c.Within = append(c.Within, w.Str)
		}
		return c
	case "note":
		return view.Note{ID: id, Level: event.Level(v.Get("level").Str), Code: v.Get("code").Str, Text: v.Get("text").Str}
	case "command":
		return view.Command{ID: id, Name: v.Get("name").Str, Args: v.Get("args").Str, Output: v.Get("output").Str, Failed: v.Get("failed").Bool()}
	case "compaction":
		return view.Compaction{ID: id, Trigger: v.Get("trigger").Str, Before: int(v.Get("before").Int()), After: int(v.Get("after").Int()), Took: took}
	case "ending":
		e := view.Ending{
			ID: id, Reason: event.Reason(v.Get("reason").Str), Detail: v.Get("detail").Str, Took: took, Tokens: int(v.Get("tokens").Int()), CostUSD: v.Get("cost_usd").Num,
		}
		_ = json.Unmarshal([]byte(v.Get("signals").Raw), &e.Signals) // null is none
		return e
	}
	return nil
}

// shown decodes a view; nil for none, and for a kind that this client does not know.
func shown(v gjson.Result) tool.View {
	switch v.Get("kind").Str {
	case "text":
		return tool.TextView{Text: v.Get("text").Str}
	case "diff":
		d := tool.DiffView{Path: v.Get("path").Str, Old: v.Get("old").Str, New: v.Get("new").Str, Created: v.Get("created").Bool()}
		_ = json.Unmarshal([]byte(v.Get("hunks").Raw), &d.Hunks) // null is none
		return d
	case "terminal":
		return tool.TerminalView{Command: v.Get("command").Str, Output: v.Get("output").Str, ExitCode: int(v.Get("exit_code").Int())}
	case "list":
		l := tool.ListView{Title: v.Get("title").Str}
		for _, it := range v.Get("items").Array() {
			l.Items = append(l.Items, tool.Item{Text: it.Get("text").Str, State: it.Get("state").Str})
		}
		return l
	case "table":
		var t tool.TableView
		_ = json.Unmarshal([]byte(v.Get("header").Raw), &t.Header) // null is none
		_ = json.Unmarshal([]byte(v.Get("rows").Raw), &t.Rows)
		return t
	case "nested":
		n := tool.NestedView{Title: v.Get("title").Str}
		for _, it := range v.Get("views").Array() {
			n.Views = append(n.Views, shown(it))
		}
		return n
	}
	return nil
}
