package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/surface/web/remote"
	"github.com/hew-agent/hew/internal/tool"
)

// attaching are the options of hew attach.
type attaching struct {
	url, prompt, session, cwd, name, trust string
	ca, cert, key                          string
	lines, others                          bool
}

func readAttaching(args []string) (a attaching, err error) {
	a.name = "hew attach"
	if h, err := os.Hostname(); err == nil {
		a.name = "hew attach on " + h
	}
	values := map[string]*string{
		"-p": &a.prompt, "--print": &a.prompt, "--session": &a.session, "--cwd": &a.cwd, "--name": &a.name, "--trust": &a.trust, "--ca": &a.ca, "--cert": &a.cert, "--key": &a.key,
	}
	for i := 0; i < len(args); i++ {
		to, ok := values[args[i]]
		switch {
		case ok && i+1 == len(args):
			return a, &usageError{args[i] + " needs a value"}
		case ok:
			i++
			*to = args[i]
		case args[i] == "--stream-json":
			a.lines = true
		case args[i] == "--others-answer":
			a.others = true
		case args[i] == "" || args[i][0] == '-' || a.url != "":
			return a, &usageError{fmt.Sprintf("hew attach does not take %q; hew attach --help shows its options", plain.Line(args[i]))}
		default:
			a.url = args[i]
		}
	}
	if a.url == "" {
		return a, &usageError{"hew attach needs the address or the link that hew serve has printed"}
	}
	return a, nil
}

// runAttach works in a session that another process serves.
func runAttach(e Env, args []string) error {
	a, err := readAttaching(args)
	if err != nil {
		return err
	}
	ctx, stop := signals(context.Background())
	defer stop()
	transport, err := a.transport()
	if err != nil {
		return err
	}
	server, err := remote.Connect(ctx, remote.Config{URL: a.url, Password: e.getenv("HEW_SERVE_PASSWORD"), Name: a.name, Transport: transport})
	if err != nil {
		return err
	}
	if a.prompt == "" {
		return listServed(ctx, e, server)
	}
	if a.session == "" {
		if a.session, err = a.open(ctx, server); err != nil {
			return err
		}
	}
	err = a.ask(ctx, e, server)
	return (&headless{e: e}).ended(ctx, err)
}

// transport reaches the server by TLS with own certificates, where they are given.
func (a attaching) transport() (http.RoundTripper, error) {
	t := http.DefaultTransport.(*http.Transport).Clone() // it is one
	if a.ca == "" && a.cert == "" {
		return t, nil
	}
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	if a.ca != "" {
		data, err := readOption(a.ca)
		if err != nil {
			return nil, fmt.Errorf("--ca: %w", err)
		}
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("--ca: %s holds no certificate in PEM form", plain.Line(a.ca))
		}
	}
	if a.cert != "" {
		pair, err := tls.LoadX509KeyPair(a.cert, a.key)
		if err != nil {
			return nil, fmt.Errorf("--cert and --key: %w", err)
		}
		t.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}

// open opens a new session in a folder of the server.
func (a attaching) open(ctx context.Context, server *remote.Server) (string, error) {
	cwd := a.cwd
	if cwd == "" {
		cwd = server.Cwd
	}
	id, err := server.Open(ctx, remote.Wanted{Cwd: cwd, Trust: a.trust})
	var f *remote.Fault
	if !errors.As(err, &f) || f.Code != "untrusted" {
		return id, err
	}
	var text strings.Builder
	text.WriteString(f.Text + ":")
	for _, it := range gjson.GetBytes(f.Body, "items").Array() {
		text.WriteString("\n  " + plain.Line(it.Get("kind").Str+" "+it.Get("name").Str+" "+it.Get("file").Str))
	}
	return "", errors.New(text.String() + "\nagree with --trust always or --trust once, or go on without with --trust none")
}

func listServed(ctx context.Context, e Env, server *remote.Server) error {
	list, err := server.Sessions(ctx, "")
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.Stdout, 0, 4, 2, ' ', 0)
	for _, r := range list {
		title := r.Title
		if title == "" {
			title = r.First
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.ID, time.UnixMilli(r.Modified).Local().Format("2006-01-02 15:04"), r.State, plain.Line(r.Cwd), oneLine(title, 60))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(e.Stderr, "hew attach URL --session ID -p PROMPT says something in one of them")
	return nil
}

// ask prompts the session and prints what comes of it.
func (a attaching) ask(ctx context.Context, e Env, server *remote.Server) error {
	m := msg.User(session.NewID(), time.Now(), a.prompt)
	results, trouble := make(chan gjson.Result, 1), make(chan *remote.Fault, 1)
	asked := make(chan string, 64)
	begun := false
	lines := func(line json.RawMessage) {
		v := gjson.ParseBytes(line)
		if a.lines {
			fmt.Fprintln(e.Stdout, string(line))
		}
		switch v.Get("type").Str {
		case "user":
			begun = begun || v.Get("uuid").Str == m.ID
		case "result":
			if begun {
				select {
				case results <- v:
				default:
				}
			}
		case "control_request":
			select {
			case asked <- v.Get("request_id").Str:
			default: // so many wait already
			}
		}
	}
	s, err := server.Attach(ctx, a.session, remote.Follow{Lines: lines, Trouble: func(f *remote.Fault) {
		select {
		case trouble <- f:
		default:
		}
	}})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // it goes on without us
	s.Prompt(ctx, m)
	for {
		select {
		case r := <-results:
			return a.say(e, r)
		case f := <-trouble:
			if f.Code != "answered" && f.Code != "unknown_question" {
				return f
			}
		case id := <-asked:
			if !a.others {
				s.Answer(ctx, id, event.Answer{Behavior: tool.Deny, Message: "nobody is there who could answer: hew attach -p asks no one"})
			}
		case <-s.Done():
			return s.Err()
		}
	}
}

func (a attaching) say(e Env, r gjson.Result) error {
	if !a.lines {
		var text strings.Builder
		text.WriteString(r.Get("result").Str)
		for _, t := range r.Get("errors").Array() {
			text.WriteString(t.Str + "\n")
		}
		fmt.Fprintln(e.Stdout, plain.Text(text.String()))
	}
	if r.Get("is_error").Bool() {
		return &failure{exitError}
	}
	return nil
}
