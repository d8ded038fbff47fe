package app

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// editFile opens a file in the person's editor, as VISUAL and EDITOR name it, by
// an argument vector: no shell reads the name. The path must be absolute.
func (t *terminal) editFile(path string) error {
	argv := strings.Fields(t.e.getenv("VISUAL"))
	if len(argv) == 0 {
		argv = strings.Fields(t.e.getenv("EDITOR"))
	}
	if len(argv) == 0 {
		argv = []string{"vi"}
	}
	if err := t.dev.Lend(); err != nil {
		return err
	}
	cmd := exec.Command(argv[0], append(argv[1:], path)...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = t.e.Dir, t.e.Environ, os.Stdin, t.e.screen, t.e.screen
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%s: %w (VISUAL and EDITOR name the editor)", argv[0], err)
	}
	return errors.Join(err, t.dev.Return())
}
