// Package shellread turns bash text into facts (commands, redirects, paths, unparseable) over a real parser; memoised, so that Bash's plan and the policy read the same facts.
//
// Nothing is executed or opened. Whatever the reader does not understand is
// reported as an Issue or as a Hole in a word: a consumer that treats both as
// "ask" never runs a command by accident.
package shellread

import "strings"

// Shell is the dialect a text will be run by.
type Shell int

// The dialects.
const (
	Bash Shell = iota
	Zsh
)

// Facts is everything that was read out of one command text. It is immutable
// and shared between callers.
type Facts struct {
	// Parts are all simple commands in the order of the text, however nested.
	Parts []Part
	// Issues are findings about the text as a whole.
	Issues []Issue
}

// Issue is one thing that stands in the way of running the text unasked.
type Issue struct {
	Kind IssueKind
	// Text names the construct for people.
	Text string
}

// IssueKind tells how far an Issue reaches.
type IssueKind int

// The kinds of issue.
const (
	// Opaque texts could not be read in full (syntax error, size, nesting,
	// invisible characters): nothing but a person may approve them.
	Opaque IssueKind = iota
	// Construct marks syntax whose effect on other parts is not followed
	// (functions, background jobs, arithmetic on variables): only approval of
	// the shell as a whole covers it.
	Construct
)

// Class is what a part is known to do.
type Class int

// The classes.
const (
	// Other may do anything.
	Other Class = iota
	// ReadOnly prints, and reads only what Paths names.
	ReadOnly
	// FileEdit is one of the plain file commands; it changes only what Paths names.
	FileEdit
)

// Part is one simple command.
type Part struct {
	// Words is the command with wrappers and leading options of wrappers kept;
	// Words[Start:] is what really runs. Both are empty for a bare assignment
	// or redirect.
	Words []Word
	Start int
	// Name is the program that runs, without its directory; "" when unknown.
	Name string
	// Assigns are the leading assignments, in order.
	Assigns []Assign
	// Paths are the files named by operands, options and redirects.
	Paths []PathArg
	// Dirs are the possible current directories.
	Dirs Dirs
	// Class and Why say what the part is known to do, or what was not understood.
	Class Class
	Why   string
	// Shadow parts are other readings of a part (the command behind sudo, the
	// text given to bash -c, the body of a function): deny and ask rules look
	// at them, approval never does.
	Shadow bool
	// Writer marks programs that are known to change files, whether or not
	// their arguments were understood.
	Writer bool
	// ExactOnly parts run another program in a way that no prefix can bound.
	ExactOnly bool
	// Unruled, when not empty, says why no rule with a pattern may cover the part.
	Unruled string
	// Forms are the spellings of the part that rules are compared with.
	Forms Forms

	// leaks tells that standard input holds the value of a variable.
	leaks bool
}

// Forms are the spellings of a part. Holes stand for run-time text.
type Forms struct {
	// Allow holds the spellings an allow rule may match: words joined by one
	// blank, quoted where needed, and the same as written.
	// Two answers are looser than what the ecosystem's tools were seen to do, on
	// purpose: more than one blank between words (x  y under a rule for x y) and a
	// here-document that feeds the program (cat <<E | x y) are nothing that a rule
	// on words is about, and change no word.
	Allow []string
	// Exact holds the spellings only a rule without wildcards may match: the
	// assignments and wrappers are included, as written.
	Exact []string
	// Assigned is the part as written with its leading assignments, for rules
	// that name them; "" when there are none.
	Assigned string
	// Deny holds every spelling a deny or ask rule may match. A name with a
	// directory is listed by its bare name too.
	Deny []string
	// Possible is Deny with holes at every place whose text is only known at
	// run time, globs included; empty when there is none.
	Possible []string
}

// Assign is one leading assignment.
type Assign struct {
	Name, Source string
	// Harmless assignments change nothing but output form; see harmlessVars.
	Harmless bool
}

// Dirs are the directories a part may run in, each as the chain of cd operands
// since the start of the text. Unknown is set when the chain could not be
// followed.
type Dirs struct {
	Chains  [][]string
	Unknown bool
}

// Access is what is done to a path.
type Access int

// The kinds of access.
const (
	AccessRead Access = iota
	AccessWrite
	AccessRemove
)

// PathArg is one file that a part names.
type PathArg struct {
	Word   Word
	Access Access
	// Redirect marks the target of a redirect.
	Redirect bool
	// Recursive accesses reach the content of everything below the path;
	// SkipHidden then leaves out names that start with a dot.
	Recursive, SkipHidden bool
	// Candidate paths are guesses (an operand that may be a path): they can
	// deny, or ask when they are outside, but are not known to be used.
	Candidate bool
}

// Hole stands in Word.Text for text that exists only at run time. It is the NUL
// byte, which no command line can hold.
const Hole = '\x00'

const hole = "\x00"

// Origin tells where the run-time text in a word comes from.
type Origin uint8

// The origins, a set.
const (
	FromVar    Origin = 1 << iota // environment or shell variable
	FromSubst                     // output of a command that is itself a part
	FromProc                      // /dev/fd path of a process substitution
	FromNumber                    // decimal digits only
	FromInput                     // appended by xargs
)

// Word is one word after quote removal.
type Word struct {
	// Text is the value; Hole stands for unknown pieces.
	Text string
	// Source is the word as written.
	Source string
	// Pattern is set when the word is an active glob: Text with every literal
	// meta character escaped by a backslash.
	Pattern string
	// Tilde is set when the word starts with an unquoted ~ or ~/.
	Tilde bool
	// Braced is set when the word came out of a brace expansion.
	Braced bool
	// Holes is the union of the origins of all holes.
	Holes Origin
}

// Literal reports whether Text is exactly what the program will get.
func (w Word) Literal() bool { return w.Holes == 0 && w.Pattern == "" }

// ReadOnly reports whether the whole text is known to change nothing: every
// part is read-only, no redirect writes, nothing is left open.
func (f *Facts) ReadOnly() bool {
	if len(f.Issues) > 0 || len(f.Parts) == 0 {
		return false
	}
	for i := range f.Parts {
		p := &f.Parts[i]
		if p.Shadow {
			continue
		}
		if p.Class != ReadOnly {
			return false
		}
		for _, a := range p.Paths {
			if a.Access != AccessRead {
				return false
			}
		}
	}
	return true
}

// Opaque returns the first finding that only a person may overrule, or "".
func (f *Facts) Opaque() string { return f.firstIssue(Opaque) }

// Construct returns the first construct that only approval of the shell as a
// whole covers, or "".
func (f *Facts) Construct() string { return f.firstIssue(Construct) }

func (f *Facts) firstIssue(k IssueKind) string {
	for _, i := range f.Issues {
		if i.Kind == k {
			return i.Text
		}
	}
	return ""
}

// Line returns the part as it would be shown to a person.
func (p *Part) Line() string {
	src := make([]string, len(p.Words))
	for i, w := range p.Words {
		src[i] = w.Source
	}
	return strings.Join(src, " ")
}
