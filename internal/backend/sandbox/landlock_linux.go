package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// leastABI is the first version of Landlock that holds truncate(2) too.
const leastABI = 3

// Rights of a file (linux/landlock.h). The higher ones came with later versions.
const (
	readRights  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	fileRights  = readRights | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	abi3Rights  = 1<<15 - 1
	ioctlRights = unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// landlockABI is the version that the kernel offers, 0 for none.
func landlockABI() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// landlocked confines this very thread and becomes the command.
func landlocked(j job, argv []string) error {
	if len(argv) == 0 && !j.Probe {
		return fmt.Errorf("no command")
	}
	abi := landlockABI()
	if abi < leastABI {
		return fmt.Errorf("the kernel has Landlock version %d, and %d is the first that is enough", abi, leastABI)
	}
	// Threads have parent-death signals of their own, and this one goes on.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("bind the command to hew: %w", err)
	}
	if err := drop(); err != nil {
		return err
	}
	if !j.Open {
		if err := restrict(j, abi); err != nil {
			return err
		}
	}
	if err := filter(families{unix: j.Unix}).install(); err != nil {
		return err
	}
	if j.Probe {
		if err := holds(); err != nil {
			return err
		}
		os.Exit(0)
	}
	if err := syscall.Exec(argv[0], argv, os.Environ()); err != nil {
		return fmt.Errorf("run %s: %w", shown(argv[0]), err)
	}
	return nil
}

func restrict(j job, abi int) error {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: abi3Rights}
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if abi >= 5 {
		attr.Handled_access_fs |= ioctlRights
	}
	if abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size = unsafe.Offsetof(attr.Scoped) + unsafe.Sizeof(attr.Scoped)
	}
	rules, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return fmt.Errorf("make a Landlock ruleset: %w", errno)
	}
	r := ruleset{fd: int(rules), handled: attr.Handled_access_fs}
	defer unix.Close(r.fd)
	if err := r.fill(j); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0); errno != 0 {
		return fmt.Errorf("apply the Landlock ruleset: %w", errno)
	}
	return nil
}

type ruleset struct {
	fd      int
	handled uint64
}

func (r ruleset) fill(j job) error {
	if err := r.allow("/", unix.LANDLOCK_ACCESS_FS_READ_DIR); err != nil {
		return err
	}
	for _, path := range readable("/", j.Hidden) {
		if err := r.allow(path, readRights|unix.LANDLOCK_ACCESS_FS_READ_DIR); err != nil {
			return err
		}
	}
	for _, path := range j.Write {
		if err := r.allow(path, r.handled&^ioctlRights); err != nil {
			return err
		}
	}
	for _, dev := range append([]string{"ptmx", "pts"}, nodes...) {
		if err := r.allow("/dev/"+dev, fileRights); err != nil {
			return err
		}
	}
	return nil
}

// allow adds a rule; what does not exist or cannot be opened needs none.
func (r ruleset) allow(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return nil
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	rights &= r.handled
	if rights == 0 {
		return nil
	}
	beneath := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&beneath)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("allow %s in the Landlock ruleset: %w", shown(path), errno)
	}
	return nil
}

// readable lists what covers dir but for the hidden paths: Landlock knows no
// exceptions, so their neighbours are named one by one.
func readable(dir string, hidden []string) []string {
	if !slices.ContainsFunc(hidden, func(h string) bool { return within(h, dir) }) {
		return []string{dir}
	}
	if slices.Contains(hidden, dir) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // then the command cannot read it either
	}
	var out []string
	for _, e := range entries {
		out = append(out, readable(filepath.Join(dir, e.Name()), hidden)...)
	}
	return out
}
