package web

import (
	"bytes"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/surface/view"
)

// room is a session and those who look at it. It exists while somebody does or
// while the conversation is open.
type room struct {
	s     *Server
	epoch string // tells this room's numbers from those of another process
	store *view.Store
	live  atomic.Pointer[Live] // nil while it sleeps

	opening sync.Mutex // one opening or closing at a time

	mu      sync.Mutex
	id      string // of the session
	row     row    // as far as it is known here
	log     lines
	asked   book
	state   string
	clients map[*client]bool
	// visitors are clients, and requests under way; a room that is gone takes none.
	visitors int
	gone     bool
	idleAt   time.Time       // when the last one left, or the last run ended
	said     map[string]bool // ids of prompts that were taken in
	calls    map[string]call // control requests under way, by the id that the conversation knows
	serial   int
	draft    draft
	typing   sync.Mutex // held while a draft is written

	viewing sync.Mutex
	gen     int
	rev     int
	frame   *frame
	steps   steps
}

// call is a control request under way: from a client, or from HTTP.
type call struct {
	from *client
	id   string // JSON, as the client wrote it
	over chan []byte
}

// draft is what somebody has typed and not sent.
type draft struct {
	Text string `json:"text"`
	Rev  int    `json:"rev"`
	by   string
}

func (s *Server) newRoom(id string, r row, past []*msg.Message) *room {
	m := &room{
		s: s, epoch: secret()[:12], id: id, row: r, log: lines{limit: s.c.Limits.Window}, state: asleep,
		clients: map[*client]bool{}, said: map[string]bool{}, calls: map[string]call{}, idleAt: s.c.Now(),
	}
	fold := view.Fold{Outline: m.outline, Cost: m.cost}
	m.store = view.NewStore(fold, fold.Replay(past))
	for _, p := range past {
		if p.Role == msg.RoleUser {
			m.said[p.ID] = true
		}
	}
	m.draft = s.readDraft(id)
	return m
}

func (m *room) outline(u *msg.ToolUse) view.Outline {
	if l := m.live.Load(); l != nil {
		return l.Outline(u)
	}
	return outlined(u)
}

func (m *room) cost() float64 {
	if l := m.live.Load(); l != nil {
		return l.Facts().CostUSD
	}
	return 0
}

// visit is the room of a session and how to leave it; one that nobody has looked
// at yet is made from its transcript. A room with a visitor stays.
func (s *Server) visit(id string) (*room, func(), error) {
	for {
		s.mu.Lock()
		m := s.rooms[id]
		s.mu.Unlock()
		if m == nil {
			sum, err := s.find(id)
			if err != nil {
				return nil, nil, err
			}
			past, err := history(sum.Path)
			if err != nil {
				return nil, nil, err
			}
			m = s.add(id, s.newRoom(id, rowOf(sum), past))
		}
		if leave, ok := m.enter(); ok {
			return m, leave, nil
		}
	}
}

// enter counts a visitor; false when the room was given up meanwhile.
func (m *room) enter() (leave func(), ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone {
		return nil, false
	}
	m.visitors++
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.visitors--
		m.idleAt = m.s.c.Now()
	}, true
}

// add enters a room; one that is there already stays.
func (s *Server) add(id string, m *room) *room {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.rooms[id]; have != nil {
		return have
	}
	s.rooms[id] = m
	return m
}

// all are the rooms at the moment.
func (s *Server) all() []*room {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*room
	for _, m := range s.rooms {
		out = append(out, m)
	}
	return out
}

// tidy closes conversations that nobody needs, and gives up rooms, until the
// server ends.
func (s *Server) tidy() {
	tick := time.NewTicker(max(s.c.Limits.Sleep/4, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		for _, m := range s.all() {
			if !m.unused() {
				continue
			}
			if err := m.sleep(); err != nil {
				s.c.Warn("close a session: " + err.Error())
			}
			s.give(m)
		}
	}
}

// give gives up a room that sleeps and has no visitor.
func (s *Server) give(m *room) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.visitors > 0 || m.live.Load() != nil {
		return
	}
	m.gone = true
	for id, have := range s.rooms {
		if have == m {
			delete(s.rooms, id)
		}
	}
}

// Write takes lines of the conversation.
func (m *room) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		if line = bytes.TrimSpace(line); len(line) > 1 {
			m.line(line)
		}
	}
	return len(p), nil
}

// line takes one line in: an answer goes to who has asked, all others into the log.
func (m *room) line(line []byte) {
	f := gjson.GetManyBytes(line, "type", "subtype", "request_id")
	m.mu.Lock()
	defer m.mu.Unlock()
	switch f[0].Str {
	case "control_response":
		m.answered(line)
		return
	case "control_request":
		q := question{id: f[2].Str, body: gjson.ParseBytes(bytes.Clone(line)).Get("request"), at: m.s.c.Now()}
		m.log.add(line, true)
		q.line = m.log.list[len(m.log.list)-1].data
		m.asked.ask(q)
	case "control_cancel_request":
		m.asked.close(f[2].Str, "")
		m.log.add(line, true)
	default:
		if f[1].Str == "session_state_changed" {
			m.state = gjson.GetBytes(line, "state").Str
			m.idleAt = m.s.c.Now()
		}
		m.log.add(line, false)
	}
	m.s.count.lines.Add(1)
	m.stir()
	if f[0].Str == "conversation_reset" {
		m.moved(gjson.GetBytes(line, "new_conversation_id").Str)
	}
}

