package settings

import (
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Scope is a level of configuration; a higher one wins.
type Scope int

// The scopes from weakest to strongest.
const (
	User Scope = iota
	Project
	Local
	Flag // the command line: --settings
	Managed
)

// String names the scope as people know it.
func (s Scope) String() string {
	return [...]string{"user", "project", "local", "command line", "managed"}[s]
}

// fromRepo reports whether a file of this scope may have come with a repository: such files cannot set everything.
func (s Scope) fromRepo() bool { return s == Project || s == Local }

// ParseSources reads the value of --setting-sources: a comma-separated list of user, project, local; "" is none of
// them. Managed settings and the command line always load.
func ParseSources(list string) ([]Scope, error) {
	out := []Scope{}
	for name := range strings.SplitSeq(list, ",") {
		switch strings.TrimSpace(name) {
		case "":
		case "user":
			out = append(out, User)
		case "project":
			out = append(out, Project)
		case "local":
			out = append(out, Local)
		default:
			return nil, fmt.Errorf("setting source %q: choose from user, project, local", name)
		}
	}
	return out, nil
}

// Origin is where a value was written. The zero value is a scope without a file.
type Origin struct {
	Scope Scope
	File  string // "" for JSON given on the command line
	Line  int    // from 1
}

// String is what a person needs to find the place.
func (o Origin) String() string {
	if o.File == "" {
		return o.Scope.String()
	}
	return fmt.Sprintf("%s settings, %s:%d", o.Scope, fsys.Printable(o.File), o.Line)
}

// Element is one element of a list after the merge. Equal elements of several files are one element of several origins,
// weakest scope first.
type Element struct {
	Raw     []byte // compact JSON
	Origins []Origin
}

// Top is the strongest origin.
func (e Element) Top() Origin { return e.Origins[len(e.Origins)-1] }

// Severity says how much of a file a Problem cost.
type Severity int

// The severities.
const (
	FileIgnored  Severity = iota // nothing of the file counts
	EntrySkipped                 // one entry is wrong; the rest of the file counts
	NotAllowed                   // a key that a file of this scope can never set
	Held                         // counts only once the user trusts the folder
	Note                         // the entry counts, but a person should look
)

// Problem is something wrong in or about a settings file, in words for the person who can mend it.
type Problem struct {
	Severity Severity
	Scope    Scope
	File     string // "" for JSON given on the command line
	Line     int    // from 1; 0 when the whole file is meant
	Col      int    // from 1; 0 when the whole line is meant
	Key      string // dotted; "" when the whole file is meant
	Text     string // what is wrong and what to do
}

// String is one line.
func (p Problem) String() string {
	where := p.Scope.String() + " settings"
	if p.File != "" {
		where += " " + fsys.Printable(p.File)
	}
	if p.Line > 0 {
		where += fmt.Sprintf(":%d", p.Line)
	}
	if p.Col > 0 {
		where += fmt.Sprintf(":%d", p.Col)
	}
	if p.Key != "" {
		where += ": " + fsys.Printable(p.Key)
	}
	return where + ": " + p.Text
}
