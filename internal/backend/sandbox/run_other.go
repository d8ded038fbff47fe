//go:build !linux

package sandbox

import (
	"os"
	"syscall"
)

// handed are the signals that Run hands on, or must not end of.
var handed = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

func bound() *syscall.SysProcAttr { return nil }
