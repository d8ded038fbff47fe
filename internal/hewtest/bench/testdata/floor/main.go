// Command floor is what the bench measures hew against: the least that a plain Go client has to do for the same effect.
//
//	floor chat URL REQUEST        posts the recorded request, reads the stream, does the reads that the model asks for, until it ends
//	floor run RESULT PROG ARG...  runs a program and writes what it cost as JSON to the file RESULT
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := dispatch(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func dispatch(args []string) error {
	switch {
	case len(args) == 3 && args[0] == "chat":
		return chat(args[1], args[2])
	case len(args) >= 3 && args[0] == "run":
		return run(args[1], args[2:])
	}
	return fmt.Errorf("unknown arguments %q", args)
}
