package acp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// conversation is one open session.
type conversation struct {
	a      *Agent
	id     string
	live   *Live
	editor *Editor
	shown  *shown

	mu      sync.Mutex
	closed  bool
	waiting []*turn
	// running are the prompts of the run under way, the first one and those that
	// joined it; nil when there is none. stop calls it off.
	running []*turn
	busy    bool
	stop    context.CancelCauseFunc
	called  bool // the run was called off
	wake    chan struct{}
	idle    context.CancelFunc // ends the wait for what comes by itself
	done    chan struct{}      // closed when the worker has ended
	ended   func() error
	was     offer
	named   bool
}

// offer is what the client was told last that can change.
type offer struct{ mode, model, commands string }

// turn is one prompt of the client.
type turn struct {
	m     *msg.Message
	heard chan outcome
}

type outcome struct {
	stop string
	err  error
}

var errCancelled = errors.New("the client has cancelled the prompt")

func newConversation(a *Agent) *conversation {
	s := &conversation{a: a, wake: make(chan struct{}, 1), done: make(chan struct{})}
	s.shown = &shown{s: s}
	return s
}

func (s *conversation) take(l *Live) {
	s.live, s.id = l, l.Engine.Session()
	s.ended = sync.OnceValue(l.Close)
	s.was = offer{mode: l.Engine.Mode(), model: l.Engine.Model().ID}
}

// close ends what runs, waits for it, and frees the session.
func (s *conversation) close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.stir()
	<-s.done
	return s.ended()
}

func (s *conversation) stir() {
	s.mu.Lock()
	idle := s.idle
	s.mu.Unlock()
	if idle != nil {
		idle()
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// update sends a session update.
func (s *conversation) update(u any) {
	s.a.conn.notify("session/update", map[string]any{"sessionId": s.id, "update": u})
}

// prompt registers a prompt in the order of arrival. While a run is under way it
// joins it at its next boundary, unless it is a command or one waits already.
func (a *Agent) prompt(ctx context.Context, params json.RawMessage) (func() (any, error), *Error) {
	var in struct {
		ID     string    `json:"sessionId"`
		Prompt []content `json:"prompt"`
	}
	if err := json.Unmarshal(params, &in); err != nil {
		return nil, badParams("the parameters: %v", err)
	}
	s, err := a.session(in.ID)
	if err != nil {
		var e *Error
		errors.As(err, &e)
		return nil, e
	}
	m, err := spoken(in.Prompt)
	if err != nil {
		return nil, badParams("%v", err)
	}
	m.ID, m.Time = a.c.NewID(), a.c.Now()
	t := &turn{m, make(chan outcome, 1)}
	s.put(t)
	return func() (any, error) {
		select {
		case o := <-t.heard:
			return promptOut{o.stop}, o.err
		case <-ctx.Done():
			s.cancel()
			<-t.heard // the worker answers every prompt
			return nil, context.Cause(ctx)
		}
	}, nil
}

func (s *conversation) put(t *turn) {
	s.mu.Lock()
	switch {
	case s.closed:
		t.heard <- outcome{err: errClientGone}
	case s.busy && len(s.waiting) == 0 && !s.live.Commands.Calls(t.m):
		s.running = append(s.running, t)
		s.live.Engine.Steer(t.m)
	default:
		s.waiting = append(s.waiting, t)
	}
	s.mu.Unlock()
	s.stir()
}

// cancel ends the run under way and takes back what waits.
func (s *conversation) cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.waiting {
		t.heard <- outcome{stop: stopCancelled}
	}
	s.waiting = nil
	for _, t := range s.running {
		s.live.Engine.Withdraw(t.m.ID)
	}
	s.called = s.busy
	if s.stop != nil {
		s.live.Engine.Interrupt()
		s.stop(errCancelled)
	}
}

// work runs the prompts of the session, one after the other, and between them
// what the conversation goes on with by itself.
func (s *conversation) work(ctx context.Context) {
	defer close(s.done)
	for {
		m := s.next(ctx)
		if m == nil {
			return
		}
		s.run(ctx, m)
	}
}

// next waits for the next prompt, which may be one that nobody typed. Nil ends the worker.
func (s *conversation) next(ctx context.Context) *msg.Message {
	for {
		s.mu.Lock()
		if s.closed || ctx.Err() != nil {
			s.closed = true
			for _, t := range s.waiting {
				t.heard <- outcome{stop: stopCancelled}
			}
			s.waiting = nil
			s.mu.Unlock()
			return nil
		}
		if len(s.waiting) > 0 {
			t := s.waiting[0]
			s.waiting, s.running, s.busy = s.waiting[1:], []*turn{t}, true
			s.mu.Unlock()
			return t.m
		}
		idle, cancel := context.WithCancel(ctx)
		s.idle = cancel
		s.mu.Unlock()
		m := s.byItself(idle)
		cancel()
		if m != nil {
			s.mu.Lock()
			s.running, s.busy = nil, true
			s.mu.Unlock()
			return m
		}
	}
}

// byItself waits for what the conversation goes on with, or for the client.
func (s *conversation) byItself(ctx context.Context) *msg.Message {
	select {
	case <-s.wake:
		return nil
	default:
	}
	if s.live.Next != nil {
		if m := s.live.Next(ctx); m != nil {
			return m
		}
	}
	select {
	case <-s.wake:
	case <-ctx.Done():
	}
	return nil
}

// run runs one prompt and answers all that took part in it.
func (s *conversation) run(ctx context.Context, m *msg.Message) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.mu.Lock()
	s.stop = cancel
	off := s.closed || s.called
	s.mu.Unlock()
	var end event.Terminal
	if !off {
		if s.live.Ready != nil {
			s.live.Ready(ctx)
		}
		end = s.consume(ctx, m)
	}
	o := outcome{stop: stopReason(end)}
	s.mu.Lock()
	called := s.called || ctx.Err() != nil
	s.mu.Unlock()
	if called {
		o.stop = stopCancelled
	} else if failed(end) {
		o.err = &Error{codeInternal, end.Detail}
	}
	s.changed()
	s.titled(m)
	s.answer(o)
}

