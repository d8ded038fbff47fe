package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"time"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/plain"
)

// The index of a project is a cache of summaries, so that a list of thousands
// of sessions looks at each file's status instead of its ends. It decides
// nothing: an entry counts only for a file that has the same inode, size and
// time as when it was read, and an index that is missing, older, damaged or of
// another version is as good as none.

// indexVersion changes with the meaning of a summary.
const indexVersion = 1

// settled is how old a file's last change must be to be remembered: within
// the grain of a file system's clock, two changes can have the same time.
const settled = 2 * time.Second

// index is what is remembered, by session id.
type index map[string]indexEntry

// indexEntry is a summary with the state of the file it was read from.
type indexEntry struct {
	Inode      uint64     `json:"inode"`
	Size       int64      `json:"size"`
	Time       int64      `json:"time"` // nanoseconds since 1970
	OK         bool       `json:"ok"`
	Cwd        string     `json:"cwd,omitempty"`
	Branch     string     `json:"branch,omitempty"`
	Entrypoint string     `json:"entrypoint,omitempty"`
	Title      string     `json:"title,omitempty"`
	Tag        string     `json:"tag,omitempty"`
	Last       string     `json:"last,omitempty"`
	First      string     `json:"first,omitempty"`
	ForkOf     string     `json:"forkOf,omitempty"`
	Refers     *Reference `json:"refers,omitempty"`
}

// indexed is a summary on its way into a list and the index.
type indexed struct {
	Summary
	ok     bool
	inode  uint64
	reread bool
}

func (s Store) indexPath() string {
	return filepath.Join(s.Home, "hew", "index", s.Project+".json")
}

// readIndex returns what is remembered; nothing when that is not to be trusted.
func (s Store) readIndex() index {
	raw, err := os.ReadFile(s.indexPath())
	if err != nil {
		return nil
	}
	sum, body, ok := bytes.Cut(raw, []byte("\n"))
	if !ok || string(sum) != checksum(body) {
		return nil
	}
	var out index
	if json.Unmarshal(body, &out) != nil {
		return nil
	}
	return out
}

// checksum is the first line of an index: an edited or torn one is not believed.
func checksum(body []byte) string {
	return fmt.Sprintf("hew session index %d %08x", indexVersion, crc32.ChecksumIEEE(body))
}

// summary is the remembered summary of an unchanged file, else a fresh one.
func (x index) summary(s Store, id string) indexed {
	path := s.Path(id)
	st, err := fsys.Stat(path)
	e, known := x[id]
	if err != nil || !known || !e.fits(st) {
		sum, ok := s.summary(id)
		return indexed{Summary: sum, ok: ok, inode: st.Inode, reread: true}
	}
	return indexed{ok: e.OK, inode: e.Inode, Summary: Summary{
		ID: id, Path: path, Store: s, Modified: st.ModTime, Size: st.Size,
		Cwd: e.Cwd, Branch: e.Branch, Entrypoint: e.Entrypoint, Title: e.Title, Tag: e.Tag,
		LastPrompt: e.Last, FirstPrompt: e.First, ForkOf: e.ForkOf, Refers: e.Refers,
	}}
}

func (e indexEntry) fits(st fsys.Status) bool {
	return st.Kind == fsys.KindRegular && e.Inode == st.Inode && e.Size == st.Size && e.Time == st.ModTime.UnixNano() && readable(st)
}

// readable tells that a file's mode lets somebody read it. Whose turn it is
// says the opening; a file that was closed off altogether must not be shown
// from memory.
func readable(st fsys.Status) bool { return st.Mode.Perm()&0o444 != 0 }

// writeIndex remembers what was found. A home that cannot be written loses
// speed and nothing else, so failures are no errors.
func (s Store) writeIndex(old index, found []indexed) {
	changed := len(old) != len(found)
	now := time.Now()
	out := make(index, len(found))
	for _, f := range found {
		changed = changed || f.reread
		if f.Problem != "" || now.Sub(f.Modified) < settled {
			continue
		}
		out[f.ID] = indexEntry{
			Inode: f.inode, Size: f.Size, Time: f.Modified.UnixNano(), OK: f.ok,
			Cwd: f.Cwd, Branch: f.Branch, Entrypoint: f.Entrypoint, Title: f.Title, Tag: f.Tag,
			Last: plain.Cut(f.LastPrompt, maxReferencePrompt), First: plain.Cut(f.FirstPrompt, maxReferencePrompt), ForkOf: f.ForkOf, Refers: f.Refers,
		}
	}
	if !changed || len(out) == 0 && len(old) == 0 {
		return
	}
	body := encode(out)
	data := append([]byte(checksum(body)+"\n"), body...)
	_, _ = fsys.WriteFile(s.indexPath(), data, fsys.WriteOptions{Mode: 0o600})
}
