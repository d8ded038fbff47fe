package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Placeholders hold protected names that do not exist. The kernel covers only
// what is there, so an empty folder of that name stands on the disk while
// commands run. A folder, for every kind of name: Git does not see empty ones,
// and removing one can lose nothing.
//
// They carry a time stamp by which they are known again, and are removed when
// the last command that relies on them has ended: removing one earlier would
// take the cover away from others, also from those of another hew. Commands
// share a lock on the working directory for that.
type holder struct {
	locks []int
	made  []string
	done  bool
}

// lockWait bounds the wait for another command's tidying up.
const lockWait = 2 * time.Second

// hold makes the placeholders of a job. Where the user may not make any, the
// command may not either, and the step is taken out of the job.
func hold(j *job) (*holder, error) {
	h := &holder{}
	if !slices.ContainsFunc(j.Steps, func(s step) bool { return s.Make != "" }) {
		return h, nil
	}
	for _, root := range j.Roots {
		if err := h.lock(root); err != nil {
			return nil, errors.Join(err, h.release())
		}
	}
	kept := make([]step, 0, len(j.Steps))
	for _, s := range j.Steps {
		if s.Make != "" {
			err := h.make(s.Path, s.Make)
			if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
				continue
			}
			if err != nil {
				return nil, errors.Join(fmt.Errorf("hold the name %s: %w", shown(s.Path), err), h.release())
			}
		}
		kept = append(kept, s)
	}
	j.Steps = kept
	return h, nil
}

func (h *holder) lock(root string) error {
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", shown(root), err)
	}
	for deadline := time.Now().Add(lockWait); ; {
		err := unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB)
		if err == nil {
			h.locks = append(h.locks, fd)
			return nil
		}
		if time.Now().After(deadline) {
			unix.Close(fd)
			return fmt.Errorf("another program holds a lock on %s: %w", shown(root), err)
		}
		_, _ = unix.Poll(nil, 5)
	}
}

func (h *holder) make(path, kind string) error {
	var err error
	if kind == "file" {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err == nil {
			err = f.Close()
		}
	} else {
		err = os.Mkdir(path, 0o755)
	}
	switch {
	case errors.Is(err, fs.ErrExist): // made by another command, or by anybody meanwhile
	case err != nil:
		return err
	default:
		if err := os.Chtimes(path, placeholderTime(), placeholderTime()); err != nil {
			return err
		}
	}
	h.made = append(h.made, path)
	return nil
}

// release removes the placeholders if nobody else relies on them.
func (h *holder) release() error {
	if h.done {
		return nil
	}
	h.done = true
	last := true
	for _, fd := range h.locks {
		last = last && unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil
	}
	var errs []error
	for _, path := range h.made {
		if last && isPlaceholder(path) {
			if err := os.Remove(filepath.Clean(path)); err != nil && !errors.Is(err, unix.ENOTEMPTY) {
				errs = append(errs, err)
			}
		}
	}
	for _, fd := range h.locks {
		unix.Close(fd)
	}
	return errors.Join(errs...)
}
