package hewtest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

// probes are commands that look at a run from outside: what the host is asked,
// which headers were sent, who was connected to, what a full disk does.
func probes() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"answer":    cmdAnswer,
		"forge":     cmdForge,
		"frugal":    cmdFrugal,
		"endpoint":  cmdEndpoint,
		"files":     cmdFiles,
		"header":    cmdHeader,
		"issuer":    cmdIssuer,
		"visit":     cmdVisit,
		"listen":    cmdListen,
		"heard":     cmdHeard,
		"hosted":    cmdHosted,
		"smalldisk": cmdSmallDisk,
		"lines":     cmdLines,
		"prefix":    cmdPrefix,
		"results":   cmdResults,
		"size":      cmdSize,
		"sides":     cmdSides,
		"side":      cmdSide,
	}
}

// answer NAME TOOL FILE waits until the process asks its host about a call of
// TOOL and sends FILE, a JSON object, as the answer.
func cmdAnswer(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 || neg {
		ts.Fatalf("usage: answer NAME TOOL FILE")
	}
	s, p := on(ts), proc(ts, args[0])
	var id string
	if err := until(func() bool { id = s.question(p.text(), args[1]); return id != "" }); err != nil {
		ts.Fatalf("%s does not ask about %s; so far:\n%s", args[0], args[1], p.text())
	}
	line, err := json.Marshal(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "success", "request_id": id, "response": json.RawMessage(ts.ReadFile(args[2])),
	}})
	ts.Check(err)
	_, err = p.in.Write(append(line, '\n'))
	ts.Check(err)
}

// question finds the first question about a tool that has no answer yet.
func (s *stage) question(out, tool string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range strings.SplitSeq(out, "\n") {
		v := gjson.Parse(l)
		id := v.Get("request_id").String()
		if v.Get("request.subtype").String() != "can_use_tool" || v.Get("request.tool_name").String() != tool || s.answered[id] {
			continue
		}
		if s.answered == nil {
			s.answered = map[string]bool{}
		}
		s.answered[id] = true
		return id
	}
	return ""
}

// results N prints the tool results in the newest message of the N-th turn: a
// line "--- I ok" or "--- I error" (I from 1), then the text; of a block that is
// no text, its type.
func cmdResults(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 || neg {
		ts.Fatalf("usage: results N")
	}
	for i, r := range resultsOf(ts, args[0]) {
		state := "ok"
		if r.Get("is_error").Bool() {
			state = "error"
		}
		fmt.Fprintf(ts.Stdout(), "--- %d %s\n%s\n", i+1, state, textOf(r))
	}
}

// size N I MIN MAX checks the bytes of text of the I-th result of the N-th turn.
func cmdSize(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 4 {
		ts.Fatalf("usage: [!] size N I MIN MAX")
	}
	var num [3]int
	for i, a := range args[1:] {
		n, err := strconv.Atoi(a)
		ts.Check(err)
		num[i] = n
	}
	rs := resultsOf(ts, args[0])
	if num[0] < 1 || num[0] > len(rs) {
		ts.Fatalf("turn %s has %d results", args[0], len(rs))
	}
	if n := len(textOf(rs[num[0]-1])); (n >= num[1] && n <= num[2]) == neg {
		ts.Fatalf("result %s has %d bytes", args[1], n)
	}
}

// sides N checks the number of side queries so far.
func cmdSides(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] sides N")
	}
	if got := on(ts).model.Counts().Sides; (strconv.Itoa(got) == args[0]) == neg {
		ts.Fatalf("%d side queries were sent", got)
	}
}

func resultsOf(ts *testscript.TestScript, turn string) []gjson.Result {
	n, err := strconv.Atoi(turn)
	ts.Check(err)
	for _, r := range on(ts).model.Requests() {
		if r.Side != "" {
			continue
		}
		if n--; n == 0 {
			return gjson.GetBytes(r.Body, `messages.@reverse.0.content.#(type=="tool_result")#`).Array()
		}
	}
	ts.Fatalf("there is no turn %s", turn)
	return nil
}

