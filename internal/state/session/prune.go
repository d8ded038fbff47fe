package session

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Retention says which sessions may go.
type Retention struct {
	// Age is how long a session is kept after its last change; 0 keeps for ever.
	Age time.Duration
	// Size is how many bytes all sessions may have together, the oldest going first; 0 is no bound.
	Size int64
	Now  time.Time
	// Keep are ids that stay whatever else, such as the running session.
	Keep []string
}

// Doomed is a session that a prune removes, or keeps although its time is over.
type Doomed struct {
	Summary
	// Bytes is what it takes: transcript, subagents, results, before-images.
	Bytes int64
	// Why is "age" or "size".
	Why string
	// Kept says what keeps it, "" when it goes.
	Kept string
}

// Weight is how many bytes a session takes on disk beside other sessions.
func (s Summary) Weight() int64 {
	n := s.Size
	for _, dir := range []string{s.Store.Folder(s.ID), s.Store.backups(s.ID)} {
		n += weigh(dir)
	}
	return n
}

// backups is the folder of the before-images of a session.
func (s Store) backups(id string) string { return filepath.Join(s.Home, "file-history", id) }

func weigh(dir string) (n int64) {
	// What cannot be looked at is not counted: the sum is shown, and decides nothing that could lose data.
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n
}

// Plan says what a prune of all the sessions would remove. A session that a
// fork refers to stays as long as the fork does.
func (r Retention) Plan(all []Summary) []Doomed {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Summary) int { return newestFirst(b, a) }) // the oldest first
	weights := make([]int64, len(all))
	total := int64(0)
	parallel(len(all), func(i int) {
		if r.Size > 0 || r.old(all[i]) {
			weights[i] = all[i].Weight()
		}
	})
	for _, w := range weights {
		total += w
	}
	var out []Doomed
	goes := map[string]int{}
	for i, s := range all {
		why := ""
		switch {
		case r.old(s):
			why = "age"
		case r.Size > 0 && total > r.Size:
			why = "size"
		}
		if why == "" {
			continue
		}
		if slices.Contains(r.Keep, s.ID) {
			continue
		}
		total -= weights[i]
		goes[s.ID] = len(out)
		out = append(out, Doomed{Summary: s, Bytes: weights[i], Why: why})
	}
	keepReferred(all, out, goes)
	return out
}

func (r Retention) old(s Summary) bool { return r.Age > 0 && r.Now.Sub(s.Modified) > r.Age }

// keepReferred takes out of a plan what a fork that stays refers to, also over several forks.
func keepReferred(all []Summary, plan []Doomed, goes map[string]int) {
	for again := true; again; {
		again = false
		for _, s := range all {
			if i, ok := goes[s.ID]; s.Refers == nil || ok && plan[i].Kept == "" {
				continue
			}
			if i, ok := goes[s.Refers.Session]; ok && plan[i].Kept == "" {
				plan[i].Kept = "its fork " + s.ID + " refers to it"
				again = true
			}
		}
	}
}

// Remove deletes a session with everything that belongs to it: subagents,
// results, before-images. It is a *Busy while a process has it open. Forks in
// all that refer to it get a copy of what they need first.
func Remove(s Summary, all []Summary) error {
	held, err := acquire(s.Store.lockPath(s.ID), s.ID)
	var busy *Busy
	if errors.As(err, &busy) {
		return busy
	}
	return errors.Join(remove(s, all), held.release())
}

func remove(s Summary, all []Summary) error {
	for _, f := range all {
		if f.Refers == nil || f.Refers.Session != s.ID || f.Refers.Project != s.Store.Project {
			continue
		}
		if err := f.Detach(); err != nil {
			return fmt.Errorf("session %s stays, because its fork %s refers to it and could not be made whole: %w", s.ID, f.ID, err)
		}
	}
	if err := s.dropFolder(all); err != nil {
		return err
	}
	if err := os.RemoveAll(s.Store.backups(s.ID)); err != nil {
		return failed("remove", s.Store.backups(s.ID), err)
	}
	if err := os.Remove(s.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed("remove", s.Path, err)
	}
	return errors.Join(s.Store.forget(), s.Store.log("prune", s.ID, fmt.Sprintf("%d bytes", s.Size)))
}

// log notes what was rewritten or removed, as nothing else changes what is on
// disk: one JSON object a line in hew/sessions.log of the home.
func (s Store) log(op, id, detail string) error {
	path := filepath.Join(s.Home, "hew", "sessions.log")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return failed("create the folder of", path, err)
	}
	f, err := openAppend(path, os.O_CREATE)
	if err != nil {
		return failed("open", path, err)
	}
	line := newLine().str("time", stampTime(time.Now())).str("op", op).str("sessionId", id).str("project", s.Project).str("detail", detail).done()
	_, err = f.Write(append(line, '\n'))
	return failed("write", path, errors.Join(err, f.Close()))
}

// forget drops the project's index, which repeats prompts.
func (s Store) forget() error {
	if err := os.Remove(s.indexPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed("remove", s.indexPath(), err)
	}
	return nil
}

// Detach gives a fork by reference a copy of the history that it refers to.
func (s Summary) Detach() error {
	return s.rewrite("copy the history of", func(w io.Writer, t *transcript) error {
		if t.lost != "" {
			return errors.New(t.lost)
		}
		return copyFork(w, t.all(), s.ID)
	})
}

// rewrite replaces a session's file; it is a *Busy while a process has it open.
func (s Summary) rewrite(op string, write func(io.Writer, *transcript) error) error {
	held, err := acquire(s.Store.lockPath(s.ID), s.ID)
	var busy *Busy
	if errors.As(err, &busy) {
		return busy
	}
	t, err := openTranscript(s.Path)
	if err != nil {
		return errors.Join(err, held.release())
	}
	err = replaceWith(s.Path, op, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 256<<10)
		return errors.Join(write(b, t), b.Flush())
	})
	t.close()
	if err == nil {
		err = os.Chtimes(s.Path, s.Modified, s.Modified) // its age is that of what was said
	}
	return errors.Join(err, held.release())
}
