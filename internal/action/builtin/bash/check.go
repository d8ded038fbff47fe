package bash

import (
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
)

// checkers are programs that do nothing but look whether the work is right.
var checkers = []string{
	"ctest", "eslint", "golangci-lint", "jest", "mocha", "mypy", "nox", "phpunit", "prove", "pyright", "pytest", "rspec", "ruff", "shellcheck",
	"staticcheck", "tox", "tsc", "vitest",
}

// runners are programs that also look whether the work is right when one of
// checkWords says so.
var (
	runners    = []string{"bazel", "bun", "cargo", "deno", "dotnet", "go", "gradle", "gradlew", "just", "make", "mix", "mvn", "mvnw", "npm", "pnpm", "rake", "swift", "yarn", "zig"}
	checkWords = []string{"build", "check", "clippy", "lint", "nextest", "spec", "test", "tests", "typecheck", "verify", "vet"}
	between    = []string{"run", "run-script", "exec", "x", "-m", "npx", "bunx", "python", "python3"}
)

// checked names what a command checks of the work, such as "go test"; "" when it
// checks nothing that is known.
func checked(f *shellread.Facts) string {
	for i := range f.Parts {
		p := &f.Parts[i]
		if p.Shadow || p.Name == "" {
			continue
		}
		if name := checkOf(p); name != "" {
			return name
		}
	}
	return ""
}

func checkOf(p *shellread.Part) string {
	words := []string{p.Name}
	for _, w := range p.Words[p.Start+1:] {
		if words = append(words, w.Text); len(words) > 4 {
			break
		}
	}
	for len(words) > 1 && slices.Contains(between, words[0]) {
		words = words[1:]
	}
	if slices.Contains(checkers, words[0]) {
		return words[0]
	}
	if !slices.Contains(runners, words[0]) {
		return ""
	}
	for _, w := range words[1:] {
		if slices.Contains(between, w) || strings.HasPrefix(w, "-") {
			continue
		}
		if word, _, _ := strings.Cut(w, ":"); slices.Contains(checkWords, word) {
			return words[0] + " " + w
		}
		return ""
	}
	return ""
}
