package settings

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// want is the JSON type that a known key must have.
type want byte

const (
	wantAny want = iota
	wantString
	wantBool
	wantNumber
	wantObject
	wantList
	wantStrings       // list of strings
	wantRules         // list of permission rules
	wantStringOrList  // a string counts as a list of one
	wantStringObject  // object of strings, numbers and bools: the env block
	wantListsInObject // object of lists: hooks
)

// String says it in an error text.
func (w want) String() string {
	return [...]string{"any value", "a string", "true or false", "a number", "an object", "a list", "a list of strings", "a list of rules", "a string or a list of strings", "an object of strings", "an object of lists"}[w]
}

// who may set a key.
type who byte

const (
	anyFile     who = iota
	notProject      // not the shared project file
	notRepo         // user, command line, managed
	onlyManaged     // managed
)

func (w who) allows(s Scope) bool {
	switch w {
	case anyFile:
		return true
	case notProject:
		return s != Project
	case notRepo:
		return !s.fromRepo()
	case onlyManaged:
		return s == Managed
	}
	return false
}

// hold says when a key from a repository waits for the user's trust.
type hold byte

const (
	free     hold = iota
	untilAny      // works once the folder or a parent of it is trusted
	untilOwn      // works once the folder itself is trusted
)

// keyRule is what is known of one key. Keys without a rule are kept and never judged.
type keyRule struct {
	want   want
	who    who
	hold   hold
	choice []string // the only values of a string
	strict string   // JSON that stands in when the managed value is invalid: the stricter choice
}

