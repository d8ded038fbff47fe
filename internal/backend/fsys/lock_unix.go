//go:build unix

package fsys

const dirsLockable = true
