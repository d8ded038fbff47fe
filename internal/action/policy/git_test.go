package policy

import (
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/tool"
)

// Where an untrusted repository names a program, git's reading commands are no
// longer read-only; everything else is as before.
func TestGitProgramsTakeTheReadOnlyClass(t *testing.T) {
	const reason = "the repository's configuration sets core.fsmonitor"
	for _, c := range []struct {
		command     string
		allow, deny []string
		mode        Mode
		cwd         string
		sandboxed   bool
		want        tool.Behavior
		named       bool // the question carries the reason
	}{
		{command: "git status", want: tool.Ask, named: true},
		{command: "/usr/bin/git --no-pager log -p", want: tool.Ask},
		{command: "timeout 5 git diff", want: tool.Ask, named: true},
		{command: "ls && git show | head -3", want: tool.Ask, named: true},
		{command: "echo $(git rev-parse HEAD)", want: tool.Ask, named: true},
		{command: "git status", mode: Plan, want: tool.Ask, named: true},
		{command: "git status", mode: AcceptEdits, want: tool.Ask, named: true},
		{command: "git status", mode: DontAsk, want: tool.Deny, named: true},
		{command: "git status", mode: Bypass, want: tool.Allow},
		{command: "git status", sandboxed: true, want: tool.Allow},
		{command: "git status", allow: []string{"Bash(git status)"}, want: tool.Allow},
		{command: "git status", allow: []string{"Bash"}, want: tool.Allow},
		{command: "git diff", allow: []string{"Bash(git status)"}, want: tool.Ask, named: true},
		{command: "git status", allow: []string{"Bash(git *)"}, deny: []string{"Bash(git status)"}, want: tool.Deny},
		{command: "git --version", want: tool.Allow},
		{command: "git version", want: tool.Allow},
		{command: "ls -la", want: tool.Allow},
		{command: "git status", cwd: testCwd + "/clean", want: tool.Allow},
		{command: "git commit -m a", want: tool.Ask},
	} {
		cfg := testConfig(Default, c.allow, nil, c.deny)
		if c.mode != "" {
			cfg.Mode = c.mode
		}
		cfg.GitPrograms = func(dir string) string {
			if dir == testCwd {
				return reason
			}
			return ""
		}
		r := shell(c.command)
		r.Sandboxed = c.sandboxed
		if c.cwd != "" {
			r.Cwd = c.cwd
		}
		d := decide(t, cfg, r)
		if d.Behavior != c.want || c.named && !strings.Contains(d.Reason, reason) {
			t.Errorf("%s %+v: %s (%s)", c.command, c.mode, d.Behavior, d.Reason)
		}
	}
}
