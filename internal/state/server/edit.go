package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/state/settings"
)

// place is the file of a scope, and the path of a server in it.
func place(c settings.Config, scope mcp.Scope, name string) (file string, path []string, o fsys.WriteOptions, err error) {
	switch scope {
	case mcp.ScopeUser:
		return c.Home.State(), []string{"mcpServers", name}, fsys.WriteOptions{Mode: 0o600}, nil
	case mcp.ScopeLocal:
		return c.Home.State(), []string{"projects", settings.TrustKey(c.Cwd), "mcpServers", name}, fsys.WriteOptions{Mode: 0o600}, nil
	case mcp.ScopeProject:
		return filepath.Join(c.Cwd, ".mcp.json"), []string{"mcpServers", name}, fsys.WriteOptions{}, nil
	case mcp.ScopeManaged, mcp.ScopeFlag, mcp.ScopeSDK, mcp.ScopePlugin, mcp.ScopeAgent:
	}
	return "", nil, fsys.WriteOptions{}, fmt.Errorf("scope %q cannot be written to; choose local, project or user", scope)
}

// errThere says that a name is taken.
var errThere = errors.New("a server of that name is there already; remove it first")

// Add writes a server's entry into the file of a scope and says which file.
func Add(ctx context.Context, c settings.Config, scope mcp.Scope, name string, entry json.RawMessage) (file string, err error) {
	if !mcp.StrictName(name) {
		return "", fmt.Errorf("%q is no name for a server: use letters, digits, - and _", name)
	}
	if _, err := mcp.ParseEntry(name, entry); err != nil {
		return "", err
	}
	file, path, o, err := place(c, scope, name)
	if err != nil {
		return "", err
	}
	err = fsys.UpdateJSON(ctx, file, o, func(d *fsys.JSONDoc) error {
		if _, there := d.Get(path...); there {
			return errThere
		}
		return d.Set(entry, path...)
	})
	if err != nil {
		return "", fmt.Errorf("add MCP server %s: %w", name, err)
	}
	return file, nil
}

// Remove takes a server's entry out of the file of a scope. gone tells whether
// there was one.
func Remove(ctx context.Context, c settings.Config, scope mcp.Scope, name string) (file string, gone bool, err error) {
	file, path, o, err := place(c, scope, name)
	if err != nil || fsys.KindOf(file) == fsys.KindMissing {
		return file, false, err
	}
	err = fsys.UpdateJSON(ctx, file, o, func(d *fsys.JSONDoc) error {
		gone = d.Delete(path...)
		return nil
	})
	if err != nil {
		return file, false, fmt.Errorf("remove MCP server %s: %w", name, err)
	}
	return file, gone, nil
}

// Has tells whether the file of a scope has an entry of that name.
func Has(c settings.Config, scope mcp.Scope, name string) bool {
	file, path, _, err := place(c, scope, name)
	if err != nil {
		return false
	}
	raw, _, err := fsys.ReadRaw(file, fsys.Limits{})
	if err != nil || len(raw) == 0 {
		return false
	}
	d, err := fsys.ParseJSON(raw)
	if err != nil {
		return false
	}
	_, ok := d.Get(path...)
	return ok
}
