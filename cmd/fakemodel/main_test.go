package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/backend/provider/script"
)

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--help"}, 0, "The smallest scenario"},
		{nil, 2, "--script FILE"},
		{[]string{"--nope"}, 2, "unknown flag"},
		{[]string{"--script", "does-not-exist.json"}, 1, "read scenario"},
	} {
		var out, errs bytes.Buffer
		if code := run(c.args, &out, &errs); code != c.code || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%v: %d\n%s", c.args, code, errs.String())
		}
	}
}

func TestOnlyLoopback(t *testing.T) {
	for addr, ok := range map[string]bool{
		"127.0.0.1:0": true, "[::1]:0": true, "localhost:0": true,
		"0.0.0.0:0": false, ":0": false, "example.com:80": false, "127.0.0.1": false,
	} {
		if err := loopback(addr); (err == nil) != ok {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

// start serves a scenario and returns its base URL and what ends it.
func start(t *testing.T, scenario string, c script.Config) (base string, end func() error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(file, []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- serve(ctx, file, "127.0.0.1:0", c, false, w) }()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	return strings.TrimSpace(line), func() error { cancel(); return <-done }
}

func ask(t *testing.T, base, body string) string {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, base+"/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const hi = `{"model":"m","max_tokens":10,"messages":[{"role":"user","content":"hi"}]}`

func TestServe(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	base, end := start(t, `{"steps":[{"reply":[{"text":"Hello"}]}]}`, script.Config{LogDir: log})
	if got := ask(t, base, hi); !strings.Contains(got, "Hello") {
		t.Errorf("got %s", got)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(filepath.Join(log, "R1.json")); err != nil || string(b) != hi {
		t.Errorf("%s %v", b, err)
	}
}

func TestUnusedStepsFailTheRun(t *testing.T) {
	_, end := start(t, `{"steps":[{"name":"greet","reply":[{"text":"Hello"}]}]}`, script.Config{})
	if err := end(); err == nil || !strings.Contains(err.Error(), "greet was never used") {
		t.Errorf("%v", err)
	}
}

// TestDocument: every scenario of the document can be played.
func TestDocument(t *testing.T) {
	doc, err := os.ReadFile(filepath.FromSlash("../../docs/fakemodel.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(doc, -1)
	if len(found) < 5 {
		t.Fatalf("%d examples", len(found))
	}
	for _, m := range found {
		text := bytes.TrimSpace(m[1])
		if !bytes.Contains(text, []byte(`"steps"`)) { // a step alone
			text = []byte(`{"steps":[` + string(text) + `]}`)
		}
		if _, err := script.Parse(text); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
	}
}
