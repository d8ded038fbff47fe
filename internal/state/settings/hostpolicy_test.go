package settings

import (
	"strings"
	"testing"
)

func TestHostPolicyOnlyRestricts(t *testing.T) {
	for _, c := range []struct{ name, policy, kept, left string }{
		{"deny and ask", `{"permissions":{"deny":["Bash"],"ask":["Edit"]}}`, "Bash Edit", ""},
		{"allow and mode", `{"permissions":{"allow":["Bash"],"defaultMode":"bypassPermissions","deny":["Read(x)"]}}`, "Read(x)", "permissions.allow, permissions.defaultMode"},
		{"a lock that opens", `{"sandbox":{"enabled":false,"failIfUnavailable":true}}`, "", "sandbox.enabled"},
		{"env and hooks", `{"env":{"A":"b"},"hooks":{},"model":"x"}`, "", "env, hooks, model"},
		{"a nested thing of the wrong kind", `{"permissions":"all","sandbox":[1]}`, "", "permissions, sandbox"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			s, problems := Load(Config{Home: Home{Dir: home}, Cwd: home, ManagedDir: home, HostPolicy: c.policy})
			var rules []string
			p := s.Permissions()
			for _, r := range append(p.Deny, p.Ask...) {
				rules = append(rules, r.Text)
				if r.Top().Scope != Managed {
					t.Errorf("%s is of the scope %s", r.Text, r.Top().Scope)
				}
			}
			if got := strings.Join(rules, " "); got != c.kept {
				t.Errorf("the rules are %q, want %q", got, c.kept)
			}
			var left strings.Builder
			for _, p := range problems {
				left.WriteString(p.Key)
			}
			if left.String() != c.left {
				t.Errorf("left out: %q, want %q", left.String(), c.left)
			}
		})
	}
	if _, problems := Load(Config{Home: Home{Dir: t.TempDir()}, ManagedDir: t.TempDir(), HostPolicy: `{"permissions":`}); len(problems) != 1 || problems[0].Severity != FileIgnored {
		t.Errorf("a policy that is no JSON: %v", problems)
	}
}
