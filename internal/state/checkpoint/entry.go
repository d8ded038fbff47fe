package checkpoint

import (
	"encoding/base64"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is what a name stands for. The zero value is nothing: the name is free.
type Kind string

// The kinds.
const (
	Absent Kind = ""
	File   Kind = "f"
	Folder Kind = "d"
	Link   Kind = "l"
	// Other is a socket, pipe or device: seen, never saved or restored.
	Other Kind = "o"
)

// Entry is one name in a tree, as it was at some moment.
type Entry struct {
	Kind Kind `json:"k,omitempty"`
	// Mode holds permissions and the set-id and sticky bits.
	Mode fs.FileMode `json:"m,omitempty"`
	Size int64       `json:"n,omitempty"`
	// Mtime and Ctime are nanoseconds since 1970. The kernel sets Ctime and no
	// program can: an edit that puts Mtime back still shows there.
	Mtime int64  `json:"t,omitempty"`
	Ctime int64  `json:"c,omitempty"`
	Inode uint64 `json:"i,omitempty"`
	// Sum is the SHA-256 of a file's bytes in hex, "" when they were not read.
	Sum string `json:"h,omitempty"`
	// Where tells where the bytes are: "s" in copies under Sum, "g<id>" as a
	// blob of the repository, "b<name>" in a before-image, "" nowhere.
	Where string `json:"w,omitempty"`
	// Target is where a link points.
	Target osName `json:"l,omitempty"`
	// Why says what kept the bytes from being saved.
	Why string `json:"x,omitempty"`
	// Fresh files were changed so shortly before they were looked at that a
	// further change need not show in their times.
	Fresh bool `json:"r,omitempty"`

	dev   uint64
	links uint64
}

// same tells that nothing suggests a change since old was taken.
func (e *Entry) same(old *Entry) bool {
	if e.Kind != old.Kind || e.Mode != old.Mode || old.Fresh {
		return false
	}
	if e.Kind == Folder {
		return true
	}
	return e.Size == old.Size && e.Mtime == old.Mtime && e.Ctime == old.Ctime && e.Inode == old.Inode
}

// Equal tells that a person would find the same thing under the name: kind,
// mode and bytes.
func (e *Entry) Equal(o *Entry) bool {
	if e.Kind != o.Kind {
		return false
	}
	switch e.Kind {
	case Absent, Other:
		return true
	case Link:
		return e.Target == o.Target
	case Folder:
		return e.Mode == o.Mode
	case File:
		return e.Mode == o.Mode && e.Size == o.Size && e.Sum == o.Sum && e.Sum != ""
	}
	return false
}

// saved tells that the entry can be restored.
func (e *Entry) saved() bool { return e.Kind != File || e.Where != "" }

func (e *Entry) version() int {
	_, v, _ := strings.Cut(strings.TrimPrefix(e.Where, "b"), "@v")
	n, err := strconv.Atoi(v)
	if !strings.HasPrefix(e.Where, "b") || err != nil {
		return 0
	}
	return n
}

// osName is a file name in JSON: text where it is UTF-8, else NUL and base64,
// because a name may be any bytes but NUL.
type osName string

// MarshalText encodes the name.
func (n osName) MarshalText() ([]byte, error) {
	if utf8.ValidString(string(n)) {
		return []byte(n), nil
	}
	return []byte("\x00" + base64.StdEncoding.EncodeToString([]byte(n))), nil
}

// UnmarshalText decodes what MarshalText wrote.
func (n *osName) UnmarshalText(b []byte) error {
	if len(b) == 0 || b[0] != 0 {
		*n = osName(b)
		return nil
	}
	raw, err := base64.StdEncoding.DecodeString(string(b[1:]))
	*n = osName(raw)
	return err
}

// Change is what happened to one name.
type Change struct {
	Path   osName `json:"p"`
	Before Entry  `json:"b"`
	After  Entry  `json:"a"`
}
