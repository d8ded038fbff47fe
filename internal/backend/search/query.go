package search

import (
	"time"
)

// Mode is what a Grep returns.
type Mode uint8

const (
	// ModeFiles lists the files that match, newest modification first.
	ModeFiles Mode = iota
	// ModeContent gives the matching lines, by path.
	ModeContent
	// ModeCount gives the number of matching lines per file, by path.
	ModeCount
)

// GrepQuery asks for the lines under Root that match Pattern.
type GrepQuery struct {
	// Root is an absolute path. A folder is searched under its ignore rules;
	// a file is searched whatever they say, and through a symbolic link.
	Root string
	// Pattern is a regular expression in Rust syntax.
	Pattern string
	// Globs choose files as ripgrep's --glob does: relative to Root, a later
	// one wins, '!' in front leaves out, and a chosen file is searched even
	// when it is hidden or ignored.
	Globs []string
	// Type is a name such as "go" or "py"; see UnknownTypeError.
	Type string
	Mode Mode

	Before, After int // lines of context, in ModeContent
	IgnoreCase    bool
	OnlyMatching  bool // the matched text, unless empty, in place of its line, in ModeContent
	Multiline     bool // matches may span lines, and '.' matches a line feed

	// HeadLimit is the number of lines or files to return; 0 asks for as many
	// as the engine's own limits allow. Offset is how many to leave out first.
	HeadLimit, Offset int
	// MaxLineBytes is where long lines are cut; 0 means 8 KiB.
	MaxLineBytes int
	// Exclude hides what the caller may not read. It gets the absolute path
	// of every folder and file that would be searched, from several
	// goroutines at once.
	Exclude func(path string) bool
}

// LineKind says why a Line is part of a result.
type LineKind uint8

const (
	// LineMatch is a matching line.
	LineMatch LineKind = iota
	// LineContext is a line near a match.
	LineContext
	// LineBreak stands between lines that are not adjacent; only with context.
	LineBreak
	// LineBinary stands for all matches of a binary file that Root names.
	LineBinary
)

// Line is one line of content, without its line feed.
type Line struct {
	Kind    LineKind
	Path    string // absolute
	Number  int    // from 1
	Text    string // as in the file; UTF-16 is converted, other encodings are not
	Omitted int    // bytes cut off the end of Text
}

// FileMatch is one matching file.
type FileMatch struct {
	Path    string    // absolute
	Count   int       // in ModeCount
	ModTime time.Time // in ModeFiles
}

// GrepResult is what a Grep found.
type GrepResult struct {
	Lines []Line      // in ModeContent
	Files []FileMatch // in the other modes
	// TotalFiles and TotalMatches count everything, whatever HeadLimit and
	// Offset say. In ModeContent they are 0: the search ends early.
	TotalFiles, TotalMatches int
	// Truncated tells that there is more than HeadLimit, or one of the
	// engine's limits, let through.
	Truncated bool
	Skips     []Skip // at most 20
	SkipCount int    // all of them
}

// Limits of one result, so that no query can fill the memory.
const (
	defaultLineBytes = 8 << 10
	maxContentBytes  = 16 << 20
	maxEntries       = 100_000
)

func (q *GrepQuery) maxLine() int {
	if q.MaxLineBytes > 0 {
		return q.MaxLineBytes
	}
	return defaultLineBytes
}

// keep is the number of entries, in result order, that must be remembered.
func (q *GrepQuery) keep() int {
	if q.HeadLimit <= 0 || q.HeadLimit > maxEntries {
		return maxEntries + max(q.Offset, 0)
	}
	return q.HeadLimit + max(q.Offset, 0)
}

// page cuts sorted entries to what the query asks for.
func page[T any](entries []T, offset, keep int) (out []T, truncated bool) {
	truncated = len(entries) > keep
	entries = entries[:min(len(entries), keep)]
	return entries[min(max(offset, 0), len(entries)):], truncated
}
