package sandbox

import (
	"fmt"
	"os"
)

// bwrapPlaces are where distributions install bubblewrap. PATH is not asked:
// it may name a folder that a repository can write.
var bwrapPlaces = []string{"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"}

func findBwrap(configured string) string {
	if configured != "" {
		return configured
	}
	for _, p := range bwrapPlaces {
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return p
		}
	}
	return ""
}

// bwrapArgs is the same layout in bubblewrap's words, with the stage inside as
// the first process. It cannot hold a symbolic link in its place: where a
// protected place is behind one, the command does not run.
func bwrapArgs(j job) ([]string, error) {
	args := []string{
		j.Bwrap, "--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-cgroup-try",
		"--die-with-parent", "--as-pid-1", "--cap-drop", "ALL",
	}
	if j.Open {
		args = append(args, "--bind", "/", "/")
	} else {
		args = append(args, "--ro-bind", "/", "/")
	}
	args = append(args, "--dev", "/dev")
	if !j.OldProc {
		args = append(args, "--proc", "/proc", "--remount-ro", "/proc")
	}
	var closed []string
	for _, s := range j.Steps {
		info, err := os.Lstat(s.Path)
		switch {
		case err != nil:
		case info.Mode()&os.ModeSymlink != 0:
			return nil, fmt.Errorf("%s is protected and a symbolic link, which bubblewrap cannot hold in its place; put the folder itself there", shown(s.Path))
		case s.Do == expose || s.Do == pin:
			args = append(args, "--bind", s.Path, s.Path)
		case s.Do == freeze:
			args = append(args, "--ro-bind", s.Path, s.Path)
		case info.IsDir():
			args = append(args, "--perms", "0111", "--tmpfs", s.Path)
			closed = append(closed, s.Path)
		default:
			args = append(args, "--ro-bind", "/dev/null", s.Path)
		}
	}
	for _, c := range closed {
		args = append(args, "--remount-ro", c)
	}
	return append(args, "--chdir", "/", "--"), nil
}
