package credential

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

type fakeRing map[string]string

func (f fakeRing) Get(s, k string) (string, error) {
	v, ok := f[s+k]
	if !ok {
		return "", errors.New("none")
	}
	return v, nil
}
func (f fakeRing) Set(s, k, v string) error { f[s+k] = v; return nil }
func (f fakeRing) Delete(s, k string) error { delete(f, s+k); return nil }

func TestVaultFile(t *testing.T) {
	v := Vault{Path: filepath.Join(t.TempDir(), "logins.json")}
	ctx := context.Background()
	if _, ok, err := v.Get("a"); ok || err != nil {
		t.Fatalf("%v %v", ok, err)
	}
	where, err := v.Set(ctx, "a", NewSecret("s3cret"))
	if err != nil || where != v.Path {
		t.Fatalf("%q %v", where, err)
	}
	st, err := os.Stat(v.Path)
	if err != nil || (runtime.GOOS != "windows" && st.Mode().Perm() != 0o600) {
		t.Fatalf("mode %v %v", st.Mode(), err)
	}
	if s, ok, err := v.Get("a"); !ok || err != nil || s.Reveal() != "s3cret" {
		t.Fatalf("%v %v", ok, err)
	}
	if err := v.Delete(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := v.Get("a"); ok {
		t.Fatal("still there")
	}
}

func TestVaultPrefersTheKeyring(t *testing.T) {
	ring := fakeRing{}
	v := Vault{Path: filepath.Join(t.TempDir(), "logins.json")}
	ctx := context.Background()
	if _, err := v.Set(ctx, "a", NewSecret("s3cret")); err != nil {
		t.Fatal(err)
	}
	v.Keyring = ring
	if where, err := v.Set(ctx, "a", NewSecret("newer")); err != nil || where != "keyring" {
		t.Fatalf("%q %v", where, err)
	}
	if raw, err := os.ReadFile(v.Path); err != nil || strings.Contains(string(raw), "s3cret") {
		t.Fatalf("the file keeps the old secret: %s %v", raw, err)
	}
	if s, ok, _ := v.Get("a"); !ok || s.Reveal() != "newer" {
		t.Fatal("not found in the keyring")
	}
}
