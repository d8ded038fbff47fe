package shell

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

func TestLookupReadsTheStatusOfAProcess(t *testing.T) {
	e, err := lookup(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if e.pid != os.Getpid() || e.ppid != os.Getppid() || e.start == 0 || e.zombie || e.name == "" {
		t.Errorf("%+v", e)
	}
	if first, err := lookup(1); err == nil && first.start > e.start {
		t.Errorf("this process started at %d, before the first one at %d", e.start, first.start)
	}
	if _, err := lookup(1 << 30); err == nil {
		t.Error("a process that does not exist was found")
	}
}

func TestReadProcTakesFilesLargerThanItsBuffer(t *testing.T) {
	want, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(os.Getpid()), "cmdline"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := readProc(os.Getpid(), "cmdline", make([]byte, 1))
	if err != nil || string(got) != string(want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}
