package agent

import (
	"encoding/json"
	"strings"
)

// Verdict is what an agent that verifies says at the end of its report.
type Verdict struct {
	// Verdict is pass, fail or unclear.
	Verdict  string       `json:"verdict"`
	Commands []VerdictRun `json:"commands"`
	Failures []string     `json:"failures,omitempty"`
}

// VerdictRun is one command that was run, and how it ended.
type VerdictRun struct {
	Command  string `json:"command"`
	ExitCode int    `json:"exit_code"`
}

// verdict finds the object at the end of a report, nil when there is none that
// says pass, fail or unclear.
func verdict(report string) *Verdict {
	report = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(report), "```"))
	for at := strings.LastIndex(report, "{"); at >= 0; at = strings.LastIndex(report[:at], "{") {
		var v Verdict
		if json.Unmarshal([]byte(report[at:]), &v) != nil {
			continue // an object within it, or no JSON
		}
		switch v.Verdict {
		case "pass", "fail", "unclear":
			return &v
		}
	}
	return nil
}
