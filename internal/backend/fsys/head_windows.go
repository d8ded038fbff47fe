package fsys

import (
	"errors"
	"io"
)

// ReadHead reads the first bytes of a regular file, at most so many, and tells
// its kind, size and time.
func ReadHead(path string, most int) (head []byte, st Status, err error) {
	f, st, err := OpenRegular(path)
	if err != nil {
		return nil, st, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	head = make([]byte, min(int64(most), st.Size))
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // a file that shrinks ends where it ends
		err = nil
	}
	return head[:n], st, wrap("read", path, err)
}
