package builtin

import (
	"context"
	"fmt"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/tool"
)

func newCronDelete(c *Config) tool.Tool {
	type input struct {
		ID string `json:"id"`
	}
	spec := tool.Spec{Name: "CronDelete", Condition: offeredWithSchedule, Deferred: true}
	return define("cron_delete", spec, func(in input, _ tool.Env) (tool.Call, error) {
		return &tool.Func{
			Line: oneLine("Delete the scheduled prompt " + in.ID),
			Do: func(context.Context, func(tool.Progress)) tool.Result {
				if !c.Schedule.Delete(in.ID) {
					return tool.Failure(fmt.Sprintf("There is no scheduled prompt %s.", fsys.Printable(in.ID)))
				}
				text := "Deleted the scheduled prompt " + in.ID
				return done(text, map[string]string{"id": in.ID}, tool.TextView{Text: text})
			},
		}, nil
	})
}
