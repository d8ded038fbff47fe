package hewtest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/coder/websocket"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

// visitor is a client of hew serve in a scenario.
type visitor struct {
	http *http.Client
	base string
}

// tube is a socket of a visitor; what it receives is collected.
type tube struct {
	conn *websocket.Conn
	mu   sync.Mutex
	got  []string
	end  string // why it ended, "" while it is open
}

func (t *tube) read() {
	for {
		_, data, err := t.conn.Read(context.Background())
		t.mu.Lock()
		if err != nil {
			t.end = err.Error()
			t.mu.Unlock()
			return
		}
		t.got = append(t.got, string(data))
		t.mu.Unlock()
	}
}

func (t *tube) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.got, "\n") + "\n" + t.end
}

func webCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){"web": cmdWeb, "socket": cmdSocket, "value": cmdValue}
}

// value VAR FILE PATH puts a value of a JSON file into a variable.
func cmdValue(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 || neg {
		ts.Fatalf("usage: value VAR FILE PATH")
	}
	v := gjson.Get(ts.ReadFile(args[1]), args[2])
	if !v.Exists() {
		ts.Fatalf("%s has no %s: %s", args[1], args[2], ts.ReadFile(args[1]))
	}
	ts.Setenv(args[0], v.String())
}

var linkOf = regexp.MustCompile(`(https?://\S+)/login\?token=(\S+)`)

// web VISITOR login PROCESS signs in with the link that hew serve has printed;
// web VISITOR METHOD PATH [BODY] [HEADER=VALUE…] asks, and puts the status and
// the body into VISITOR.out. BODY is JSON; $NAME in it and in PATH is a variable.
func cmdWeb(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 || neg {
		ts.Fatalf("usage: web VISITOR login PROCESS | web VISITOR METHOD PATH [BODY] [HEADER=VALUE…]")
	}
	s := on(ts)
	if s.visitors == nil {
		s.visitors, s.tubes = map[string]*visitor{}, map[string]*tube{}
	}
	v := s.visitors[args[0]]
	if v == nil {
		jar, err := cookiejar.New(nil)
		ts.Check(err)
		v = &visitor{http: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
		s.visitors[args[0]] = v
	}
	if args[1] == "login" || args[1] == "find" {
		p := proc(ts, args[2])
		if err := until(func() bool { return linkOf.MatchString(p.text()) }); err != nil {
			ts.Fatalf("hew serve prints no link:\n%s", p.text())
		}
		m := linkOf.FindStringSubmatch(p.text())
		v.base = m[1]
		ts.Setenv("BASE", m[1])
		ts.Setenv("TOKEN", m[2])
		if args[1] == "find" {
			return
		}
		args = []string{args[0], "POST", "/api/login", `{"token":"$TOKEN","name":"` + args[0] + `"}`}
	}
	status, body := v.ask(ts, args[1], os.Expand(args[2], ts.Getenv), args[3:])
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".out"), fmt.Appendf(nil, "%d %s\n", status, strings.TrimSpace(body)), 0o644))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".json"), []byte(body), 0o644))
}

func (v *visitor) ask(ts *testscript.TestScript, method, path string, rest []string) (int, string) {
	var body io.Reader
	if len(rest) > 0 && strings.HasPrefix(rest[0], "{") {
		body = strings.NewReader(os.Expand(rest[0], ts.Getenv))
		rest = rest[1:]
	}
	r, err := http.NewRequest(method, v.base+path, body)
	ts.Check(err)
	r.Header.Set("Content-Type", "application/json")
	for _, h := range rest {
		name, value, _ := strings.Cut(h, "=")
		r.Header.Set(name, value)
		if name == "Host" {
			r.Host = value
		}
	}
	res, err := v.http.Do(r)
	ts.Check(err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	ts.Check(err)
	return res.StatusCode, string(data)
}

// socket NAME open VISITOR PATH connects; socket NAME send JSON says something;
// socket NAME await REGEXP waits for a message, and puts what its first group
// holds into the variable NAME; socket NAME count N REGEXP; socket NAME cut
// breaks the connection, socket NAME end REGEXP waits for its end.
func cmdSocket(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: socket NAME open|send|await|count|cut|end …")
	}
	s := on(ts)
	t := s.tubes[args[0]]
	if t == nil && args[1] != "open" {
		ts.Fatalf("no socket %q was opened", args[0])
	}
	switch args[1] {
	case "open":
		v := s.visitors[args[2]]
		conn, res, err := websocket.Dial(context.Background(), v.base+os.Expand(args[3], ts.Getenv), &websocket.DialOptions{HTTPClient: v.http})
		if err != nil && res != nil {
			data, _ := io.ReadAll(res.Body)
			ts.Fatalf("socket: %v: %s", err, data)
		}
		ts.Check(err)
		conn.SetReadLimit(-1)
		t = &tube{conn: conn}
		s.tubes[args[0]] = t
		go t.read()
	case "send":
		text := args[2]
		if strings.HasSuffix(text, ".json") {
			text = ts.ReadFile(text)
		}
		ts.Check(t.conn.Write(context.Background(), websocket.MessageText, []byte(os.Expand(text, ts.Getenv))))
	case "await":
		re := regexp.MustCompile("(?m)" + os.Expand(args[2], onlyNames(ts)))
		if err := until(func() bool { return re.MatchString(t.text()) }); err != nil {
			ts.Fatalf("no message matches %s:\n%s", re, t.text())
		}
		if m := re.FindStringSubmatch(t.text()); len(m) > 1 {
			ts.Setenv(args[0], m[1])
		}
	case "count":
		re := regexp.MustCompile("(?m)" + args[3])
		if n := len(re.FindAllString(t.text(), -1)); (strconv.Itoa(n) == args[2]) == neg {
			ts.Fatalf("%d messages match %s, want %s:\n%s", n, re, args[2], t.text())
		}
	case "cut":
		ts.Check(t.conn.CloseNow())
	case "end":
		re := regexp.MustCompile(args[2])
		ended := func() bool { t.mu.Lock(); defer t.mu.Unlock(); return re.MatchString(t.end) }
		if err := until(ended); err != nil {
			ts.Fatalf("the socket does not end by %s:\n%s", re, t.text())
		}
	default:
		ts.Fatalf("unknown: socket NAME %s", args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".log"), []byte(t.text()), 0o644))
}

// onlyNames leaves a '$' alone that is the end of a line in an expression.
func onlyNames(ts *testscript.TestScript) func(string) string {
	return func(name string) string {
		if name == "" || !regexp.MustCompile(`^\w+$`).MatchString(name) {
			return "$" + name
		}
		return regexp.QuoteMeta(ts.Getenv(name))
	}
}
