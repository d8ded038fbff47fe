// Package plugin installs plugins from marketplaces and says which of them a session gets.
//
// Files are those of the ecosystem: which plugins are on stands in the
// settings, what is installed in plugins/installed_plugins.json, each version in
// a folder of its own below plugins/cache. An installation appears by one
// rename and is recorded afterwards, so that a killed hew leaves the old state
// or the new one. What an update would run anew waits until a person agrees.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/settings"
)

// ID names a plugin of a marketplace.
type ID struct{ Name, Market string }

// String is the form that settings have.
func (id ID) String() string {
	if id.Market == "" {
		return id.Name
	}
	return id.Name + "@" + id.Market
}

// ParseID reads name@marketplace; the marketplace may be missing.
func ParseID(s string) (ID, error) {
	name, market, _ := strings.Cut(s, "@")
	if !validName(name) || market != "" && !validName(market) {
		return ID{}, fmt.Errorf("%q is no plugin name: write NAME@MARKETPLACE, of letters, digits, dots, - and _", fsys.Printable(s))
	}
	return ID{name, market}, nil
}

// maxName is the longest name of a plugin or a marketplace, in bytes.
const maxName = 64

// validName tells a name that is also a safe name for a folder on every system.
func validName(s string) bool {
	if s == "" || len(s) > maxName || strings.HasPrefix(s, ".") || strings.HasPrefix(s, "-") || strings.HasSuffix(s, ".") {
		return false
	}
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.' {
			return false
		}
	}
	return true
}

// Names of markets that stand for something else.
const (
	// SkillsDir is the market of plugins that lie in a folder of skills.
	SkillsDir = "skills-dir"
	// Inline is the market of plugins that the command line names.
	Inline = "inline"
)

// Store is what is on this machine. Its methods change files; they may be
// called by several processes at once.
type Store struct {
	// Settings locates the home and the files that say what is on.
	Settings settings.Config
	// Values are the settings in force.
	Values *settings.Settings
	// Git runs git in a folder, confined to what hew's own calls may start;
	// nil where there is none.
	Git func(ctx context.Context, dir string, args ...string) (string, error)
	// Get opens an address for reading. Optional.
	Get func(ctx context.Context, url string) (io.ReadCloser, error)
	Now func() time.Time
	// NewID makes names for folders in the making.
	NewID func() string
	// Notice is told what a person should know. Optional.
	Notice func(string)
}

func (s *Store) notice(format string, args ...any) {
	if s.Notice != nil {
		s.Notice(fmt.Sprintf(format, args...))
	}
}

// dir is a path below the home's folder of plugins.
func (s *Store) dir(parts ...string) string {
	return filepath.Join(append([]string{s.Settings.Home.Dir, "plugins"}, parts...)...)
}

// Data is the folder for what a plugin keeps.
func (s *Store) Data(id ID) string {
	return s.dir("data", strings.NewReplacer("@", "-").Replace(id.String()))
}

// ErrUnknown says that no marketplace and no record has a plugin.
var ErrUnknown = errors.New("no such plugin")

// locked runs do while no other hew changes plugins.
func (s *Store) locked(ctx context.Context, do func() error) error {
	return fsys.WithLock(ctx, s.Settings.Home.Own("plugins", "lock"), do)
}
