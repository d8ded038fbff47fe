// Command fakemodel serves the scripted model behind HTTP, for people, benches and other languages' tests.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/hew-agent/hew/internal/backend/provider/script"
)

const help = `fakemodel plays a scenario as a model server that speaks the Messages API.

It answers POST /v1/messages (streaming and not), POST /v1/messages/count_tokens
and GET /v1/models on a loopback address, checks on every request what the real
API would refuse, and can fail in every way that a network can.

  fakemodel --script hello.json
  ANTHROPIC_BASE_URL=http://127.0.0.1:PORT ANTHROPIC_API_KEY=any hew -p "Hi"

The smallest scenario:

  {"steps": [{"reply": [{"text": "Hello"}]}]}

The base URL is the first line on standard output. When fakemodel is interrupted
it prints what went wrong (rules that were broken, steps that nothing used) and
ends with status 1 if there was anything. The format: docs/fakemodel.md.

Flags:
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := pflag.NewFlagSet("fakemodel", pflag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.SortFlags = false
	file := flags.String("script", "", "scenario file to play (required)")
	listen := flags.String("listen", "127.0.0.1:0", "loopback address to listen on; port 0 takes a free one")
	log := flags.String("log", "", "folder that gets every request body: R1.json, R2.json, …; side queries as S1-LABEL.json")
	lenient := flags.Bool("lenient", false, "record broken rules, but answer all the same")
	flags.Usage = func() { fmt.Fprint(stderr, help+flags.FlagUsages()) }
	switch err := flags.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "fakemodel:", err)
		return 2
	case *file == "" || flags.NArg() > 0:
		fmt.Fprintln(stderr, "fakemodel: name a scenario with --script FILE; --help shows one")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *file, *listen, script.Config{LogDir: *log}, *lenient, stdout); err != nil {
		fmt.Fprintln(stderr, "fakemodel:", err)
		return 1
	}
	return 0
}

// serve plays until ctx ends, and returns what was wrong with the run.
func serve(ctx context.Context, file, listen string, c script.Config, lenient bool, stdout io.Writer) error {
	s, err := script.Load(file)
	if err != nil {
		return err
	}
	s.Lenient = s.Lenient || lenient
	if c.LogDir != "" {
		if err := os.MkdirAll(c.LogDir, 0o700); err != nil {
			return fmt.Errorf("make log folder: %w", err)
		}
	}
	if err := loopback(listen); err != nil {
		return err
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", listen, err)
	}
	m := script.New(s, c)
	server := &http.Server{Handler: m, ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintf(stdout, "http://%s\n", l.Addr())
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	_ = server.Close() // nothing is owed to clients of a script that is over
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return m.Done()
}

// loopback refuses addresses that other machines can reach.
func loopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", addr, err)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return fmt.Errorf("listen on %s: only loopback addresses are served, such as 127.0.0.1:8080", addr)
	}
	return nil
}
