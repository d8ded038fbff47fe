package wiring

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/hew-agent/hew/internal/action/builtin"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/tool"
)

// deferPercent is the documented threshold of "auto": the part of the window
// from which on definitions are worth leaving out.
const deferPercent = 10

// bytesPerToken estimates the size of definitions without asking the provider.
const bytesPerToken = 4

// deferWhen reads ENABLE_TOOL_SEARCH: nil switches deferring off. Unset, a run
// without servers sends everything, since the few rare tools of its own cost
// less than the search for them.
func deferWhen(value string) (when func(candidates []tool.Spec, bytes, window int) bool, ok bool) {
	word, rest, _ := strings.Cut(strings.ToLower(strings.TrimSpace(value)), ":")
	percent := deferPercent
	switch {
	case word == "":
		return func(c []tool.Spec, _, _ int) bool {
			return slices.ContainsFunc(c, func(s tool.Spec) bool { return s.Origin != builtinOrigin })
		}, true
	case word == "false" || word == "0":
		return nil, true
	case word == "true" || word == "1":
		return func([]tool.Spec, int, int) bool { return true }, true
	case word != "auto":
		return nil, false
	case rest != "":
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 || n > 100 {
			return nil, false
		}
		percent = n
	}
	return func(_ []tool.Spec, bytes, window int) bool { return bytes/bytesPerToken*100 >= window*percent }, true
}

// builtinOrigin is the Origin of hew's own tools.
const builtinOrigin = "builtin"

// deferral says which definitions stay out of requests.
func (b *build) deferral() engine.Deferral {
	when, ok := deferWhen(b.env("ENABLE_TOOL_SEARCH"))
	if !ok {
		b.notice("ENABLE_TOOL_SEARCH is not true, false, auto or auto:N (a percentage); it counts as unset")
		when, _ = deferWhen("")
	}
	if when == nil {
		return engine.Deferral{}
	}
	d := engine.Deferral{Search: builtin.ToolSearchName, Active: when, Loaded: builtin.LoadedTools}
	if b.o.ToolsGiven {
		d.Upfront = b.o.Tools
	}
	return d
}

// deferred is what the search tool looks in, nil when nothing is ever deferred.
func (b *build) deferred() func() []tool.Spec {
	if when, ok := deferWhen(b.env("ENABLE_TOOL_SEARCH")); ok && when == nil {
		return nil
	}
	return func() []tool.Spec { return b.conv.Engine.Deferred() }
}

// deferredTools names the tools whose definitions can be loaded: those of hew
// itself, and those of each server, whenever a list has changed.
type deferredTools struct {
	list func() []tool.Spec
	// known are the origins that were named, in order.
	known []string
}

// Name is the source's word for programs.
func (*deferredTools) Name() string { return "deferred_tools" }

// Class says that definitions are loaded when something asks for them.
func (*deferredTools) Class() prompt.Class { return prompt.OnDemand }

// Delta is a list for each origin. A tool that was loaded stays in its list:
// that it is known by now is no reason to repeat the others.
func (d *deferredTools) Delta(context.Context, prompt.Facts) ([]prompt.Item, error) {
	now := map[string][]string{}
	for _, s := range d.list() {
		if !slices.Contains(d.known, s.Origin) {
			d.known = append(d.known, s.Origin)
		}
		now[s.Origin] = append(now[s.Origin], s.Name)
	}
	var out []prompt.Item
	for _, origin := range d.known {
		out = append(out, prompt.Item{Key: origin, Text: naming(origin, now[origin])})
	}
	return out, nil
}

func naming(origin string, names []string) string {
	from := "more tools"
	if origin != builtinOrigin {
		from = "tools of the server " + origin
	}
	if len(names) == 0 {
		return "The " + from + " are gone."
	}
	return "There are " + from + ". Load the definition of one with " + builtin.ToolSearchName + " (query \"select:NAME\") before you call it:\n" + strings.Join(names, "\n")
}
