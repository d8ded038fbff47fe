package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/tool"
)

func newCronList(c *Config) tool.Tool {
	spec := tool.Spec{Name: "CronList", Condition: offeredWithSchedule, Deferred: true}
	return define("cron_list", spec, func(struct{}, tool.Env) (tool.Call, error) {
		return &tool.Func{
			Facts: tool.Traits{ReadOnly: true, ConcurrencySafe: true},
			Line:  "List scheduled prompts",
			Do: func(context.Context, func(tool.Progress)) tool.Result {
				jobs, lines := []json.RawMessage{}, []string{}
				for _, p := range c.Schedule.All() {
					jobs = append(jobs, planFacts(p))
					how := p.Cron
					switch {
					case how == "":
						how = "wake-up"
					case !p.Recurring:
						how += " once"
					}
					lines = append(lines, fmt.Sprintf("%s (%s), next at %s: %s", p.ID, how, date(p.Next), oneLine(p.Prompt)))
				}
				text := strings.Join(lines, "\n")
				if text == "" {
					text = "No prompts are scheduled"
				}
				return done(text, map[string]any{"jobs": jobs}, tool.TextView{Text: text})
			},
		}, nil
	})
}
