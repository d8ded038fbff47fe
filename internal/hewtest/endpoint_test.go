package hewtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// endpoint VAR FILE sets VAR to the URL of a server on loopback. The answer to a
// path is the file of that name, or for a number that status; each request is
// noted in FILE as a line {"path", "auth", "body"}.
func cmdEndpoint(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 || neg {
		ts.Fatalf("usage: endpoint VAR FILE")
	}
	e := &endpoint{log: ts.MkAbs(args[1]), dir: ts.MkAbs(".")}
	srv := httptest.NewServer(e)
	ts.Defer(srv.Close)
	ts.Setenv(args[0], srv.URL)
}

type endpoint struct {
	mu       sync.Mutex
	log, dir string
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	line, err := json.Marshal(map[string]any{"path": r.URL.Path, "auth": r.Header.Get("Authorization"), "body": json.RawMessage(body)})
	if err == nil {
		err = appendTo(e.log, append(line, '\n'))
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	reply, missing := os.ReadFile(e.dir + "/" + name)
	switch code, number := strconv.Atoi(name); {
	case err != nil:
		w.WriteHeader(http.StatusInternalServerError)
	case number == nil:
		w.WriteHeader(code)
	case missing == nil:
		_, _ = w.Write(bytes.TrimSpace(reply)) // a caller that has gone away
	}
}

func appendTo(file string, data []byte) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// files VAR sets VAR to the URL of a server on loopback that gives the files of
// the project folder, byte for byte.
func cmdFiles(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 || neg {
		ts.Fatalf("usage: files VAR")
	}
	srv := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs("."))))
	ts.Defer(srv.Close)
	ts.Setenv(args[0], srv.URL)
}
