package wiring

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/event"
)

// What a lasting answer of any kind does to the file: a removal must not add.
func TestSavedUpdates(t *testing.T) {
	for _, c := range []struct {
		update event.Suggestion
		allow  []string
		dirs   []string
	}{
		{event.Suggestion{Type: string(policy.AddRules), Rules: []event.Rule{{Tool: "Bash", Content: "c"}}}, []string{"Bash(a)", "Bash(b)", "Bash(c)"}, []string{"/x"}},
		{event.Suggestion{Type: string(policy.RemoveRules), Rules: []event.Rule{{Tool: "Bash", Content: "a"}}}, []string{"Bash(b)"}, []string{"/x"}},
		{event.Suggestion{Type: string(policy.RemoveRules), Rules: []event.Rule{{Tool: "Bash", Content: "none"}}}, []string{"Bash(a)", "Bash(b)"}, []string{"/x"}},
		{event.Suggestion{Type: string(policy.ReplaceRules), Rules: []event.Rule{{Tool: "Edit"}}}, []string{"Edit"}, []string{"/x"}},
		{event.Suggestion{Type: string(policy.ReplaceRules)}, []string{}, []string{"/x"}},
		{event.Suggestion{Type: string(policy.AddDirectories), Directories: []string{"/y"}}, []string{"Bash(a)", "Bash(b)"}, []string{"/x", "/y"}},
		{event.Suggestion{Type: string(policy.RemoveDirectories), Directories: []string{"/x"}}, []string{"Bash(a)", "Bash(b)"}, []string{}},
	} {
		home, dir := t.TempDir(), t.TempDir()
		file := filepath.Join(home, ".claude", "settings.json")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(`{"permissions":{"allow":["Bash(a)","Bash(b)"],"additionalDirectories":["/x"]}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		b := &build{o: &Options{Environ: []string{"HOME=" + home}, Cwd: dir, Sources: "user,project,local"}, conv: &Conversation{}}
		if err := b.locate(); err != nil {
			t.Fatal(err)
		}
		c.update.Behavior, c.update.Destination = "allow", string(policy.ToUser)
		if err := b.save(c.update); err != nil {
			t.Errorf("%+v: %v", c.update, err)
			continue
		}
		var got struct {
			Permissions struct {
				Allow []string `json:"allow"`
				Dirs  []string `json:"additionalDirectories"`
			}
		}
		data, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(data, &got) != nil {
			t.Fatal(err, string(data))
		}
		if !slices.Equal(got.Permissions.Allow, c.allow) || !slices.Equal(got.Permissions.Dirs, c.dirs) {
			t.Errorf("%+v leaves %s", c.update, data)
		}
	}
	b := &build{}
	if err := b.save(event.Suggestion{Type: "polishRules", Destination: string(policy.ToUser)}); err == nil {
		t.Error("an update of no known kind was saved")
	}
}