// consume shows what a run says and returns how it ended.
func (s *conversation) consume(ctx context.Context, m *msg.Message) (end event.Terminal) {
	source := "acp"
	if m.Meta {
		source = "automatic"
	}
	for ev := range s.live.Commands.Submit(ctx, engine.Input{Message: m, Source: source}) {
		s.shown.event(ev)
		if d, ok := ev.Body.(event.Done); ok {
			end = d.Terminal
		}
	}
	return end
}

// answer answers the prompts of a run that has ended. One that came too late to
// join it is the next.
func (s *conversation) answer(o outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var late []*turn
	for i, t := range s.running {
		if i > 0 && s.live.Engine.Withdraw(t.m.ID) && o.stop != stopCancelled {
			late = append(late, t)
			continue
		}
		t.heard <- o
	}
	s.waiting = slices.Concat(late, s.waiting)
	s.running, s.busy, s.called, s.stop = nil, false, false, nil
}

// facts is the answer to a request that opens a session.
func (s *conversation) facts(id string) sessionOut {
	return sessionOut{ID: id, Modes: s.modes(), Options: s.options()}
}

func (s *conversation) modes() modes {
	now := s.live.Engine.Mode()
	list := slices.Clone(s.live.Modes)
	if !slices.ContainsFunc(list, func(m Mode) bool { return m.ID == now }) {
		list = append(list, Mode{ID: now, Name: now})
	}
	return modes{now, list}
}

// ids of the options that a client can set.
const (
	modeOption  = "mode"
	modelOption = "model"
)

func (s *conversation) options() []configOption {
	m := s.modes()
	var choices []Choice
	for _, a := range m.Available {
		choices = append(choices, Choice{a.ID, a.Name, a.About})
	}
	now := s.live.Engine.Model().ID
	models := slices.Clone(s.live.Models)
	if !slices.ContainsFunc(models, func(c Choice) bool { return c.Value == now }) {
		models = append(models, Choice{Value: now, Name: now})
	}
	return []configOption{
		{modeOption, "Permission mode", "mode", "select", m.Current, choices},
		{modelOption, "Model", "model", "select", now, models},
	}
}

func (a *Agent) setMode(_ context.Context, in struct {
	ID   string `json:"sessionId"`
	Mode string `json:"modeId"`
},
) (any, error) {
	s, err := a.session(in.ID)
	if err != nil {
		return nil, err
	}
	if err := s.setMode(in.Mode); err != nil {
		return nil, err
	}
	return followed{empty{}, s.changed}, nil
}

func (s *conversation) setMode(mode string) error {
	if !slices.ContainsFunc(s.modes().Available, func(m Mode) bool { return m.ID == mode }) {
		return badParams("this session offers no mode %q", mode)
	}
	if err := s.live.Engine.SetMode(mode); err != nil {
		return badParams("%v", err)
	}
	return nil
}

func (a *Agent) setOption(ctx context.Context, in struct {
	ID     string `json:"sessionId"`
	Option string `json:"configId"`
	Value  string `json:"value"`
},
) (any, error) {
	s, err := a.session(in.ID)
	if err != nil {
		return nil, err
	}
	switch in.Option {
	case modeOption:
		err = s.setMode(in.Value)
	case modelOption:
		if !slices.ContainsFunc(s.live.Models, func(c Choice) bool { return c.Value == in.Value }) {
			return nil, badParams("there is no model %q to choose", in.Value)
		}
		err = s.live.Engine.SetModel(ctx, in.Value, "user", s.shown.beside)
	default:
		err = badParams("there is no option %q", in.Option)
	}
	if err != nil {
		return nil, err
	}
	return followed{map[string]any{"configOptions": s.options()}, s.changed}, nil
}

// changed tells of a mode, a model or commands that are not what the client knows.
func (s *conversation) changed() {
	now := offer{s.live.Engine.Mode(), s.live.Engine.Model().ID, ""}
	s.mu.Lock()
	was := s.was
	s.was.mode, s.was.model = now.mode, now.model
	s.mu.Unlock()
	if was.mode != now.mode {
		s.update(map[string]any{"sessionUpdate": "current_mode_update", "currentModeId": now.mode})
	}
	if was.mode != now.mode || was.model != now.model {
		s.update(map[string]any{"sessionUpdate": "config_option_update", "configOptions": s.options()})
	}
	s.commands()
}

// commands tells of the slash commands, when they are not what the client knows.
func (s *conversation) commands() {
	list := []slashCommand{}
	for _, c := range s.live.Commands.List() {
		row := slashCommand{Name: c.Name, About: c.About}
		if c.Hint != "" {
			row.Input = &hint{c.Hint}
		}
		list = append(list, row)
	}
	now := string(msg.Encode(list))
	s.mu.Lock()
	was := s.was.commands
	s.was.commands = now
	s.mu.Unlock()
	if was != now {
		s.update(map[string]any{"sessionUpdate": "available_commands_update", "availableCommands": list})
	}
}
