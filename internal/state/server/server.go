// Package server holds which MCP servers a session gets: scopes, managed lists, approval.
//
// Servers stand in several files and on the command line. The strongest scope
// that names a server gives the whole entry; nothing is merged. What a
// repository brings is used only where its content was agreed to, and tools that
// change after they were first seen wait for a new yes.
package server

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/state/settings"
)

// maxFile bounds a file of servers, in bytes.
const maxFile = 8 << 20

// Config says where servers are looked for.
type Config struct {
	// Settings locates the folder, its files and the user's home.
	Settings settings.Config
	// Values are the settings in force.
	Values *settings.Settings
	// Trust is the folder's level.
	Trust settings.Trust
	// Flags are the values of --mcp-config: files, or JSON objects.
	Flags []string
	// Strict leaves everything out that Flags do not name.
	Strict bool
	// Extra are servers of plugins and agents, weakest last.
	Extra []mcp.Entry
	// Ask tells that a person can be asked about each server of the project.
	Ask bool
}

// Choice is what becomes of a configured server.
type Choice int

// The choices.
const (
	Use      Choice = iota
	Waits           // for the user's yes
	Rejected        // by the user
	Off             // switched off in this project
	Denied          // by an administrator's list
)

// Found is one configured server.
type Found struct {
	Entry  mcp.Entry
	Choice Choice
	// Why says it in words when the choice is not Use.
	Why string
}

// Discover lists the servers of all scopes, strongest scope first, each name
// once. Faults are told and leave the rest usable; an error is about Flags, which
// the user gave for this run.
func Discover(c Config) (list []Found, faults []string, err error) {
	d := &discovery{c: c}
	managed := d.managed()
	if err := d.flags(); err != nil {
		return nil, nil, err
	}
	if managed != nil {
		if len(d.entries) > 0 {
			d.faults = append(d.faults, "--mcp-config is not used: an administrator has set which MCP servers there are")
		}
		d.entries = managed
	} else if !c.Strict {
		d.files()
	}
	d.judge()
	return d.found, d.faults, nil
}

type discovery struct {
	c       Config
	state   state
	entries []mcp.Entry
	found   []Found
	faults  []string
}

// managedName is the file in which an administrator sets all servers there are.
const managedName = "managed-mcp.json"

func (d *discovery) managed() []mcp.Entry {
	path := filepath.Join(d.c.Settings.Managed(), managedName)
	if fsys.KindOf(path) == fsys.KindMissing {
		return nil
	}
	out := d.file(path, mcp.ScopeManaged)
	if out == nil {
		out = []mcp.Entry{} // unreadable: an exclusive set of none
	}
	return out
}

// flags reads --mcp-config. Of several that name a server the last counts.
func (d *discovery) flags() error {
	for _, f := range d.c.Flags {
		raw, name := []byte(f), "--mcp-config"
		if !strings.HasPrefix(strings.TrimSpace(f), "{") {
			path, err := fsys.Abs(d.c.Settings.Cwd, f)
			if err != nil {
				return fmt.Errorf("--mcp-config: %w", err)
			}
			if raw, err = readOption(path); err != nil {
				return fmt.Errorf("--mcp-config is neither a JSON object nor a readable file: %w", err)
			}
			name = path
		}
		list, faults := mcp.ParseServers(raw)
		if len(faults) > 0 {
			return fmt.Errorf("--mcp-config: %w", faults[0])
		}
		for _, e := range list {
			e.Scope, e.File = mcp.ScopeFlag, name
			d.entries = slices.DeleteFunc(d.entries, func(o mcp.Entry) bool { return o.Name == e.Name })
			d.entries = append(d.entries, e)
		}
	}
	return nil
}

func readOption(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if st.Size() > maxFile {
		return nil, fmt.Errorf("%s is larger than %d MB", fsys.Printable(path), maxFile>>20)
	}
	return os.ReadFile(path)
}

// files reads the scopes that lie in files, strongest first.
func (d *discovery) files() {
	src := d.c.Settings.Sources
	on := func(s settings.Scope) bool { return src == nil || slices.Contains(src, s) }
	d.state = d.readState()
	if on(settings.Local) {
		d.add(d.state.local...)
	}
	if on(settings.Project) {
		for _, dir := range projectDirs(d.c.Settings.Cwd) {
			d.add(d.file(filepath.Join(dir, ".mcp.json"), mcp.ScopeProject)...)
		}
	}
	if on(settings.User) {
		d.add(d.state.user...)
	}
	d.add(d.c.Extra...)
}

// projectDirs are the folders whose .mcp.json counts, the nearest first: what
// the trust in a folder covers.
func projectDirs(cwd string) []string {
	root := settings.CheckoutRoot(cwd)
	if root == cwd {
		return []string{cwd}
	}
	return []string{cwd, root}
}

