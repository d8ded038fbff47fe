package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/tidwall/gjson"
)

const (
	crowdOfClients = 100
	oneClient      = "one client"
	rate           = 200 // tokens a second
	streamed       = 1600
)

// servedMeasures are of hew serve, whose clients ask for views, as the page does.
func servedMeasures() []measure {
	return []measure{
		{
			name: "served: p99 from a model's byte to the page, 100 clients, 200 tokens/s", goal: "–", unit: seconds, reference: oneClient, long: true,
			run: func(ctx context.Context, l *lab) (hew, ref samples, err error) {
				return crowded(ctx, l, func(w watched) float64 { return w.p99 })
			},
		},
		{
			name: "served: memory of the server with 100 clients", goal: "–", unit: size, reference: oneClient, long: true,
			run: func(ctx context.Context, l *lab) (hew, ref samples, err error) {
				if runtime.GOOS != "linux" {
					return nil, nil, missing{"a system that tells another process's memory"}
				}
				return crowded(ctx, l, func(w watched) float64 { return w.memory })
			},
		},
		{name: "served: first view of a session of 5,000 messages", goal: "≤ 1 s", unit: seconds, reference: "one of 10 messages", run: firstView},
	}
}

// watched is what a taking saw.
type watched struct{ p99, memory float64 }

func crowded(ctx context.Context, l *lab, figure func(watched) float64) (hew, ref samples, err error) {
	take := func(n int) taking {
		return func() (float64, error) {
			w, err := l.watch(ctx, n)
			return figure(w), err
		}
	}
	return both(ctx, 2, take(crowdOfClients), take(1))
}

// served is a hew serve that runs.
type served struct {
	cmd  *exec.Cmd
	http *http.Client
	base string
}

var linkOf = regexp.MustCompile(`(http://\S+)/login\?token=(\S+)`)

// serve starts hew serve in a home and signs in.
func (l *lab) serve(ctx context.Context, h *home) (*served, error) {
	c := exec.CommandContext(ctx, l.hew, "serve", "--no-open", "--model", modelName)
	c.Dir, c.Env = h.project, l.env(h)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 5 * time.Second
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		m := linkOf.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		jar, err := cookiejar.New(nil)
		if err != nil {
			return nil, err
		}
		s := &served{c, &http.Client{Jar: jar}, m[1]}
		_, err = s.post("/api/login", map[string]string{"token": m[2]})
		return s, err
	}
	return nil, errors.Join(errors.New("hew serve prints no link"), lines.Err())
}

func (s *served) post(path string, body any) (gjson.Result, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return gjson.Result{}, err
	}
	res, err := s.http.Post(s.base+path, "application/json", strings.NewReader(string(data)))
	if err != nil {
		return gjson.Result{}, err
	}
	var out json.RawMessage
	err = errors.Join(json.NewDecoder(res.Body).Decode(&out), res.Body.Close())
	if res.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s %s", path, res.Status, out)
	}
	return gjson.ParseBytes(out), err
}

func (s *served) socket(ctx context.Context, id string) (*websocket.Conn, error) {
	c, _, err := websocket.Dial(ctx, s.base+"/api/sessions/"+id+"/socket?want=view", &websocket.DialOptions{HTTPClient: s.http})
	if err == nil {
		c.SetReadLimit(-1)
	}
	return c, err
}

// watch lets n clients watch a reply that streams.
func (l *lab) watch(ctx context.Context, n int) (w watched, err error) {
	h, err := l.newHome()
	if err != nil {
		return w, err
	}
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	s, err := l.serve(ctx, h)
	if err != nil {
		return w, err
	}
	defer func() { cancel(); _ = s.cmd.Wait() }() // ended by the interrupt
	l.model.converse(always(reply{deltas: make([]string, streamed), every: time.Second / rate}))
	made, err := s.post("/api/sessions", map[string]string{"cwd": h.project})
	if err != nil {
		return w, err
	}
	conns := make([]*websocket.Conn, n)
	for i := range conns {
		if conns[i], err = s.socket(ctx, made.Get("id").Str); err != nil {
			return w, err
		}
		defer func() { _ = conns[i].CloseNow() }()
	}
	delays, failed := make([][]float64, n), make(chan error, n)
	for i, c := range conns {
		go func() { failed <- delaysOf(ctx, c, &delays[i]) }()
	}
	say := `{"type":"user","message":{"role":"user","content":"` + words + `"}}`
	if err := conns[0].Write(ctx, websocket.MessageText, []byte(say)); err != nil {
		return w, err
	}
	for range conns {
		err = errors.Join(err, <-failed)
	}
	if err != nil {
		return w, err
	}
	all := slices.Sorted(slices.Values(slices.Concat(delays...)))
	if len(all) < n*streamed {
		return w, fmt.Errorf("%d of %d tokens arrived", len(all), n*streamed)
	}
	w.p99 = all[len(all)*99/100]
	w.memory = resident(s.cmd.Process.Pid)
	return w, nil
}

