package wiring

import (
	"strconv"

	"github.com/hew-agent/hew/internal/backend/feature"
	"github.com/hew-agent/hew/internal/core/compact"
)

// FeatureRow is one feature flag as programs read it.
type FeatureRow struct {
	Name    string       `json:"name"`
	Kind    feature.Kind `json:"kind"`
	Default bool         `json:"default"`
	// Built tells that this program has it, On that a run here would use it.
	Built bool `json:"built"`
	On    bool `json:"on"`
	// Tag is the build tag that leaves it out, Switch what decides in a run.
	Tag    string `json:"buildTag,omitempty"`
	Switch string `json:"switch,omitempty"`
	Effect string `json:"effect"`
}

// Features lists the feature flags as they stand for a run in o.Cwd.
func Features(o Options) ([]FeatureRow, error) {
	b := &build{o: &o, conv: &Conversation{}}
	if err := b.locate(); err != nil {
		return nil, err
	}
	on := b.switched()
	var out []FeatureRow
	for _, f := range feature.All() {
		state, decided := on[f.Name]
		if !decided {
			state = f.Default
		}
		out = append(out, FeatureRow{f.Name, f.Kind, f.Default, f.Built, f.Built && state, f.Tag, f.Switch, f.Effect})
	}
	return out, nil
}

// switched is what the environment and the settings decide, by the flag's name.
func (b *build) switched() map[string]bool {
	stages := b.stages()
	shaped := !truthy(b.env("DISABLE_COMPACT"))
	fork := b.env("CLAUDE_CODE_FORK_SUBAGENT") != "0"
	tasks, err := strconv.ParseBool(b.env("CLAUDE_CODE_ENABLE_TASKS"))
	teams, fault := strconv.ParseBool(b.env("CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS"))
	return map[string]bool{
		"agent-teams":           fault == nil && teams,
		"auto-compact":          shaped && stages.Auto,
		"background-tasks":      b.env("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS") == "",
		"cached-microcompact":   shaped && stages.Micro,
		"context-collapse":      shaped && stages.Collapse,
		"explore-plan-agents":   b.env("CLAUDE_CODE_DISABLE_EXPLORE_PLAN_AGENTS") == "",
		"fork-subagent":         fork,
		"history-snip":          shaped && stages.Snip,
		"more-tools":            b.env("HEW_MORE_TOOLS") != "",
		"reactive-compact":      shaped && stages.Auto,
		"task-tools":            err == nil && tasks,
		"transcript-classifier": noAuto(b.settings.Permissions()) == "",
	}
}

// built leaves of the stages those that this build has.
func built(on compact.Stages) compact.Stages {
	on.Snip = feature.HistorySnip && on.Snip
	on.Micro = feature.Microcompact && on.Micro
	on.Collapse = feature.ContextCollapse && on.Collapse
	return on
}
