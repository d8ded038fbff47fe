package wiring

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/tool"
)

// bounded puts a bound on the writing tools of an agent that may change one
// setting only.
func (c *child) bounded(pool []tool.Tool) []tool.Tool {
	key := c.task.Kind.Setting
	if key == "" {
		return pool
	}
	for i, t := range pool {
		pool[i] = settingTool{t, c.s.b, key}
	}
	return pool
}

// settingTool is a tool whose edits may change one key of a settings file.
type settingTool struct {
	tool.Tool
	b   *build
	key string
}

// Plan refuses to edit what is no settings file.
func (s settingTool) Plan(in json.RawMessage, env tool.Env) (tool.Call, error) {
	call, err := s.Tool.Plan(in, env)
	if err != nil {
		return nil, err
	}
	path := ""
	for _, n := range call.Needs() {
		switch n.Kind {
		case tool.NeedEdit:
			if path = placed(env.Cwd, n.Path); !s.settingsFile(path) {
				return nil, &tool.Fault{Text: fmt.Sprintf("This agent changes %s in settings files and nothing else; %s is none.", s.key, fsys.Printable(path))}
			}
		case tool.NeedExec, tool.NeedFetch, tool.NeedUse, tool.NeedRead:
		}
	}
	if path == "" {
		return call, nil
	}
	return settingCall{call, path, s.key}, nil
}

// settingsFile tells the settings files of the user and the project.
func (s settingTool) settingsFile(path string) bool {
	return slices.Contains([]string{
		filepath.Join(s.b.home.Dir, "settings.json"), filepath.Join(s.b.place.Project, ".claude", "settings.json"),
		filepath.Join(s.b.place.Project, ".claude", "settings.local.json"),
	}, path)
}

// settingCall is one edit of a settings file.
type settingCall struct {
	tool.Call
	path, key string
}

// Run takes an edit back that changed another key, or made the file unreadable.
func (c settingCall) Run(ctx context.Context, emit func(tool.Progress)) tool.Result {
	before, missing, err := readSetting(c.path)
	if err != nil {
		return tool.Failure(err.Error())
	}
	r := c.Call.Run(ctx, emit)
	if r.IsError {
		return r
	}
	after, _, err := readSetting(c.path)
	if err == nil && sameBut(before, after, c.key) {
		return r
	}
	if missing {
		before = []byte("{}\n")
	}
	if _, err := fsys.WriteFile(c.path, before, fsys.WriteOptions{Mode: 0o600}); err != nil {
		return tool.Failure(fmt.Sprintf("The edit changed more than %s, and it could not be taken back: %v", c.key, err))
	}
	return tool.Failure(fmt.Sprintf("The edit was taken back: it changed more than the key %s of %s, or left what is no JSON.", c.key, fsys.Printable(c.path)))
}

func readSetting(path string) (raw []byte, missing bool, err error) {
	raw, _, err = fsys.ReadRaw(path, fsys.Limits{MaxBytes: 4 << 20})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true, nil
	}
	return raw, false, err
}

// sameBut tells whether two objects differ in one key at most.
func sameBut(a, b []byte, key string) bool {
	x, y := map[string]any{}, map[string]any{}
	if len(bytes.TrimSpace(a)) > 0 && json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	delete(x, key)
	delete(y, key)
	return reflect.DeepEqual(x, y)
}
