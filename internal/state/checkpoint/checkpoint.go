// Package checkpoint holds before-images of edits and of what shell commands change; restore.
//
// Everything of a session lies in one folder, file-history/<session> below the
// configuration home, so that it goes when the session goes:
//
//	<16 hex>@v<N>        the bytes of a file before an edit tool changed it
//	journal.jsonl        what happened to which file, in order (see record)
//	tree-<N>.jsonl       what a working directory was like before the first command
//	copies/<2>/<sha256>  bytes that a command could have destroyed
//	kept/<time>/…        what a rewind found in a place that somebody else had changed
//
// Nothing below a .git folder is read, saved or written: that is the
// repository's own, and it has its own ways of undoing.
package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Git answers for the object store of one repository; every call may start a
// process. No method changes anything of the repository.
type Git interface {
	// Format is the name of the hash of object ids: "sha1" or "sha256".
	Format() string
	// Held returns those of ids whose blobs the object store has.
	Held(ctx context.Context, ids []string) (map[string]bool, error)
	// Contents returns the bytes of blobs; an id that is not held is missing in it.
	Contents(ctx context.Context, ids []string) (map[string][]byte, error)
}

// Limits bound what a session may copy.
type Limits struct {
	// File and Total are bytes: of one file, and of all copies of the session.
	// Where the file system can share blocks, copies cost nothing and do not count.
	File, Total int64
	// Entries is the number of files and folders that are watched at most.
	Entries int
}

// DefaultLimits hold unless the user chose others.
func DefaultLimits() Limits { return Limits{File: 128 << 20, Total: 2 << 30, Entries: 1_500_000} }

// Config makes a Tracker. Dir, Roots, Now and Limits are required.
type Config struct {
	// Dir is the session's folder below file-history.
	Dir string
	// Roots are the working directories, real paths; Skip are folders in them
	// that belong to hew.
	Roots, Skip []string
	// Git finds the repository that a root lies in, nil for none. Optional.
	Git    func(ctx context.Context, root string) Git
	Limits Limits
	Now    func() time.Time
	// Watch lets the kernel tell what changed, so that a tree is not walked
	// before each command. Where it cannot, trees are walked.
	Watch bool
}

// Tracker follows the files of one session. It is safe for concurrent use.
type Tracker struct {
	c   Config
	log *journal

	mu      sync.Mutex
	message string // the prompt that works now
	index   *index // nil until the first command
	last    *command
	edits   map[string]*editing
	// versions counts the before-images of a path; touched holds the paths that
	// the current prompt has changed already.
	versions map[string]int
	touched  map[string]bool
	store    *store
	gits     map[string]Git
	watch    *watcher
}

// command is the newest command whose changes are not booked yet.
type command struct {
	use, message string
	// ended is when it returned, zero while it runs.
	ended time.Time
	// open tells that something of it may go on changing files.
	open bool
}

// Open reads what an earlier process of the session has left, if anything. It
// writes nothing.
func Open(c Config) (*Tracker, error) {
	t := &Tracker{
		c: c, log: &journal{dir: c.Dir}, edits: map[string]*editing{}, versions: map[string]int{},
		touched: map[string]bool{}, gits: map[string]Git{},
		store: &store{dir: filepath.Join(c.Dir, "copies"), limits: c.Limits},
	}
	records, err := readJournal(c.Dir)
	if err != nil || len(records) == 0 {
		return t, err
	}
	if err := t.recall(records); err != nil {
		return nil, err
	}
	return t, t.store.measure()
}

// recall brings the index to where the journal ends.
func (t *Tracker) recall(records []record) error {
	for _, r := range records {
		t.message = r.Message
		switch r.Kind {
		case kindStart:
			if t.index == nil {
				t.index = newIndex()
			}
			t.index.roots = append(t.index.roots, r.Roots...)
			if err := readTree(filepath.Join(t.c.Dir, r.File), t.index); err != nil {
				return err
			}
		case kindBegin:
			t.last = &command{use: r.Use, message: r.Message}
		case kindEnd:
			if t.last != nil {
				t.last.ended, t.last.open = time.Unix(0, r.Time), r.Open
			}
		case kindScan, kindEdited, kindRewind:
			if r.Kind == kindScan && r.Use != "" {
				t.last = nil
			}
			t.replay(r)
		case kindEdit:
			t.count(r.Changes)
		}
	}
	return nil
}

func (t *Tracker) replay(r record) {
	if t.index == nil {
		return
	}
	for _, ch := range r.Changes {
		if t.index.covers(string(ch.Path)) {
			t.index.put(string(ch.Path), ch.After)
		}
	}
}

func (t *Tracker) count(changes []Change) {
	for _, ch := range changes {
		if v := ch.Before.version(); v > t.versions[string(ch.Path)] {
			t.versions[string(ch.Path)] = v
		}
	}
}

// Prompt begins the checkpoint of a prompt: what happens from here on is undone
// by a rewind to it.
func (t *Tracker) Prompt(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.message = id
	clear(t.touched)
	// It is written with the first thing that happens: a conversation that
	// changes nothing leaves nothing.
	t.log.ahead = append(t.log.ahead, record{Kind: kindPrompt, Time: t.c.Now().UnixNano(), Message: id})
}

// Dir is where everything of the session lies.
func (t *Tracker) Dir() string { return t.c.Dir }

// Close frees what watches the file system.
func (t *Tracker) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watch != nil {
		t.watch.close()
		t.watch = nil
	}
	return t.log.close()
}

// backupName is the name of a before-image in the documented layout.
func backupName(path string, version int) string {
	sum := sha256.Sum256([]byte(path))
	return fmt.Sprintf("%s@v%d", hex.EncodeToString(sum[:8]), version)
}

func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder for before-images: %w", err)
	}
	return nil
}
