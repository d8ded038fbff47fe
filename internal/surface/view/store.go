package view

import (
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/event"
)

// Store holds the newest State of a conversation for those who draw it. It is
// safe for concurrent use.
type Store struct {
	fold Fold

	mu    sync.Mutex
	state State
	seq   int
	subs  map[chan struct{}]bool
}

// NewStore makes a store that begins with a state.
func NewStore(f Fold, s State) *Store {
	return &Store{fold: f, state: s, subs: map[chan struct{}]bool{}}
}

// Apply takes in an event. Subscribers hear of it when it made a difference.
func (s *Store) Apply(ev event.Event, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if silent(ev.Body) {
		return
	}
	s.state = s.fold.Apply(s.state, ev, at)
	s.changed()
}

// silent tells of an event that no State shows.
func silent(b event.Body) bool {
	switch b := b.(type) {
	case event.HookRan, event.Shaped, event.Step:
		return true
	case event.Delta:
		return b.Kind == event.DeltaOther
	case event.TurnStarted, event.Retrying, event.Message, event.Retracted, event.ToolStarted, event.ToolProgress, event.ToolFinished, event.Decided,
		event.Asked, event.Answered, event.ModelCall, event.Compacting, event.Compacted, event.TaskChanged, event.Notice, event.CommandRan, event.Done:
	}
	return false
}

// Replace begins anew with a state: the conversation was rewound, cleared or resumed.
func (s *Store) Replace(state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
	s.changed()
}

func (s *Store) changed() {
	s.seq++
	for c := range s.subs {
		select {
		case c <- struct{}{}:
		default: // it has not looked since the last one
		}
	}
}

// State is the newest state; seq counts the changes that led to it.
func (s *Store) State() (state State, seq int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, s.seq
}

// Subscribe returns a channel that holds a token when something has changed
// since the last one was taken, and a function that ends this.
func (s *Store) Subscribe() (changes <-chan struct{}, end func()) {
	c := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subs[c] = true
	return c, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.subs, c)
	}
}
