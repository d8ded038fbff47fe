package sandbox

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// securebits (linux/securebits.h): uid 0 means nothing, no capability is kept
// or raised again, and none of this can be taken back.
const lockedBits = 0x01 | 0x02 | 0x04 | 0x08 | 0x20 | 0x40 | 0x80

// drop gives up every privilege for good. The caller's goroutine must be
// locked to its thread: the command inherits what that thread has.
func drop() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	// Not being dumpable keeps the command out of this process's memory. It ends
	// at exec.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("protect the helper's memory: %w", err)
	}
	for _, c := range []struct {
		what string
		err  error
	}{
		{"lock the securebits", unix.Prctl(unix.PR_SET_SECUREBITS, lockedBits, 0, 0, 0)},
		{"empty the bounding set", dropBounding()},
		{"clear the ambient set", unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)},
	} {
		// Inside bubblewrap there is no right left to do it, and none to lose.
		if c.err != nil && !errors.Is(c.err, unix.EPERM) {
			return fmt.Errorf("%s: %w", c.what, c.err)
		}
	}
	return dropCaps()
}

func dropBounding() error {
	for c := range uintptr(64) {
		switch err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); {
		case errors.Is(err, unix.EINVAL):
			return nil // the kernel knows no more
		case err != nil:
			return err
		}
	}
	return nil
}

// dropCaps empties the three sets of every thread, and looks whether they are.
func dropCaps() error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&none)), 0)
	if errors.Is(errno, unix.ENOTSUP) { // a cgo build, such as for the race detector
		if err := unix.Capset(&head, &none[0]); err != nil {
			return fmt.Errorf("drop capabilities: %w", err)
		}
	} else if errno != 0 {
		return fmt.Errorf("drop capabilities: %w", errno)
	}
	var left [2]unix.CapUserData
	if err := unix.Capget(&head, &left[0]); err != nil {
		return fmt.Errorf("look whether capabilities are gone: %w", err)
	}
	if left != none {
		return errors.New("capabilities are left after they were dropped")
	}
	return nil
}
