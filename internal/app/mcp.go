package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/state/server"
	"github.com/hew-agent/hew/internal/wiring"
)

const mcpUsage = `hew mcp takes:
  add [-s local|project|user] [-t stdio|http|sse|ws] [-e K=V]… [-H "K: V"]… NAME URL | NAME -- COMMAND ARGS…
      [--client-id ID] [--client-secret] [--callback-port PORT]   for servers with a login (secret from MCP_CLIENT_SECRET)
  add-json [-s SCOPE] NAME JSON|-          add a server by its entry
  add-from-claude-desktop [-s SCOPE] [NAME…]
  list [--json]                            all servers, and whether they can be reached
  get NAME [--json]                        one server, its tools and what waits for approval
  remove [-s SCOPE] NAME
  approve NAME | reject NAME               a server of this project; approve also takes tools that have changed
  reset-project-choices                    forget what was approved and rejected here
  login [--no-browser] NAME | logout NAME
  serve                                    offer hew's own tools to another program, on standard input and output`

// runMCP shows and changes MCP servers.
func runMCP(e Env, args []string) error {
	verbs := map[string]func(Env, []string) error{
		"add": addServer, "add-json": addServerJSON, "add-from-claude-desktop": addDesktop, "list": listServers, "get": getServer,
		"remove": removeServer, "approve": approveServer, "reject": rejectServer, "reset-project-choices": resetServers,
		"login": loginServer, "logout": logoutServer, "serve": serveMCP,
	}
	if len(args) == 0 {
		return &usageError{mcpUsage}
	}
	verb, ok := verbs[args[0]]
	if !ok {
		return &usageError{fmt.Sprintf("unknown command 'mcp %s'\n%s", fsys.Printable(args[0]), mcpUsage)}
	}
	return verb(e, args[1:])
}

func (e Env) servers() (*wiring.ServerBook, error) {
	k, err := wiring.OpenServers(wiring.Options{
		Version: Version(), Environ: e.Environ, Cwd: e.Dir, Sources: "user,project,local", Notice: e.notice, Reaper: shell.ReaperCommand(),
	})
	if err != nil {
		return nil, err
	}
	for _, f := range k.Faults {
		e.notice(f)
	}
	return k, nil
}

// withServer does something with the server that the only argument names.
func (e Env) withServer(verb string, args []string, do func(ctx context.Context, k *wiring.ServerBook, f server.Found) error) error {
	if len(args) != 1 || strings.HasPrefix(args[0], "-") {
		return &usageError{"hew mcp " + verb + " takes the name of a server"}
	}
	return e.withBook(func(ctx context.Context, k *wiring.ServerBook) error {
		f, err := k.Find(args[0])
		if err != nil {
			return err
		}
		return do(ctx, k, f)
	})
}

func (e Env) withBook(do func(ctx context.Context, k *wiring.ServerBook) error) error {
	k, err := e.servers()
	if err != nil {
		return err
	}
	ctx, stop := signals(context.Background())
	defer stop()
	return errors.Join(do(ctx, k), k.Close())
}

// mark is a server's state in the words of the ecosystem.
func mark(f server.Found, st mcp.Status) string {
	switch f.Choice {
	case server.Waits:
		return "⏸ Pending approval: " + f.Why
	case server.Rejected:
		return "✗ Rejected: " + f.Why
	case server.Off, server.Denied:
		return "✗ Not used: " + f.Why
	case server.Use:
	}
	switch st.State {
	case mcp.Connected:
		return "✓ Connected"
	case mcp.NeedsAuth:
		return "! Needs authentication: hew mcp login " + f.Entry.Name
	case mcp.Pending, mcp.Failed, mcp.Disabled:
	}
	return "✗ Failed to connect: " + st.Detail
}

