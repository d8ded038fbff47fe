package checkpoint

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

// clone makes a new file that shares the blocks of src; each is then written
// without the other noticing. On an error there is no new file.
func clone(name string, src *os.File) error {
	dst, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = unix.IoctlFileClone(int(dst.Fd()), int(src.Fd()))
	if err = errors.Join(err, dst.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}
