package fsys

import (
	"crypto/sha256"
	"maps"
	"os"
	"sync"
	"time"
)

// Freshness is how what the model has seen of a file relates to the file now.
type Freshness int

// The freshness values, in the order in which a tool should worry about them.
const (
	Unread      Freshness = iota // never shown
	Fresh                        // shown whole, unchanged since
	PartialView                  // unchanged, but only a part was shown
	Changed                      // different from what was shown, or gone
)

// Extent says how much of a file was shown.
type Extent int

// The extents.
const (
	Whole Extent = iota
	Partial
)

// View is one showing of a file, or one write of it: after a write the writer knows the content.
type View struct {
	Status  Status // as it was when Content was read: from the open file or Written.Status
	Content []byte // all raw bytes of the file; nil when they were not at hand (a slice of a huge file)
	Extent  Extent
}

// ReadState remembers, per canonical path, what was shown of which file. Safe for concurrent use; the zero value works.
type ReadState struct {
	mu    sync.Mutex
	files map[string]sighting
}

type sighting struct {
	status Status
	hash   [sha256.Size]byte
	hashed bool
	extent Extent
	seen   time.Time
}

// racyWindow: a file changed again within the clock step of its file system keeps its time, so a time that was younger
// than this when the file was seen proves nothing. FAT's two seconds are the coarsest step in use.
const racyWindow = 2 * time.Second

// hashLimit bounds how many bytes Check reads to settle a doubt.
const hashLimit = 32 << 20

// Record notes a view. A partial view of a file that was already seen whole and has not changed keeps it whole.
func (r *ReadState) Record(path string, v View) {
	s := sighting{status: v.Status, extent: v.Extent, seen: time.Now()}
	if v.Content != nil {
		s.hash, s.hashed = sha256.Sum256(v.Content), true
	}
	key := stateKey(path)
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, ok := r.files[key]; ok && old.extent == Whole && s.extent == Partial && s.unchangedFrom(old) {
		if !s.hashed {
			s.hash, s.hashed = old.hash, old.hashed
		}
		s.extent = Whole
	}
	if r.files == nil {
		r.files = make(map[string]sighting)
	}
	r.files[key] = s
}

func (s sighting) unchangedFrom(old sighting) bool {
	if s.hashed && old.hashed {
		return s.hash == old.hash
	}
	return sameStat(s.status, old.status)
}

// Check compares a file with what was recorded. Equal size, time and identity suffice, unless the time was so young
// when it was recorded that a later change could share it; then, or when only the time differs, the content decides.
func (r *ReadState) Check(path string) Freshness {
	key := stateKey(path)
	s, ok := r.get(key)
	if !ok {
		return Unread
	}
	now, err := Stat(key)
	if err != nil || now.Kind != KindRegular {
		return Changed
	}
	if sameStat(now, s.status) && (!s.hashed || s.seen.Sub(s.status.ModTime) > racyWindow) {
		return s.fresh()
	}
	if !s.hashed || now.Size != s.status.Size || now.Size > hashLimit {
		return Changed
	}
	content, err := os.ReadFile(key)
	if err != nil {
		return Changed
	}
	return r.CheckContent(path, content)
}

// CheckContent is Check for a caller who has just read all bytes of the file: only they decide, so that a change that
// kept size and time is caught.
func (r *ReadState) CheckContent(path string, content []byte) Freshness {
	s, ok := r.get(stateKey(path))
	switch {
	case !ok:
		return Unread
	case !s.hashed:
		return r.checkUnhashed(path, s)
	case sha256.Sum256(content) != s.hash:
		return Changed
	}
	return s.fresh()
}

func (r *ReadState) checkUnhashed(path string, s sighting) Freshness {
	now, err := Stat(stateKey(path))
	if err != nil || !sameStat(now, s.status) {
		return Changed
	}
	return s.fresh()
}

func (s sighting) fresh() Freshness {
	if s.extent == Partial {
		return PartialView
	}
	return Fresh
}

func (r *ReadState) get(key string) (sighting, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.files[key]
	return s, ok
}

// Forget drops what is known of a file.
func (r *ReadState) Forget(path string) {
	key := stateKey(path)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.files, key)
}

// Clone returns an independent copy, for a child conversation that starts with the parent's knowledge.
func (r *ReadState) Clone() *ReadState {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &ReadState{files: maps.Clone(r.files)}
}

// Paths returns the canonical names of all recorded files, in no order.
func (r *ReadState) Paths() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]string, 0, len(r.files))
	for p := range r.files {
		out = append(out, p)
	}
	return out
}

// stateKey makes a link and its target one entry.
func stateKey(path string) string {
	if real, err := Real(path); err == nil {
		return real
	}
	return path
}

func sameStat(a, b Status) bool {
	return a.Kind == b.Kind && a.Size == b.Size && a.ModTime.Equal(b.ModTime) && a.Device == b.Device && a.Inode == b.Inode
}
