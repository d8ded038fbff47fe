package shell

import (
	"os"
	"sync"
	"sync/atomic"
)

// capture on Windows hands the file itself to the process: anonymous pipes
// there cannot be read without waiting, and no script can reopen its output
// by name.
type capture struct {
	file  *os.File
	limit int64
	over  chan struct{}
	done  chan struct{}
	last  atomic.Int64
	once  sync.Once
	stop  sync.Once
}

func newCapture(file *os.File, limit int64) (*capture, error) {
	return &capture{file: file, limit: limit, over: make(chan struct{}), done: make(chan struct{})}, nil
}

func (c *capture) child() *os.File { return c.file }

func (c *capture) drop() {
	if c != nil {
		_ = c.file.Close()
	}
}

// collect only holds hew's handle until settle: the processes have their own.
func (c *capture) collect() {
	<-c.done
	_ = c.file.Close()
}

func (c *capture) settle() {
	c.poll()
	c.close()
}

func (c *capture) close() { c.stop.Do(func() { close(c.done) }) }

func (c *capture) poll() {
	info, err := c.file.Stat()
	if err != nil {
		return
	}
	c.last.Store(info.Size())
	if info.Size() >= c.limit {
		c.once.Do(func() { close(c.over) })
	}
}

func (c *capture) size() int64 {
	c.poll()
	return c.last.Load()
}

func (c *capture) lost() error { return nil }
