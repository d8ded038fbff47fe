package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/hew-agent/hew/internal/wiring"
)

// runStatusLine runs the user's status line command once, as the terminal would.
func runStatusLine(e Env, args []string) error {
	args, asJSON := take(args, "--json")
	o, err := parse(args)
	if err != nil {
		return err
	}
	o.Resume = o.Prompt
	c, err := openWindow(e, o)
	if err != nil {
		return err
	}
	return errors.Join(printStatusLine(e, c, asJSON), c.Close())
}

func printStatusLine(e Env, c *wiring.Conversation, asJSON bool) error {
	l := c.StatusLine()
	if l == nil {
		return errors.New(`there is no status line here: set statusLine to {"type": "command", "command": …} in your settings (hooks switched off, and a folder that is not trusted, leave it out)`)
	}
	if asJSON {
		in, err := l.Input()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.Stdout, "%s\n", in)
		return err
	}
	text, err := l.Run(context.Background())
	if err != nil {
		return fmt.Errorf("the status line command: %w (it would be a blank line)", err)
	}
	_, err = fmt.Fprintln(e.Stdout, text)
	return err
}
