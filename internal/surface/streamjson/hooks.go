package streamjson

import (
	"slices"

	"github.com/hew-agent/hew/internal/event"
)

// startEvents are the events whose hooks hosts hear of without asking for it.
var startEvents = []string{"SessionStart", "Setup"}

func (p *Printer) shows(event string) bool { return p.hooks || slices.Contains(startEvents, event) }

// HookStarted writes that a hook is about to run. It may be called from any
// goroutine; the line of its end has the same id. Hooks of the session's end run
// after the last line and have none.
func (s *Surface) HookStarted(id, event, name string) {
	if s.c.Format != StreamJSON || event == "SessionEnd" || !s.p.shows(event) {
		return
	}
	s.p.write(struct {
		envelope
		Hook  string `json:"hook_id"`
		Name  string `json:"hook_name"`
		Event string `json:"hook_event"`
	}{s.p.head("system", "hook_started"), id, name, event})
}

func (p *Printer) hookRan(b event.HookRan) {
	if !p.shows(b.Event) || b.ID == "" { // a hook in the background answers later
		return
	}
	p.write(struct {
		envelope
		Hook   string `json:"hook_id"`
		Name   string `json:"hook_name"`
		Event  string `json:"hook_event"`
		Output string `json:"output"`
		Stdout string `json:"stdout"`
		Stderr string `json:"stderr"`
		Exit   int    `json:"exit_code"`
		Result string `json:"outcome"`
	}{
		p.head("system", "hook_response"), b.ID, b.Name, b.Event,
		b.Output + b.Stderr, b.Output, b.Stderr, b.ExitCode, hookOutcome(b),
	})
}

// hookOutcome is the outcome in the words of the published types.
func hookOutcome(b event.HookRan) string {
	switch {
	case b.Outcome == "cancelled":
		return "cancelled"
	case b.Outcome == "success", b.Outcome == "blocked" && b.ExitCode == 0:
		return "success"
	}
	return "error"
}
