package credential

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Keyring is the operating system's store of secrets.
type Keyring interface {
	Get(service, key string) (string, error)
	Set(service, key, secret string) error
	Delete(service, key string) error
}

// OSKeyring is the keyring of this machine; its methods fail where there is none.
type OSKeyring struct{}

// Get reads a secret.
func (OSKeyring) Get(service, key string) (string, error) { return keyring.Get(service, key) }

// Set writes a secret.
func (OSKeyring) Set(service, key, secret string) error { return keyring.Set(service, key, secret) }

// Delete removes a secret.
func (OSKeyring) Delete(service, key string) error { return keyring.Delete(service, key) }

// vaultService is hew's name in the keyring.
const vaultService = "hew"

// keyringWait bounds a question to the keyring: one that is locked may ask the
// person first, in a window that nobody sees.
const keyringWait = 3 * time.Second

// Vault keeps secrets that hew was given, by name: in the keyring when there is
// one, else in a file of mode 0600.
type Vault struct {
	// Path is the file.
	Path string
	// Keyring may be nil.
	Keyring Keyring
}

// Get returns a secret; ok is false when there is none of that name.
func (v Vault) Get(name string) (s Secret, ok bool, err error) {
	if v.Keyring != nil {
		var got string
		if v.ask(func() (err error) { got, err = v.Keyring.Get(vaultService, v.key(name)); return err }) == nil {
			return NewSecret(got), true, nil
		}
	}
	raw, err := os.ReadFile(v.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return Secret{}, false, nil
	}
	if err != nil {
		return Secret{}, false, fmt.Errorf("read the stored logins: %w", err)
	}
	var all map[string]string
	if json.Unmarshal(raw, &all) != nil {
		return Secret{}, false, fmt.Errorf("read the stored logins: %s is not valid JSON; remove it and log in again", fsys.Printable(v.Path))
	}
	text, ok := all[name]
	return NewSecret(text), ok, nil
}

// Set keeps a secret and says where: "keyring", or the file's path.
func (v Vault) Set(ctx context.Context, name string, s Secret) (where string, err error) {
	if v.Keyring != nil && v.ask(func() error { return v.Keyring.Set(vaultService, v.key(name), s.Reveal()) }) == nil {
		return "keyring", v.fromFile(ctx, name)
	}
	err = fsys.UpdateJSON(ctx, v.Path, fsys.WriteOptions{Mode: 0o600}, func(d *fsys.JSONDoc) error { return d.Set(s.Reveal(), name) })
	if err != nil {
		return "", fmt.Errorf("keep the login: %w", err)
	}
	return v.Path, nil
}

// Delete forgets a secret; one that is not there is no error.
func (v Vault) Delete(ctx context.Context, name string) error {
	if v.Keyring != nil {
		_ = v.ask(func() error { return v.Keyring.Delete(vaultService, v.key(name)) }) // fails when there is none
	}
	return v.fromFile(ctx, name)
}

func (v Vault) fromFile(ctx context.Context, name string) error {
	if fsys.KindOf(v.Path) == fsys.KindMissing {
		return nil
	}
	err := fsys.UpdateJSON(ctx, v.Path, fsys.WriteOptions{Mode: 0o600}, func(d *fsys.JSONDoc) error {
		d.Delete(name)
		return nil
	})
	if err != nil {
		return fmt.Errorf("forget the login: %w", err)
	}
	return nil
}

// key tells the logins of one configuration home from those of another.
func (v Vault) key(name string) string { return v.Path + "|" + name }

// ask waits for the keyring only so long; what comes later is dropped.
func (v Vault) ask(do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	t := time.NewTimer(keyringWait)
	defer t.Stop()
	select {
	case err := <-done:
		return err
	case <-t.C:
		return errors.New("the keyring did not answer")
	}
}
