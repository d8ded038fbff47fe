package wiring

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/hew-agent/hew/internal/state/session"
)

// Sessions is what hew sessions works with: the home of the options' user and
// the project of their directory.
type Sessions struct {
	// Home is the configuration home, Cwd the real working directory.
	Home, Cwd string
	Store     session.Store
	// Days is after how many days a session may go, Size how many bytes all may take; 0 is no bound.
	Days int
	Size int64
}

// OpenSessions finds the sessions. It reads settings and changes nothing.
func OpenSessions(o Options) (*Sessions, error) {
	b := &build{o: &o, conv: &Conversation{}}
	if err := b.locate(); err != nil {
		return nil, err
	}
	key, err := b.projectKey()
	if err != nil {
		return nil, err
	}
	return &Sessions{
		Home: b.home.Dir, Cwd: b.place.Cwd, Store: session.Store{Home: b.home.Dir, Project: key},
		Days: b.settings.CleanupPeriodDays(), Size: b.settings.CleanupMaxBytes(),
	}, nil
}

// Retention is what the settings say about the age and size of sessions at now.
func (s *Sessions) Retention(now time.Time) session.Retention {
	return session.Retention{Age: time.Duration(s.Days) * 24 * time.Hour, Size: s.Size, Now: now}
}

// cleanEvery is how often a run looks for sessions whose time is over.
const cleanEvery = 24 * time.Hour

// clean removes the sessions that the settings' retention lets go, at the end
// of a run and at most once a day; .last-cleanup in the home remembers when.
// A session that a process has open stays. What goes wrong is told and harms
// nothing: the next day tries again.
func (b *build) clean() error {
	marker := filepath.Join(b.home.Dir, ".last-cleanup")
	now := b.o.Now()
	if info, err := os.Stat(marker); err == nil && now.Sub(info.ModTime()) < cleanEvery {
		return nil
	}
	if err := os.WriteFile(marker, nil, 0o600); err != nil {
		return nil // a home that cannot be written has nothing that may be removed
	}
	if err := os.Chtimes(marker, now, now); err != nil {
		return nil
	}
	s := Sessions{Days: b.settings.CleanupPeriodDays(), Size: b.settings.CleanupMaxBytes()}
	keep := s.Retention(now)
	keep.Keep = []string{b.id}
	all, err := session.ListAll(b.home.Dir)
	if err != nil {
		b.notice("old sessions were not looked for: " + err.Error())
		return nil
	}
	for _, d := range keep.Plan(all) {
		if d.Kept != "" || d.Problem != "" {
			continue
		}
		var busy *session.Busy
		if err := session.Remove(d.Summary, all); err != nil && !errors.As(err, &busy) {
			b.notice("an old session was not removed: " + err.Error())
		}
	}
	return nil
}