func textOf(result gjson.Result) string {
	content := result.Get("content")
	if content.Type == gjson.String {
		return content.String()
	}
	var out []string
	for _, b := range content.Array() {
		if b.Get("type").String() == "text" {
			out = append(out, b.Get("text").String())
			continue
		}
		out = append(out, "["+b.Get("type").String()+"]")
	}
	return strings.Join(out, "\n")
}

// record keeps the headers of each request for the model.
func (s *stage) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.headers = append(s.headers, r.Header.Clone())
		s.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

// header N NAME VALUE checks a header of the N-th request (from 1, side
// queries included). A VALUE that begins with ~ is a regular expression.
func cmdHeader(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: [!] header N NAME VALUE")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	s := on(ts)
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < 1 || n > len(s.headers) {
		ts.Fatalf("there were %d requests", len(s.headers))
	}
	quoted, err := json.Marshal(s.headers[n-1].Get(args[1]))
	ts.Check(err)
	check(ts, neg, gjson.ParseBytes(quoted), args[1], args[2])
}

// wire is a listener that counts who connects to it, and hangs up.
type wire struct {
	l     net.Listener
	mu    sync.Mutex
	calls int
}

func (w *wire) serve() {
	for {
		c, err := w.l.Accept()
		if err != nil {
			return
		}
		w.mu.Lock()
		w.calls++
		w.mu.Unlock()
		_ = c.Close() // the caller is not served
	}
}

// listen VAR opens a port that counts its callers and sets VAR to its address.
func cmdListen(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 || neg {
		ts.Fatalf("usage: listen VAR")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	w := &wire{l: l}
	go w.serve()
	ts.Defer(func() { _ = l.Close() })
	ts.Setenv(args[0], l.Addr().String())
	s := on(ts)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wires == nil {
		s.wires = map[string]*wire{}
	}
	s.wires[args[0]] = w
}

// heard VAR N checks how many connections came in since listen VAR.
func cmdHeard(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] heard VAR N")
	}
	s := on(ts)
	s.mu.Lock()
	w := s.wires[args[0]]
	s.mu.Unlock()
	if w == nil {
		ts.Fatalf("nothing listens as %s", args[0])
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if (strconv.Itoa(w.calls) == args[1]) == neg {
		ts.Fatalf("%d connections came to %s", w.calls, args[0])
	}
}

// smalldisk DIR SIZE makes DIR a file system of that size, until the end of
// the scenario. It needs the condition [smalldisk].
func cmdSmallDisk(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 || neg {
		ts.Fatalf("usage: smalldisk DIR SIZE")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(mount(dir, args[1]))
	ts.Defer(func() { ts.Check(unmount(dir)) })
}

func mount(dir, size string) error {
	return exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "hew-test", dir).Run()
}

func unmount(dir string) error { return exec.Command("umount", dir).Run() }

// canMount tries it, as no user id tells whether it works.
func canMount() bool {
	dir, err := os.MkdirTemp("", "hew-mount-")
	if err != nil {
		return false
	}
	defer func() { _ = os.Remove(dir) }()
	return mount(dir, "64k") == nil && unmount(dir) == nil
}

// lines SUBSET FILE: each line of type user, assistant or system/informational
// on SUBSET that a transcript must know is in FILE, by its uuid.
func cmdLines(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] lines OUTPUT TRANSCRIPT")
	}
	known := map[string]bool{}
	for l := range strings.SplitSeq(strings.TrimSpace(ts.ReadFile(args[1])), "\n") {
		if !gjson.Valid(l) {
			ts.Fatalf("%s has a line that is not JSON: %q", args[1], l)
		}
		known[gjson.Get(l, "uuid").String()] = true
	}
	seen, lost := 0, ""
	for l := range strings.SplitSeq(ts.ReadFile(args[0]), "\n") {
		v := gjson.Parse(l)
		if k := v.Get("type").String(); k != "assistant" && k != "user" {
			continue
		}
		if v.Get("message.model").String() == "<synthetic>" {
			continue
		}
		seen++
		if !known[v.Get("uuid").String()] {
			lost += "\n" + l
		}
	}
	if (lost == "" && seen > 0) == neg {
		ts.Fatalf("of %d lines of %s these are not in %s:%s", seen, args[0], args[1], lost)
	}
}
