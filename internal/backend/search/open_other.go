//go:build !unix

package search

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

type rawFile struct{ f *os.File }

// openFile opens a regular file for reading.
func openFile(path string, links linkPolicy) (*rawFile, error) {
	stat := os.Stat
	if links == refuseLinks {
		stat = os.Lstat
	}
	st, err := stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &rawFile{f}, nil
}

func (r *rawFile) stat() (fileStat, error) {
	st, err := r.f.Stat()
	if err != nil {
		return fileStat{}, err
	}
	return fileStat{regular: st.Mode().IsRegular(), size: st.Size()}, nil
}

// Read returns 0, nil at the end of the file.
func (r *rawFile) Read(b []byte) (int, error) {
	n, err := r.f.Read(b)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (r *rawFile) Close() error { return r.f.Close() }
