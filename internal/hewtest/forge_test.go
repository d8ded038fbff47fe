package hewtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// forge KIND FILE [N] writes a transcript that no program should have written,
// too large to be kept with the scenario:
//
//	turns N     N lines, a prompt and its reply in turn
//	compacted N the same with a compaction before the last hundred
//	windows N   N windows of 10,000 tokens of prompts, calls and replies, in their middle a result of two windows
//	long N      a prompt, a line of N MB, and a reply
//	cycle       entries that name each other as parents
//	roots       two conversations in one file
//	twice       each entry two times
func cmdForge(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: forge KIND FILE [N]")
	}
	n := 0
	if len(args) > 2 {
		var err error
		n, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	path := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.Create(path)
	ts.Check(err)
	w := bufio.NewWriterSize(f, 1<<20)
	g := forger{w: w, session: strings.TrimSuffix(filepath.Base(path), ".jsonl"), cwd: ts.Getenv("PROJ")}
	if !g.forge(args[0], n) {
		ts.Fatalf("no kind of transcript is called %q", args[0])
	}
	ts.Check(w.Flush())
	ts.Check(f.Close())
}

type forger struct {
	w            io.Writer
	session, cwd string
}

func (g forger) forge(kind string, n int) bool {
	switch kind {
	case "turns":
		g.turns(1, n, "")
	case "compacted":
		g.turns(1, n-100, "")
		g.boundary(n, n-100)
		g.turns(n+2, n+100, id(n+1))
	case "windows":
		g.windows(n)
	case "long":
		g.entry(1, "", "user", "the beginning is cinnabar")
		g.entry(2, id(1), "user", strings.Repeat("x", n<<20))
		g.entry(3, id(2), "assistant", "a short answer")
	case "cycle":
		g.entry(1, id(3), "user", "first of a ring")
		g.entry(2, id(1), "assistant", "second of a ring")
		g.entry(3, id(2), "user", "third of a ring")
		g.entry(4, id(3), "assistant", "cinnabar hangs on the ring")
	case "roots":
		g.turns(1, 4, "")
		g.entry(11, "", "user", "the other root is cinnabar")
		g.entry(12, id(11), "assistant", "a reply to the other root")
	case "twice":
		for range 2 {
			g.turns(1, 4, "")
		}
	default:
		return false
	}
	return true
}

func id(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-000000000000", n) }

// turns writes the entries from to until; parent is that of the first.
func (g forger) turns(from, until int, parent string) {
	for i := from; i <= until; i++ {
		role := "user"
		if (i-from)%2 == 1 {
			role = "assistant"
		}
		g.entry(i, parent, role, fmt.Sprintf("turn %d of cinnabar", i))
		parent = id(i)
	}
}

// windows writes exchanges of about 700 tokens: a prompt, a call, its result, a reply.
func (g forger) windows(n int) {
	const exchange = 700
	text := func(tokens int) string { return strings.Repeat("some words of text ", tokens*7/2/19) }
	parent, at := "", 1
	add := func(role, text string) {
		g.entry(at, parent, role, text)
		parent = id(at)
		at++
	}
	for i := range n * 10_000 / exchange {
		size := 400
		if i == n*10_000/exchange/2 {
			size = 20_000
		}
		add("user", fmt.Sprintf("task %d: %s", i, text(100)))
		add("assistant", fmt.Sprintf(`[{"type":"tool_use","id":"toolu_%d","name":"Read","input":{"file_path":"/f%d"}}]`, i, i))
		add("user", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"toolu_%d","content":"%s"}]`, i, text(size)))
		add("assistant", fmt.Sprintf("done %d: %s", i, text(100)))
	}
}

// entry writes a line; text is words, or blocks as JSON.
func (g forger) entry(n int, parent, role, text string) {
	up := "null"
	if parent != "" {
		up = `"` + parent + `"`
	}
	if text[0] != '[' {
		text = `[{"type":"text","text":"` + text + `"}]`
	}
	message := `"role":"user","content":` + text
	if role == "assistant" {
		message = fmt.Sprintf(`"id":"msg_%d","role":"assistant","model":"m","stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":5},"content":%s`, n, text)
	}
	fmt.Fprintf(g.w, `{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":%q,"timestamp":"2026-01-01T00:00:00.000Z","cwd":%q,"version":"1.0.0","message":{%s}}`+"\n",
		role, id(n), up, g.session, g.cwd, message)
}

// boundary writes a compaction after the entry last, of the ids n and n+1.
func (g forger) boundary(n, last int) {
	fmt.Fprintf(g.w, `{"type":"system","subtype":"compact_boundary","content":"Conversation compacted","uuid":%q,"parentUuid":null,"logicalParentUuid":%q,"sessionId":%q,"timestamp":"2026-01-01T00:00:00.000Z","cwd":%q,"version":"1.0.0","compactMetadata":{"trigger":"auto","preTokens":9,"postTokens":1}}`+"\n",
		id(n), id(last), g.session, g.cwd)
	fmt.Fprintf(g.w, `{"type":"user","isCompactSummary":true,"uuid":%q,"parentUuid":%q,"sessionId":%q,"timestamp":"2026-01-01T00:00:00.000Z","cwd":%q,"version":"1.0.0","message":{"role":"user","content":"the summary speaks of cinnabar"}}`+"\n",
		id(n+1), id(n), g.session, g.cwd)
}

// frugalFor is how long a frugal program may take before it counts as hung. It
// is no measure: the machine may be busy with other tests.
const frugalFor = 4 * time.Minute

// frugal MB PROGRAM… runs a program that must end well, in a bounded time and
// with at most so much memory resident. Its output is stdout and stderr.
func cmdFrugal(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] frugal MB PROGRAM…")
	}
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), frugalFor)
	defer cancel()
	program, err := lookPath(ts, args[1])
	ts.Check(err)
	c := exec.CommandContext(ctx, program, args[2:]...)
	c.Dir, c.Env = ts.MkAbs("."), environ(ts)
	c.Stdout, c.Stderr = ts.Stdout(), ts.Stderr()
	err = c.Run()
	if ctx.Err() != nil {
		ts.Fatalf("%v did not end", args[1:])
	}
	if (err == nil) == neg {
		ts.Fatalf("%v: %v", args[1:], err)
	}
	if used, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		// The system counts what the test itself used when it started the command: a test with the race detector is too large to tell.
		if mb := int(used.Maxrss >> 10); mb > most && mb > ownPeak()+50 {
			ts.Fatalf("%d MB of memory were used, %d are allowed", mb, most)
		}
	}
}

// ownPeak is the most memory that this test process has used, in megabytes.
func ownPeak() int {
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return 0
	}
	return int(own.Maxrss >> 10)
}