// keyRules is the table of known keys by dotted path. Scopes: the ecosystem's settings reference; what runs a command or
// widens access is held in untrusted folders, in -p too, where the original would run it.
var keyRules = sync.OnceValue(func() map[string]keyRule {
	t := map[string]keyRule{
		"permissions":                                      {want: wantObject},
		"permissions.allow":                                {want: wantRules, hold: untilOwn},
		"permissions.ask":                                  {want: wantRules},
		"permissions.deny":                                 {want: wantRules},
		"permissions.additionalDirectories":                {want: wantStrings, hold: untilOwn},
		"permissions.defaultMode":                          {want: wantString, choice: modes},
		"permissions.disableBypassPermissionsMode":         {want: wantString, choice: []string{"disable"}, strict: `"disable"`},
		"permissions.disableAutoMode":                      {want: wantString, choice: []string{"disable"}, strict: `"disable"`},
		"permissions.blockReadsOutsideWorkingDirectories":  {want: wantBool, strict: "true"},
		"permissions.blockWritesOutsideWorkingDirectories": {want: wantBool, strict: "true"},
		"permissions.denyInsteadOfPrompting":               {want: wantBool, who: notRepo, strict: "true"},
		"disableAutoMode":                                  {want: wantString, choice: []string{"disable"}, strict: `"disable"`},
		"skipDangerousModePermissionPrompt":                {want: wantBool, who: notProject},
		"skipAutoPermissionPrompt":                         {want: wantBool, who: notRepo},
		"useAutoModeDuringPlan":                            {want: wantBool, who: notProject},
		"autoMode":                                         {want: wantObject, who: notRepo},
		"sandbox":                                          {want: wantObject},
		"sandbox.enabled":                                  {want: wantBool, hold: untilOwn, strict: "true"},
		"sandbox.failIfUnavailable":                        {want: wantBool, hold: untilOwn, strict: "true"},
		"sandbox.autoAllowBashIfSandboxed":                 {want: wantBool, hold: untilOwn, strict: "false"},
		"sandbox.allowUnsandboxedCommands":                 {want: wantBool, hold: untilOwn, strict: "false"},
		"sandbox.excludedCommands":                         {want: wantStrings, hold: untilOwn, strict: "[]"},
		"sandbox.enableWeakerNestedSandbox":                {want: wantBool, hold: untilOwn, strict: "false"},
		"sandbox.filesystem":                               {want: wantObject},
		"sandbox.filesystem.disabled":                      {want: wantBool, who: notRepo},
		"sandbox.filesystem.allowWrite":                    {want: wantStrings, hold: untilOwn, strict: "[]"},
		"sandbox.filesystem.denyWrite":                     {want: wantStrings},
		"sandbox.filesystem.denyRead":                      {want: wantStrings},
		"sandbox.filesystem.allowRead":                     {want: wantStrings, hold: untilOwn, strict: "[]"},
		"sandbox.filesystem.allowManagedReadPathsOnly":     {want: wantBool, who: onlyManaged, strict: "true"},
		"sandbox.network":                                  {want: wantObject},
		"sandbox.network.allowedDomains":                   {want: wantStrings, hold: untilOwn, strict: "[]"},
		"sandbox.network.deniedDomains":                    {want: wantStrings},
		"sandbox.network.allowManagedDomainsOnly":          {want: wantBool, who: onlyManaged, strict: "true"},
		"sandbox.network.allowAllUnixSockets":              {want: wantBool, hold: untilOwn, strict: "false"},
		"sandbox.network.tlsTerminate":                     {who: notRepo},
		"sandbox.network.strictAllowlist":                  {want: wantBool, who: notRepo, strict: "true"},
		"sandbox.credentials":                              {want: wantObject},
		"sandbox.allowAppleEvents":                         {want: wantBool, who: notRepo},
		"sandbox.allowNestedUserNamespaces":                {want: wantBool, who: notRepo},
		"sandbox.bwrapPath":                                {want: wantString, who: onlyManaged},
		"sandbox.ripgrep":                                  {want: wantObject, who: notRepo},
		"hooks":                                            {want: wantListsInObject, hold: untilAny},
		"disableAllHooks":                                  {want: wantBool, hold: untilOwn}, // it would switch off the user's guards
		"env":                                              {want: wantStringObject, hold: untilAny},
		"fallbackModel":                                    {want: wantStringOrList},
		"availableModels":                                  {want: wantStrings, strict: "[]"},
		"modelOverrides":                                   {want: wantObject},
		"providers":                                        {want: wantObject, who: notRepo}, // it says where keys are sent
		"models":                                           {want: wantObject, who: notRepo},
		"oauth":                                            {want: wantObject, who: notRepo}, // it says where logins are sent
		"budgets":                                          {want: wantObject, who: notRepo},
		"webSearch":                                        {want: wantObject, who: notRepo},
		"effortLevel":                                      {want: wantString},
		"attribution":                                      {want: wantObject},
		"cleanupPeriodDays":                                {want: wantNumber, who: notRepo}, // it deletes sessions of all projects
		"cleanupMaxBytes":                                  {want: wantNumber, who: notRepo},
		"skillListingBudgetFraction":                       {want: wantNumber},
		"skillListingMaxDescChars":                         {want: wantNumber},
		"bashOutputMaxChars":                               {want: wantNumber},
		"taskOutputMaxChars":                               {want: wantNumber},
		"agentsMd":                                         {want: wantString, choice: []string{"project", "folder", "always", "never"}},
		"subagentQuestions":                                {want: wantString, choice: []string{"bubble", "foreground", "never"}},
		"autoMemoryDirectory":                              {want: wantString, hold: untilOwn},
		"claudeMd":                                         {want: wantString, who: onlyManaged},
		"processWrapper":                                   {who: notRepo},
		"footerLinksRegexes":                               {who: notRepo},
		"pluginConfigs":                                    {who: notRepo},
		"worktree":                                         {want: wantObject},
		"extraKnownMarketplaces":                           {want: wantObject, hold: untilOwn},
		"enabledPlugins":                                   {hold: untilAny},
		"enableAllProjectMcpServers":                       {want: wantBool, hold: untilAny},
		"enabledMcpjsonServers":                            {want: wantStrings, hold: untilAny},
		"disabledMcpjsonServers":                           {want: wantStrings},
		"allowedMcpServers":                                {want: wantList, strict: "[]"},
		"deniedMcpServers":                                 {want: wantList},
		"askUserQuestionTimeout":                           {who: notRepo},
		"dialogExpiry":                                     {who: notRepo},
		"crossSessionInbound":                              {want: wantString, choice: []string{"accept", "hold", "refuse"}, strict: `"refuse"`},
	}
	fill(t, keyRule{want: wantBool}, "alwaysThinkingEnabled autoCompactEnabled autoMemoryEnabled fileCheckpointingEnabled includeGitInstructions includeCoAuthoredBy respectGitignore skipWebFetchPreflight showThinkingSummaries enforceAvailableModels disableAgentView disableWorkflows enableWorkflows disableBundledSkills disableSkillShellExecution isolatePeerMachines remoteControlAtStartup disableRemoteControl disableClaudeAiConnectors verbose")
	fill(t, keyRule{want: wantString}, "model language outputStyle agent plansDirectory theme editorMode defaultShell minimumVersion autoUpdatesChannel")
	fill(t, keyRule{want: wantStrings}, "contextShapers claudeMdExcludes allowedHttpHookUrls httpHookAllowedEnvVars companyAnnouncements")
	fill(t, keyRule{want: wantString, hold: untilAny}, "apiKeyHelper awsAuthRefresh awsCredentialExport gcpAuthRefresh otelHeadersHelper proxyAuthHelper")
	fill(t, keyRule{want: wantObject, hold: untilAny}, "statusLine subagentStatusLine fileSuggestion")
	fill(t, keyRule{want: wantBool, who: onlyManaged, strict: "true"}, "allowManagedPermissionRulesOnly allowManagedHooksOnly allowManagedMcpServersOnly disableSideloadFlags forceRemoteSettingsRefresh")
	fill(t, keyRule{who: onlyManaged}, "strictKnownMarketplaces blockedMarketplaces strictPluginOnlyCustomization requiredMinimumVersion requiredMaximumVersion policyHelper parentSettingsBehavior managedSourcesBehavior wslInheritsWindowsSettings")
	return t
})

func fill(t map[string]keyRule, r keyRule, names string) {
	for name := range strings.FieldsSeq(names) {
		t[name] = r
	}
}

// modes are the permission modes that a file can start a session in.
var modes = []string{"default", "manual", "acceptEdits", "plan", "dontAsk", "auto", "bypassPermissions"}

