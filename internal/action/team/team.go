// Package team is a team of several processes: members, mailboxes and the log, plain JSON under file locks.
//
// There is no broker. A team is a folder, CONFIG/teams/NAME:
//
//	config.json           the members
//	config.lock           held while config.json changes
//	inboxes/AGENT.json    the mailbox of a member, an array
//	inboxes/AGENT.lock    held while that changes
//	alive/AGENT.lock      held by the member's process as long as it lives
//	log.jsonl             what was taken back from members that died
//
// and its tasks are CONFIG/tasks/NAME (package task). All locks are the
// kernel's: it frees them when their holder ends, however it ends.
package team

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Lead is the name and type of the member that leads.
const Lead = "team-lead"

// Folder is where something of a team stands.
type Folder struct {
	// Home is the configuration's folder, Name the team's name.
	Home, Name string
}

// Dir is the team's folder.
func (f Folder) Dir() string { return filepath.Join(f.Home, "teams", f.Name) }

// Tasks is the folder of its task list.
func (f Folder) Tasks() string { return filepath.Join(f.Home, "tasks", f.Name) }

func (f Folder) config() string { return filepath.Join(f.Dir(), "config.json") }

func (f Folder) inbox(agent string) string {
	return filepath.Join(f.Dir(), "inboxes", agent+".json")
}

func (f Folder) alive(agent string) string { return filepath.Join(f.Dir(), "alive", agent+".lock") }

// CheckName says why a team or a member may not have this name, "" when it may:
// names are names of files.
func CheckName(name string) string {
	odd := func(r rune) bool {
		return r != '-' && r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	switch {
	case name == "" || len(name) > 64:
		return "a name has 1 to 64 characters"
	case strings.ContainsFunc(name, odd):
		return "a name is made of letters, digits, -, _ and ."
	case strings.HasPrefix(name, "."):
		return "a name does not begin with a dot"
	}
	return ""
}

// Member is one entry of config.json.
type Member struct {
	Name      string `json:"name"`
	AgentID   string `json:"agentId"`
	AgentType string `json:"agentType"`
	Model     string `json:"model,omitempty"`
	JoinedAt  int64  `json:"joinedAt"` // milliseconds since 1970
	Cwd       string `json:"cwd,omitempty"`
	Session   string `json:"sessionId,omitempty"`
}

// Config is config.json. Keys that hew does not know are kept.
type Config struct {
	Name      string   `json:"name"`
	CreatedAt int64    `json:"createdAt"`
	Lead      string   `json:"leadAgentId,omitempty"`
	Session   string   `json:"leadSessionId,omitempty"`
	Members   []Member `json:"members"`
}

// maxFile bounds config.json and a mailbox, in bytes.
const maxFile = 16 << 20

// Config reads the members. A team that is not there has none.
func (f Folder) Config() (Config, error) {
	c := Config{Name: f.Name}
	raw, _, err := fsys.ReadRaw(f.config(), fsys.Limits{MaxBytes: maxFile})
	if errors.Is(err, os.ErrNotExist) || fsys.CauseOf(err) == fsys.CauseMissing {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("read the team %s: %w", f.Name, err)
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, fmt.Errorf("%s is broken (%w); repair or remove it", f.config(), err)
	}
	return c, nil
}

// change changes the members under the lock.
func (f Folder) change(ctx context.Context, fn func(c *Config) error) error {
	return fsys.WithLock(ctx, filepath.Join(f.Dir(), "config.lock"), func() error {
		c, err := f.Config()
		if err != nil {
			return err
		}
		if err := fn(&c); err != nil {
			return err
		}
		if len(c.Members) == 0 { // the configuration ends with the team; its tasks stay
			if err := os.Remove(f.config()); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("end the team %s: %w", f.Name, err)
			}
			return nil
		}
		return write(f.config(), c)
	})
}

func write(path string, v any) error {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of %s: %w", path, err)
	}
	_, err := fsys.WriteFile(path, buf.Bytes(), fsys.WriteOptions{Mode: 0o600})
	return err
}

// Running tells whether the process of a member lives: it holds the lock of its
// name. A name without a lock file has no process.
func (f Folder) Running(agent string) bool {
	if CheckName(agent) != "" {
		return false
	}
	if _, err := os.Stat(f.alive(agent)); err != nil {
		return false
	}
	l := flock.New(f.alive(agent))
	ok, err := l.TryRLock()
	if ok {
		_ = l.Close() // frees it, whatever it says
	}
	return !ok && err == nil
}

