package hewtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// watchedForRaces tells of the areas in which goroutines meet: work side by side,
// servers, hooks, hosts that speak while hew works. Under the race detector a
// process of hew costs three times as much; the other areas run hew as it is
// shipped, unless HEW_RACE=all asks for every race (make soak does).
func watchedForRaces(area string) bool {
	if os.Getenv("HEW_RACE") == "all" {
		return true
	}
	switch area {
	case "acp", "agents", "hooks", "loop", "mcp", "memory", "sdk", "steer", "teams", "tools":
		return true
	}
	return false
}

// shipping builds hew as it is shipped, once, when a scenario asks for it: with
// the tags of this test, so that it has the same features.
func shipping(t *testing.T) func() (string, error) {
	dir := t.TempDir()
	return sync.OnceValues(func() (string, error) {
		args := []string{"build", "-ldflags=-s -w", "-o", dir}
		if info, ok := debug.ReadBuildInfo(); ok {
			for _, s := range info.Settings {
				if s.Key == "-tags" {
					args = append(args, "-tags="+s.Value)
				}
			}
		}
		c := exec.Command("go", append(args, "./cmd/hew")...)
		c.Dir, c.Env = filepath.Join("..", ".."), append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build hew: %w\n%s", err, out)
		}
		return dir, nil
	})
}

// ship lets a scenario run hew without the race detector from its start.
func ship(env *testscript.Env, shipped func() (string, error)) error {
	dir, err := shipped()
	if err == nil {
		env.Setenv("PATH", dir+string(os.PathListSeparator)+env.Getenv("PATH"))
	}
	return err
}

// cmdShipped lets the rest of a scenario run hew without the race detector: work
// on tens of megabytes takes minutes under it, and finds no race that small work
// does not find.
func cmdShipped(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) > 0 || neg {
		ts.Fatalf("usage: shipped")
	}
	if !raced {
		return
	}
	dir, err := on(ts).shipped()
	ts.Check(err)
	ts.Setenv("PATH", dir+string(os.PathListSeparator)+ts.Getenv("PATH"))
}