// add takes entries whose names no stronger scope has. Servers of plugins lose
// to any other that reaches the same place.
func (d *discovery) add(list ...mcp.Entry) {
	for _, e := range list {
		twin := func(o mcp.Entry) bool {
			return o.Name == e.Name || e.Scope == mcp.ScopePlugin && o.Runs() == e.Runs()
		}
		if !slices.ContainsFunc(d.entries, twin) {
			d.entries = append(d.entries, e)
		}
	}
}

func (d *discovery) file(path string, scope mcp.Scope) []mcp.Entry {
	raw, _, err := fsys.ReadRaw(path, fsys.Limits{MaxBytes: maxFile})
	if fsys.CauseOf(err) == fsys.CauseMissing {
		return nil
	}
	if err != nil {
		d.faults = append(d.faults, "MCP servers: "+err.Error())
		return nil
	}
	return d.parse(raw, path, scope)
}

func (d *discovery) parse(raw []byte, path string, scope mcp.Scope) []mcp.Entry {
	list, faults := mcp.ParseServers(raw)
	for _, f := range faults {
		d.faults = append(d.faults, fsys.Printable(path)+": "+f.Error())
	}
	for i := range list {
		list[i].Scope, list[i].File = scope, path
	}
	return list
}

// state is what the global state file says of servers.
type state struct {
	user, local       []mcp.Entry
	disabled, enabled []string
}

func (d *discovery) readState() (out state) {
	path := d.c.Settings.Home.State()
	raw, _, err := fsys.ReadRaw(path, fsys.Limits{})
	if fsys.CauseOf(err) == fsys.CauseMissing || err == nil && len(raw) == 0 {
		return out
	}
	var file struct {
		Servers  map[string]json.RawMessage `json:"mcpServers"`
		Projects map[string]json.RawMessage `json:"projects"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &file)
	}
	if err != nil {
		d.faults = append(d.faults, fmt.Sprintf("MCP servers: %s cannot be read: %v", fsys.Printable(path), err))
		return out
	}
	if len(file.Servers) > 0 {
		out.user = d.parse(wrapped(file.Servers), path, mcp.ScopeUser)
	}
	for _, key := range keys(d.c.Settings.Cwd) {
		var p struct {
			Servers  map[string]json.RawMessage `json:"mcpServers"`
			Disabled []string                   `json:"disabledMcpServers"`
			Enabled  []string                   `json:"enabledMcpServers"`
		}
		if json.Unmarshal(file.Projects[key], &p) != nil {
			continue // another tool's affair
		}
		out.disabled, out.enabled = append(out.disabled, p.Disabled...), append(out.enabled, p.Enabled...)
		if len(p.Servers) > 0 {
			out.local = append(out.local, d.parse(wrapped(p.Servers), path, mcp.ScopeLocal)...)
		}
	}
	return out
}

func wrapped(servers map[string]json.RawMessage) []byte {
	raw, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return []byte("{}") // raw messages that were just read always marshal
	}
	return raw
}

// keys are the names under which the state file may know the folder.
func keys(cwd string) []string {
	out := []string{cwd}
	if key := settings.TrustKey(cwd); key != cwd {
		out = append(out, key)
	}
	return out
}

func (d *discovery) judge() {
	lists := readLists(d.c.Values)
	approvals, err := readApprovals(d.c.Settings)
	if err != nil {
		d.faults = append(d.faults, err.Error())
	}
	for _, e := range d.entries {
		f := Found{Entry: e}
		if why := lists.denies(e); why != "" {
			f.Choice, f.Why = Denied, why
		} else if slices.Contains(d.state.disabled, e.Name) && !slices.Contains(d.state.enabled, e.Name) {
			f.Choice, f.Why = Off, "switched off in this project"
		} else if e.Scope == mcp.ScopeProject {
			f.Choice, f.Why = d.project(e, approvals)
		}
		d.found = append(d.found, f)
	}
}

// project decides about a server that the repository brings.
func (d *discovery) project(e mcp.Entry, a approvals) (Choice, string) {
	known, agreed := a.of(e)
	switch v := d.c.Values; {
	case slices.Contains(v.Strings("disabledMcpjsonServers"), e.Name), known && !agreed:
		return Rejected, "rejected; hew mcp reset-project-choices takes that back"
	case known:
		return Use, ""
	case d.c.Trust == settings.Untrusted:
		return Waits, "this folder is not trusted: hew trust, or hew mcp approve " + e.Name
	case !d.c.Ask, slices.Contains(v.Strings("enabledMcpjsonServers"), e.Name):
		return Use, ""
	}
	if all, ok := d.c.Values.Bool("enableAllProjectMcpServers"); ok && all {
		return Use, ""
	}
	return Waits, "hew mcp approve " + e.Name
}
