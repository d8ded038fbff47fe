package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/wiring"
)

// added is the entry of a new server, in the order in which files have it.
type added struct {
	Type    string            `json:"type"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	OAuth   *mcp.OAuth        `json:"oauth,omitempty"`
}

// adding is the command line of mcp add.
type adding struct {
	scope, transport, clientID string
	env, headers               []string
	secret                     bool
	port                       int
}

func (a *adding) flags(name string) *pflag.FlagSet {
	f := pflag.NewFlagSet("mcp "+name, pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVarP(&a.scope, "scope", "s", "local", "")
	return f
}

func addServer(e Env, args []string) error {
	a := &adding{}
	f := a.flags("add")
	f.StringVarP(&a.transport, "transport", "t", "", "")
	f.StringArrayVarP(&a.env, "env", "e", nil, "")
	f.StringArrayVarP(&a.headers, "header", "H", nil, "")
	f.StringVar(&a.clientID, "client-id", "", "")
	f.BoolVar(&a.secret, "client-secret", false, "")
	f.IntVar(&a.port, "callback-port", 0, "")
	if err := f.Parse(args); err != nil {
		return &usageError{err.Error() + "\n(options of the server's command go behind --: hew mcp add NAME -- COMMAND -x)"}
	}
	words := f.Args()
	if len(words) < 2 {
		return &usageError{"hew mcp add takes a name, and a URL or a command\n" + mcpUsage}
	}
	entry, err := a.entry(words[1:])
	if err != nil {
		return err
	}
	secret := ""
	if a.secret {
		if secret = e.getenv("MCP_CLIENT_SECRET"); secret == "" {
			return errors.New("--client-secret takes the secret from the variable MCP_CLIENT_SECRET, which is not set")
		}
	}
	raw, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	return e.add(a.scope, words[0], raw, secret)
}

// entry makes the entry of a URL, or of a command and its arguments.
func (a *adding) entry(words []string) (added, error) {
	out := added{Type: a.transport}
	remote := strings.HasPrefix(words[0], "http://") || strings.HasPrefix(words[0], "https://") ||
		strings.HasPrefix(words[0], "ws://") || strings.HasPrefix(words[0], "wss://")
	switch {
	case out.Type == "" && strings.HasPrefix(words[0], "ws"):
		out.Type = map[bool]string{true: "ws", false: "stdio"}[remote]
	case out.Type == "" && remote:
		out.Type = "http"
	case out.Type == "":
		out.Type = "stdio"
	}
	var err error
	if out.Type == "stdio" {
		if remote {
			return added{}, &usageError{"a URL needs --transport http, sse or ws"}
		}
		out.Command, out.Args = words[0], words[1:]
		out.Env, err = pairs(a.env, "=", "-e takes NAME=VALUE")
		if err == nil && len(a.headers) > 0 {
			err = &usageError{"a command takes no headers"}
		}
		return out, err
	}
	if len(words) > 1 {
		return added{}, &usageError{fmt.Sprintf("a server of type %s takes a URL and nothing behind it", out.Type)}
	}
	out.URL = words[0]
	if out.Headers, err = pairs(a.headers, ":", `-H takes "Name: value"`); err != nil {
		return added{}, err
	}
	if a.clientID != "" || a.port != 0 {
		out.OAuth = &mcp.OAuth{ClientID: a.clientID, CallbackPort: a.port}
	}
	return out, nil
}

func pairs(list []string, sep, fault string) (map[string]string, error) {
	out := map[string]string{}
	for _, s := range list {
		k, v, ok := strings.Cut(s, sep)
		if k = strings.TrimSpace(k); !ok || k == "" {
			return nil, &usageError{fmt.Sprintf("%s, not %q", fault, s)}
		}
		if sep == ":" {
			v = strings.TrimSpace(v)
		}
		out[k] = v
	}
	return out, nil
}

func (e Env) add(scope, name string, raw json.RawMessage, secret string) error {
	return e.withBook(func(ctx context.Context, k *wiring.ServerBook) error {
		file, err := k.Add(ctx, mcp.Scope(scope), name, raw, secret)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.Stdout, "Added MCP server %s to the %s scope\nFile modified: %s\n", name, scope, fsys.Printable(file))
		return err
	})
}

func addServerJSON(e Env, args []string) error {
	a := &adding{}
	f := a.flags("add-json")
	if err := f.Parse(args); err != nil {
		return &usageError{err.Error()}
	}
	if f.NArg() != 2 {
		return &usageError{"hew mcp add-json takes a name and the entry as JSON, or - to read it"}
	}
	raw := []byte(f.Arg(1))
	if f.Arg(1) == "-" {
		var err error
		if raw, err = io.ReadAll(io.LimitReader(e.Stdin, maxOption)); err != nil {
			return fmt.Errorf("read the entry: %w", err)
		}
	}
	if err := fsys.CheckJSON(raw); err != nil {
		return fmt.Errorf("the entry is no JSON: %w", err)
	}
	return e.add(a.scope, f.Arg(0), raw, "")
}

func addDesktop(e Env, args []string) error {
	a := &adding{}
	f := a.flags("add-from-claude-desktop")
	if err := f.Parse(args); err != nil {
		return &usageError{err.Error()}
	}
	return e.withBook(func(ctx context.Context, k *wiring.ServerBook) error {
		file, all, err := k.DesktopServers()
		if err != nil {
			return fmt.Errorf("the servers of the desktop program cannot be read: %w", err)
		}
		n := 0
		var errs []error
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if f.NArg() > 0 && !slices.Contains(f.Args(), name) {
				continue
			}
			if _, err := k.Add(ctx, mcp.Scope(a.scope), name, all[name], ""); err != nil {
				errs = append(errs, err)
				continue
			}
			n++
			fmt.Fprintf(e.Stdout, "Added MCP server %s to the %s scope\n", name, a.scope)
		}
		fmt.Fprintf(e.Stdout, "%d of %d servers of %s were added.\n", n, len(all), fsys.Printable(file))
		return errors.Join(errs...)
	})
}

func removeServer(e Env, args []string) error {
	a := &adding{}
	f := a.flags("remove")
	if err := f.Parse(args); err != nil {
		return &usageError{err.Error()}
	}
	if f.NArg() != 1 {
		return &usageError{"hew mcp remove takes the name of a server"}
	}
	scope := mcp.Scope(a.scope)
	if !f.Changed("scope") {
		scope = ""
	}
	return e.withBook(func(ctx context.Context, k *wiring.ServerBook) error {
		file, where, err := k.Remove(ctx, scope, f.Arg(0))
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.Stdout, "Removed MCP server %s from the %s scope\nFile modified: %s\n", fsys.Printable(f.Arg(0)), where, fsys.Printable(file))
		return err
	})
}