type serverJSON struct {
	Name    string `json:"name"`
	Scope   string `json:"scope"`
	Type    string `json:"type"`
	Runs    string `json:"runs"`
	File    string `json:"file,omitempty"`
	Status  string `json:"status"`
	Detail  string `json:"detail,omitempty"`
	Tools   int    `json:"tools"`
	Prompts int    `json:"prompts"`
}

func serverRow(f server.Found, st mcp.Status) serverJSON {
	r := serverJSON{
		f.Entry.Name, string(f.Entry.Scope), string(f.Entry.Transport), f.Entry.Shown(), f.Entry.File, string(st.State), st.Detail, st.Tools, st.Prompts,
	}
	switch f.Choice {
	case server.Waits:
		r.Status, r.Detail = "pending-approval", f.Why
	case server.Rejected, server.Off, server.Denied:
		r.Status, r.Detail = "disabled", f.Why
	case server.Use:
	}
	return r
}

func listServers(e Env, args []string) error {
	args, asJSON := take(args, "--json")
	if len(args) > 0 {
		return &usageError{"hew mcp list takes --json and nothing else"}
	}
	return e.withBook(func(ctx context.Context, k *wiring.ServerBook) error {
		all := k.List()
		if len(all) == 0 && !asJSON {
			fmt.Fprintln(e.Stdout, "No MCP servers configured. Use `hew mcp add` to add a server.")
			return nil
		}
		if !asJSON {
			fmt.Fprint(e.Stdout, "Checking MCP server health...\n\n")
		}
		st := k.Check(ctx, func(server.Found) bool { return true })
		rows := []serverJSON{}
		for _, f := range all {
			rows = append(rows, serverRow(f, st[f.Entry.Name]))
			if !asJSON {
				fmt.Fprintf(e.Stdout, "%s: %s - %s\n", fsys.Printable(f.Entry.Name), fsys.Printable(f.Entry.Shown()), fsys.Printable(mark(f, st[f.Entry.Name])))
			}
		}
		if asJSON {
			return printJSON(e.Stdout, rows)
		}
		return nil
	})
}

func getServer(e Env, args []string) error {
	args, asJSON := take(args, "--json")
	return e.withServer("get", args, func(ctx context.Context, k *wiring.ServerBook, f server.Found) error {
		st := k.Check(ctx, func(o server.Found) bool { return o.Entry.Name == f.Entry.Name })[f.Entry.Name]
		if asJSON {
			return printJSON(e.Stdout, serverRow(f, st))
		}
		en := f.Entry
		fmt.Fprintf(e.Stdout, "%s:\n  Scope: %s (%s)\n  Status: %s\n  Type: %s\n  Runs: %s\n",
			fsys.Printable(en.Name), en.Scope, fsys.Printable(en.File), fsys.Printable(mark(f, st)), en.Transport, fsys.Printable(en.Shown()))
		writeMap(e.Stdout, "Environment", en.Env)
		writeMap(e.Stdout, "Headers", en.Headers)
		if en.HeadersHelper != "" {
			fmt.Fprintf(e.Stdout, "  Headers helper: %s\n", fsys.Printable(mcp.Masked(en.HeadersHelper)))
		}
		if en.Remote() && k.HasLogin(en) {
			fmt.Fprintln(e.Stdout, "  Login: stored")
		}
		if st.State == mcp.Connected {
			fmt.Fprintf(e.Stdout, "  Server: %s %s, protocol %s\n  Offers: %d tools, %d prompts, %d resources\n", st.Server, st.Version, st.ProtocolVersion, st.Tools, st.Prompts, st.Resources)
		}
		return e.writeChanges(k, en)
	})
}

// writeMap shows names; values may be secrets.
func writeMap(out io.Writer, title string, m map[string]string) {
	if len(m) == 0 {
		return
	}
	fmt.Fprintf(out, "  %s: ", title)
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fsys.Printable(k+"="+mcp.MaskedValue(m[k])))
	}
	fmt.Fprintln(out, strings.Join(parts, ", "))
}

