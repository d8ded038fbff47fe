package wiring

import (
	"fmt"
	"strings"
	"testing"
)

// TestFiveLevels: a denial of any level beats the grants of all the others, and
// of two modes the one of the stronger level counts.
func TestFiveLevels(t *testing.T) {
	levels := []string{"managed", "cli", "local", "project", "user"}
	for _, deny := range levels {
		var sources strings.Builder
		for _, l := range levels {
			list := "allow"
			if l == deny {
				list = "deny"
			}
			sources.WriteString(fmt.Sprintf(`,%q:{%q:["Bash(npm test)"]}`, l, list))
		}
		row := fmt.Sprintf(`{"id":"1","tool":"Bash","input":{"command":"npm test"},"settings":{"sources":{%s}}}`, sources.String()[1:])
		if r, err := judgeRow(t, row); err != nil || r.Verdict != "deny" {
			t.Errorf("denied by %s: %s (%s), error %v", deny, r.Verdict, r.Reason, err)
		}
		row = fmt.Sprintf(`{"id":"1","tool":"Bash","input":{"command":"npm test"},"settings":{"sources":{%q:{"allow":["Bash(npm test)"]}}}}`, deny)
		if r, err := judgeRow(t, row); err != nil || r.Verdict != "allow" {
			t.Errorf("allowed by %s alone: %s (%s), error %v", deny, r.Verdict, r.Reason, err)
		}
	}
}

// TestRootNeedsASandbox: bypassPermissions as root hands over the machine.
func TestRootNeedsASandbox(t *testing.T) {
	for _, c := range []struct {
		o        Options
		disabled bool
		ok       bool
	}{
		{Options{Root: true}, false, false},
		{Options{Root: true, Environ: []string{"IS_SANDBOX=1"}}, false, true},
		{Options{Root: true, Environ: []string{"IS_SANDBOX=1"}}, true, false},
		{Options{}, false, true},
	} {
		if err := c.o.mayBypass(c.disabled); (err == nil) != c.ok {
			t.Errorf("%+v disabled %v: %v", c.o, c.disabled, err)
		}
	}
}
