package wiring

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/mcp"
)

// editor is a lock file that an editor's extension leaves in CONFIG/ide; its
// name is the port that the editor listens on, on loopback.
type editor struct {
	Port    int      `json:"-"`
	Folders []string `json:"workspaceFolders"`
	Name    string   `json:"ideName"`
	// Transport is ws or sse.
	Transport string `json:"transport"`
	Token     string `json:"authToken"`
}

// maxEditorLock bounds a lock file, in bytes.
const maxEditorLock = 64 << 10

// editorServers is the MCP server of the editor in which this folder is open,
// when the user wants it. It is connected like any server and judged like any.
func (b *build) editorServers() []mcp.Entry {
	on, err := strconv.ParseBool(b.env("CLAUDE_CODE_AUTO_CONNECT_IDE"))
	if !b.o.IDE && (err != nil || !on) || b.o.Bare {
		return nil
	}
	open, err := b.editors()
	if err != nil {
		b.notice("the editor cannot be found: " + err.Error())
		return nil
	}
	switch {
	case len(open) == 0:
		b.notice("no editor with hew's kind of extension has this folder open")
		return nil
	case len(open) > 1:
		b.notice(fmt.Sprintf("%d editors have this folder open; name the port of one by CLAUDE_CODE_SSE_PORT", len(open)))
		return nil
	}
	e, err := open[0].entry()
	if err != nil {
		b.notice("the editor's server: " + err.Error())
		return nil
	}
	return []mcp.Entry{e}
}

// editors are those that have the project open.
func (b *build) editors() ([]editor, error) {
	dir := filepath.Join(b.home.Dir, "ide")
	list, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	wanted := b.number("CLAUDE_CODE_SSE_PORT")
	var out []editor
	for _, f := range list {
		name, ok := strings.CutSuffix(f.Name(), ".lock")
		port, err := strconv.ParseUint(name, 10, 16)
		if !ok || err != nil || port == 0 || wanted != 0 && wanted != int(port) {
			continue
		}
		raw, _, err := fsys.ReadRaw(filepath.Join(dir, f.Name()), fsys.Limits{MaxBytes: maxEditorLock})
		e := editor{Port: int(port)}
		if err != nil || json.Unmarshal(raw, &e) != nil {
			b.notice("the editor's lock file " + f.Name() + " cannot be read; it is left out")
			continue
		}
		if wanted != 0 || slices.ContainsFunc(e.Folders, b.isOpen) {
			out = append(out, e)
		}
	}
	return out, nil
}

// isOpen tells whether the project lies in a folder of the editor.
func (b *build) isOpen(folder string) bool {
	real, err := fsys.Real(folder)
	return err == nil && filepath.IsAbs(folder) && fsys.Within(real, b.place.Project)
}

// entry is the configuration of the editor's server. The address is always
// loopback, whatever the lock file says.
func (e editor) entry() (mcp.Entry, error) {
	kind, url := "sse", fmt.Sprintf("http://127.0.0.1:%d/sse", e.Port)
	if e.Transport != "sse" {
		kind, url = "ws", fmt.Sprintf("ws://127.0.0.1:%d", e.Port)
	}
	raw, err := json.Marshal(map[string]any{
		"type": kind, "url": url, "headers": map[string]string{"X-Claude-Code-Ide-Authorization": e.Token},
	})
	if err != nil {
		return mcp.Entry{}, err
	}
	out, err := mcp.ParseEntry("ide", raw)
	out.Scope, out.File = mcp.ScopeFlag, "the editor "+fsys.Printable(e.Name)
	return out, err
}
