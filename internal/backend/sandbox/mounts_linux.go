package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// mounter builds the file system of a command in a mount namespace of its own.
// What stays visible is copied before anything is covered, so that the order of
// hidden, read-only and writable places does not matter to their contents.
type mounter struct {
	steps []step
	trees map[string]int // detached copy of a step's path
	empty string         // an unreadable file
	under []string       // hidden folders, in which mount points may be made
}

// mounts applies the layout. It must run as the first process of new user,
// mount and pid namespaces.
func mounts(j job) error {
	m := &mounter{steps: j.Steps, trees: map[string]int{}}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep the mounts to this command: %w", err)
	}
	if err := m.copyTrees(); err != nil {
		return err
	}
	if !j.Open {
		if err := setFlags(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, unix.MOUNT_ATTR_RDONLY); err != nil {
			return fmt.Errorf("make everything read-only: %w", err)
		}
	}
	if err := m.devices(); err != nil {
		return err
	}
	if !j.OldProc {
		if err := unix.Mount("proc", "/proc", "proc", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
			return fmt.Errorf("mount a fresh /proc (sandbox.enableWeakerNestedSandbox does without): %w", err)
		}
	}
	for _, s := range m.steps {
		if err := m.apply(s); err != nil {
			return fmt.Errorf("%s %s: %w", s.Do, s.Path, err)
		}
	}
	if err := os.Remove(m.empty); err != nil { // its copies stay
		return err
	}
	for _, dir := range append(m.under, "/dev") {
		if err := setFlags(unix.AT_FDCWD, dir, 0, unix.MOUNT_ATTR_RDONLY); err != nil {
			return fmt.Errorf("close %s: %w", dir, err)
		}
	}
	return nil
}

// copyTrees takes the copies. A link is never followed: the paths are real
// ones, and what has become a link since then is not what was meant.
func (m *mounter) copyTrees() error {
	for _, s := range m.steps {
		fd, err := treeOf(s.Path)
		switch {
		case s.Do == hide && err != nil:
			continue // gone, or the command cannot get there either
		case err != nil:
			return fmt.Errorf("take %s into the sandbox: %w", s.Path, err)
		}
		m.trees[s.Path] = fd
	}
	return nil
}

func treeOf(path string) (int, error) {
	at, err := unix.Openat2(unix.AT_FDCWD, filepath.Dir(path), &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return -1, err
	}
	defer unix.Close(at)
	name := filepath.Base(path)
	if path == "/" {
		name = "."
	}
	return unix.OpenTree(at, name, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_SYMLINK_NOFOLLOW)
}

func setFlags(fd int, path string, how uint, attr uint64) error {
	return unix.MountSetattr(fd, path, how, &unix.MountAttr{Attr_set: attr})
}

// apply puts one step in place.
func (m *mounter) apply(s step) error {
	fd, ok := m.trees[s.Path]
	if !ok {
		return nil
	}
	defer unix.Close(fd)
	switch s.Do {
	case expose, pin:
		return m.attach(fd, s.Path)
	case freeze:
		if err := setFlags(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, unix.MOUNT_ATTR_RDONLY); err != nil {
			return err
		}
		return m.attach(fd, s.Path)
	case hide:
		return m.cover(fd, s.Path)
	}
	return fmt.Errorf("unknown action %q", s.Do)
}

// attach mounts a copy on its path. Inside a hidden folder the path is gone and
// is made anew.
func (m *mounter) attach(fd int, path string) error {
	var st unix.Stat_t
	if err := unix.Fstatat(fd, "", &st, unix.AT_EMPTY_PATH); err != nil {
		return err
	}
	if withinAny(path, m.under) {
		if err := mountPoint(path, st.Mode&unix.S_IFMT == unix.S_IFDIR); err != nil {
			return err
		}
	}
	return unix.MoveMount(fd, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

func mountPoint(path string, dir bool) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if dir {
		return os.MkdirAll(path, 0o711)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o711); err != nil {
		return err
	}
	return os.WriteFile(path, nil, 0o600)
}

// cover hides a folder behind an empty one that cannot be listed, and a file
// behind one that cannot be read.
func (m *mounter) cover(fd int, path string) error {
	var st unix.Stat_t
	if err := unix.Fstatat(fd, "", &st, unix.AT_EMPTY_PATH); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		if err := unix.Mount("tmpfs", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0111,size=64k"); err != nil {
			return err
		}
		m.under = append(m.under, path)
		return nil
	}
	copied, err := unix.OpenTree(unix.AT_FDCWD, m.empty, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(copied)
	if err := setFlags(copied, "", unix.AT_EMPTY_PATH, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NODEV); err != nil {
		return err
	}
	return unix.MoveMount(copied, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// nodes are the devices that programs expect. Disks and the like are not there:
// the rights of the superuser would be enough to write them.
var nodes = []string{"null", "zero", "full", "random", "urandom", "tty"}

// devices makes a small /dev with terminals of its own.
func (m *mounter) devices() error {
	copies := map[string]int{}
	for _, n := range nodes {
		if fd, err := treeOf("/dev/" + n); err == nil {
			if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{}); err != nil {
				return fmt.Errorf("copy /dev/%s: %w", n, err)
			}
			copies[n] = fd
		}
	}
	if err := unix.Mount("tmpfs", "/dev", "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=0755,size=64k"); err != nil {
		return fmt.Errorf("mount /dev: %w", err)
	}
	for n, fd := range copies {
		if err := m.node(n, fd); err != nil {
			return fmt.Errorf("put /dev/%s in place: %w", n, err)
		}
	}
	for name, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx",
	} {
		if err := os.Symlink(target, "/dev/"+name); err != nil {
			return err
		}
	}
	m.empty = "/dev/none"
	if err := os.WriteFile(m.empty, nil, 0); err != nil {
		return fmt.Errorf("make an unreadable file: %w", err)
	}
	err := errors.Join(os.Mkdir("/dev/pts", 0o755), os.Mkdir("/dev/shm", 0o755),
		unix.Mount("devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"),
		unix.Mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777"))
	if err != nil {
		return fmt.Errorf("make /dev: %w", err)
	}
	return nil
}

func (m *mounter) node(name string, fd int) error {
	defer unix.Close(fd)
	path := "/dev/" + name
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	return unix.MoveMount(fd, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH)
}
