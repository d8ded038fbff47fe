package wiring

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/hew-agent/hew/internal/action/builtin/agent"
	"github.com/hew-agent/hew/internal/state/prompt"
)

// mentions finds @agent-NAME and @"NAME (agent)".
var mentions = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|\s)@(?:agent-([\w.:-]*\w)|"([^"\n]{1,128}) \(agent\)")`)
})

// agentMention tells the model that the user names an agent for the work.
type agentMention struct{ b *build }

// Name is the source's word for programs.
func (agentMention) Name() string { return "agent_mention" }

// Class says that it comes with what the user says.
func (agentMention) Class() prompt.Class { return prompt.OnDemand }

// Delta is one reminder for each agent that is named and that there is.
func (a agentMention) Delta(_ context.Context, f prompt.Facts) ([]prompt.Item, error) {
	var out []prompt.Item
	for _, words := range f.Words {
		for _, m := range mentions().FindAllStringSubmatch(words, -1) {
			k := a.b.crew.kinds().Agent(m[1] + m[2])
			if k == nil || strings.Contains(m[1]+m[2], "\n") || denied(a.b.gateRef.Snapshot(), k.Name) {
				continue
			}
			out = append(out, prompt.Item{Text: fmt.Sprintf(
				"The user asks for the agent %s: start it with the %s tool for this work, and give it what it needs to know.", k.Name, agent.Spec().Name)})
		}
	}
	return out, nil
}
