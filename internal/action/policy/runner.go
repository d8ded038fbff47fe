package policy

import (
	"strings"

	"github.com/hew-agent/hew/internal/tool"
)

// runners are programs that execute what files or images in reach say: who may
// run them unasked may run whatever was written there meanwhile (attack A17).
// The value names the subcommands that do, "" for any.
var runners = map[string]string{
	"npx": "", "bunx": "", "pnpx": "", "uvx": "", "pipx": "run", "npm": "run test start exec t x ci install i", "pnpm": "", "yarn": "", "bun": "",
	"node": "", "deno": "run test task", "tsx": "", "ts-node": "", "jest": "", "vitest": "", "mocha": "",
	"python": "", "python3": "", "python2": "", "pytest": "", "tox": "", "nox": "", "poetry": "run", "pipenv": "run", "uv": "run tool", "hatch": "run test",
	"ruby": "", "rake": "", "bundle": "exec", "perl": "", "php": "", "composer": "run run-script exec", "lua": "", "Rscript": "",
	"sh": "", "bash": "", "zsh": "", "dash": "", "fish": "", "pwsh": "",
	"make": "", "gmake": "", "ninja": "", "just": "", "task": "", "cmake": "--build", "ctest": "", "bazel": "run test build", "mage": "",
	"go": "run test generate tool", "cargo": "run test build bench check clippy", "mix": "", "dotnet": "run test build", "swift": "run test build",
	"mvn": "", "gradle": "", "ant": "", "sbt": "", "gradlew": "", "mvnw": "", "java": "",
	"docker": "exec run compose build", "podman": "exec run build", "kubectl": "exec run", "ssh": "", "devbox": "run shell", "mise": "exec run x", "direnv": "exec",
	"nix": "run develop shell", "terraform": "apply", "ansible-playbook": "", "pre-commit": "run",
}

// residualRisk is what an allow rule for a runner leaves open, "" for other rules.
func (s *Snapshot) residualRisk(r *Rule) string {
	if r.Behavior != tool.Allow || r.Tool != s.cfg.Families.Exec || r.unused || r.param != "" {
		return ""
	}
	if r.whole() {
		return "covers programs that run what files say: a changed file is enough to run anything. The sandbox contains it"
	}
	return runnerRisk(r.Specifier)
}

func runnerRisk(spec string) string {
	spec = strings.TrimSuffix(strings.TrimSuffix(spec, ":*"), "*")
	words := strings.Fields(spec)
	if len(words) == 0 {
		return ""
	}
	name := words[0][strings.LastIndexByte(words[0], '/')+1:]
	subs, ok := runners[name]
	if !ok && !strings.HasPrefix(words[0], "./") {
		return ""
	}
	if subs != "" && len(words) > 1 && !strings.Contains(" "+subs+" ", " "+words[1]+" ") {
		return ""
	}
	return strings.Join(words[:min(2, len(words))], " ") +
		" runs what files say at that moment: whoever can change those, also by accepted edits, can run anything. The sandbox contains it"
}

// Risks lists the allow rules in force that leave a risk which no rule can
// close. They work as written; their authors should know.
func (s *Snapshot) Risks() []Warning {
	var out []Warning
	for _, r := range s.allow.all {
		if why := s.residualRisk(r); why != "" {
			out = append(out, Warning{Rule: r.Text, Behavior: r.Behavior, Origin: r.Origin, Text: why})
		}
	}
	return out
}

// Risk is what the rules of an update would leave open, "" for nothing.
func (s *Snapshot) Risk(u Update) string {
	if u.Kind != AddRules || u.Behavior != tool.Allow {
		return ""
	}
	for _, text := range u.Rules {
		if name, spec, whole, ok := split(text); ok && !whole && name == s.cfg.Families.Exec {
			if why := runnerRisk(spec); why != "" {
				return why
			}
		}
	}
	return ""
}
