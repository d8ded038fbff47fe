package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/wiring"
)

const authLong = `hew auth - the credential that requests are sent with

  hew auth status [--json|--text]   say which credential would be used, without showing it; exit code 1 when there is none
  hew auth login                    log in at the login server of the setting oauth, in a browser
  hew auth logout                   forget that login, and tell the login server

The login server stands in your settings, or in HEW_OAUTH_ISSUER, HEW_OAUTH_CLIENT_ID and HEW_OAUTH_SCOPES:
  {"oauth": {"issuer": "https://login.example", "clientId": "hew", "scopes": ["models"], "baseUrl": "https://api.example"}}
hew opens no browser by itself: visit the address that it prints. When the browser runs on another machine, paste the address
that it ends at, or the code that it shows. Keys in variables and the setting apiKeyHelper go before a login.
`

// runAuth is hew auth.
func runAuth(e Env, args []string) error {
	verb := ""
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	switch verb {
	case "status":
		return authStatus(e, args)
	case "login":
		args, _ = take(args, "--no-browser") // hew opens none
	case "logout":
	default:
		return &usageError{"hew auth takes: status [--json|--text], login, or logout"}
	}
	if len(args) > 0 {
		return &usageError{"hew auth " + verb + " takes nothing more"}
	}
	a, err := wiring.OpenAccount(e.plainOptions())
	if err != nil {
		return err
	}
	defer a.Close()
	ctx, stop := signals(context.Background())
	defer stop()
	text := ""
	if verb == "logout" {
		text, err = a.Logout(ctx)
	} else {
		text, err = a.Login(ctx, func(address string) {
			fmt.Fprintf(e.Stdout, "Visit this address to log in:\n\n%s\n\n", fsys.Printable(address))
			fmt.Fprintln(e.Stdout, "When the browser runs on another machine, paste the address here that it ends at.")
			go a.PasteFrom(e.Stdin, func(err error) { fmt.Fprintln(e.Stderr, err) }) // ends with the program
		})
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(e.Stdout, fsys.Printable(text))
	return err
}

func (e Env) plainOptions() wiring.Options {
	return wiring.Options{Environ: e.Environ, Cwd: e.Dir, Sources: "user,project,local", Notice: e.notice}
}

// authStatus says which credential would be used. The exit code is 1 when there is none.
func authStatus(e Env, args []string) error {
	st, err := wiring.Credential(wiring.Options{Environ: e.Environ, Cwd: e.Dir, Sources: "user,project,local"})
	if err != nil {
		return err
	}
	if slices.Contains(args, "--text") {
		fmt.Fprintf(e.Stdout, "%s\n", st.Sentence())
	} else if err := printJSON(e.Stdout, st); err != nil {
		return err
	}
	if !st.LoggedIn {
		return &failure{exitError}
	}
	return nil
}
