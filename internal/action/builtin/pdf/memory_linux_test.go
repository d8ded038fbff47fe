package pdf

import (
	"context"
	"strings"
	"testing"
)

// A22: what reads a PDF has bounded memory, whatever the file unfolds to.
func TestMemoryIsCapped(t *testing.T) {
	out, err := run(context.Background(), "/bin/sh", "-c", `while [ "$(ulimit -v)" = unlimited ]; do :; done; ulimit -v`)
	if err != nil || strings.TrimSpace(string(out)) != "2097152" {
		t.Fatalf("%q %v", out, err)
	}
}