// answered hands the answer to a control request back. m.mu is held.
func (m *room) answered(line []byte) {
	id := gjson.GetBytes(line, "response.request_id").Str
	c, ok := m.calls[id]
	if !ok {
		return
	}
	delete(m.calls, id)
	if c.over != nil {
		c.over <- bytes.Clone(line) // has room for one
		return
	}
	if out, err := sjson.SetRawBytes(bytes.Clone(line), "response.request_id", []byte(c.id)); err == nil {
		c.from.tell(out)
	}
}

// moved takes note that the conversation was begun anew under another id. m.mu is held.
func (m *room) moved(to string) {
	was := m.id
	m.id, m.row = to, row{ID: to, Cwd: m.row.Cwd, Branch: m.row.Branch}
	m.s.busy.Go(func() { // the order of locks is the server's, then the room's
		m.s.mu.Lock()
		defer m.s.mu.Unlock()
		if m.s.rooms[was] == m {
			delete(m.s.rooms, was)
		}
		m.s.rooms[to] = m
	})
	m.replace(view.State{})
}

// heard takes an event in.
func (m *room) heard(ev event.Event) {
	m.store.Apply(ev, m.s.c.Now())
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stir()
}

// stir tells all clients that there is something new. m.mu is held.
func (m *room) stir() {
	for c := range m.clients {
		c.stir()
	}
}

// replace begins the items anew.
func (m *room) replace(s view.State) {
	m.viewing.Lock()
	defer m.viewing.Unlock()
	m.gen++
	m.store.Replace(s)
}

// look is the newest frame, and with what was seen before the message that leads to it.
func (m *room) look(before *frame) (*frame, []byte) {
	m.mu.Lock()
	c := scene{state: m.now(), questions: append([]question(nil), m.asked.open...)}
	m.mu.Unlock()
	if l := m.live.Load(); l != nil {
		c.facts = l.Facts()
	}
	m.viewing.Lock()
	defer m.viewing.Unlock()
	st, _ := m.store.State()
	next := newFrame(m.rev+1, m.gen, st, c)
	if m.frame == nil || next.since(m.frame) != nil {
		m.frame = next
		m.rev++
	}
	if data, ok := m.steps.find(before, m.frame); ok {
		return m.frame, data
	}
	data := m.frame.since(before)
	m.steps.keep(before, m.frame, data)
	return m.frame, data
}

// now is the state of the session. m.mu is held.
func (m *room) now() string {
	switch {
	case len(m.asked.open) > 0:
		return waiting
	case m.state == running && m.live.Load() == nil:
		return asleep
	}
	return m.state
}

// wake opens the conversation if it is not open. Trust is not asked for here: what
// an untrusted folder wants is left out.
func (m *room) wake(q Request) (*Live, error) {
	m.opening.Lock()
	defer m.opening.Unlock()
	if l := m.live.Load(); l != nil {
		return l, nil
	}
	switch {
	case m.s.c.ReadOnly:
		return nil, errReadOnly
	case m.s.ctx.Err() != nil:
		return nil, refuse(0, "failed", "the server is ending")
	}
	if q.ID == "" && q.Resume == "" {
		m.mu.Lock()
		q.Resume, q.Cwd = m.id, m.row.Cwd
		m.mu.Unlock()
		if q.Cwd == "" { // an old transcript that does not say
			q.Cwd = m.s.c.Cwd
		}
	}
	l, err := m.s.c.Open(m.s.ctx, q, Outlet{Lines: m, Heard: m.heard})
	var busy *session.Busy
	if errors.As(err, &busy) {
		return nil, refuse(409, "busy", "%v", err)
	}
	if err != nil {
		return nil, err
	}
	m.live.Store(l)
	m.s.count.opened.Add(1)
	m.mu.Lock()
	m.state, m.idleAt = idle, m.s.c.Now()
	m.stir()
	m.mu.Unlock()
	m.s.busy.Go(func() {
		<-l.Ended
		_ = m.close(l) // what was wrong is in its last lines
	})
	return l, nil
}

// unused tells that nobody looks and nothing runs, for a while already.
func (m *room) unused() bool {
	st, _ := m.store.State()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range st.Tasks {
		if t.Status == event.TaskRunning && !t.Foreground && m.live.Load() != nil {
			return false
		}
	}
	now := m.now()
	return m.visitors == 0 && (now == idle || now == asleep) && m.s.c.Now().Sub(m.idleAt) > m.s.c.Limits.Sleep
}

// sleep closes the conversation, whatever it does.
func (m *room) sleep() error {
	l := m.live.Load()
	if l == nil {
		return nil
	}
	return m.close(l)
}

func (m *room) close(l *Live) error {
	m.opening.Lock()
	defer m.opening.Unlock()
	if m.live.Load() != l {
		return nil
	}
	err := l.Close()
	m.live.Store(nil)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = asleep
	for _, q := range append([]question(nil), m.asked.open...) {
		m.withdraw(q, "")
	}
	for id, c := range m.calls {
		delete(m.calls, id)
		if c.over != nil {
			close(c.over)
		}
	}
	m.stir()
	return err
}

// withdraw tells that a question is closed, and by whom. m.mu is held.
func (m *room) withdraw(q question, by string) bool {
	if !m.asked.close(q.id, by) {
		return false
	}
	m.log.add(msg.Encode(struct {
		Type string `json:"type"`
		ID   string `json:"request_id"`
		By   string `json:"answered_by,omitempty"`
	}{"control_cancel_request", q.id, by}), true)
	m.stir()
	return true
}

// reload shows what the transcript says now.
func (m *room) reload() error {
	m.mu.Lock()
	id := m.id
	m.mu.Unlock()
	sum, err := m.s.find(id)
	if err != nil {
		return err
	}
	past, err := history(sum.Path)
	if err != nil {
		return err
	}
	fold := view.Fold{Outline: m.outline, Cost: m.cost}
	m.replace(fold.Replay(past))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stir()
	return nil
}
