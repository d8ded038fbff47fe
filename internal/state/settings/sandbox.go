package settings

import (
	"encoding/json"
	"slices"
	"strings"
)

// Sandbox are the sandbox keys of all files that count. Lists keep where each
// entry comes from: relative paths start there.
type Sandbox struct {
	Enabled, FailIfUnavailable bool
	// AutoAllow lets confined commands run unasked, AllowUnsandboxed lets a call
	// ask to run outside.
	AutoAllow, AllowUnsandboxed                bool
	FilesDisabled, OldProc, UnixSockets        bool
	StrictAllowlist                            bool
	Excluded                                   []string
	AllowWrite, DenyWrite, DenyRead, AllowRead []SandboxPath
	AllowedDomains, DeniedDomains              []string
	// UnsetEnv are variables that commands do not get.
	UnsetEnv  []string
	BwrapPath string
	// Ignored are keys that are known and have no effect here, each with a reason.
	Ignored []IgnoredKey
}

// SandboxPath is a path as written.
type SandboxPath struct {
	Text   string
	Origin Origin
}

// IgnoredKey is a sandbox key that this build does not honour.
type IgnoredKey struct{ Key, Why string }

// Sandbox returns the keys. Once an administrator or the command line has set
// allowUnsandboxedCommands to false, files of the repository cannot loosen
// anything: their lists of what is allowed are left out, and where their truth
// value won, the stricter one counts.
func (s *Settings) Sandbox() Sandbox {
	r := sandboxReader{s: s}
	outside, from := r.flag(true, "allowUnsandboxedCommands")
	r.locked = !outside && (from.Scope == Flag || from.Scope == Managed)
	reads := r.managedOnly("filesystem", "allowManagedReadPathsOnly")
	domains := r.managedOnly("network", "allowManagedDomainsOnly")
	r.locked = r.locked || domains
	out := Sandbox{
		Enabled: r.scalar(false, true, "enabled"), FailIfUnavailable: r.scalar(false, true, "failIfUnavailable"),
		AutoAllow: r.scalar(true, false, "autoAllowBashIfSandboxed"), AllowUnsandboxed: outside,
		FilesDisabled: r.scalar(false, false, "filesystem", "disabled"), OldProc: r.scalar(false, false, "enableWeakerNestedSandbox"),
		UnixSockets:     r.scalar(false, false, "network", "allowAllUnixSockets"),
		StrictAllowlist: r.scalar(false, true, "network", "strictAllowlist"),
		Excluded:        texts(r.list(true, false, "excludedCommands")),
		AllowWrite:      r.list(true, false, "filesystem", "allowWrite"), DenyWrite: r.list(false, false, "filesystem", "denyWrite"),
		DenyRead: r.list(false, false, "filesystem", "denyRead"), AllowRead: r.list(true, reads, "filesystem", "allowRead"),
		AllowedDomains: texts(r.list(true, domains, "network", "allowedDomains")),
		DeniedDomains:  texts(r.list(false, false, "network", "deniedDomains")),
		BwrapPath:      s.Text("sandbox", "bwrapPath"),
	}
	r.credentials(&out)
	out.Ignored = r.ignored()
	return out
}

type sandboxReader struct {
	s      *Settings
	locked bool
}

func (r sandboxReader) flag(fallback bool, key ...string) (bool, Origin) {
	path := append([]string{"sandbox"}, key...)
	v, ok := r.s.Bool(path...)
	if !ok {
		return fallback, Origin{}
	}
	from, _ := r.s.Origin(path...)
	return v, from
}

// scalar reads a truth value; strict is the one that a repository may set
// under the lock.
func (r sandboxReader) scalar(fallback, strict bool, key ...string) bool {
	v, from := r.flag(fallback, key...)
	if v != strict && r.locked && from.Scope.fromRepo() {
		return strict
	}
	return v
}

func (r sandboxReader) managedOnly(key ...string) bool {
	v, from := r.flag(false, key...)
	return v && from.Scope == Managed
}

// list reads strings; loosens marks lists that widen what commands may do.
func (r sandboxReader) list(loosens, managedOnly bool, key ...string) []SandboxPath {
	var out []SandboxPath
	for _, e := range r.s.Elements(append([]string{"sandbox"}, key...)...) {
		p := SandboxPath{Origin: e.Top()}
		switch {
		case json.Unmarshal(e.Raw, &p.Text) != nil:
		case managedOnly && p.Origin.Scope != Managed:
		case loosens && r.locked && p.Origin.Scope.fromRepo():
		default:
			out = append(out, p)
		}
	}
	return out
}

func texts(list []SandboxPath) []string {
	var out []string
	for _, p := range list {
		out = append(out, p.Text)
	}
	return out
}

// credentials reads the entries; every mode but deny behaves as deny, which is
// the stricter reading where hew masks nothing.
func (r sandboxReader) credentials(out *Sandbox) {
	type entry struct{ Path, Name string }
	for _, e := range r.s.Elements("sandbox", "credentials", "files") {
		var c entry
		if json.Unmarshal(e.Raw, &c) == nil && c.Path != "" {
			out.DenyRead = append(out.DenyRead, SandboxPath{Text: c.Path, Origin: e.Top()})
		}
	}
	for _, e := range r.s.Elements("sandbox", "credentials", "envVars") {
		var c entry
		if json.Unmarshal(e.Raw, &c) == nil && c.Name != "" && !slices.Contains(out.UnsetEnv, c.Name) {
			out.UnsetEnv = append(out.UnsetEnv, c.Name)
		}
	}
}

// ignored lists the keys of the ecosystem that change nothing here.
func (r sandboxReader) ignored() []IgnoredKey {
	var out []IgnoredKey
	for _, k := range []struct {
		path []string
		why  string
	}{
		{[]string{"network", "httpProxyPort"}, "hew's own relay is the only way out"},
		{[]string{"network", "socksProxyPort"}, "hew's own relay is the only way out"},
		{[]string{"network", "tlsTerminate"}, "the relay does not open TLS"},
		{[]string{"network", "allowUnixSockets"}, "sockets cannot be told apart by path; allowAllUnixSockets allows all"},
		{[]string{"network", "allowLocalBinding"}, "a command has a loopback of its own"},
		{[]string{"network", "allowMachLookup"}, "the macOS profile has a fixed list"},
		{[]string{"allowNestedUserNamespaces"}, "nested namespaces would undo the boundary"},
		{[]string{"enableWeakerNetworkIsolation"}, "the boundary has one strength"},
		{[]string{"allowAppleEvents"}, "the macOS profile has none"},
		{[]string{"socatPath"}, "the relay is built in"},
		{[]string{"ignoreViolations"}, "there is no log of violations to thin out"},
	} {
		if _, ok := r.s.Raw(append([]string{"sandbox"}, k.path...)...); ok {
			var name strings.Builder
			name.WriteString("sandbox")
			for _, p := range k.path {
				name.WriteString("." + p)
			}
			out = append(out, IgnoredKey{name.String(), k.why})
		}
	}
	return out
}
