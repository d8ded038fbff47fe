package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestUnknown(t *testing.T) {
	home := Home{Dir: t.TempDir()}
	text := `{"$schema":"x","permisions":{},"permissions":{"alow":[],"deny":[]},"model":"m","somebodyElse":{"a":1},"env":{"ANY":"1"},"sandbox":{"network":{"alowedDomains":[]}}}`
	if err := os.WriteFile(filepath.Join(home.Dir, "settings.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, _ := Load(Config{Home: home, Cwd: t.TempDir(), ManagedDir: t.TempDir(), Sources: []Scope{User}})
	var got []string
	for _, u := range s.Unknown() {
		got = append(got, u.Key+"→"+u.Near)
		if u.Origin.Scope != User || u.Origin.File == "" {
			t.Errorf("%+v", u)
		}
	}
	want := []string{"permisions→permissions", "permissions.alow→permissions.allow", "somebodyElse→", "sandbox.network.alowedDomains→sandbox.network.allowedDomains"}
	slices.Sort(got)
	slices.Sort(want)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatal(got)
	}
}
