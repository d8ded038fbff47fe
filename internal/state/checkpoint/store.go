package checkpoint

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// store keeps copies of bytes under their SHA-256. Its methods are safe for
// concurrent use.
type store struct {
	dir    string
	limits Limits

	mu   sync.Mutex
	used int64 // bytes of full copies
	next int
	// noClone tells that the file system has refused to share blocks once.
	noClone bool
}

// path is where the copy of a sum lies.
func (s *store) path(sum string) string { return filepath.Join(s.dir, sum[:2], sum) }

// measure adds up what earlier processes have copied.
func (s *store) measure() error {
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		s.used += st.Size()
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("measure the copies of this session: %w", err)
	}
	return nil
}

// errLeftOut says why a file was not copied.
type errLeftOut struct{ why string }

func (e *errLeftOut) Error() string { return e.why }

// reserve takes room for a full copy.
func (s *store) reserve(size int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case size > s.limits.File:
		return &errLeftOut{fmt.Sprintf("it is larger than %s", megabytes(s.limits.File))}
	case s.used+size > s.limits.Total:
		return &errLeftOut{fmt.Sprintf("the copies of this session have reached %s", megabytes(s.limits.Total))}
	}
	s.used += size
	return nil
}

func (s *store) release(size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= size
}

func megabytes(n int64) string {
	if n < 1<<20 {
		return strconv.FormatInt(n>>10, 10) + " KB"
	}
	return strconv.FormatInt(n>>20, 10) + " MB"
}

func (s *store) temp() (string, error) {
	if err := makeDir(s.dir); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	return filepath.Join(s.dir, fmt.Sprintf("new-%d-%d", os.Getpid(), s.next)), nil
}

// keep copies a file and returns the sum of what was copied. Blocks are shared
// where the file system can, and never is the copy another name of the file:
// an edit in place would reach it.
func (s *store) keep(path string, size int64) (sum string, err error) {
	src, err := openFile(path)
	if err != nil {
		return "", err
	}
	defer src.Close()
	tmp, err := s.temp()
	if err != nil {
		return "", err
	}
	if sum, err = s.share(tmp, src); err != nil {
		if sum, err = s.copy(tmp, src, size); err != nil {
			return "", err
		}
	}
	return sum, s.adopt(tmp, sum, size)
}

// share makes tmp share the blocks of src.
func (s *store) share(tmp string, src *os.File) (sum string, err error) {
	if !s.shares() {
		return "", errors.ErrUnsupported
	}
	if err := clone(tmp, src); err != nil {
		s.mu.Lock()
		s.noClone = true
		s.mu.Unlock()
		return "", err
	}
	sum, _, err = sums(tmp, "")
	if err != nil {
		return "", errors.Join(err, os.Remove(tmp))
	}
	return sum, nil
}

func (s *store) copy(tmp string, src *os.File, size int64) (sum string, err error) {
	if err := s.reserve(size); err != nil {
		return "", err
	}
	dst, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		s.release(size)
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(dst, h), src)
	if err = errors.Join(err, dst.Close()); err != nil {
		s.release(size)
		return "", errors.Join(err, os.Remove(tmp))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// adopt gives a complete copy its name, unless the same bytes are there already.
func (s *store) adopt(tmp, sum string, size int64) error {
	path := s.path(sum)
	if s.has(sum) {
		if !s.shares() {
			s.release(size)
		}
		return os.Remove(tmp)
	}
	if err := makeDir(filepath.Dir(path)); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return os.Rename(tmp, path)
}

// shares tells that copies cost no room.
func (s *store) shares() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.noClone
}

// openFile opens a regular file to read, and nothing else: a pipe would wait
// for ever.
func openFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sums reads a file once for its SHA-256 and, with a format, its git blob id.
func sums(path, format string) (sum, blob string, err error) {
	f, err := openFile(path)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return "", "", err
	}
	h := sha256.New()
	var g hash.Hash
	w := io.Writer(h)
	switch format {
	case "sha1":
		g = sha1.New()
	case "sha256":
		g = sha256.New()
	}
	if g != nil {
		_, _ = fmt.Fprintf(g, "blob %d\x00", st.Size()) // a hash takes everything
		w = io.MultiWriter(h, g)
	}
	n, err := io.Copy(w, f)
	if err != nil {
		return "", "", err
	}
	if g != nil && n == st.Size() {
		blob = hex.EncodeToString(g.Sum(nil))
	}
	return hex.EncodeToString(h.Sum(nil)), blob, nil
}

// reason words what kept a file from being saved.
func reason(err error) string {
	var left *errLeftOut
	switch {
	case errors.As(err, &left):
		return left.why
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "the disk with the configuration home is full"
	case errors.Is(err, fs.ErrPermission):
		return "it may not be read"
	}
	return err.Error()
}
