package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// cost is read by the bench.
type cost struct {
	WallNS int64 `json:"wall_ns"`
	CPUNS  int64 `json:"cpu_ns"`
	// PeakBytes is 0 where the system does not tell.
	PeakBytes int64 `json:"peak_bytes"`
	Exit      int   `json:"exit"`
}

// run starts the program from this small process and not from the bench: on Linux a child's peak memory is at least that of the
// process that started it, because the two share their memory until the child's exec.
func run(result string, command []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	began := time.Now()
	err := c.Run()
	wall := time.Since(began)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	s := c.ProcessState
	text, err := json.Marshal(cost{
		WallNS: int64(wall), CPUNS: int64(s.UserTime() + s.SystemTime()), PeakBytes: peak(s.SysUsage(), runtime.GOOS), Exit: s.ExitCode(),
	})
	if err != nil {
		return err
	}
	return os.WriteFile(result, text, 0o600)
}
