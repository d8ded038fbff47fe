package wiring

import (
	"os"
	"path/filepath"
)

// privateTasks returns the folder below the shared temporary one where commands
// write, or one with a name that nobody could foresee when the usual one is not
// this user's alone: a link or a folder that somebody else planted there.
func (b *build) privateTasks(usual string) string {
	root := filepath.Dir(filepath.Dir(filepath.Dir(usual)))
	st, err := os.Lstat(root)
	if os.IsNotExist(err) {
		err = os.Mkdir(root, 0o700)
		if err == nil {
			return usual
		}
	}
	if err == nil && st != nil && st.IsDir() && mine(st) && st.Mode().Perm()&0o077 == 0 {
		return usual
	}
	own, err := os.MkdirTemp("", "hew-run-")
	if err != nil {
		b.notice("no private folder for the output of commands: " + err.Error())
		return usual
	}
	b.notice(root + " is not a folder of this user alone; the output of commands goes to " + own)
	b.conv.close = append(b.conv.close, func() error { return os.RemoveAll(own) })
	return own
}