// Gone tells that an owner was a member of the team and its process has ended.
// Other owners, people and subagents, are not known and keep their tasks.
func (f Folder) Gone(owner string) bool {
	if CheckName(owner) != "" {
		return false
	}
	_, err := os.Stat(f.alive(owner))
	return err == nil && !f.Running(owner)
}

// Seat is this process's place in a team. It is safe for concurrent use.
type Seat struct {
	Folder
	Me   Member
	now  func() time.Time
	lock *flock.Flock
	mail mail
}

// Taken is the error for a name whose member is alive.
type Taken struct{ Team, Name string }

// Error says what to do.
func (t *Taken) Error() string {
	return fmt.Sprintf("the team %s has a running member %s already; choose another --agent-name", t.Team, t.Name)
}

// Join makes this process a member. A member of that name that died is
// succeeded: its mailbox is this one's.
func Join(ctx context.Context, f Folder, me Member, now func() time.Time) (*Seat, error) {
	for what, name := range map[string]string{"team": f.Name, "member": me.Name} {
		if why := CheckName(name); why != "" {
			return nil, fmt.Errorf("the name of the %s %s cannot be used: %s", what, fsys.Printable(name), why)
		}
	}
	if err := os.MkdirAll(filepath.Join(f.Dir(), "alive"), 0o700); err != nil {
		return nil, fmt.Errorf("join the team %s: %w", f.Name, err)
	}
	s := &Seat{Folder: f, Me: me, now: now, lock: flock.New(f.alive(me.Name), flock.SetPermissions(0o600))}
	s.Me.JoinedAt = now().UnixMilli()
	s.Me.AgentID = me.Name + "@" + f.Name
	err := f.change(ctx, func(c *Config) error {
		// Who asks whether a member lives holds its lock for a moment.
		brief, end := context.WithTimeout(ctx, 200*time.Millisecond)
		defer end()
		ok, err := s.lock.TryLockContext(brief, 5*time.Millisecond)
		if !ok && brief.Err() != nil {
			return errors.Join(ctx.Err(), &Taken{f.Name, me.Name})
		}
		if err != nil {
			return fmt.Errorf("join the team %s: %w", f.Name, err)
		}
		c.Members = slices.DeleteFunc(c.Members, func(m Member) bool { return m.Name == me.Name })
		c.Members = append(c.Members, s.Me)
		if c.CreatedAt == 0 {
			c.CreatedAt = s.Me.JoinedAt
		}
		if s.Leads() {
			c.Lead, c.Session = s.Me.AgentID, me.Session
		}
		return nil
	})
	if err != nil {
		_ = s.lock.Close() // not held, or freed by it
		return nil, err
	}
	if err := s.succeed(ctx); err != nil {
		return nil, errors.Join(err, s.Leave(ctx))
	}
	return s, nil
}

// succeed opens the tasks that a process of the same name left when it died.
func (s *Seat) succeed(ctx context.Context) error {
	b := s.Board()
	b.Gone = func(owner string) bool { return owner == s.Me.Name || s.Gone(owner) }
	all, err := b.Load()
	if err != nil || len(all) == 0 {
		return err
	}
	return b.Change(ctx, func(task.Items) error { return nil })
}

// Leads tells whether this process leads the team.
func (s *Seat) Leads() bool { return s.Me.Name == Lead }

// Leave gives the place up.
func (s *Seat) Leave(ctx context.Context) error {
	err := s.change(ctx, func(c *Config) error {
		c.Members = slices.DeleteFunc(c.Members, func(m Member) bool { return m.Name == s.Me.Name })
		return nil
	})
	return errors.Join(err, s.lock.Close())
}

// Board is the team's task list.
func (s *Seat) Board() task.Board {
	return task.Board{Dir: s.Tasks(), Gone: s.Gone, Log: s.Log}
}

// Log adds a line to the team's log.
func (s *Seat) Log(text string) {
	line, err := json.Marshal(map[string]string{"time": s.now().UTC().Format(time.RFC3339Nano), "by": s.Me.Name, "text": text})
	if err != nil {
		return // texts: cannot fail
	}
	f, err := os.OpenFile(filepath.Join(s.Dir(), "log.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return // the log is for people who look; the work does not depend on it
	}
	defer f.Close()
	_, _ = f.Write(append(line, '\n'))
}
