package settings

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Trust is what the user has said about a folder.
type Trust int

// The levels. The zero value is the careful one.
const (
	Untrusted     Trust = iota
	ParentTrusted       // a folder above it was accepted: what it runs is used, what it allows is not
	Trusted
)

// TrustKey is the folder that a trust mark for cwd names: the root of the main checkout, else cwd, by its real name.
func TrustKey(cwd string) string {
	if repo, ok := findRepository(cwd); ok {
		cwd = repo.root
	}
	if real, err := fsys.Real(cwd); err == nil {
		return real
	}
	return cwd
}

// ReadTrust looks up the marks for cwd in the global state file. A missing file is no mark; an unreadable one is an
// error besides Untrusted. The home folder and the file system's root never vouch for what lies below them.
func ReadTrust(h Home, cwd string) (Trust, error) {
	raw, _, err := fsys.ReadRaw(h.State(), fsys.Limits{})
	if fsys.CauseOf(err) == fsys.CauseMissing {
		return Untrusted, nil
	}
	if err != nil {
		return Untrusted, err
	}
	var state struct {
		Projects map[string]struct {
			Accepted any `json:"hasTrustDialogAccepted"`
		} `json:"projects"`
	}
	if err := fsys.CheckJSON(raw); err != nil {
		return Untrusted, &fsys.Error{Op: "read", Path: h.State(), Err: err}
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &state); err != nil {
			return Untrusted, &fsys.Error{Op: "read", Path: h.State(), Err: err}
		}
	}
	accepted := func(dir string) bool { return state.Projects[dir].Accepted == true }
	key := TrustKey(cwd)
	real, err := fsys.Real(cwd) // a link could lead elsewhere by now
	if accepted(key) || (err == nil && accepted(real)) {
		return Trusted, nil
	}
	for dir := filepath.Dir(key); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if dir != h.user && accepted(dir) {
			return ParentTrusted, nil
		}
	}
	return Untrusted, nil
}

// IncludesApproved tells whether another tool of the ecosystem has noted the user's yes to instruction files that include
// files from outside of the folder.
func IncludesApproved(h Home, cwd string) bool {
	raw, _, err := fsys.ReadRaw(h.State(), fsys.Limits{})
	var state struct {
		Projects map[string]struct {
			Approved any `json:"hasClaudeMdExternalIncludesApproved"`
		} `json:"projects"`
	}
	return err == nil && fsys.CheckJSON(raw) == nil && json.Unmarshal(raw, &state) == nil && state.Projects[TrustKey(cwd)].Approved == true
}

// AcceptTrust writes the mark for cwd.
func AcceptTrust(ctx context.Context, h Home, cwd string) error {
	return fsys.UpdateJSON(ctx, h.State(), fsys.WriteOptions{Mode: 0o600}, func(d *fsys.JSONDoc) error {
		return d.Set(true, "projects", TrustKey(cwd), "hasTrustDialogAccepted")
	})
}

// ForgetTrust takes the mark for cwd back; what else is known of the folder stays.
func ForgetTrust(ctx context.Context, h Home, cwd string) error {
	if fsys.KindOf(h.State()) == fsys.KindMissing {
		return nil
	}
	return fsys.UpdateJSON(ctx, h.State(), fsys.WriteOptions{Mode: 0o600}, func(d *fsys.JSONDoc) error {
		return d.Set(false, "projects", TrustKey(cwd), "hasTrustDialogAccepted")
	})
}

// CheckoutRoot is the root of the checkout that cwd lies in, a linked worktree's own, else cwd.
func CheckoutRoot(cwd string) string {
	for dir := cwd; ; {
		if k := fsys.KindOf(filepath.Join(dir, ".git")); k == fsys.KindDir || k == fsys.KindRegular {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return cwd
		}
		dir = up
	}
}
