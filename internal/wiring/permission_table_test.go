package wiring

import (
	"os"
	"strings"
	"testing"
)

// TestPermissionTables judges the committed tables as hew permissions test
// does. No must row may be wrong in any; the measured should rows are a figure,
// not a gate. extra.jsonl are commands that were written after the rules.
func TestPermissionTables(t *testing.T) {
	for name, maxShould := range map[string]int{"permissions.jsonl": 5, "permissions-measured.jsonl": -1, "extra.jsonl": 5} {
		f, err := os.Open("../../testdata/permissions/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		c := NewCases()
		defer c.Close()
		tally, err := c.Table(f, func(r CaseResult, err error) {
			switch {
			case err != nil:
				t.Errorf("%s: %v", r.Case.ID, err)
			case !r.Right && r.Case.Level == "must":
				t.Errorf("%s %s: got %s, want %s: %s (%s)", r.Case.ID, r.Case.Input, r.Verdict, r.Case.Expect, r.Reason, r.Case.Why)
			case !r.Right:
				t.Logf("%s %s: got %s, want %s: %s", r.Case.ID, r.Case.Input, r.Verdict, r.Case.Expect, r.Reason)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %s", name, tally)
		if tally.Rows < 300 || tally.Failed() || maxShould >= 0 && tally.WrongShould > maxShould {
			t.Errorf("%s: %s", name, tally)
		}
	}
}

func judgeRow(t *testing.T, line string) (CaseResult, error) {
	t.Helper()
	c := NewCases()
	defer c.Close()
	var got CaseResult
	var fault error
	n := 0
	if _, err := c.Table(strings.NewReader(line), func(r CaseResult, err error) { got, fault, n = r, err, n+1 }); err != nil {
		t.Fatal(err)
	}
	if n != 1 {
		t.Fatalf("%d answers to %s", n, line)
	}
	return got, fault
}

// TestCaseEnvironment shows what the settings of a row do, beyond what the
// committed tables use.
func TestCaseEnvironment(t *testing.T) {
	for _, c := range []struct{ row, want string }{
		{`{"id":"1","tool":"Bash","input":{"command":"npm test"},"settings":{"sources":{"user":{"allow":["Bash"]},"managed":{"denyInsteadOfPrompting":true}}}}`, "allow"},
		{`{"id":"2","tool":"Read","input":{"file_path":"/etc/hosts"},"settings":{"allow":["Read"],"sources":{"managed":{"blockReadsOutsideWorkingDirectories":true}}}}`, "deny"},
		{`{"id":"3","tool":"Write","input":{"file_path":"a","content":"x"},"settings":{"sources":{"user":{"defaultMode":"acceptEdits"}}}}`, "allow"},
		{`{"id":"4","tool":"Bash","input":{"command":"npm test"},"settings":{"sources":{"project":{"defaultMode":"bypassPermissions"}},"trusted":false}}`, "ask"},
		{`{"id":"5","tool":"Bash","input":{"command":"npm test"},"settings":{"mode":"bypassPermissions","sources":{"managed":{"disableBypassPermissionsMode":"disable"}}}}`, "ask"},
		{`{"id":"6","tool":"Bash","input":{"command":"npm test"},"settings":{"sources":{"local":{"allow":["Bash(npm test)"]}},"gitTracked":true,"trusted":false}}`, "ask"},
		{`{"id":"7","tool":"Bash","input":{"command":"npm test"},"settings":{"sources":{"local":{"allow":["Bash(npm test)"]}},"gitTracked":false,"trusted":false}}`, "allow"},
		{`{"id":"8","tool":"Bash","input":{"command":"npm test"},"settings":{"sources":{"project":{"allow":["Bash(npm test)"]}},"trusted":"parent"}}`, "ask"},
		{`{"id":"9","tool":"Read","input":{"file_path":"/home/dev/other/x"},"settings":{"sources":{"user":{"additionalDirectories":["~/other"]}}}}`, "allow"},
		{`{"id":"10","tool":"Bash","input":{"command":"docker run x"},"settings":{"sandbox":{"enabled":true,"autoAllowBashIfSandboxed":true,"excludedCommands":["docker *"]}}}`, "ask"},
		{`{"id":"11","tool":"Bash","input":{"command":"docker run x && npm test"},"settings":{"sandbox":{"enabled":true,"autoAllowBashIfSandboxed":true,"excludedCommands":["docker *"]}}}`, "allow"},
		{`{"id":"12","tool":"Bash","input":{"command":"npm test"},"settings":{"sandbox":{"enabled":false}}}`, "ask"},
		{`{"id":"13","tool":"Read","input":{"file_path":"~/x"},"settings":{"deny":["Read(~/x)"]}}`, "deny"},
		{`{"id":"14","tool":"Read","input":{"file_path":"sub/SECRET"},"settings":{"deny":["Read(sub/secret)"],"fs":"case-insensitive"}}`, "deny"},
		{`{"id":"15","tool":"Task","input":{"subagent_type":"Explore"},"settings":{"deny":["Agent(Explore)"]}}`, "deny"},
		{`{"id":"16","tool":"NewTool","input":{}}`, "ask"},
		{`{"id":"17","tool":"Write","input":{"file_path":"a"},"settings":{"mode":"plan"}}`, "deny"},
		{`{"id":"19","tool":"Read","input":{"file_path":"C:\\Users\\dev\\.ssh\\id"},"settings":{"platform":"windows"}}`, "ask"},
		{`{"id":"20","tool":"Read","input":{"file_path":"\\\\host\\share\\x"},"settings":{"platform":"windows"}}`, "ask"},
		{`{"id":"21","tool":"Read","input":{"file_path":"sub\\SECRET"},"settings":{"deny":["Read(sub/secret)"],"platform":"windows"}}`, "deny"},
		{`{"id":"18","tool":"Write","input":{"file_path":"a","content":7}}`, "deny"},
	} {
		r, err := judgeRow(t, c.row)
		if err != nil || r.Verdict != c.want || len(r.Chain) == 0 {
			t.Errorf("%s: got %s (%s), want %s, error %v", c.row, r.Verdict, r.Reason, c.want, err)
		}
	}
}

// TestCaseFaults: what is not understood has no answer, which fails the table.
func TestCaseFaults(t *testing.T) {
	for _, c := range []struct{ row, want string }{
		{`{"id":"1","tool":"Bash","settings":{"alow":["Bash"]}}`, `"alow"`},
		{`{"id":"1","tool":"Bash","settings":{"sources":{"project":{"alow":["Bash"]}}}}`, `"alow"`},
		{`{"id":"1","tool":"Bash","settings":{"sources":{"team":{}}}}`, `"team"`},
		{`{"id":"1","tool":"Bash","settings":{"mode":"yolo"}}`, "yolo"},
		{`{"id":"1","tool":"Bash","settings":{"shell":"fish"}}`, "fish"},
		{`{"id":"1","tool":"Bash","settings":{"hook":{"Stop":"deny"}}}`, "Stop"},
		{`{"id":"1","tool":"Bash","settings":{"trusted":"yes"}}`, "trusted"},
		{`{"id":"1"}`, "no tool"},
		{`{"id":"1","tool":`, "unexpected end"},
	} {
		if _, err := judgeRow(t, c.row); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.row, err, c.want)
		}
	}
	c := NewCases()
	defer c.Close()
	tally, err := c.Table(strings.NewReader("\n{\"note\":1}\n{\"id\":\"a\",\"tool\":\"Bash\",\"input\":{\"command\":\"ls\"},\"expect\":\"deny\",\"level\":\"must\"}\n{\"id\":\"b\"}\n"), func(CaseResult, error) {})
	if err != nil || tally.Rows != 2 || tally.WrongMust != 1 || tally.Unanswered != 1 || !tally.Failed() {
		t.Errorf("%+v %v", tally, err)
	}
}
