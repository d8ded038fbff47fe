package hewtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/provider/script"
)

const patience = 30 * time.Second

func commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"model":      cmdModel,
		"requests":   cmdRequests,
		"request":    cmdRequest,
		"json":       cmdJSON,
		"count":      cmdCount,
		"transcript": cmdTranscript,
		"picture":    cmdPicture,
		"inline":     cmdInline,
		"session":    cmdSession,
		"start":      cmdStart,
		"await":      cmdAwait,
		"send":       cmdSend,
		"signal":     cmdSignal,
		"finish":     cmdFinish,
		"gone":       cmdGone,
		"same":       cmdSame,
		"shipped":    cmdShipped,
		"tui":        cmdTUI,
		"tmux":       cmdTmux,
	}
}

// model FILE starts the scripted model; "model done" checks that every step
// was used, every request had a step and no rule of the API was broken.
func cmdModel(ts *testscript.TestScript, neg bool, args []string) {
	s := on(ts)
	if len(args) == 1 && args[0] == "done" {
		if err := s.model.Done(); (err != nil) != neg {
			ts.Fatalf("model: %v", err)
		}
		return
	}
	if len(args) != 1 || neg {
		ts.Fatalf("usage: model FILE | [!] model done")
	}
	sc, err := script.Parse([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	s.serve(ts, sc)
}

// requests N checks the number of turns that were asked for so far.
func cmdRequests(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: requests N")
	}
	got := on(ts).model.Counts()
	if (strconv.Itoa(got.Turns) == args[0]) == neg {
		ts.Fatalf("%d turns were requested (%+v)", got.Turns, got)
	}
}

// request N contains TEXT, request N PATH VALUE: look into the body of the
// N-th turn (from 1).
func cmdRequest(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: [!] request N contains TEXT | request N PATH VALUE")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	var body []byte
	for _, r := range on(ts).model.Requests() {
		if r.Side != "" {
			continue
		}
		if n--; n == 0 {
			body = r.Body
		}
	}
	if body == nil {
		ts.Fatalf("there is no turn %s", args[0])
	}
	if args[1] == "contains" {
		if bytes.Contains(body, []byte(args[2])) == neg {
			ts.Fatalf("request %s: %s", args[0], body)
		}
		return
	}
	check(ts, neg, gjson.GetBytes(body, args[1]), args[1], args[2])
}

func check(ts *testscript.TestScript, neg bool, v gjson.Result, path, want string) {
	got := v.String()
	if !v.Exists() {
		got = "<absent>"
	}
	ok := got == want
	if re, is := strings.CutPrefix(want, "~"); is {
		ok = regexp.MustCompile(re).MatchString(got)
	}
	if ok == neg {
		ts.Fatalf("%s is %q, want %q", path, got, want)
	}
}

// json FILE [KEY=VALUE…] PATH VALUE checks a JSON value. FILE may be stdout.
// Of a file with several lines, the last one that has all KEY=VALUE is meant.
// A VALUE that begins with ~ is a regular expression.
func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: [!] json FILE [KEY=VALUE…] PATH VALUE")
	}
	lines := selected(ts, args[0], args[1:len(args)-2])
	if len(lines) == 0 {
		ts.Fatalf("%s: no line with %v", args[0], args[1:len(args)-2])
	}
	path, want := args[len(args)-2], args[len(args)-1]
	check(ts, neg, gjson.Parse(lines[len(lines)-1]).Get(path), path, want)
}

// count FILE [KEY=VALUE…] N checks how many lines have all KEY=VALUE.
func cmdCount(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] count FILE [KEY=VALUE…] N")
	}
	n := len(selected(ts, args[0], args[1:len(args)-1]))
	if (strconv.Itoa(n) == args[len(args)-1]) == neg {
		ts.Fatalf("%d lines, want %s", n, args[len(args)-1])
	}
}

func selected(ts *testscript.TestScript, file string, keys []string) []string {
	text := ts.ReadFile(file)
	if gjson.Valid(text) && !strings.Contains(strings.TrimSpace(text), "\n{") {
		text = strings.ReplaceAll(text, "\n", " ")
	}
	var out []string
	for l := range strings.SplitSeq(strings.TrimRight(text, "\n "), "\n") {
		v := gjson.Parse(l)
		ok := v.IsObject() || v.IsArray()
		for _, k := range keys {
			name, want, _ := strings.Cut(k, "=")
			ok = ok && v.Get(name).String() == want
		}
		if ok {
			out = append(out, l)
		}
	}
	return out
}

// transcript VAR sets VAR to the newest transcript below the configuration home.
func cmdTranscript(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] transcript VAR")
	}
	found, err := filepath.Glob(filepath.Join(ts.Getenv("CFG"), "projects", "*", "*.jsonl"))
	ts.Check(err)
	var newest string
	var at time.Time
	for _, f := range found {
		st, err := os.Stat(f)
		ts.Check(err)
		if st.ModTime().After(at) || newest == "" {
			newest, at = f, st.ModTime()
		}
	}
	if (newest == "") != neg {
		ts.Fatalf("transcripts: %v", found)
	}
	ts.Setenv(args[0], newest)
}

// session VAR sets VAR to the session id of the last JSON result on stdout.
func cmdSession(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 || neg {
		ts.Fatalf("usage: session VAR")
	}
	lines := selected(ts, "stdout", []string{"type=result"})
	if len(lines) == 0 {
		ts.Fatalf("there is no result on stdout")
	}
	ts.Setenv(args[0], gjson.Get(lines[len(lines)-1], "session_id").String())
}

