package hewtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// shipping builds hew as it is shipped, once, when a scenario asks for it. Under
// the race detector work on tens of megabytes takes minutes and finds no race
// that small work does not find.
func shipping(t *testing.T) func() (string, error) {
	dir := t.TempDir()
	return sync.OnceValues(func() (string, error) {
		c := exec.Command("go", "build", "-o", dir, "./cmd/hew")
		c.Dir, c.Env = filepath.Join("..", ".."), append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build hew: %w\n%s", err, out)
		}
		return dir, nil
	})
}

// shipped lets the rest of a scenario run hew without the race detector.
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
