package settings

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// HostPolicyFile stands for the file of settings that the host of a session
// gives as a policy (--managed-settings).
const HostPolicyFile = "--managed-settings"

// restricting are the keys that a host may set for a policy, and the values; nil
// is any. Only what takes something away: the host is no administrator, so no
// list here says what is allowed.
var restricting = map[string][]string{
	"permissions.deny":                                 nil,
	"permissions.ask":                                  nil,
	"permissions.disableBypassPermissionsMode":         {`"disable"`},
	"permissions.disableAutoMode":                      {`"disable"`},
	"permissions.blockReadsOutsideWorkingDirectories":  {"true"},
	"permissions.blockWritesOutsideWorkingDirectories": {"true"},
	"disableAutoMode":                                  {`"disable"`},
	"allowManagedPermissionRulesOnly":                  {"true"},
	"allowManagedHooksOnly":                            {"true"},
	"allowManagedMcpServersOnly":                       {"true"},
	"disableSideloadFlags":                             {"true"},
	"deniedMcpServers":                                 nil,
	"disabledMcpjsonServers":                           nil,
	"blockedMarketplaces":                              nil,
	"sandbox.enabled":                                  {"true"},
	"sandbox.failIfUnavailable":                        {"true"},
	"sandbox.allowUnsandboxedCommands":                 {"false"},
	"sandbox.autoAllowBashIfSandboxed":                 {"false"},
	"sandbox.enableWeakerNestedSandbox":                {"false"},
	"sandbox.filesystem.denyRead":                      nil,
	"sandbox.filesystem.denyWrite":                     nil,
	"sandbox.filesystem.allowManagedReadPathsOnly":     {"true"},
	"sandbox.network.deniedDomains":                    nil,
	"sandbox.network.allowManagedDomainsOnly":          {"true"},
	"sandbox.network.allowAllUnixSockets":              {"false"},
	"sandbox.network.strictAllowlist":                  {"true"},
}

// hostPolicy reads the policy of the host, the weakest of the managed settings.
func (l *loader) hostPolicy() {
	text := l.c.HostPolicy
	if text == "" {
		return
	}
	from := Origin{Scope: Managed, File: HostPolicyFile}
	l.files = append(l.files, File{Scope: Managed})
	if len(text) > sizeLimit {
		l.ignore(from, 0, 0, "larger than 2 MiB")
		return
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		l.ignore(from, 0, 0, "no JSON object: "+err.Error())
		return
	}
	kept, left := onlyRestricting(all, "")
	raw, err := json.Marshal(kept)
	if err != nil {
		l.ignore(from, 0, 0, err.Error())
		return
	}
	l.text(from, raw)
	if len(left) > 0 {
		l.problems = append(l.problems, Problem{
			Severity: NotAllowed, Scope: Managed, File: HostPolicyFile, Key: strings.Join(left, ", "),
			Text: "a host's policy can only restrict; this is left out",
		})
	}
}

// onlyRestricting splits settings into those that restrict and the names of the others.
func onlyRestricting(in map[string]json.RawMessage, under string) (kept map[string]json.RawMessage, left []string) {
	kept = map[string]json.RawMessage{}
	for _, key := range slices.Sorted(maps.Keys(in)) {
		name, raw := under+key, in[key]
		values, known := restricting[name]
		var nested map[string]json.RawMessage
		switch {
		case known && (values == nil || slices.Contains(values, strings.TrimSpace(string(raw)))):
			kept[key] = raw
		case !known && isPrefix(name) && json.Unmarshal(raw, &nested) == nil:
			inner, more := onlyRestricting(nested, name+".")
			left = append(left, more...)
			if text, err := json.Marshal(inner); err == nil {
				kept[key] = text
			}
		default:
			left = append(left, name)
		}
	}
	return kept, left
}

// isPrefix tells whether keys that restrict stand below a name.
func isPrefix(name string) bool {
	for key := range restricting {
		if strings.HasPrefix(key, name+".") {
			return true
		}
	}
	return false
}
