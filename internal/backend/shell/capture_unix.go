//go:build unix

package shell

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// capture carries what a process tree writes into a file.
//
// The children get a pipe, not the file: a script that opens /dev/stdout or
// /dev/stderr by name (a habit of many) would truncate a file and lose all
// earlier output. The price is the drain in settle: what the shell wrote
// before it ended is still in the pipe then, while its background children may
// keep the pipe open for ever.
type capture struct {
	file    *os.File
	r, w    *os.File
	limit   int64
	over    chan struct{} // closed when limit is reached; the rest is thrown away
	settled chan struct{}
	written atomic.Int64
	failure atomic.Pointer[error]
	once    sync.Once
}

// pipeSize is more than a pipe holds (64 KiB by default on both systems, 1 MiB
// the most that Linux lets a user ask for).
const pipeSize = 1 << 20

// newCapture owns file from now on, also when it fails.
func newCapture(file *os.File, limit int64) (*capture, error) {
	r, w, err := os.Pipe()
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("make the output pipe of the command: %w", err)
	}
	return &capture{file: file, r: r, w: w, limit: limit, over: make(chan struct{}), settled: make(chan struct{})}, nil
}

// child is the end that the process gets.
func (c *capture) child() *os.File { return c.w }

// drop frees a capture whose process never started.
func (c *capture) drop() {
	if c == nil {
		return
	}
	_ = c.w.Close()
	_ = c.r.Close()
	_ = c.file.Close()
}

// collect copies until nobody holds the pipe any more, or close.
func (c *capture) collect() {
	_ = c.w.Close()
	defer c.file.Close()
	defer c.r.Close()
	defer c.once.Do(func() { close(c.settled) })
	buf := make([]byte, 32<<10)
	for {
		n, err := c.r.Read(buf)
		c.write(buf[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) { // settle
			if open := c.drain(buf); !open {
				return
			}
			c.once.Do(func() { close(c.settled) })
			continue
		}
		if err != nil || c.runaway() {
			return
		}
	}
}

// runaway reports that leftovers, whom nobody watches, passed the limit: they
// lose their reader, and SIGPIPE ends them.
func (c *capture) runaway() bool {
	select {
	case <-c.settled:
		return c.written.Load() >= c.limit
	default:
		return false
	}
}

func (c *capture) write(b []byte) {
	room := c.limit - c.written.Load()
	if len(b) == 0 || room <= 0 || c.failure.Load() != nil {
		return // the writer must not block, so the rest is read and dropped
	}
	n, err := c.file.Write(b[:min(int64(len(b)), room)])
	if c.written.Add(int64(n)) >= c.limit {
		close(c.over)
	}
	if err != nil {
		err = fmt.Errorf("write command output: %w", err)
		c.failure.Store(&err)
	}
}

// drain takes what lies in the pipe without waiting; it reports whether the
// pipe is still open. It is bounded, since a leftover may write for ever.
func (c *capture) drain(buf []byte) bool {
	if c.r.SetReadDeadline(time.Time{}) != nil {
		return false
	}
	open := true
	for total := 0; total < pipeSize; {
		n, more := readNow(c.r, buf)
		c.write(buf[:n])
		total += n
		if n == 0 {
			open = more
			break
		}
	}
	return open
}

// readNow reads what is there; 0 and true means nothing now, 0 and false the
// end of the pipe.
func readNow(f *os.File, buf []byte) (int, bool) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, false
	}
	n, open := 0, false
	err = conn.Read(func(fd uintptr) bool {
		var errno error
		for {
			n, errno = unix.Read(int(fd), buf)
			if !errors.Is(errno, unix.EINTR) {
				break
			}
		}
		open = n > 0 || errors.Is(errno, unix.EAGAIN)
		return true
	})
	return max(n, 0), open && err == nil
}

// settle returns when all that the shell wrote before its end is in the file.
func (c *capture) settle() {
	_ = c.r.SetReadDeadline(time.Unix(1, 0)) // an error means that collect is done
	<-c.settled
}

// close ends collecting; a process that still writes gets SIGPIPE.
func (c *capture) close() { _ = c.r.Close() }

// poll is for systems where the size must be asked for.
func (c *capture) poll() {}

func (c *capture) size() int64 { return c.written.Load() }

// lost is the error that kept output from the file, or nil.
func (c *capture) lost() error {
	if err := c.failure.Load(); err != nil {
		return *err
	}
	return nil
}
