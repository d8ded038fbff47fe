package shell

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// tagVar marks a child and all that descends from it; see target.
const tagVar = "HEW_SHELL_ID"

// envOverlay is what one child's environment has of its own.
type envOverlay struct {
	set         map[string]string
	dir         string
	tag         string
	hideSecrets bool
}

// childEnv builds the environment of a child: base, without what must not be
// inherited, then the caller's own variables, then hew's marks. Every name
// occurs once. Entries of PATH that are not absolute are left out: the shell
// of a command must not find a program in whatever folder it is in (row SI-2).
func childEnv(base []string, o envOverlay) []string {
	env := make([]string, 0, len(base)+len(o.set)+6)
	at := make(map[string]int, len(base))
	put := func(name, value string) {
		if isName(name, "PATH") {
			value = absolutePath(value)
		}
		entry := name + "=" + value
		if i, ok := at[foldName(name)]; ok {
			env[i] = entry
			return
		}
		at[foldName(name)] = len(env)
		env = append(env, entry)
	}
	for _, entry := range base {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" || (o.hideSecrets && isSecret(name)) {
			continue // Windows keeps a drive's folder as "=C:=…"; children get their own
		}
		put(name, value)
	}
	names := make([]string, 0, len(o.set))
	for name := range o.set {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		put(name, o.set[name])
	}
	put("CLAUDECODE", "1")
	put("CLAUDE_CODE_CHILD_SESSION", "1")
	put(tagVar, o.tag)
	put("PWD", o.dir)
	if runtime.GOOS == "windows" {
		put("NoDefaultCurrentDirectoryInExePath", "1")
	}
	return env
}

// foldName makes names comparable: Windows does not know case.
func foldName(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

func isName(name, want string) bool { return foldName(name) == foldName(want) }

// getenv is the value of the last entry with that name.
func getenv(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if n, v, ok := strings.Cut(entry, "="); ok && isName(n, name) {
			return v
		}
	}
	return ""
}

// absolutePath drops the relative and empty entries of a search path.
func absolutePath(list string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(list), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// secretNames are credentials of model providers (cli.md §5) that do not fit
// the pattern in isSecret.
const secretNames = " ANTHROPIC_CUSTOM_HEADERS CLAUDE_CODE_EXTRA_BODY OPENAI_API_KEY OPENROUTER_API_KEY " +
	"GEMINI_API_KEY GOOGLE_API_KEY GOOGLE_APPLICATION_CREDENTIALS AZURE_OPENAI_API_KEY MISTRAL_API_KEY " +
	"GROQ_API_KEY DEEPSEEK_API_KEY XAI_API_KEY AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN " +
	"AWS_BEARER_TOKEN_BEDROCK "

// isSecret knows the credentials of model providers by name.
func isSecret(name string) bool {
	name = strings.ToUpper(name)
	if strings.Contains(secretNames, " "+name+" ") {
		return true
	}
	ours := strings.HasPrefix(name, "ANTHROPIC_") || strings.HasPrefix(name, "CLAUDE_") || strings.HasPrefix(name, "HEW_")
	return ours && (strings.HasSuffix(name, "_KEY") || strings.HasSuffix(name, "_TOKEN") || strings.HasSuffix(name, "_SECRET"))
}
