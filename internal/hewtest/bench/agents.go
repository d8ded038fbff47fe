package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// parallelAgents is how many subagents the measures of delegation start at once.
const parallelAgents = 8

func agentMeasures() []measure {
	return []measure{
		{
			name: fmt.Sprintf("%d subagents in parallel, each with %d answers of %s: wall", parallelAgents, childTurns, childThinks), goal: "≤ 1.2×", unit: seconds,
			reference: "the slowest of them", run: parallel,
		},
		{
			name: "memory of a subagent, above its history", goal: "≤ 2 MB", unit: size, run: agentMemory,
		},
		{
			name: "500 skills and agents, one prompt above that without", goal: "< 20 ms", unit: seconds, reference: "read the files", run: definitions,
		},
	}
}

const (
	childTurns  = 5
	childThinks = 200 * time.Millisecond
	childFile   = 2000 // bytes that a child reads in a turn
)

// delegation is a Messages API whose main conversation delegates to so many
// subagents at once. Each reads a file a few times and reports.
type delegation struct {
	agents int
	file   string
	think  time.Duration

	mu      sync.Mutex
	parent  []time.Time // when its requests came; in between, when its replies left
	first   map[string]time.Time
	last    map[string]time.Time
	bytes   map[string]int // the size of a child's last request
	turns   map[string]int
	all     chan struct{} // closed when every child is at its last turn
	waiting int
	sent    int
}

func newDelegation(agents int, file string, think time.Duration) *delegation {
	return &delegation{
		agents: agents, file: file, think: think, first: map[string]time.Time{}, last: map[string]time.Time{},
		bytes: map[string]int{}, turns: map[string]int{}, all: make(chan struct{}),
	}
}

// ServeHTTP answers the parent and its children.
func (d *delegation) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	arrived := time.Now()
	d.mu.Lock()
	d.sent++
	id := fmt.Sprintf("%06d", d.sent)
	d.mu.Unlock()
	// A subagent's requests name it behind the session.
	_, name, child := strings.Cut(gjson.GetBytes(body, "metadata.user_id").String(), "/")
	switch {
	case !bytes.Contains(body, []byte(`"tools":[`)):
		_, _ = text("ok").send(w, id)
	case child:
		d.child(w, id, name, arrived, len(body))
	default:
		d.main(w, id, arrived)
	}
}

func (d *delegation) main(w http.ResponseWriter, id string, arrived time.Time) {
	d.mu.Lock()
	d.parent = append(d.parent, arrived)
	answer := text("done")
	if len(d.parent) == 1 {
		answer = reply{}
		for i := range d.agents {
			answer.calls = append(answer.calls, call{"Agent", map[string]string{"description": "Work", "prompt": fmt.Sprintf("Job %d: read.", i)}})
		}
	}
	d.mu.Unlock()
	left, _ := answer.send(w, id) // a client that went away shows in its own exit code
	d.mu.Lock()
	d.parent = append(d.parent, left)
	d.mu.Unlock()
}

func (d *delegation) child(w http.ResponseWriter, id, name string, arrived time.Time, size int) {
	d.mu.Lock()
	if _, ok := d.first[name]; !ok {
		d.first[name] = arrived
	}
	d.turns[name]++
	turn := d.turns[name]
	d.bytes[name] = size
	if turn == childTurns {
		if d.waiting++; d.waiting == d.agents {
			close(d.all)
		}
	}
	d.mu.Unlock()
	answer := reading(d.file)
	if turn == childTurns {
		answer = text("report")
		if d.think == 0 {
			<-d.all // so that all of them are there at once
		}
	}
	<-time.After(d.think)
	left, _ := answer.send(w, id)
	d.mu.Lock()
	d.last[name] = left
	d.mu.Unlock()
}