// process is a hew that runs beside the script.
type process struct {
	cmd  *exec.Cmd
	in   *os.File
	mu   sync.Mutex
	out  bytes.Buffer
	done chan struct{}
	err  error
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // may have ended
	<-p.done
}

// start NAME PROGRAM ARGS… runs a program in the background with its standard
// input open (see send) and its output collected.
func cmdStart(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: start NAME PROGRAM ARGS…")
	}
	path, err := lookPath(ts, args[1])
	ts.Check(err)
	r, w, err := os.Pipe()
	ts.Check(err)
	p := &process{cmd: exec.Command(path, args[2:]...), in: w, done: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = ts.MkAbs("."), r, p, p
	p.cmd.Env = environ(ts)
	ts.Check(p.cmd.Start())
	ts.Check(r.Close())
	go func() { p.err = p.cmd.Wait(); close(p.done) }()
	s := on(ts)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.procs == nil {
		s.procs = map[string]*process{}
	}
	s.procs[args[0]] = p
}

func environ(ts *testscript.TestScript) []string {
	var env []string
	for _, k := range []string{
		"PATH", "HOME", "TMPDIR", "WORK", "PROJ", "CFG", "LANG", "GORACE", "GOCACHE", "GOFLAGS", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
		"ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "CLAUDE_CONFIG_DIR", "TESTSCRIPT_COMMAND", "IS_SANDBOX", "BASH_DEFAULT_TIMEOUT_MS",
	} {
		if v := ts.Getenv(k); v != "" {
			env = append(env, k+"="+v)
		}
	}
	return env
}

func lookPath(ts *testscript.TestScript, name string) (string, error) {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if p := filepath.Join(dir, name); isProgram(p) {
			return p, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
}

func isProgram(p string) bool {
	st, err := os.Stat(p)
	return err == nil && !st.IsDir() && st.Mode()&0o111 != 0
}

func proc(ts *testscript.TestScript, name string) *process {
	s := on(ts)
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.procs[name]
	if p == nil {
		ts.Fatalf("no process %q was started", name)
	}
	return p
}

// await NAME REGEXP waits until the output of a process matches; await -file
// FILE REGEXP until a file does, the first one if FILE is a pattern.
func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: await NAME REGEXP | await -file FILE REGEXP")
	}
	read := func() string { return proc(ts, args[0]).text() }
	if args[0] == "-file" {
		file := ts.MkAbs(args[1])
		read = func() string {
			found, _ := filepath.Glob(file) // of a literal name: itself
			if len(found) == 0 {
				return ""
			}
			data, _ := os.ReadFile(found[0])
			return string(data)
		}
	}
	re, err := regexp.Compile("(?m)" + args[len(args)-1])
	ts.Check(err)
	if err := until(func() bool { return re.MatchString(read()) }); err != nil {
		ts.Fatalf("no match for %s in:\n%s", re, read())
	}
}

// until polls with a deadline.
func until(ok func() bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// send NAME FILE writes a file to the standard input of a process; send NAME
// -close ends it.
func cmdSend(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 || neg {
		ts.Fatalf("usage: send NAME FILE|-close")
	}
	p := proc(ts, args[0])
	if args[1] == "-close" {
		ts.Check(p.in.Close())
		return
	}
	_, err := p.in.WriteString(ts.ReadFile(args[1]))
	ts.Check(err)
}

// signal NAME KILL|TERM|INT|HUP sends a signal to a process that start began.
func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	numbers := map[string]syscall.Signal{"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP}
	if len(args) != 2 || neg {
		ts.Fatalf("usage: signal NAME SIGNAL")
	}
	ts.Check(proc(ts, args[0]).cmd.Process.Signal(numbers[args[1]]))
}

// finish NAME [CODE] waits for a process to end with an exit code (0) and puts
// its output into the file NAME.out. -1 is an end by signal.
func cmdFinish(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 || neg {
		ts.Fatalf("usage: finish NAME [CODE]")
	}
	p := proc(ts, args[0])
	if err := until(func() bool {
		select {
		case <-p.done:
			return true
		default:
			return false
		}
	}); err != nil {
		ts.Fatalf("%s does not end; so far:\n%s", args[0], p.text())
	}
	_ = p.in.Close() // may be closed
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".out"), []byte(p.text()), 0o644))
	want := "0"
	if len(args) > 1 {
		want = args[1]
	}
	code := 0
	var ee *exec.ExitError
	if errors.As(p.err, &ee) {
		code = ee.ExitCode()
	}
	if strconv.Itoa(code) != want {
		ts.Fatalf("%s ended with %d, want %s:\n%s", args[0], code, want, p.text())
	}
}

// gone PATTERN waits until no process has PATTERN in its command line.
func cmdGone(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 || neg {
		ts.Fatalf("usage: gone PATTERN")
	}
	if err := until(func() bool { return len(running(args[0])) == 0 }); err != nil {
		ts.Fatalf("still running: %v", running(args[0]))
	}
}

func running(pattern string) []string {
	found, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var out []string
	for _, f := range found {
		data, err := os.ReadFile(f)
		if err == nil && bytes.Contains(bytes.ReplaceAll(data, []byte{0}, []byte{' '}), []byte(pattern)) {
			out = append(out, f)
		}
	}
	return out
}

// same FILE1 FILE2: the first is a byte prefix of the second.
func cmdSame(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] same PREFIX FILE")
	}
	if strings.HasPrefix(ts.ReadFile(args[1]), ts.ReadFile(args[0])) == neg {
		ts.Fatalf("%s is not a prefix of %s", args[0], args[1])
	}
}
