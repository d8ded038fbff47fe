package policy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/tool"
)

// row is one line of a case table; see the README beside the tables.
type row struct {
	ID       string         `json:"id"`
	Kind     string         `json:"kind"`
	Tool     string         `json:"tool"`
	Input    map[string]any `json:"input"`
	Settings rowSettings    `json:"settings"`
	Expect   string         `json:"expect"`
	Level    string         `json:"level"`
	Why      string         `json:"why"`
	Source   any            `json:"source"`
}

type rowSettings struct {
	Allow, Ask, Deny      []string
	Mode                  string              `json:"mode"`
	AdditionalDirectories []string            `json:"additionalDirectories"`
	Trusted               any                 `json:"trusted"`
	GitTracked            any                 `json:"gitTracked"`
	Shell                 string              `json:"shell"`
	FS                    string              `json:"fs"`
	Platform              string              `json:"platform"`
	Sandbox               map[string]any      `json:"sandbox"`
	Hook                  map[string]string   `json:"hook"`
	MCPServers            map[string][]string `json:"mcpServers"`
	Annotations           map[string]any      `json:"annotations"`
	Tree                  []string            `json:"tree"`
	Sources               map[string]struct {
		Allow, Ask, Deny []string
		ManagedOnly      bool `json:"allowManagedPermissionRulesOnly"`
	} `json:"sources"`
}

func (r row) request(t *testing.T) (Config, Request) {
	t.Helper()
	st := r.Settings
	mode, _, err := ParseMode(st.Mode)
	if err != nil {
		t.Fatal(err)
	}
	cfg := testConfig(mode, st.Allow, st.Ask, st.Deny)
	cfg.Roots = st.AdditionalDirectories
	cfg.FS = FileSystem{CaseInsensitive: st.FS == "case-insensitive", Normalizing: st.FS == "normalizing"}
	for scope, src := range st.Sources {
		dir := testCwd
		if scope == "user" {
			dir = testHome + "/.claude"
		}
		cfg.ManagedOnly = cfg.ManagedOnly || src.ManagedOnly
		cfg.Layers = append(cfg.Layers, Layer{
			Origin: Origin{Scope: Scope(scope), File: scope, Dir: dir}, Allow: src.Allow, Ask: src.Ask, Deny: src.Deny,
			Held: scope == "project" && st.Trusted != nil && st.Trusted != true,
		})
	}
	req := call(r.Tool, r.Input)
	req.Paths = newTree(st.Tree...)
	for server, tools := range st.MCPServers {
		for _, name := range tools {
			if r.Tool == "mcp__"+server+"__"+name {
				req.Spec.Origin = server
			}
		}
	}
	if st.Shell == "zsh" {
		req.Shell = shellread.Zsh
	}
	switch st.Hook["PreToolUse"] {
	case "allow":
		req.Hook = tool.Allow
	case "ask":
		req.Hook = tool.Ask
	case "deny", "exit2":
		req.Hook = tool.Deny
	}
	req.Sandboxed = st.Sandbox["autoAllowBashIfSandboxed"] == true && r.Input["dangerouslyDisableSandbox"] != true
	return cfg, req
}

// TestTables judges every row of the case tables. A wrong must row fails; wrong
// should rows are counted and shown.
func TestTables(t *testing.T) {
	dir := os.Getenv("HEW_CASES_DIR") // tables that are not the committed ones
	if dir == "" {
		dir = "../../../testdata/permissions"
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tables in %s: %v", dir, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		judgeTable(t, filepath.Base(file), data)
	}
}

func judgeTable(t *testing.T, name string, data []byte) {
	t.Helper()
	rows, must, should, prompts := 0, 0, 0, 0
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		line := bytes.TrimSpace(sc.Bytes())
		var r row
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		if len(line) == 0 {
			continue
		}
		if err := dec.Decode(&r); err != nil {
			t.Errorf("%s: %v: %.100s", name, err, line)
			continue
		}
		if r.ID == "" {
			continue
		}
		rows++
		cfg, req := r.request(t)
		d := decide(t, cfg, req)
		got := string(d.Behavior)
		if got == r.Expect || r.Expect == "not-allow" && got != "allow" {
			continue
		}
		show := fmt.Sprintf("%s %s %s: got %s, want %s: %s [%s] (%s)", r.ID, r.Level, clip(fmt.Sprint(r.Input)), got, r.Expect, d.Reason, d.Part, r.Why)
		if r.Expect == "allow" {
			prompts++
		}
		if r.Level == "must" {
			must++
			t.Error(show)
		} else {
			should++
			t.Log(show)
		}
	}
	t.Logf("%s: %d rows, wrong must %d, wrong should %d, false prompts %d", name, rows, must, should, prompts)
}

func clip(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) > 160 {
		s = s[:160] + "…"
	}
	return s
}
