//go:build unix

package main

import "syscall"

// peak is the largest resident set, in bytes. Linux and the BSDs count it in KiB, macOS in bytes: getrusage(2).
func peak(usage any, goos string) int64 {
	u, ok := usage.(*syscall.Rusage)
	if !ok {
		return 0
	}
	if goos == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}
