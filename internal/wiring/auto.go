package wiring

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/hew-agent/hew/internal/action/gate/classify"
	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/backend/feature"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/state/settings"
)

// judgeModel names the environment variable of the classifier's model. It wins
// over the setting autoMode.model; without either, the conversation's model judges.
const judgeModel = "HEW_AUTO_MODE_MODEL"

// auto makes auto mode's classifier, unless the mode is switched off. A session
// may enter the mode later, so it is there from the start.
func (b *build) auto(ctx context.Context, start policy.Mode) {
	if !feature.Classifier || b.settings.Permissions().AutoDisabled {
		return
	}
	said := &classify.Transcript{}
	b.said = said
	b.judge = classify.New(classify.Config{
		Ask: func(ctx context.Context, label, system, user string) (string, error) {
			return b.conv.Engine.Query(ctx, label, b.autoModel(), system, user)
		},
		Rules: autoRules(b.settings), Transcript: said, Guidance: b.guidance, Git: b.gitFacts(ctx, start),
		Timeout: b.millis("HEW_AUTO_MODE_TIMEOUT_MS"),
	})
}

// listener keeps what the classifier knows of the conversation. The interface
// keeps its type out of builds without auto mode.
type listener interface {
	Load(history []*msg.Message)
	Hear(e event.Event)
	Reset()
}

// hear lets the classifier's transcript follow the run.
func (b *build) hear(cfg *engine.Config) {
	if !feature.Classifier || b.judge == nil {
		return
	}
	b.said.Load(cfg.History)
	next := cfg.Trace
	cfg.Trace = func(e event.Event) {
		b.said.Hear(e)
		if next != nil {
			next(e)
		}
	}
}

func (b *build) autoModel() string {
	if m := b.env(judgeModel); m != "" {
		return m
	}
	return b.settings.Text("autoMode", "model")
}

// autoRules are the four lists of the autoMode setting. A list that is not set
// is nil.
func autoRules(s *settings.Settings) classify.Rules {
	list := func(key string) []string {
		if _, set := s.Raw("autoMode", key); !set {
			return nil
		}
		return append([]string{}, s.Strings("autoMode", key)...)
	}
	return classify.Rules{
		HardDeny: list("hard_deny"), SoftDeny: list("soft_deny"), Allow: list("allow"), Environment: list("environment"),
	}
}

// guidance shows the instruction files to the classifier.
func (b *build) guidance() []classify.Guidance {
	var out []classify.Guidance
	for _, f := range b.files() {
		out = append(out, classify.Guidance{Label: f.Scope.Label(), Path: f.Path, Text: f.Text})
	}
	return out
}

// gitFacts tells the classifier about the repository: what is changed now, and
// the remotes as they were when the session began in auto mode, else when the
// classifier was first asked. A remote that the agent adds later is not the user's.
func (b *build) gitFacts(ctx context.Context, start policy.Mode) func(context.Context) string {
	run := b.runGit()
	if run == nil || !b.inRepository() {
		return nil
	}
	remotes := sync.OnceValue(func() []string { return prompt.ReadRemotes(ctx, run) })
	if start == policy.Auto {
		go remotes()
	}
	return func(ctx context.Context) string {
		facts := struct {
			Remotes []string `json:"remotes_at_start"`
			Branch  string   `json:"branch,omitempty"`
			Changed []string `json:"changed_files,omitempty"`
			More    int      `json:"more_changed_files,omitempty"`
		}{Remotes: remotes()}
		if g := prompt.ReadGit(ctx, run); g != nil {
			facts.Branch, facts.Changed, facts.More = g.Branch, g.Status, g.More
		}
		data, err := json.Marshal(map[string]any{"git": facts})
		if err != nil {
			return "" // texts and a number: cannot fail
		}
		return strings.TrimSpace(string(data)) + "\n"
	}
}

// AutoMode is auto mode's configuration: hew's own rules, and those in force here.
type AutoMode struct {
	Defaults, Rules classify.Rules
	Model           string
	Disabled        bool
}

// ReadAutoMode reads the settings that hold in o.Cwd. It changes nothing.
func ReadAutoMode(o Options) (AutoMode, error) {
	b := &build{o: &o, conv: &Conversation{}}
	if err := b.locate(); err != nil {
		return AutoMode{}, err
	}
	return AutoMode{classify.Defaults(), autoRules(b.settings).Resolve(), b.autoModel(), b.settings.Permissions().AutoDisabled}, nil
}
