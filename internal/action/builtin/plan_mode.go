package builtin

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/tool"
)

const (
	enterPlanModeName = "EnterPlanMode"
	exitPlanModeName  = "ExitPlanMode"
	planMode          = "plan"
)

func newEnterPlanMode(c *Config) tool.Tool {
	spec := tool.Spec{Name: enterPlanModeName, Condition: offeredToPeople, Act: tool.ActMode}
	return define("enter_plan_mode", spec, func(struct{}, tool.Env) (tool.Call, error) {
		return &tool.Func{
			Line: "Enter plan mode",
			Do: func(context.Context, func(tool.Progress)) tool.Result {
				if c.Mode() == planMode {
					return tool.Refused("Plan mode is on already. Present the plan with " + exitPlanModeName + ".")
				}
				text := "Plan mode is on: nothing may be changed until the user has approved a plan. Explore the code, settle open questions with the user, then present the plan with " + exitPlanModeName + "."
				res := done(text, map[string]string{"message": text}, tool.TextView{Text: "Plan mode"})
				res.Effects = []tool.Effect{tool.SetMode{Mode: planMode}}
				return res
			},
		}, nil
	})
}

// maxPlan is the largest plan that is shown, in bytes.
const maxPlan = 256 << 10

func newExitPlanMode(c *Config) tool.Tool {
	type input struct {
		Plan string `json:"plan"`
	}
	spec := tool.Spec{Name: exitPlanModeName, Condition: offeredToPeople, Act: tool.ActMode}
	return define("exit_plan_mode", spec, func(in input, env tool.Env) (tool.Call, error) {
		p := &presented{c: c, given: in.Plan, file: c.PlanFile(env)}
		call := &changing{
			check:   p.check,
			preview: func() tool.View { return tool.TextView{Text: p.text()} },
		}
		// The approval is a person's: NeedsUser, and an ask of the tool itself.
		call.Facts = tool.Traits{NeedsUser: true}
		call.Wants = []tool.Need{{Kind: tool.NeedUse}}
		call.Line = "Present the plan"
		call.Do = func(context.Context, func(tool.Progress)) tool.Result { return p.result() }
		return call, nil
	})
}

// presented is a plan put before the user: given in the call, else what stands
// in the plan file.
type presented struct {
	c           *Config
	given, file string
}

func (p *presented) text() string {
	if s := strings.TrimSpace(p.given); s != "" || p.file == "" {
		return s
	}
	t, err := fsys.ReadText(p.file, fsys.Limits{MaxBytes: maxPlan})
	if errors.Is(err, fs.ErrNotExist) || err != nil {
		return ""
	}
	return strings.TrimSpace(t.Content)
}

func (p *presented) check() error {
	if mode := p.c.Mode(); mode != "" && mode != planMode {
		return refuse("Plan mode is off: there is nothing to approve. If the plan was approved already, carry it out.")
	}
	if p.text() != "" {
		return nil
	}
	if p.file != "" {
		return refuse("There is no plan to show. Write it to %s, or give it in plan.", p.file)
	}
	return refuse("There is no plan to show. Give it in plan.")
}

func (p *presented) result() tool.Result {
	plan := p.text()
	if plan == "" {
		return outcome(p.check())
	}
	text := "The user has approved the plan. Plan mode is off: start with it now, and keep track of its steps.\n\nThe approved plan:\n" + plan
	data := map[string]any{"plan": plan, "isAgent": false, "planWasEdited": false}
	if p.file != "" {
		data["filePath"] = p.file
	}
	res := done(text, data, tool.TextView{Text: plan})
	res.Effects = []tool.Effect{tool.SetMode{Mode: p.c.AfterPlan()}}
	return res
}
