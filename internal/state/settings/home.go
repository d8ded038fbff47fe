// Package settings is about scopes, merge, provenance of every key, watch.
//
// Load reads every settings file that counts into one immutable Settings value, in which each key and each list element
// still knows the file it came from. What is wrong with a file is a Problem for a person, never a reason to stop, and a
// file that does not parse is never written to. The writers change single keys under a lock.
package settings

import (
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Home is the configuration home: the folder where users of the ecosystem have their things.
type Home struct {
	Dir   string // absolute
	Moved bool   // by CLAUDE_CONFIG_DIR or HEW_CONFIG_DIR
	user  string // the user's home folder
}

// FindHome reads CLAUDE_CONFIG_DIR, else HEW_CONFIG_DIR, else takes ~/.claude. getenv is os.Getenv outside tests;
// relative values count from cwd.
func FindHome(getenv func(string) string, cwd string) (Home, error) {
	user, err := userHome(getenv)
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "HEW_CONFIG_DIR"} {
		if v := getenv(name); v != "" {
			dir, err := fsys.Abs(cwd, v)
			return Home{Dir: dir, Moved: true, user: user}, err
		}
	}
	if err != nil {
		return Home{}, fmt.Errorf("find the configuration home: %w; set HOME, or CLAUDE_CONFIG_DIR to a folder", err)
	}
	return Home{Dir: filepath.Join(user, ".claude"), user: user}, nil
}

// userHome is the home folder by the environment that is asked, which need not be
// that of the process: a program that holds hew as a library gives its own.
func userHome(getenv func(string) string) (string, error) {
	name := "HOME"
	if runtime.GOOS == "windows" {
		name = "USERPROFILE"
	}
	if v := getenv(name); filepath.IsAbs(v) {
		return filepath.Clean(v), nil
	}
	return fsys.Abs("", "~")
}

// Settings is the user's settings file.
func (h Home) Settings() string { return filepath.Join(h.Dir, "settings.json") }

// Projects is the folder of transcripts and project memory.
func (h Home) Projects() string { return filepath.Join(h.Dir, "projects") }

// History is the prompt history.
func (h Home) History() string { return filepath.Join(h.Dir, "history.jsonl") }

// Own is a path in the folder for everything that is hew's alone; the other folders belong to the ecosystem.
func (h Home) Own(parts ...string) string {
	return filepath.Join(append([]string{h.Dir, "hew"}, parts...)...)
}

// State is the global state file (trust marks, MCP servers): ~/.claude.json, and .claude.json inside a moved home, as
// the ecosystem has it, so that a moved home shares nothing with the usual one.
func (h Home) State() string {
	if h.Moved {
		return filepath.Join(h.Dir, ".claude.json")
	}
	return filepath.Join(h.user, ".claude.json")
}
