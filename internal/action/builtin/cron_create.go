package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

const cronCreateName = "CronCreate"

// offeredWithSchedule is the condition of the tools that plan prompts.
const offeredWithSchedule = "when HEW_MORE_TOOLS names it"

func newCronCreate(c *Config) tool.Tool {
	type input struct {
		Cron      string `json:"cron"`
		Prompt    string `json:"prompt"`
		Recurring *bool  `json:"recurring"`
	}
	spec := tool.Spec{Name: cronCreateName, Condition: offeredWithSchedule, Deferred: true}
	return define("cron_create", spec, func(in input, _ tool.Env) (tool.Call, error) {
		if strings.TrimSpace(in.Prompt) == "" {
			return nil, &tool.InputError{Tool: cronCreateName, Faults: []string{"The parameter `prompt` is empty"}}
		}
		return &tool.Func{
			Line: oneLine("Schedule " + in.Cron + ": " + in.Prompt),
			Do: func(context.Context, func(tool.Progress)) tool.Result {
				p, err := c.Schedule.Repeat(task.Plan{ID: c.NewID(), Cron: in.Cron, Prompt: in.Prompt, Recurring: in.Recurring == nil || *in.Recurring})
				if err != nil {
					return tool.Refused(sentence(err.Error()))
				}
				text := fmt.Sprintf("Scheduled as %s: next at %s. It lives only as long as this session", p.ID, date(p.Next))
				if p.Recurring {
					text += ", until " + date(p.Expires)
				}
				text += "."
				return done(text, planFacts(p), tool.TextView{Text: text})
			},
		}, nil
	})
}

func date(t time.Time) string { return t.Format("2006-01-02 15:04 MST") }

func planFacts(p task.Plan) json.RawMessage {
	return msg.Encode(map[string]any{"id": p.ID, "cron": p.Cron, "prompt": p.Prompt, "recurring": p.Recurring, "durable": false, "next": p.Next.Format(time.RFC3339)})
}
