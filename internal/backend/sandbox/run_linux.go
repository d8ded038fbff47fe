package sandbox

import (
	"os"
	"syscall"
)

// handed are the signals that Run hands on, or must not end of.
var handed = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2}

// bound ends the command when this process is killed.
func bound() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
