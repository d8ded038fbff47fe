package fsys

const dirsLockable = false
