package pdf

import "golang.org/x/sys/unix"

// maxMemory is the address space of the program that reads a PDF, in bytes: a
// few kilobytes of compressed stream can unfold to more than a machine has.
const maxMemory = 2 << 30

// capMemory bounds a program that has just started. Failing to is no reason not
// to read: the time and the size of its output are bounded too.
func capMemory(pid int) {
	_ = unix.Prlimit(pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: maxMemory, Max: maxMemory}, nil)
}