// freer are the modes that a repository cannot choose for a user who has not said that he trusts it.
var freer = []string{"acceptEdits", "bypassPermissions"}

// tighten lists the keys in which the stricter value wins whatever the precedence, when a file of these scopes has it.
type tighten struct {
	path   []string
	values []string // JSON, mildest first; what is not listed is milder than all
	scopes []Scope
}

var everywhere = []Scope{User, Project, Local, Flag, Managed}

var tightens = []tighten{
	{[]string{"disableClaudeAiConnectors"}, []string{"true"}, everywhere},
	{[]string{"isolatePeerMachines"}, []string{"true"}, everywhere},
	{[]string{"permissions", "blockReadsOutsideWorkingDirectories"}, []string{"true"}, everywhere},
	{[]string{"permissions", "blockWritesOutsideWorkingDirectories"}, []string{"true"}, everywhere},
	{[]string{"permissions", "disableBypassPermissionsMode"}, []string{`"disable"`}, everywhere},
	{[]string{"permissions", "disableAutoMode"}, []string{`"disable"`}, everywhere},
	{[]string{"disableAutoMode"}, []string{`"disable"`}, everywhere},
	{[]string{"remoteControlAtStartup"}, []string{"false"}, []Scope{Project, Local}},
	{[]string{"useAutoModeDuringPlan"}, []string{"false"}, []Scope{User, Local, Flag, Managed}},
	{[]string{"crossSessionInbound"}, []string{`"accept"`, `"hold"`, `"refuse"`}, []Scope{Project, Local}},
}

// apply returns the value that counts for t, given the merged one, and whether a file tightened it.
func (t tighten) apply(merged *node, files []source) (*node, bool) {
	best, rank := merged, -1
	if merged != nil {
		rank = slices.Index(t.values, string(merged.raw))
	}
	for _, f := range files {
		n := f.root.get(t.path)
		if n == nil || !slices.Contains(t.scopes, f.from.Scope) {
			continue
		}
		if r := slices.Index(t.values, string(n.raw)); r > rank {
			best, rank = n, r
		}
	}
	return best, best != merged
}

// fits reports whether a node has the type that the key wants.
func (w want) fits(n *node) bool {
	switch w {
	case wantAny:
		return true
	case wantString:
		return n.kind == scalar && n.raw[0] == '"'
	case wantBool:
		return n.kind == scalar && (n.raw[0] == 't' || n.raw[0] == 'f')
	case wantNumber:
		var f float64
		return n.kind == scalar && json.Unmarshal(n.raw, &f) == nil
	case wantObject, wantStringObject, wantListsInObject:
		return n.kind == object
	case wantList, wantStrings, wantRules:
		return n.kind == list
	case wantStringOrList:
		return n.kind == list || wantString.fits(n)
	}
	return false
}

// IsBaseURL reports variables that say where models are asked, and with that where a key is sent: those of all providers
// that hew or the ecosystem's tools know. A repository's file sets them only when the user has confirmed the address.
func IsBaseURL(name string) bool {
	upper := strings.ToUpper(name)
	switch upper {
	case "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY", "AWS_ENDPOINT_URL", "OLLAMA_HOST":
		return true
	}
	who, _, _ := strings.Cut(upper, "_")
	if !slices.Contains([]string{"ANTHROPIC", "OPENAI", "AZURE", "GEMINI", "GOOGLE", "VERTEX", "MISTRAL", "OLLAMA", "OPENROUTER", "GROQ", "DEEPSEEK", "XAI", "LLM", "BEDROCK", "AWS", "CLAUDE", "HEW"}, who) {
		return false
	}
	for _, end := range []string{"_BASE_URL", "_BASE_URI", "_API_BASE", "_API_URL", "_API_HOST", "_ENDPOINT", "_ENDPOINT_URL", "_BASE"} {
		if strings.HasSuffix(upper, end) {
			return true
		}
	}
	return strings.HasPrefix(upper, "AWS_ENDPOINT_URL")
}

// envRefused reports variables that a repository's env block never sets, trusted or not: they would send credentials
// or traffic elsewhere, load code into every child, or move hew's own files.
func envRefused(name string, s Scope) bool {
	switch strings.ToUpper(name) {
	case "CLAUDE_CONFIG_DIR", "HEW_CONFIG_DIR":
		return true // read before any settings file is; set by one it would only mislead children
	}
	if !s.fromRepo() {
		return false
	}
	upper := strings.ToUpper(name)
	switch upper {
	case "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"NODE_TLS_REJECT_UNAUTHORIZED", "NODE_OPTIONS", "BASH_ENV", "ENV", "PROMPT_COMMAND", "PATH", "HOME", "IS_SANDBOX",
		"CLAUDE_CODE_SHELL", "CLAUDE_CODE_SHELL_PREFIX", "CLAUDE_ENV_FILE", "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB":
		return true
	}
	for _, prefix := range []string{"LD_", "DYLD_", "GIT_", "HEW_"} {
		if strings.HasPrefix(upper, prefix) {
			return true
		}
	}
	return false
}
