package hewtest

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

// cacheMark wanders to the newest message, so it is no part of what is compared.
var cacheMark = regexp.MustCompile(`,?"cache_control":\{[^}]*\}`)

// prefix N M: the M-th turn has the tools and the system prompt of the N-th, and
// its messages begin with those of the N-th, byte for byte.
func cmdPrefix(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] prefix N M")
	}
	a, b := turnBody(ts, args[0]), turnBody(ts, args[1])
	same := true
	for _, part := range []string{"tools", "system"} {
		same = same && a.Get(part).Raw == b.Get(part).Raw
	}
	bare := func(v gjson.Result) string {
		return strings.TrimSuffix(cacheMark.ReplaceAllString(v.Get("messages").Raw, ""), "]")
	}
	same = same && strings.HasPrefix(bare(b), bare(a))
	if same == neg {
		ts.Fatalf("turn %s:\n%s\nturn %s:\n%s", args[0], bare(a), args[1], bare(b))
	}
}

// turnBody is the body of a turn, from 1.
func turnBody(ts *testscript.TestScript, number string) gjson.Result {
	n, err := strconv.Atoi(number)
	ts.Check(err)
	for _, r := range on(ts).model.Requests() {
		if r.Side != "" {
			continue
		}
		if n--; n == 0 {
			return gjson.ParseBytes(r.Body)
		}
	}
	ts.Fatalf("there is no turn %s", number)
	return gjson.Result{}
}
