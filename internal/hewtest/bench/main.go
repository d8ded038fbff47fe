// Command bench prints measures as ratios against references of the same run.
//
//	bench -bin bin/hew          the table of what takes less than 20 s each, in under five minutes
//	bench -bin bin/hew -long    the table of the rest
//	bench -run REGEXP           only rows whose name matches
//
// It judges nothing: the goals are printed beside the figures, and only a measure that could not be taken ends it with code 1. All
// takings of a row alternate between hew and the reference, since the machine's speed is not its own. docs/testing.md says how to read
// the table.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"time"

	"github.com/hew-agent/hew/internal/backend/sandbox"
)

func main() {
	if code, mine := sandbox.Helper(os.Args[1:]); mine {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	hew := flags.String("bin", "bin/hew", "the program to measure")
	long := flags.Bool("long", false, "take the measures of more than 20 s, and only them")
	only := flags.String("run", "", "take only measures whose name matches this regular expression")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	l, err := newLab(ctx, *hew)
	if err != nil {
		return err
	}
	defer l.close()
	var rows []row
	for _, m := range measures() {
		if m.long == *long && wanted.MatchString(m.name) {
			rows = append(rows, take(ctx, l, m, progress))
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if failed := report(out, rows); failed > 0 {
		return fmt.Errorf("%d measures could not be taken", failed)
	}
	return nil
}

func take(ctx context.Context, l *lab, m measure, progress io.Writer) row {
	began := time.Now()
	r := row{measure: m}
	r.hew, r.ref, r.err = m.run(ctx, l)
	_, _ = fmt.Fprintf(progress, "%6.1f s  %s\n", time.Since(began).Seconds(), m.name)
	return r
}
