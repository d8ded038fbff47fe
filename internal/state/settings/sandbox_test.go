package settings

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// loadSandbox loads files by scope: user, project, managed, and JSON of the command line.
func loadSandbox(t *testing.T, trust Trust, files map[string]string) Sandbox {
	t.Helper()
	root := t.TempDir()
	c := Config{
		Home: Home{Dir: filepath.Join(root, "home", ".claude")}, Cwd: filepath.Join(root, "work"), ManagedDir: filepath.Join(root, "managed"),
		FlagSettings: files["flag"], Trust: trust,
	}
	for scope, path := range map[string]string{
		"user": filepath.Join(c.Home.Dir, "settings.json"), "project": filepath.Join(c.Cwd, ".claude", "settings.json"),
		"managed": filepath.Join(c.ManagedDir, "managed-settings.json"),
	} {
		if files[scope] == "" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[scope]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if c.Sources, err = ParseSources("user,project,local"); err != nil {
		t.Fatal(err)
	}
	s, _ := Load(c)
	return s.Sandbox()
}

func TestSandboxDefaults(t *testing.T) {
	got := loadSandbox(t, Untrusted, nil)
	if got.Enabled || got.FailIfUnavailable || !got.AutoAllow || !got.AllowUnsandboxed || got.FilesDisabled {
		t.Errorf("%+v", got)
	}
}

// TestSandboxOfUntrustedFolder: a repository widens nothing before it is trusted, and may always narrow.
func TestSandboxOfUntrustedFolder(t *testing.T) {
	files := map[string]string{
		"user": `{"sandbox":{"enabled":true}}`,
		"project": `{"sandbox":{"enabled":false,"excludedCommands":["docker *"],"filesystem":{"allowWrite":["/"],"allowRead":["~/.ssh"],"denyRead":["secret"]},
			"network":{"allowedDomains":["evil.test"],"deniedDomains":["bad.test"],"allowAllUnixSockets":true}}}`,
	}
	got := loadSandbox(t, Untrusted, files)
	if !got.Enabled || got.Excluded != nil || got.AllowWrite != nil || got.AllowRead != nil || got.AllowedDomains != nil || got.UnixSockets {
		t.Errorf("an untrusted folder widened the sandbox: %+v", got)
	}
	if len(got.DenyRead) != 1 || got.DenyRead[0].Origin.Scope != Project || !slices.Equal(got.DeniedDomains, []string{"bad.test"}) {
		t.Errorf("it could not narrow it: %+v", got)
	}
	if got = loadSandbox(t, Trusted, files); got.Enabled || len(got.Excluded) != 1 || !got.UnixSockets {
		t.Errorf("a trusted folder has no say: %+v", got)
	}
}

// TestSandboxLock: once an administrator or the command line forbids running outside, a repository loosens nothing.
func TestSandboxLock(t *testing.T) {
	project := `{"sandbox":{"enabled":false,"failIfUnavailable":false,"autoAllowBashIfSandboxed":true,"allowUnsandboxedCommands":true,
		"excludedCommands":["docker *"],"filesystem":{"allowWrite":["/x"]},"network":{"allowedDomains":["a.test"]}}}`
	for scope, lock := range map[string]string{
		"managed": `{"sandbox":{"enabled":true,"failIfUnavailable":true,"allowUnsandboxedCommands":false,"network":{"allowedDomains":["ok.test"]}}}`,
		"flag":    `{"sandbox":{"allowUnsandboxedCommands":false,"network":{"allowedDomains":["ok.test"]}}}`,
	} {
		got := loadSandbox(t, Trusted, map[string]string{"project": project, scope: lock})
		if !got.Enabled || !got.FailIfUnavailable || got.AutoAllow || got.AllowUnsandboxed || got.Excluded != nil || got.AllowWrite != nil {
			t.Errorf("%s: %+v", scope, got)
		}
		if !slices.Equal(got.AllowedDomains, []string{"ok.test"}) {
			t.Errorf("%s: domains %q", scope, got.AllowedDomains)
		}
	}
	got := loadSandbox(t, Trusted, map[string]string{"project": project, "user": `{"sandbox":{"network":{"allowedDomains":["u.test"]}}}`, "managed": `{"sandbox":{"network":{"allowManagedDomainsOnly":true,"allowedDomains":["m.test"]}}}`})
	if !slices.Equal(got.AllowedDomains, []string{"m.test"}) {
		t.Errorf("domains %q", got.AllowedDomains)
	}
}

func TestSandboxCredentials(t *testing.T) {
	got := loadSandbox(t, Trusted, map[string]string{"user": `{"sandbox":{"credentials":{"files":[{"path":"~/.x","mode":"mask"}],"envVars":[{"name":"TOKEN","mode":"deny"}]},
		"network":{"httpProxyPort":1}}}`})
	if len(got.DenyRead) != 1 || got.DenyRead[0].Text != "~/.x" || !slices.Equal(got.UnsetEnv, []string{"TOKEN"}) {
		t.Errorf("%+v", got)
	}
	if len(got.Ignored) != 1 || got.Ignored[0].Key != "sandbox.network.httpProxyPort" {
		t.Errorf("ignored: %v", got.Ignored)
	}
}
