package bash

import (
	"testing"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
)

func TestChecked(t *testing.T) {
	r := shellread.NewReader(8)
	for command, want := range map[string]string{
		"go test ./...":                      "go test",
		"cd sub && CGO_ENABLED=0 go vet ./x": "go vet",
		"npm run lint":                       "npm lint",
		"pnpm test:unit -- --watch=false":    "pnpm test:unit",
		"python3 -m pytest -q":               "pytest",
		"npx tsc --noEmit":                   "tsc",
		"make -j4 check":                     "make check",
		"make install":                       "",
		"go run ./cmd/test":                  "",
		"echo go test":                       "",
		"cargo":                              "",
		"ls test":                            "",
	} {
		if got := checked(r.Read(command, shellread.Bash)); got != want {
			t.Errorf("%q checks %q, want %q", command, got, want)
		}
	}
}
