//go:build unix

package builtin

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// None of these may be opened: a FIFO blocks, a device has effects.
func TestSpecialFilesAreNotOpened(t *testing.T) {
	b := newBench(t, Config{})
	fifo := b.path("fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "hew") // a socket's name must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	sock := filepath.Join(dir, "s")
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	loop := b.path("loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{fifo: "FIFO", "/dev/zero": "device", sock: "socket", loop: "circle"} {
		b.bad("Read", in{"file_path": path}, want)
		b.bad("Edit", in{"file_path": path, "old_string": "a", "new_string": "b"}, want)
		b.bad("Write", in{"file_path": path, "content": "b"}, want)
	}
}
