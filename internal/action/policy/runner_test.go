package policy

import (
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/tool"
)

func TestResidualRisk(t *testing.T) {
	for rule, risky := range map[string]bool{
		"Bash(npx *)": true, "Bash(docker exec *)": true, "Bash(docker exec:*)": true, "Bash(python3 s.py)": true, "Bash(npm test)": true,
		"Bash(go test *)": true, "Bash(./run.sh)": true, "Bash(/usr/bin/make all)": true, "Bash": true, "Bash(docker *)": true, "Bash(make:*)": true,
		"Bash(git log *)": false, "Bash(docker ps)": false, "Bash(go version)": false, "Bash(ls *)": false, "Read(x)": false, "Bash(npm ls)": false,
	} {
		s := New(Config{Families: Families{Read: "Read", Edit: "Edit", Exec: "Bash", Fetch: "WebFetch"}, Project: "/p", Layers: []Layer{{Allow: []string{rule}}}})
		if got := s.Risks(); (len(got) == 1) != risky {
			t.Errorf("%s: %v", rule, got)
		}
		u := Update{Kind: AddRules, Behavior: tool.Allow, Rules: []string{rule}}
		if got := s.Risk(u); rule != "Bash" && (got != "") != risky || strings.Contains(got, "\n") {
			t.Errorf("%s: %q", rule, got)
		}
	}
}
