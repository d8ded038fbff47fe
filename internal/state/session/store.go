// Package session is the JSONL store: append, chain, resume, fork, rewind, sidechains, history, locks.
//
// A session is one append-only file of JSON lines that third-party tools read
// too. Its lines are written before a screen or a model sees their effect, and
// what is in them is the truth: resume, fork and replay read nothing else.
package session

import (
	"crypto/rand"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"unicode/utf16"

	"golang.org/x/text/unicode/norm"
)

// Store is the place of one project's sessions. The zero value is useless;
// both fields must be set.
type Store struct {
	// Home is the configuration home, absolute.
	Home string
	// Project is the name of the project's folder below Home/projects: Key of
	// the real working directory, or the name that the user chose.
	Project string
}

// maxKey is where the ecosystem's tools cut a folder name, in UTF-16 units:
// file systems allow 255 bytes a name.
const maxKey = 200

// Key is the folder name of a project: the real path of its directory with
// every UTF-16 unit outside [A-Za-z0-9] replaced by '-'. A name over 200 units
// is cut there and gets '-' and a 32-bit hash in base 36, in the way that the
// ecosystem's libraries compute it, so that they find the sessions.
func Key(realCwd string) string {
	units := utf16.Encode([]rune(norm.NFC.String(realCwd)))
	out := make([]byte, 0, len(units))
	hash := int32(0)
	for _, u := range units {
		hash = hash*31 + int32(u)
		if isAlnum(u) {
			out = append(out, byte(u))
		} else {
			out = append(out, '-')
		}
	}
	if len(out) <= maxKey {
		return string(out)
	}
	return string(out[:maxKey]) + "-" + strconv.FormatUint(uint64(math.Abs(float64(hash))), 36)
}

func isAlnum(u uint16) bool {
	return 'a' <= u && u <= 'z' || 'A' <= u && u <= 'Z' || '0' <= u && u <= '9'
}

// ChosenKey is the folder name that the environment variable
// CLAUDE_CODE_PROJECT_DIR_NAME asks for, or an error when it is not 1 to 64 of
// [A-Za-z0-9_-]. It counts only together with a chosen configuration home,
// because it makes all directories one project.
func ChosenKey(name string) (string, error) {
	ok := name != "" && len(name) <= 64
	for _, c := range name {
		ok = ok && (c == '_' || c == '-' || c < 0x80 && isAlnum(uint16(c)))
	}
	if !ok {
		return "", fmt.Errorf("project folder name %.80q: use 1 to 64 letters, digits, '_' or '-'", name)
	}
	return name, nil
}

// Dir is the folder of the project's transcripts.
func (s Store) Dir() string { return filepath.Join(s.Home, "projects", s.Project) }

// Path is the transcript of session id.
func (s Store) Path(id string) string { return filepath.Join(s.Dir(), id+".jsonl") }

// Folder is where everything else of session id lives: sidechains, spilled results.
func (s Store) Folder(id string) string { return filepath.Join(s.Dir(), id) }

// Results is the folder of tool results too large for the conversation.
func (s Store) Results(id string) string { return filepath.Join(s.Folder(id), "tool-results") }

// Sidechain is the transcript of a subagent of session id.
func (s Store) Sidechain(id, agent string) string {
	return filepath.Join(s.Folder(id), "subagents", "agent-"+agent+".jsonl")
}

func (s Store) lockPath(id string) string {
	return filepath.Join(s.Home, "hew", "locks", "session-"+id+".lock")
}

// NewID makes a random session or entry id, a version 4 UUID.
func NewID() string {
	var b [16]byte
	// crypto/rand.Read never fails: it ends the program where the system has no randomness.
	_, _ = rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// ValidID reports whether id has the form of a UUID, which session ids must have.
func ValidID(id string) bool {
	if len(id) != 36 {
		return false
	}
	for i, c := range []byte(id) {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F') {
				return false
			}
		}
	}
	return true
}
