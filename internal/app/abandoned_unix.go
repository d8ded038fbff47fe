//go:build unix

package app

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// abandoned waits for the end of the output's reader. A pipe tells of it without
// being written to.
func (e Env) abandoned(ctx context.Context) bool {
	f, ok := e.Stdout.(*os.File)
	if !ok {
		return false
	}
	tick := time.NewTicker(watchOutput)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: 0}}
		if n, err := unix.Poll(fds, 0); err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0 {
			return true
		}
	}
}

// watchOutput is how often the output is looked at once the input has ended.
const watchOutput = 250 * time.Millisecond
