//go:build unix

package fsys

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ReadHead reads the first bytes of a regular file, at most so many, and tells
// its kind, size and time. It needs four system calls: hundreds of files are
// read so at a start. A FIFO is opened without waiting, and not read.
func ReadHead(path string, most int) (head []byte, st Status, err error) {
	fd, err := open(path)
	if err != nil {
		return nil, Status{}, wrap("read", path, err)
	}
	defer func() { err = errors.Join(err, wrap("read", path, unix.Close(fd))) }()
	var sys unix.Stat_t
	if err := unix.Fstat(fd, &sys); err != nil {
		return nil, Status{}, wrap("read", path, err)
	}
	if sys.Mode&unix.S_IFMT != unix.S_IFREG {
		st, err := Stat(path)
		return nil, st, errors.Join(err, kindError("read", path, st.Kind))
	}
	st = Status{Kind: KindRegular, Size: sys.Size, ModTime: time.Unix(sys.Mtim.Unix())}
	head = make([]byte, min(int64(most), st.Size))
	for n := 0; n < len(head); {
		got, err := unix.Read(fd, head[n:])
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return nil, st, wrap("read", path, err)
		case got == 0: // a file that shrinks ends where it ends
			return head[:n], st, nil
		default:
			n += got
		}
	}
	return head, st, nil
}

func open(path string) (int, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		if !errors.Is(err, syscall.EINTR) {
			if err != nil {
				err = fmt.Errorf("open: %w", err)
			}
			return fd, err
		}
	}
}
