package memory

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Disk is the file system as it was when it was first asked: each name is looked
// at and read once. The zero value is ready; it is not safe for concurrent use.
type Disk struct {
	kinds map[string]fsys.Kind
	texts map[string]reading
	lists map[string]listing
}

// reading is a text file and its canonical name.
type reading struct {
	text, real string
	size       int64
	err        error // fs.ErrNotExist when there is none
}

// listing is a folder's names, sorted.
type listing struct {
	names []string
	err   error
}

func (d *Disk) kind(path string) fsys.Kind {
	k, known := d.kinds[path]
	if !known {
		if d.kinds == nil {
			d.kinds = map[string]fsys.Kind{}
		}
		k = fsys.KindOf(path)
		d.kinds[path] = k
	}
	return k
}

func (d *Disk) read(path string) reading {
	if r, known := d.texts[path]; known {
		return r
	}
	if d.texts == nil {
		d.texts = map[string]reading{}
	}
	r := reading{err: fs.ErrNotExist}
	if k, known := d.kinds[path]; !known || k != fsys.KindMissing {
		r = readText(path)
	}
	d.texts[path] = r
	return r
}

func (d *Disk) list(dir string) ([]string, error) {
	if l, known := d.lists[dir]; known {
		return l.names, l.err
	}
	if d.lists == nil {
		d.lists = map[string]listing{}
	}
	var l listing
	l.names, l.err = names(dir)
	d.lists[dir] = l
	return l.names, l.err
}

// names lists a folder, up to a little more than what is read of it.
func names(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	list, err := f.Readdirnames(maxRules + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	slices.Sort(list)
	return list, nil
}

// readText reads a text file.
func readText(path string) reading {
	f, st, err := fsys.OpenRegular(path)
	if err != nil {
		if st.Kind == fsys.KindMissing && fsys.CauseOf(err) == fsys.CauseMissing {
			err = fs.ErrNotExist
		}
		return reading{err: err}
	}
	defer func() { _ = f.Close() }() // only read
	if st.Size > maxFile {
		return reading{err: fmt.Errorf("it has %d bytes, the limit is %d MB", st.Size, maxFile>>20)}
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return reading{err: fmt.Errorf("reading failed: %w", err)}
	}
	text, err := textOf(raw)
	if err != nil {
		return reading{err: err}
	}
	real, err := fsys.Real(path)
	return reading{text: text, real: real, size: int64(len(raw)), err: err}
}

// textOf is the text of a file.
func textOf(raw []byte) (string, error) {
	text := strings.TrimPrefix(string(raw), "\ufeff")
	switch {
	case len(raw) > maxFile:
		return "", fmt.Errorf("it has more than %d MB", maxFile>>20)
	case strings.ContainsRune(text, 0):
		return "", errors.New("it is binary")
	case !utf8.ValidString(text):
		return "", errors.New("it is not UTF-8 text")
	}
	return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), nil
}