func (e Env) writeChanges(k *wiring.ServerBook, en mcp.Entry) error {
	changes, err := k.Changes(en)
	if err != nil || len(changes) == 0 {
		return err
	}
	fmt.Fprintf(e.Stdout, "  Held back, because they have changed since they were first seen (hew mcp approve %s agrees):\n", fsys.Printable(en.Name))
	for _, c := range changes {
		fmt.Fprintf(e.Stdout, "    %s\n      - %s\n      + %s\n", fsys.Printable(c.Tool), fsys.Printable(c.Old.Description), fsys.Printable(c.New.Description))
		if c.Old.Description == c.New.Description {
			fmt.Fprintln(e.Stdout, "      (the parameters, or text that is not shown here, are different)")
		}
	}
	return nil
}

// person refuses what only a person may decide.
func (e Env) person(verb string) error {
	if e.getenv("CLAUDECODE") != "" || e.getenv("CLAUDE_CODE_SESSION_ID") != "" {
		return errors.New("approval is a person's word: run hew mcp " + verb + " in a terminal of your own, not from inside a session")
	}
	return nil
}

func approveServer(e Env, args []string) error {
	if err := e.person("approve"); err != nil {
		return err
	}
	return e.withServer("approve", args, func(ctx context.Context, k *wiring.ServerBook, f server.Found) error {
		if err := e.writeChanges(k, f.Entry); err != nil {
			return err
		}
		if err := k.Approve(ctx, f); err != nil {
			return err
		}
		_, err := fmt.Fprintf(e.Stdout, "approved: %s, which runs %s\n", fsys.Printable(f.Entry.Name), fsys.Printable(f.Entry.Runs()))
		return err
	})
}

func rejectServer(e Env, args []string) error {
	return e.withServer("reject", args, func(ctx context.Context, k *wiring.ServerBook, f server.Found) error {
		if err := k.Reject(ctx, f); err != nil {
			return err
		}
		_, err := fmt.Fprintf(e.Stdout, "rejected: %s\n", fsys.Printable(f.Entry.Name))
		return err
	})
}

func resetServers(e Env, args []string) error {
	if len(args) > 0 {
		return &usageError{"hew mcp reset-project-choices takes nothing"}
	}
	return e.withBook(func(ctx context.Context, k *wiring.ServerBook) error {
		if err := k.ResetChoices(ctx); err != nil {
			return err
		}
		_, err := fmt.Fprintln(e.Stdout, "All approvals and rejections of this project's MCP servers are forgotten.")
		return err
	})
}

func loginServer(e Env, args []string) error {
	args, _ = take(args, "--no-browser") // hew opens no browser by itself: the person visits the address
	return e.withServer("login", args, func(ctx context.Context, k *wiring.ServerBook, f server.Found) error {
		if f.Choice != server.Use {
			return fmt.Errorf("MCP server %s is not used here: %s", f.Entry.Name, f.Why)
		}
		where, err := k.Login(ctx, f.Entry, func(url string) {
			fmt.Fprintf(e.Stdout, "Visit this address to log in to %s:\n\n%s\n\n", fsys.Printable(f.Entry.Name), fsys.Printable(url))
			fmt.Fprintln(e.Stdout, "When the browser runs on another machine, paste the address here that it ends at.")
		}, e.Stdin)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.Stdout, "Logged in to %s; the login is kept in %s.\n", fsys.Printable(f.Entry.Name), fsys.Printable(where))
		return err
	})
}

func logoutServer(e Env, args []string) error {
	return e.withServer("logout", args, func(ctx context.Context, k *wiring.ServerBook, f server.Found) error {
		was, err := k.Logout(ctx, f.Entry)
		if err != nil {
			return err
		}
		text := "There was no login for " + f.Entry.Name + "."
		if was {
			text = "Logged out of " + f.Entry.Name + "."
		}
		_, err = fmt.Fprintln(e.Stdout, fsys.Printable(text))
		return err
	})
}
