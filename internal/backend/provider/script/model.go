package script

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
)

// Model plays a scenario. It is a provider.Provider, a provider.Counter and an
// http.Handler, safe for concurrent use.
type Model struct {
	s *Scenario
	c Config

	mu       sync.Mutex
	sessions map[string]*session
	next     map[string]int // lane or side label → steps used
	used     map[*Step]int
	signed   map[string]signed
	tools    string // the last list of tools that was found sound
	serial   int
	counts   Counts
	sent     atomic.Int64
	found    []string // violations, and requests that no step took
	records  []Record
}

// Config is how a Model is run; the zero value will do.
type Config struct {
	// LogDir, when set, gets each request: R1.json, R2.json, … (turns) and
	// S1-LABEL.json, … (side queries), with the headers beside them.
	LogDir string
	// Keep keeps all requests in memory for Requests.
	Keep bool
	// AnswerTimeout and StallTimeout are when the provider (not the HTTP server)
	// gives up waiting for an answer to begin, and a silent stream; 0 means
	// provider.StallTimeout.
	AnswerTimeout, StallTimeout time.Duration
}

// Counts says how many requests there were.
type Counts struct{ Turns, Sides, TokenCounts, Refused int }

// Record is one request that was kept.
type Record struct {
	Body                 []byte
	Session, Side, Break string
	// Step names the step that answered, "" when none did.
	Step   string
	Status int
}

// session is one conversation.
type session struct {
	lane string
	last *prefix
	vars map[string]string
}

// mainLane is the key of the scenario's own steps; lanes have names.
const mainLane = ""

// New makes a model that plays s, which Parse has checked.
func New(s *Scenario, c Config) *Model {
	if c.AnswerTimeout == 0 {
		c.AnswerTimeout = provider.StallTimeout
	}
	if c.StallTimeout == 0 {
		c.StallTimeout = provider.StallTimeout
	}
	return &Model{
		s: s, c: c,
		sessions: map[string]*session{},
		next:     map[string]int{},
		used:     map[*Step]int{},
		signed:   declared(s),
	}
}

// incoming is a request as it reached the model.
type incoming struct {
	body      []byte
	side, brk string
	count     bool
	// headers are for the log, key is the credential; checkKey says that there should be one.
	headers  map[string][]string
	key      string
	checkKey bool
}

// answer decides on a request. Nothing is sent under the lock.
func (m *Model) answer(in incoming) *answer {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.countRequest(in)
	a, step := m.decide(in)
	if a.headers == nil {
		a.headers = map[string]string{}
	}
	a.headers["Request-Id"] = fmt.Sprintf("req_%04d", n)
	m.record(in, a, step)
	return a
}

func (m *Model) countRequest(in incoming) int {
	switch {
	case in.count:
		m.counts.TokenCounts++
	case in.side != "":
		m.counts.Sides++
	default:
		m.counts.Turns++
	}
	return m.counts.Turns + m.counts.Sides + m.counts.TokenCounts
}

func (m *Model) decide(in incoming) (*answer, *Step) {
	if in.checkKey && m.s.Key != "" && in.key != m.s.Key {
		return failure(401, "authentication_error", "invalid x-api-key"), nil
	}
	r, ok := parse(in.body)
	if !ok {
		return m.refuse("", "The request body is not valid JSON"), nil
	}
	r.side, r.brk = in.side, in.brk
	if len(m.s.Models) > 0 && !slices.Contains(m.s.Models, r.model) {
		return failure(404, "not_found_error", "model: "+r.model), nil
	}
	s := m.session(r)
	if a := m.rules(r, s, in); a != nil {
		return a, nil
	}
	tokens := r.tokens(m.s.Limits.BytesPerToken)
	if in.count {
		return &answer{status: 200, contentType: "application/json", body: `{"input_tokens":` + strconv.Itoa(tokens) + `}`}, nil
	}
	if a := m.tooLong(r, tokens); a != nil {
		return a, nil
	}
	u := remember(r, s, tokens)
	capture(s.vars, m.s.Capture, r)
	step, err := m.step(r, s)
	if err != nil {
		return m.refuse("scripted model: ", err.Error()), nil
	}
	a, err := m.reply(step, r, s, u)
	if err != nil {
		return m.refuse("scripted model: ", fmt.Sprintf("step %s: %v", title(step), err)), step
	}
	return a, step
}

// refuse notes what is wrong and answers as the API does.
func (m *Model) refuse(prefix, why string) *answer {
	m.note(prefix + why)
	m.counts.Refused++
	return failure(400, "invalid_request_error", prefix+why)
}

