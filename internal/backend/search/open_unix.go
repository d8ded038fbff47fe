//go:build unix

package search

import (
	"io/fs"
	"syscall"
)

// rawFile reads a file without the poller that os.File sets up: over
// thousands of small files that is a noticeable part of a search.
type rawFile struct{ fd int }

// openFile opens a regular file for reading. O_NONBLOCK and the check after
// it keep a FIFO or device, put in place since the listing, from blocking.
func openFile(path string, links linkPolicy) (*rawFile, error) {
	flags := syscall.O_RDONLY | syscall.O_CLOEXEC | syscall.O_NONBLOCK
	if links == refuseLinks {
		flags |= syscall.O_NOFOLLOW
	}
	for {
		fd, err := syscall.Open(path, flags, 0)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		f := &rawFile{fd}
		if st, err := f.stat(); err != nil || !st.regular {
			f.Close()
			return nil, &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
		}
		return f, nil
	}
}

func (f *rawFile) stat() (fileStat, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(f.fd, &st); err != nil {
		return fileStat{}, err
	}
	return fileStat{regular: uint32(st.Mode)&syscall.S_IFMT == syscall.S_IFREG, size: st.Size}, nil
}

// Read returns 0, nil at the end of the file.
func (f *rawFile) Read(b []byte) (int, error) {
	for {
		n, err := syscall.Read(f.fd, b)
		if err == syscall.EINTR {
			continue
		}
		return max(n, 0), err
	}
}

func (f *rawFile) Close() error { return syscall.Close(f.fd) }