// delegate runs a prompt whose model delegates.
func (l *lab) delegate(ctx context.Context, h *home, d *delegation) (cost, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return cost{}, err
	}
	srv := &http.Server{Handler: d, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = srv.Serve(ln) }() // a failure shows in the run
	c, err := l.run(ctx, command{
		home: h, program: l.hew, args: []string{"-p", words, "--model", modelName, "--output-format", "json"},
		env: []string{"ANTHROPIC_BASE_URL=http://" + ln.Addr().String()},
	})
	err = errors.Join(err, srv.Close())
	if err == nil && (len(d.last) != d.agents || len(d.parent) != 4) {
		err = fmt.Errorf("%d of %d subagents reported, and the main conversation made %d requests", len(d.last), d.agents, len(d.parent)/2)
	}
	return c, err
}

func (l *lab) delegating(h *home, agents int, think time.Duration) (*delegation, error) {
	files, err := l.plant(h, 1, childFile)
	if err != nil {
		return nil, err
	}
	return newDelegation(agents, files[0], think), nil
}

// parallel compares the time between the reply that delegates and the request
// with the reports with the longest life of a subagent.
func parallel(ctx context.Context, l *lab) (hew, ref samples, err error) {
	h, err := l.newHome()
	if err != nil {
		return nil, nil, err
	}
	for range 5 {
		d, err := l.delegating(h, parallelAgents, childThinks)
		if err != nil {
			return nil, nil, err
		}
		if _, err := l.delegate(ctx, h, d); err != nil {
			return nil, nil, err
		}
		var slowest time.Duration
		for name, at := range d.last {
			slowest = max(slowest, at.Sub(d.first[name]))
		}
		hew, ref = append(hew, d.parent[2].Sub(d.parent[1]).Seconds()), append(ref, slowest.Seconds())
	}
	return hew, ref, nil
}

// agentMemory takes the peak of a run with many subagents above that of a run
// with one, each at its last turn at the same time, without what they have in
// their histories.
func agentMemory(ctx context.Context, l *lab) (hew, ref samples, err error) {
	h, err := l.newHome()
	if err != nil {
		return nil, nil, err
	}
	peak := func(agents int) taking {
		return func() (float64, error) {
			d, err := l.delegating(h, agents, 0)
			if err != nil {
				return 0, err
			}
			c, err := l.delegate(ctx, h, d)
			for _, n := range d.bytes {
				c.PeakBytes -= int64(n)
			}
			return c.peak(), err
		}
	}
	out, err := interleave(ctx, 9, peak(parallelAgents), peak(1))
	if err != nil {
		return nil, nil, err
	}
	for i := range out[0] {
		hew = append(hew, (out[0][i]-out[1][i])/(parallelAgents-1))
	}
	return hew, nil, nil
}

// definitions takes a prompt in a home with 500 skills and agents above one in
// a home without any.
func definitions(ctx context.Context, l *lab) (hew, ref samples, err error) {
	with, err := l.newHome()
	if err != nil {
		return nil, nil, err
	}
	without, err := l.newHome()
	if err != nil {
		return nil, nil, err
	}
	paths, err := with.define(250)
	if err != nil {
		return nil, nil, err
	}
	run := func(h *home) taking {
		return func() (float64, error) {
			_, c, err := l.prompt(ctx, h, always(text("ok")))
			return c.wall(), err
		}
	}
	read := func() (float64, error) {
		began := time.Now()
		for _, p := range paths {
			if _, err := os.ReadFile(p); err != nil {
				return 0, err
			}
		}
		return time.Since(began).Seconds(), nil
	}
	out, err := interleave(ctx, 20, run(with), read, run(without))
	if err != nil {
		return nil, nil, err
	}
	return out[0].minus(out[2]), out[1], nil
}

// define writes n skills and n agents into the configuration.
func (h *home) define(n int) (paths []string, err error) {
	for i := range n {
		for _, path := range []string{fmt.Sprintf("skills/s%d/SKILL.md", i), fmt.Sprintf("agents/a%d.md", i)} {
			path = filepath.Join(h.config, filepath.FromSlash(path))
			paths = append(paths, path)
			head := fmt.Sprintf("---\nname: a%d\ndescription: Does thing number %d when it is asked to\n---\n", i, i)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return nil, err
			}
			if err := os.WriteFile(path, []byte(head+strings.Repeat("Some words of it.\n", 100)), 0o600); err != nil {
				return nil, err
			}
		}
	}
	return paths, nil
}
