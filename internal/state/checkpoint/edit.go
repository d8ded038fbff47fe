package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// editing is an edit under way.
type editing struct {
	path    string
	before  Entry
	message string
	// made are the folders above it that did not exist.
	made []string
}

// Backup is the before-image of one edit, in the terms of the transcript.
type Backup struct {
	Path string
	// Name is the file in the session's folder, "" when there was no file.
	Name    string
	Version int
	Time    time.Time
	// First tells that the current prompt had not changed the file before.
	First bool
}

// BeforeEdit saves a file that an edit tool is about to write, or notes that
// there is none. path is real: a link would be written through.
func (t *Tracker) BeforeEdit(ctx context.Context, use, path string) (Backup, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refresh(ctx, path); err != nil {
		return Backup{}, err
	}
	e, err := lookAt(path)
	if err != nil {
		return Backup{}, fmt.Errorf("save %s before it is changed: %w", path, err)
	}
	b := Backup{Path: path, Time: t.c.Now(), Version: t.versions[path] + 1, First: !t.touched[path]}
	if e.Kind == File && e.Size > t.c.Limits.File {
		return Backup{}, fmt.Errorf("%s is larger than %s, too much to be saved before it is changed", path, megabytes(t.c.Limits.File))
	}
	if e.Kind == File {
		b.Name = backupName(path, b.Version)
		if e.Sum, err = t.backUp(path, b.Name); err != nil {
			return Backup{}, fmt.Errorf("save %s before it is changed: %w", path, err)
		}
		e.Where = "b" + b.Name
	}
	r := record{Kind: kindEdit, Time: b.Time.UnixNano(), Message: t.message, Use: use, Changes: []Change{{Path: osName(path), Before: e}}}
	if err := t.log.add(r); err != nil {
		return Backup{}, err
	}
	t.versions[path]++
	t.touched[path] = true
	t.edits[use] = &editing{path, e, t.message, missingAbove(path)}
	return b, nil
}

// backUp makes the plain copy of the documented layout.
func (t *Tracker) backUp(path, name string) (sum string, err error) {
	if err := makeDir(t.c.Dir); err != nil {
		return "", err
	}
	src, err := openFile(path)
	if err != nil {
		return "", err
	}
	defer src.Close()
	to := filepath.Join(t.c.Dir, name)
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(dst, src)
	if err = errors.Join(err, dst.Close()); err != nil {
		return "", errors.Join(err, os.Remove(to))
	}
	sum, _, err = sums(to, "")
	return sum, err
}

// AfterEdit notes what an edit made of its file.
func (t *Tracker) AfterEdit(use string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	ed := t.edits[use]
	if ed == nil {
		return nil
	}
	delete(t.edits, use)
	after, err := t.now(ed.path)
	if err != nil {
		return err
	}
	changes := append(folders(ed.made), Change{Path: osName(ed.path), Before: ed.before, After: after})
	if t.index != nil && t.index.covers(ed.path) {
		for _, ch := range changes {
			t.index.put(string(ch.Path), ch.After)
		}
	}
	return t.log.add(record{Kind: kindEdited, Time: t.c.Now().UnixNano(), Message: ed.message, Use: use, Changes: changes})
}

// missingAbove lists the folders above path that do not exist, the highest first.
func missingAbove(path string) []string {
	var out []string
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if e, err := lookAt(dir); err != nil || e.Kind != Absent {
			break
		}
		out = append([]string{dir}, out...)
	}
	return out
}

// folders are the changes that made folders of nothing.
func folders(made []string) []Change {
	var out []Change
	for _, dir := range made {
		if e, err := lookAt(dir); err == nil && e.Kind == Folder {
			out = append(out, Change{Path: osName(dir), After: e})
		}
	}
	return out
}

// now is what is under a path, with the sum of its bytes.
func (t *Tracker) now(path string) (Entry, error) {
	e, err := lookAt(path)
	if err != nil || e.Kind != File {
		return e, err
	}
	e.Fresh = true // an index that has not copied it must look again
	e.Sum, _, err = sums(path, "")
	return e, err
}

// refresh books what has happened to one path since the last snapshot, so that
// an edit is not taken for the work of the command before it.
func (t *Tracker) refresh(ctx context.Context, path string) error {
	if t.index == nil || !t.index.covers(path) || t.last == nil {
		return nil
	}
	now, err := lookAt(path)
	if err != nil {
		return err
	}
	old := t.index.get(path)
	if old == nil {
		old = &Entry{}
	}
	if now.same(old) {
		return nil
	}
	last := t.last
	found := t.save(ctx, []Change{{Path: osName(path), Before: *old, After: now}}, false)
	if len(found) == 0 {
		return nil
	}
	r := record{Kind: kindScan, Time: t.c.Now().UnixNano(), Message: last.message, By: t.whose(found[0]), Changes: found}
	if r.By == byOther {
		r.Message = t.message
	}
	return t.log.add(r)
}
