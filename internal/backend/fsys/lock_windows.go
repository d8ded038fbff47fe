package fsys

import "os"

const dirsLockable = false

// private trusts the temporary folder, which is the user's own on Windows.
func private(os.FileInfo) bool { return true }
