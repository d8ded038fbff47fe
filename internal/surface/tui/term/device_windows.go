package term

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

const windowsConsole = true

// deviceName is empty: a console's modes end with the programs that set them.
func deviceName(*os.File) string { return "" }

// prepareOutput lets the console understand escape sequences.
func prepareOutput(out *os.File) error {
	var mode uint32
	h := windows.Handle(out.Fd())
	if err := windows.GetConsoleMode(h, &mode); err != nil {
		return err
	}
	return windows.SetConsoleMode(h, mode|windows.ENABLE_PROCESSED_OUTPUT|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
}

// signals never arrive: a console announces its size among the input.
type signals struct{ ch chan os.Signal }

func watchSignals() *signals { return &signals{make(chan os.Signal)} }

func (s *signals) stop() {}

func (s *signals) kind(os.Signal) sigKind { return sigSize }

func stopSelf() {}

// Suspend fails: Windows has no such thing.
func (t *Term) Suspend() error { return errors.New("suspend hew: Windows cannot") }
