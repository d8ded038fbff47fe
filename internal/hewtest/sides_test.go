package hewtest

import (
	"bytes"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// side N contains TEXT looks into the body of the N-th side query (from 1).
func cmdSide(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 || args[1] != "contains" {
		ts.Fatalf("usage: [!] side N contains TEXT")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	for _, r := range on(ts).model.Requests() {
		if r.Side == "" {
			continue
		}
		if n--; n == 0 {
			if bytes.Contains(r.Body, []byte(args[2])) == neg {
				ts.Fatalf("side query %s (%s): %s", args[0], r.Side, r.Body)
			}
			return
		}
	}
	ts.Fatalf("there is no side query %s", args[0])
}
