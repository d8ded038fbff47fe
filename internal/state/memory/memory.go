// Package memory reads the CLAUDE.md / AGENTS.md hierarchy, rules, imports, auto memory.
//
// Instruction files are plain text that people own: they are found by place
// and name, read once a session and given to the model word for word. What
// they ask for is advice to the model; what must hold is a permission rule.
package memory

import (
	"fmt"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Scope says whose instructions a file holds.
type Scope string

// The scopes, in the order in which files are read. Nothing overrides: what
// comes later is nearer and weighs more with the model.
const (
	Managed Scope = "Managed" // of the machine's administrator
	User    Scope = "User"    // of the user, for all projects
	Project Scope = "Project" // of the project, for everybody
	Local   Scope = "Local"   // of the user, for this project
	Auto    Scope = "AutoMem" // of the model: what it has noted in earlier conversations
)

// Label names the scope to the model.
func (s Scope) Label() string {
	switch s {
	case Managed:
		return "set by the administrator of this machine"
	case User:
		return "the user's private instructions for all projects"
	case Project:
		return "project instructions, checked into the repository"
	case Local:
		return "the user's private instructions for this project, not checked in"
	case Auto:
		return "your own notes from earlier conversations"
	}
	return string(s)
}

// Reason says why a file was read, in the words that hooks see.
type Reason string

// The reasons.
const (
	AtStart  Reason = "session_start"    // by its place
	Included Reason = "include"          // named by another file
	Nested   Reason = "nested_traversal" // a file of its folder was read
	Matched  Reason = "path_glob_match"  // a rule's paths cover a file that was read
)

// AgentsMode says when AGENTS.md is read.
type AgentsMode int

// The modes.
const (
	// AgentsPerProject reads it when no folder from the root to the working
	// directory has a CLAUDE.md. It is what other tools of the ecosystem do.
	AgentsPerProject AgentsMode = iota
	// AgentsPerFolder reads it in each folder that has no CLAUDE.md.
	AgentsPerFolder
	// AgentsAlways reads it beside CLAUDE.md.
	AgentsAlways
	// AgentsNever reads none.
	AgentsNever
)

// ParseAgentsMode reads the setting agentsMd; "" is the default.
func ParseAgentsMode(s string) (AgentsMode, error) {
	switch s {
	case "", "project":
		return AgentsPerProject, nil
	case "folder":
		return AgentsPerFolder, nil
	case "always":
		return AgentsAlways, nil
	case "never":
		return AgentsNever, nil
	}
	return AgentsPerProject, fmt.Errorf("agentsMd is %q; it takes project, folder, always or never", s)
}

// Config says where to look.
type Config struct {
	// Managed is the folder of the administrator's file, "" for none;
	// ManagedText is what the managed settings say instead, "" for nothing.
	Managed, ManagedText string
	// Home is the configuration home, "" for none.
	Home string
	// Cwd is the working directory, absolute and canonical. Its own and all
	// folders above it belong to the project. Roots are further working
	// directories whose own files are read, too.
	Cwd    string
	Roots  []string
	Agents AgentsMode
	// Outside says whether the project's files may include a file from outside of
	// the checkout; nil says no.
	Outside func(real string) bool
	// Untrusted tells that the checkout is not trusted: a file found in it that a
	// link takes from outside is left out.
	Untrusted bool
	// Without lists scopes that are not read.
	Without []Scope
	// Exclude lists globs of absolute paths that are left out; managed files are immune.
	Exclude []string
	// Thorough looks at files that are not read either way, to say why.
	Thorough bool
	// Disk, when not nil, remembers what was read for the next Load.
	Disk *Disk
}

// File is one instruction file as the model sees it.
type File struct {
	// Path is absolute, under the name it was found by; for ManagedText it says so in words.
	Path  string
	Scope Scope
	// Text is valid UTF-8 with plain line ends and without surrounding blank
	// lines, front matter and block comments.
	Text string
	// Size is that of the file, in bytes.
	Size   int64
	Reason Reason
	// Parent is the file that includes this one, Trigger the file whose reading
	// brought it, Globs the paths of a rule.
	Parent, Trigger string
	Globs           []string
}

// Tokens estimates what the file costs in a request, by the usual four bytes a token.
func (f File) Tokens() int { return (len(f.Text) + 3) / 4 }

// Note is something about a file that a person may want to know: mostly that it
// was left out, and why.
type Note struct {
	Path, Text string
	// Kept tells that the file is read all the same.
	Kept bool
	// Quiet notes are for lists and traces: nothing is wrong.
	Quiet bool
}

// String is the note as a sentence.
func (n Note) String() string {
	if n.Kept {
		return fmt.Sprintf("instructions in %s: %s", fsys.Printable(n.Path), n.Text)
	}
	return fmt.Sprintf("instructions in %s are left out: %s", fsys.Printable(n.Path), n.Text)
}

// Include is a file that a project's file wants to take from outside of it.
type Include struct {
	// Real is the canonical name of the file, From the file that names it, Name
	// how it is named there.
	Real, From, Name string
}

// Bounds of what is read, in bytes, files and steps. That of a single file and
// the depth are the documented ones of the ecosystem.
const (
	maxFile    = 4 << 20
	maxTotal   = 8 << 20
	maxDepth   = 4
	maxLookups = 1000
	maxRules   = 1000
	maxFolders = 16 // depth of a folder of rules
)
