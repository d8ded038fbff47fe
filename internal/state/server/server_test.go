package server

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/state/settings"
)

func TestLists(t *testing.T) {
	stdio := mcp.Entry{Name: "s", Transport: mcp.Stdio, Command: "npx", Args: []string{"-y", "pkg"}}
	web := mcp.Entry{Name: "w", Transport: mcp.HTTP, URL: "https://mcp.example.com/v1"}
	rules := func(raw string) (out []rule) {
		if err := json.Unmarshal([]byte(raw), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, c := range []struct {
		name, allow, deny string
		e                 mcp.Entry
		ok                bool
	}{
		{"no lists", "", "", stdio, true},
		{"empty list", "[]", "", stdio, false},
		{"by name", `[{"serverName":"s"}]`, "", stdio, true},
		{"another name", `[{"serverName":"x"}]`, "", stdio, false},
		{"by command", `[{"serverCommand":["npx","-y","pkg"]}]`, "", stdio, true},
		{"by another command", `[{"serverCommand":["npx","-y","other"]}]`, "", stdio, false},
		{"a name does not do where commands are listed", `[{"serverName":"s"},{"serverCommand":["npx","-y","other"]}]`, "", stdio, false},
		{"by URL", `[{"serverUrl":"https://*.example.com/*"}]`, "", web, true},
		{"by another URL", `[{"serverUrl":"https://*.example.org/*"}]`, "", web, false},
		{"commands say nothing about URLs", `[{"serverName":"w"},{"serverCommand":["x"]}]`, "", web, true},
		{"deny wins", `[{"serverName":"s"}]`, `[{"serverName":"s"}]`, stdio, false},
		{"deny by URL", "", `[{"serverUrl":"*example.com*"}]`, web, false},
		{"deny by command", "", `[{"serverCommand":["npx","-y","pkg"]}]`, stdio, false},
	} {
		l := lists{limited: c.allow != ""}
		if c.allow != "" {
			l.allowed = rules(c.allow)
		}
		if c.deny != "" {
			l.deny = rules(c.deny)
		}
		if why := l.denies(c.e); (why == "") != c.ok {
			t.Errorf("%s: %q", c.name, why)
		}
	}
}

func TestJudge(t *testing.T) {
	home, err := settings.FindHome(func(string) string { return "" }, t.TempDir())
	if err != nil {
		home = settings.Home{}
	}
	home.Dir = t.TempDir()
	ctx := context.Background()
	e := mcp.Entry{Name: "s", Scope: mcp.ScopeUser, Digest: "d"}
	tools := func(digest string) []mcp.Tool {
		return []mcp.Tool{{Name: "a", Digest: digest, Description: "of " + digest}, {Name: "b", Digest: "b"}}
	}
	judge := func(e mcp.Entry, digest string) int {
		t.Helper()
		got, err := Judge(ctx, home, e, tools(digest))
		if err != nil {
			t.Fatal(err)
		}
		return len(got)
	}
	for range 2 {
		if judge(e, "1") != 0 {
			t.Fatal("what was seen first is agreed to")
		}
	}
	for range 2 {
		if judge(e, "2") != 1 {
			t.Fatal("a changed tool must wait, each time")
		}
	}
	if got, err := Changes(home, e); err != nil || len(got) != 1 || got[0].Old.Description != "of 1" || got[0].New.Description != "of 2" {
		t.Fatalf("%+v %v", got, err)
	}
	if judge(e, "1") != 0 {
		t.Fatal("what it was before was agreed to")
	}
	if judge(e, "2") != 1 {
		t.Fatal("still not agreed to")
	}
	if err := AcceptTools(ctx, home, e); err != nil || judge(e, "2") != 0 {
		t.Fatalf("agreed to: %v", err)
	}
	other := e
	other.Digest = "another command"
	if judge(other, "9") != 0 {
		t.Fatal("another entry begins anew")
	}
	managed := mcp.Entry{Name: "m", Scope: mcp.ScopeManaged}
	if judge(managed, "1") != 0 || judge(managed, "2") != 0 {
		t.Fatal("an administrator's servers are not judged")
	}
}

func TestScopes(t *testing.T) {
	dir := t.TempDir()
	write := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	proj := filepath.Join(dir, "proj")
	write(filepath.Join(proj, ".mcp.json"), `{"mcpServers":{"a":{"command":"project"},"b":{"command":"project"},"bad":{}}}`)
	home, err := settings.FindHome(func(n string) string {
		if n == "HOME" {
			return dir
		}
		return ""
	}, proj)
	if err != nil {
		t.Fatal(err)
	}
	write(home.State(), `{"mcpServers":{"a":{"command":"user"},"c":{"command":"user"}},"projects":{"`+proj+`":{"mcpServers":{"a":{"command":"local"}},"disabledMcpServers":["c"]}}}`)
	conf := settings.Config{Home: home, Cwd: proj, ManagedDir: filepath.Join(dir, "managed")}
	values, _ := settings.Load(conf)
	c := Config{Settings: conf, Values: values, Trust: settings.Trusted, Flags: []string{`{"mcpServers":{"f":{"command":"flag"}}}`}}
	list, faults, err := Discover(c)
	if err != nil || len(faults) != 1 {
		t.Fatalf("%v %v", faults, err)
	}
	got := map[string]string{}
	for _, f := range list {
		got[f.Entry.Name] = f.Entry.Command + " " + string(f.Entry.Scope)
		if f.Entry.Name == "c" && f.Choice != Off {
			t.Errorf("c: %v", f.Choice)
		}
	}
	want := map[string]string{"a": "local local", "b": "project project", "c": "user user", "f": "flag dynamic"}
	for n, w := range want {
		if got[n] != w {
			t.Errorf("%s is %q, want %q", n, got[n], w)
		}
	}
	c.Strict = true
	if list, _, _ := Discover(c); len(list) != 1 || list[0].Entry.Name != "f" {
		t.Errorf("strict: %+v", list)
	}
	c.Strict, c.Trust = false, settings.Untrusted
	list, _, _ = Discover(c)
	for _, f := range list {
		if (f.Choice == Waits) != (f.Entry.Name == "b") {
			t.Errorf("untrusted: %s %v", f.Entry.Name, f.Choice)
		}
	}
	c.Flags = []string{"no-such-file.json"}
	if _, _, err := Discover(c); err == nil {
		t.Error("a file of --mcp-config that is not there must be an error")
	}
}
