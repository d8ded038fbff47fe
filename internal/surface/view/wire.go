package view

import (
	"encoding/json"

	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// Encode is an item as programs read it: an object with "kind" and "id".
func Encode(it Item) json.RawMessage {
	switch it := it.(type) {
	case Prompt:
		return encode("prompt", it.ID, map[string]any{"text": it.Text, "images": it.Images, "source": it.Source, "at": it.At.UnixMilli()})
	case Reply:
		return encode("reply", it.ID, map[string]any{"text": it.Text, "open": it.Open})
	case Thought:
		return encode("thought", it.ID, map[string]any{"text": it.Text, "open": it.Open, "took_ms": it.Took.Milliseconds()})
	case Call:
		return encode("call", it.ID, map[string]any{
			"tool": it.Tool, "title": it.Title, "act": it.Act, "status": it.Status, "preview": EncodeView(it.Preview), "view": EncodeView(it.View),
			"text": it.Text, "images": it.Images, "progress": it.Progress, "why": it.Why, "took_ms": it.Took.Milliseconds(), "agent": it.Agent, "within": it.Within, "within_count": it.WithinN,
		})
	case Note:
		return encode("note", it.ID, map[string]any{"level": it.Level, "code": it.Code, "text": it.Text})
	case Command:
		return encode("command", it.ID, map[string]any{"name": it.Name, "args": it.Args, "output": it.Output, "failed": it.Failed})
	case Compaction:
		return encode("compaction", it.ID, map[string]any{"trigger": it.Trigger, "before": it.Before, "after": it.After, "took_ms": it.Took.Milliseconds()})
	case Ending:
		return encode("ending", it.ID, map[string]any{
			"reason": it.Reason, "detail": it.Detail, "took_ms": it.Took.Milliseconds(), "tokens": it.Tokens, "cost_usd": it.CostUSD, "signals": it.Signals,
		})
	}
	return nil // the union is sealed
}

func encode(kind, id string, m map[string]any) json.RawMessage {
	m["kind"], m["id"] = kind, id
	return msg.Encode(m)
}

// EncodeView is a view as programs read it, an object with "kind"; null for none.
func EncodeView(v tool.View) any {
	switch v := v.(type) {
	case tool.TextView:
		return map[string]any{"kind": "text", "text": v.Text}
	case tool.DiffView:
		return map[string]any{"kind": "diff", "path": v.Path, "old": v.Old, "new": v.New, "created": v.Created, "hunks": v.Hunks}
	case tool.TerminalView:
		return map[string]any{"kind": "terminal", "command": v.Command, "output": v.Output, "exit_code": v.ExitCode}
	case tool.ListView:
		items := []map[string]string{}
		for _, it := range v.Items {
			items = append(items, map[string]string{"text": it.Text, "state": it.State})
		}
		return map[string]any{"kind": "list", "title": v.Title, "items": items}
	case tool.TableView:
		return map[string]any{"kind": "table", "header": v.Header, "rows": v.Rows}
	case tool.NestedView:
		views := []any{}
		for _, n := range v.Views {
			views = append(views, EncodeView(n))
		}
		return map[string]any{"kind": "nested", "title": v.Title, "views": views}
	case nil:
	}
	return nil
}
