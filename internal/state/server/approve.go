package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/state/settings"
)

// approvals are the user's answers about the servers of one project, each bound
// to the digest of the entry: another command, argument or variable asks again.
type approvals map[string]answer

type answer struct {
	Digest string `json:"digest"`
	Agreed bool   `json:"agreed"`
}

// of tells whether the user has answered about exactly this entry, and how.
func (a approvals) of(e mcp.Entry) (known, agreed bool) {
	got, ok := a[e.Name]
	return ok && got.Digest == e.Digest, got.Agreed
}

func approvalsPath(c settings.Config) string {
	sum := sha256.Sum256([]byte(settings.TrustKey(c.Cwd)))
	return c.Home.Own("mcp", "project-"+hex.EncodeToString(sum[:12])+".json")
}

func readApprovals(c settings.Config) (approvals, error) {
	path := approvalsPath(c)
	raw, _, err := fsys.ReadRaw(path, fsys.Limits{MaxBytes: maxFile})
	if fsys.CauseOf(err) == fsys.CauseMissing {
		return nil, nil
	}
	var file struct {
		Servers approvals `json:"servers"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &file)
	}
	if err != nil {
		return nil, fmt.Errorf("approvals of MCP servers: %s cannot be read (%w); hew mcp reset-project-choices starts anew", fsys.Printable(path), err)
	}
	return file.Servers, nil
}

// Answer is the user's word about a server of the project.
type Answer int

// The answers.
const (
	No Answer = iota
	Yes
)

// Decide records the user's answer about a server of the project.
func Decide(ctx context.Context, c settings.Config, e mcp.Entry, a Answer) error {
	return updateOwn(ctx, approvalsPath(c), func(d *fsys.JSONDoc) error {
		return d.Set(answer{e.Digest, a == Yes}, "servers", e.Name)
	})
}

// Reset forgets all answers about the servers of the project, also those in the
// local settings file.
func Reset(ctx context.Context, c settings.Config) error {
	if err := os.Remove(approvalsPath(c)); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("forget the choices: %w", err)
	}
	for _, key := range []string{"enabledMcpjsonServers", "disabledMcpjsonServers", "enableAllProjectMcpServers"} {
		if fsys.KindOf(c.Path(settings.Local)) == fsys.KindMissing {
			continue
		}
		if err := c.Unset(ctx, settings.Local, key); err != nil {
			return err
		}
	}
	return nil
}

func updateOwn(ctx context.Context, path string, change func(*fsys.JSONDoc) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keep what was agreed to: %w", err)
	}
	if err := fsys.UpdateJSON(ctx, path, fsys.WriteOptions{Mode: 0o600}, change); err != nil {
		return fmt.Errorf("keep what was agreed to: %w", err)
	}
	return nil
}

// Sight is a tool as it was seen: the digest binds, the text is for people.
type Sight struct {
	Digest      string `json:"digest"`
	Description string `json:"description"`
}

// Change is a tool that is another one than was agreed to.
type Change struct {
	Tool     string
	Old, New Sight
}

// known is the record of one server's tools.
type known struct {
	Server string           `json:"server"`
	Runs   string           `json:"runs"`
	Tools  map[string]Sight `json:"tools"`
	// Waiting are changed tools, as they were seen last.
	Waiting map[string]Sight `json:"waiting,omitempty"`
}

// maxSight bounds the description that is kept for people, in bytes.
const maxSight = 400

// toolsPath binds the record to the entry: who changes the entry begins anew.
func toolsPath(h settings.Home, e mcp.Entry) string {
	sum := sha256.Sum256([]byte(string(e.Scope) + "\x00" + e.Name + "\x00" + e.Digest))
	return h.Own("mcp", "tools-"+hex.EncodeToString(sum[:12])+".json")
}

func readKnown(path string) (known, error) {
	raw, _, err := fsys.ReadRaw(path, fsys.Limits{MaxBytes: 32 << 20})
	if fsys.CauseOf(err) == fsys.CauseMissing {
		return known{}, nil
	}
	var k known
	if err == nil {
		err = json.Unmarshal(raw, &k)
	}
	if err != nil {
		return known{}, fmt.Errorf("what was agreed to of an MCP server's tools: %s cannot be read: %w", fsys.Printable(path), err)
	}
	return k, nil
}

// Judge compares the tools of a server with what was seen before. Tools that are
// new are taken in; those that changed are returned and must not be offered
// until the user agrees. Servers of the host and of administrators are not judged.
func Judge(ctx context.Context, h settings.Home, e mcp.Entry, tools []mcp.Tool) ([]Change, error) {
	if e.Scope == mcp.ScopeManaged || e.Scope == mcp.ScopeSDK {
		return nil, nil
	}
	path := toolsPath(h, e)
	k, err := readKnown(path)
	if err != nil {
		return nil, err
	}
	var out []Change
	fresh := false
	waiting := map[string]Sight{}
	if k.Tools == nil {
		k.Tools = map[string]Sight{}
	}
	for _, t := range tools {
		now := Sight{t.Digest, plain.Cut(t.Description, maxSight)}
		old, seen := k.Tools[t.Name]
		switch {
		case !seen:
			k.Tools[t.Name], fresh = now, true
		case old.Digest != now.Digest:
			waiting[t.Name] = now
			out = append(out, Change{t.Name, old, now})
		}
	}
	if fresh || !maps.Equal(waiting, k.Waiting) {
		k.Server, k.Runs, k.Waiting = e.Name, e.Runs(), waiting
		err = k.write(ctx, path)
	}
	return out, err
}

func (k known) write(ctx context.Context, path string) error {
	return updateOwn(ctx, path, func(d *fsys.JSONDoc) error {
		for _, f := range []struct {
			key   string
			value any
		}{{"server", k.Server}, {"runs", k.Runs}, {"tools", k.Tools}, {"waiting", k.Waiting}} {
			if err := d.Set(f.value, f.key); err != nil {
				return err
			}
		}
		return nil
	})
}

// Changes lists what waits of a server's tools, by name.
func Changes(h settings.Home, e mcp.Entry) ([]Change, error) {
	k, err := readKnown(toolsPath(h, e))
	if err != nil {
		return nil, err
	}
	var out []Change
	for _, name := range slices.Sorted(maps.Keys(k.Waiting)) {
		out = append(out, Change{name, k.Tools[name], k.Waiting[name]})
	}
	return out, nil
}

// AcceptTools records the user's yes to the tools that wait, as they were seen.
func AcceptTools(ctx context.Context, h settings.Home, e mcp.Entry) error {
	path := toolsPath(h, e)
	k, err := readKnown(path)
	if err != nil || len(k.Waiting) == 0 {
		return err
	}
	maps.Copy(k.Tools, k.Waiting)
	k.Waiting = nil
	return k.write(ctx, path)
}