var stamps = regexp.MustCompile(`t(\d{19}) `)

// delaysOf takes the age of each token when it arrives, until the run ends.
func delaysOf(ctx context.Context, c *websocket.Conn, out *[]float64) error {
	for {
		_, data, err := c.Read(ctx)
		if err != nil {
			return err
		}
		now := time.Now().UnixNano()
		v := gjson.ParseBytes(data)
		text, over := "", false
		for _, g := range v.Get("grow").Array() {
			text += g.Get("more").Str
		}
		for _, it := range v.Get("live").Array() {
			text += it.Get("text").Str
		}
		for _, it := range v.Get("items").Array() { // the end comes with the whole text once more
			over = over || it.Get("kind").Str == "ending"
			if it.Get("kind").Str == "reply" {
				have := len(*out) + len(stamps.FindAllString(text, -1))
				text += strings.Join(stamps.FindAllString(it.Get("text").Str, -1)[have:], "")
			}
		}
		for _, m := range stamps.FindAllStringSubmatch(text, -1) {
			sent, err := strconv.ParseInt(m[1], 10, 64)
			if err != nil {
				return err
			}
			*out = append(*out, float64(now-sent)/1e9)
		}
		if over {
			return nil
		}
	}
}

// resident is the resident memory of a process, in bytes; 0 when it is not told.
func resident(pid int) float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	kb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseFloat(kb, 64)
	if err != nil {
		return 0
	}
	return n * 1024
}

// firstView takes the time from the request for a socket until the first view.
func firstView(ctx context.Context, l *lab) (hew, ref samples, err error) {
	h, folder, err := l.begun(ctx)
	if err != nil {
		return nil, nil, err
	}
	const large, small = "00000001-0000-4000-8000-000000000000", "00000002-0000-4000-8000-000000000000"
	if err := errors.Join(conversation(filepath.Join(folder, large+".jsonl"), h.project, large, 5000), conversation(filepath.Join(folder, small+".jsonl"), h.project, small, 10)); err != nil {
		return nil, nil, err
	}
	take := func(id string) taking {
		return func() (float64, error) {
			ctx, cancel := context.WithTimeout(ctx, runLimit)
			defer cancel()
			s, err := l.serve(ctx, h) // a new one: the room of a session is kept
			if err != nil {
				return 0, err
			}
			defer func() { cancel(); _ = s.cmd.Wait() }() // ended by the interrupt
			began := time.Now()
			c, err := s.socket(ctx, id)
			if err != nil {
				return 0, err
			}
			defer func() { _ = c.CloseNow() }()
			for {
				_, data, err := c.Read(ctx)
				if err != nil {
					return 0, err
				}
				if gjson.GetBytes(data, "reset").Bool() {
					return time.Since(began).Seconds(), nil
				}
			}
		}
	}
	return both(ctx, 5, take(large), take(small))
}

// conversation writes a transcript of n messages, prompts and answers in turn.
func conversation(name, cwd, id string, n int) error {
	var b strings.Builder
	for k := range n {
		kind, content := "user", fmt.Sprintf(`"message":{"role":"user","content":"prompt %d: why does the parser fail"}`, k)
		if k%2 == 1 {
			answer := strings.Repeat("The parser reads a line, and then **another** one. ", 20)
			kind, content = "assistant", fmt.Sprintf(`"message":{"id":"m%d","type":"message","role":"assistant","model":%q,"content":[{"type":"text","text":%q}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`, k, modelName, answer)
		}
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"type":%q,"uuid":"u1-%d","timestamp":"2026-01-01T00:00:00.000Z","sessionId":%q,"cwd":%q,"version":"0.1.0","gitBranch":"main","entrypoint":"cli",%s}`+"\n", parentOf(1, k), kind, k, id, cwd, content)
	}
	return os.WriteFile(name, []byte(b.String()), 0o600)
}
