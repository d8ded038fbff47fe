package fsys

import "io/fs"

const openNonblock = 0

// identify leaves the zero identity: a Windows file id needs an open handle, and size, time and hash decide without it.
func identify(fs.FileInfo, *Status) {}
