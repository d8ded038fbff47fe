package sandbox

import (
	"os"
	"testing"
)

// TestMain is the helper, or the program inside, when a test starts it as one.
func TestMain(m *testing.M) {
	if code, mine := Helper(os.Args[1:]); mine {
		os.Exit(code)
	}
	if code, mine := trick(os.Args[1:]); mine {
		os.Exit(code)
	}
	os.Exit(m.Run())
}