func (m *Model) note(why string) {
	m.found = append(m.found, fmt.Sprintf("request %d: %s", m.counts.Turns+m.counts.Sides, why))
}

func (m *Model) session(r *request) *session {
	s := m.sessions[r.session]
	if s == nil {
		s = &session{vars: maps.Clone(m.s.Vars)}
		if s.vars == nil {
			s.vars = map[string]string{}
		}
		for _, l := range m.s.Lanes {
			if r.side == "" && len(l.Match.mismatches(r)) == 0 {
				s.lane = l.Name
				break
			}
		}
		if r.side == "" {
			m.sessions[r.session] = s
		}
	}
	return s
}

// rules checks what the API checks, and the prompt cache's prefix.
func (m *Model) rules(r *request, s *session, in incoming) *answer {
	found := check(r, in.count, m.tools)
	found = append(found, signatures(m.signed, r)...)
	if len(found) == 0 {
		m.tools = r.toolsRaw
	}
	if r.side == "" && !in.count && s.last != nil && r.brk == "" {
		if what := s.last.extends(r); what != "" {
			found = append(found, "hew: the request does not extend the last one's prefix and gives no reason: "+what)
		}
	}
	if len(found) == 0 {
		return nil
	}
	for _, f := range found[1:] {
		m.note(f)
	}
	a := m.refuse("", found[0])
	if m.s.Lenient {
		m.counts.Refused--
		return nil
	}
	return a
}

func (m *Model) tooLong(r *request, tokens int) *answer {
	l := m.s.Limits
	var why string
	switch {
	case l.Output > 0 && r.maxTokens > l.Output:
		why = fmt.Sprintf("max_tokens: %d > %d, which is the maximum allowed number of output tokens for %s",
			r.maxTokens, l.Output, r.model)
	case l.Window > 0 && tokens > l.Window:
		why = fmt.Sprintf("prompt is too long: %d tokens > %d maximum", tokens, l.Window)
	case l.Window > 0 && l.Sum && tokens+r.maxTokens > l.Window:
		why = fmt.Sprintf("input length and `max_tokens` exceed context limit: %d + %d > %d, "+
			"decrease input length or `max_tokens` and try again", tokens, r.maxTokens, l.Window)
	default:
		return nil
	}
	m.counts.Refused++
	return failure(400, "invalid_request_error", why)
}

// remember makes r the base of the next prefix check, and computes what a
// cache would have spared.
func remember(r *request, s *session, tokens int) usage {
	u := usage{input: tokens}
	if r.side != "" {
		return u
	}
	if len(r.marks) > 0 {
		u = usage{input: min(4, tokens), created: max(0, tokens-4)}
		if s.last != nil && s.last.extends(r) == "" {
			u.read = min(u.created, s.last.tokens)
			u.created -= u.read
		}
	}
	s.last = prefixOf(r, tokens)
	return u
}

func (m *Model) reply(step *Step, r *request, s *session, u usage) (*answer, error) {
	capture(s.vars, step.Capture, r)
	chunk := step.Chunk
	if chunk == 0 {
		chunk = m.s.Chunk
	}
	m.serial++
	p := reply{step: step, r: r, v: values{r, s.vars}, serial: m.serial, chunk: chunk, usage: u}
	done, err := p.render()
	if err != nil {
		return nil, err
	}
	maps.Copy(m.signed, done.signed)
	a := &answer{status: 200, rendered: done, whole: !r.stream, delay: ms(step.DelayMS), pace: ms(step.PaceMS)}
	if step.Fault != nil {
		if a.fault, err = step.Fault.plan(); err != nil {
			return nil, err
		}
		if a.fault.Do == "status" {
			a.status = a.fault.Status
		}
	}
	return a, nil
}

// Violations lists every breach of the rules and every request that no step
// took, in order.
func (m *Model) Violations() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.found)
}

// Counts says how many requests there were so far.
func (m *Model) Counts() Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts
}

// Sent is the number of bytes of answers that clients have taken so far.
func (m *Model) Sent() int64 { return m.sent.Load() }

// Requests returns the requests so far when Config.Keep is set.
func (m *Model) Requests() []Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.records)
}

// Done tells what is wrong with the run so far: violations, requests that no
// step took, steps that nothing used.
func (m *Model) Done() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	lines := slices.Clone(m.found)
	if m.s.Select != "match" {
		lines = append(lines, m.unused("step", m.s.Steps)...)
		for _, l := range m.s.Lanes {
			lines = append(lines, m.unused("lane "+l.Name+" step", l.Steps)...)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return errors.New("scenario " + m.s.Name + ":\n" + strings.Join(lines, "\n"))
}
