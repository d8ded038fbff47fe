//go:build !linux && !darwin

package checkpoint

import (
	"errors"
	"os"
)

const noFollow = 0

// clone is what this system cannot do.
func clone(string, *os.File) error { return errors.ErrUnsupported }
