package builtin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/tool"
)

const scheduleWakeupName = "ScheduleWakeup"

func newScheduleWakeup(c *Config) tool.Tool {
	type input struct {
		Delay  float64 `json:"delaySeconds"`
		Reason string  `json:"reason"`
		Prompt string  `json:"prompt"`
		Stop   bool    `json:"stop"`
	}
	spec := tool.Spec{Name: scheduleWakeupName, Condition: offeredWithSchedule}
	return define("schedule_wakeup", spec, func(in input, _ tool.Env) (tool.Call, error) {
		if !in.Stop && (strings.TrimSpace(in.Prompt) == "" || in.Delay <= 0) {
			return nil, &tool.InputError{Tool: scheduleWakeupName, Faults: []string{"The parameters `delaySeconds` and `prompt` are needed, unless `stop` is true"}}
		}
		return &tool.Func{
			Line: oneLine("Wake up later: " + in.Reason),
			Do: func(context.Context, func(tool.Progress)) tool.Result {
				if in.Stop {
					text := "There was no wake-up to stop"
					if c.Schedule.StopWaking() {
						text = "The wake-up is stopped"
					}
					return done(text, map[string]bool{"stopped": true}, tool.TextView{Text: text})
				}
				p := c.Schedule.Wake(c.NewID(), in.Prompt, in.Reason, time.Duration(min(in.Delay, 1e6)*float64(time.Second)))
				text := fmt.Sprintf("You will be woken at %s. End your turn now.", p.Next.Format("15:04:05 MST"))
				return done(text, map[string]string{"scheduledFor": p.Next.Format(time.RFC3339), "reason": in.Reason}, tool.TextView{Text: text})
			},
		}, nil
	})
}
