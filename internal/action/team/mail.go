package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Message is one entry of a mailbox.
type Message struct {
	From    string `json:"from"`
	Text    string `json:"text"`
	Summary string `json:"summary,omitempty"`
	Time    string `json:"timestamp"`
	Read    bool   `json:"read"`
	// ID tells messages apart.
	ID string `json:"id,omitempty"`
}

// The kinds of protocol messages. Their text is a JSON object with this `type`.
const (
	ShutdownRequest  = "shutdown_request"
	ShutdownApproved = "shutdown_approved"
	ShutdownRejected = "shutdown_rejected"
	PlanRequest      = "plan_approval_request"
	PlanResponse     = "plan_approval_response"
	Idle             = "idle_notification"
)

// Protocol is the text of a message between programs.
type Protocol struct {
	Type      string `json:"type"`
	From      string `json:"from"`
	RequestID string `json:"requestId,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Approve   *bool  `json:"approve,omitempty"`
	Feedback  string `json:"feedback,omitempty"`
	Time      string `json:"timestamp"`
}

// Protocol reads the message as one between programs; ok is false for words.
func (m Message) Protocol() (p Protocol, ok bool) {
	if !strings.HasPrefix(strings.TrimSpace(m.Text), "{") || json.Unmarshal([]byte(m.Text), &p) != nil {
		return Protocol{}, false
	}
	switch p.Type {
	case ShutdownRequest, ShutdownApproved, ShutdownRejected, PlanRequest, PlanResponse, Idle:
		return p, true
	}
	return Protocol{}, false
}

// Model is the message as the model is shown it: marked as a colleague's words.
func (m Message) Model() string {
	summary := ""
	if m.Summary != "" {
		summary = ` summary="` + html.EscapeString(m.Summary) + `"`
	}
	return fmt.Sprintf("<teammate-message teammate_id=%q%s>\n%s\n</teammate-message>", html.EscapeString(m.From), summary, html.EscapeString(m.Text))
}

// Everyone addresses all other members.
const Everyone = "*"

// Send puts a message into a mailbox, or with Everyone into those of all other
// members. It returns nil only after the write succeeded.
func (s *Seat) Send(ctx context.Context, to, text, summary string) error {
	c, err := s.Config()
	if err != nil {
		return err
	}
	var names []string
	for _, m := range c.Members {
		if m.Name != s.Me.Name && (to == Everyone || m.Name == to) {
			names = append(names, m.Name)
		}
	}
	if len(names) == 0 {
		return &NoMember{To: to, Team: s.Name, Members: c.Members}
	}
	at := s.now().UTC().Format(time.RFC3339Nano)
	for _, n := range names {
		m := Message{From: s.Me.Name, Text: text, Summary: summary, Time: at, ID: s.Me.Name + " " + at}
		if err := s.put(ctx, n, m); err != nil {
			return err
		}
	}
	return nil
}

// Say sends a message between programs.
func (s *Seat) Say(ctx context.Context, to string, p Protocol) error {
	p.From, p.Time = s.Me.Name, s.now().UTC().Format(time.RFC3339Nano)
	raw, err := json.Marshal(p)
	if err != nil {
		return err // texts: cannot fail
	}
	return s.Send(ctx, to, string(raw), p.Type)
}

// NoMember is the error for a message to nobody.
type NoMember struct {
	To, Team string
	Members  []Member
}

// Error names those who are there.
func (n *NoMember) Error() string {
	var names []string
	for _, m := range n.Members {
		names = append(names, m.Name)
	}
	if n.To == Everyone {
		return "the team " + n.Team + " has no other members"
	}
	return fmt.Sprintf("the team %s has no member %s; it has: %s", n.Team, fsys.Printable(n.To), strings.Join(names, ", "))
}

func (s *Seat) put(ctx context.Context, to string, m Message) error {
	return s.box(ctx, to, func(list []json.RawMessage) ([]json.RawMessage, error) {
		raw, err := json.Marshal(m)
		return append(list, raw), err
	})
}

// box changes a mailbox under its lock.
func (s *Seat) box(ctx context.Context, agent string, fn func(list []json.RawMessage) ([]json.RawMessage, error)) error {
	path := s.inbox(agent)
	return fsys.WithLock(ctx, strings.TrimSuffix(path, ".json")+".lock", func() error {
		list, err := readBox(path)
		if err != nil {
			return err
		}
		if list, err = fn(list); err != nil || list == nil {
			return err
		}
		return write(path, list)
	})
}

func readBox(path string) ([]json.RawMessage, error) {
	raw, _, err := fsys.ReadRaw(path, fsys.Limits{MaxBytes: maxFile})
	if errors.Is(err, os.ErrNotExist) || fsys.CauseOf(err) == fsys.CauseMissing {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the mailbox: %w", err)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("the mailbox %s is broken (%w); repair or remove it", path, err)
	}
	return list, nil
}

// mail is what of the mailbox was handed out and is not marked as read yet.
type mail struct {
	mu   sync.Mutex
	seen map[string]bool
	at   time.Time // modification of the mailbox when it was looked at last
	size int64
}

// Unread returns the messages that are new, in order. They stay unread in the
// file until Keep says that they were taken up, so that a death in between
// loses none. Entries that are no messages are dropped, with an error that
// names how many.
func (s *Seat) Unread(ctx context.Context) (fresh []Message, err error) {
	s.mail.mu.Lock()
	defer s.mail.mu.Unlock()
	path := s.inbox(s.Me.Name)
	st, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look into the mailbox: %w", err)
	}
	if st.ModTime().Equal(s.mail.at) && st.Size() == s.mail.size {
		return nil, nil
	}
	bad := 0
	err = s.box(ctx, s.Me.Name, func(list []json.RawMessage) ([]json.RawMessage, error) {
		good := list[:0]
		for _, raw := range list {
			m, ok := readMessage(raw)
			if !ok {
				bad++
				continue
			}
			good = append(good, raw)
			if !m.Read && !s.mail.seen[m.key()] {
				fresh = append(fresh, m)
			}
		}
		if bad == 0 {
			return nil, nil
		}
		return slices.Clip(good), nil
	})
	if err != nil {
		return nil, err
	}
	s.mail.at, s.mail.size = st.ModTime(), st.Size()
	if s.mail.seen == nil {
		s.mail.seen = map[string]bool{}
	}
	for _, m := range fresh {
		s.mail.seen[m.key()] = true
	}
	if bad > 0 {
		return fresh, fmt.Errorf("%d entries of the mailbox %s were no messages and are dropped", bad, filepath.Base(path))
	}
	return fresh, nil
}

func readMessage(raw json.RawMessage) (m Message, ok bool) {
	err := json.Unmarshal(raw, &m)
	return m, err == nil && m.From != "" && m.Text != ""
}

func (m Message) key() string { return m.ID + "\x00" + m.From + "\x00" + m.Time + "\x00" + m.Text }

// Keep marks what Unread has returned as read.
func (s *Seat) Keep(ctx context.Context) error {
	s.mail.mu.Lock()
	defer s.mail.mu.Unlock()
	if len(s.mail.seen) == 0 {
		return nil
	}
	err := s.box(ctx, s.Me.Name, func(list []json.RawMessage) ([]json.RawMessage, error) {
		for i, raw := range list {
			m, ok := readMessage(raw)
			if !ok || m.Read || !s.mail.seen[m.key()] {
				continue
			}
			m.Read = true
			now, err := json.Marshal(m)
			if err != nil {
				return nil, err
			}
			list[i] = now
		}
		return list, nil
	})
	if err == nil {
		s.mail.seen = nil
	}
	return err
}

// Waiting counts the unread messages of a member.
func (f Folder) Waiting(agent string) (int, error) {
	if CheckName(agent) != "" {
		return 0, nil
	}
	list, err := readBox(f.inbox(agent))
	n := 0
	for _, raw := range list {
		if m, ok := readMessage(raw); ok && !m.Read {
			n++
		}
	}
	return n, err
}
