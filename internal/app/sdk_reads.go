package app

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/surface/streamjson"
)

func (s *sdk) applySettings(ctx context.Context, in struct {
	Settings map[string]json.RawMessage `json:"settings"`
},
) (any, error) {
	return nothing{}, s.conv.ApplySettings(ctx, in.Settings)
}

func (s *sdk) settings(context.Context, nothing) (any, error) {
	effective, files := s.conv.SettingsNow()
	sources := []map[string]any{}
	for _, f := range files {
		sources = append(sources, map[string]any{"source": f.Scope.String(), "path": f.Path})
	}
	return map[string]any{"effective": effective, "sources": sources}, nil
}

func (s *sdk) hooks(context.Context, nothing) (any, error) {
	type row struct {
		Event   string `json:"event"`
		Matcher string `json:"matcher"`
		Source  string `json:"source"`
		Label   string `json:"sourceLabel"`
		Type    string `json:"type"`
		Text    string `json:"displayText"`
		Off     string `json:"disabledReason,omitempty"`
	}
	type event struct {
		Name    string `json:"name"`
		Summary string `json:"summary"`
		Matcher bool   `json:"supportsMatcher"`
		Count   int    `json:"hookCount"`
	}
	rows, events, at := []row{}, []event{}, map[string]int{}
	for _, h := range s.conv.Hooks() {
		if _, ok := at[h.Event]; !ok {
			at[h.Event] = len(events)
			events = append(events, event{Name: h.Event})
		}
		e := &events[at[h.Event]]
		e.Count++
		e.Matcher = e.Matcher || h.Matcher != ""
		rows = append(rows, row{h.Event, h.Matcher, string(h.Source.Scope), h.Source.String(), h.Kind.String(), h.Title(), h.Off})
	}
	return map[string]any{"events": events, "hooks": rows}, nil
}

func (s *sdk) rules(context.Context, nothing) (any, error) {
	type rule struct {
		Behavior string `json:"behavior"`
		Rule     string `json:"rule"`
		Source   string `json:"source"`
	}
	type dir struct {
		Path string `json:"path"`
	}
	rules, dirs := []rule{}, []dir{}
	for _, l := range s.conv.Rules() {
		rules = append(rules, rule(l))
	}
	place := s.conv.Engine.Place()
	for _, r := range place.Roots {
		dirs = append(dirs, dir{r})
	}
	return map[string]any{"state": map[string]any{
		"rules": rules, "workspaceDirectories": dirs, "originalCwd": place.Project, "managedOnly": s.conv.ManagedRulesOnly(),
	}}, nil
}

// usageOf is the cost in the published words.
func usageOf(c engine.Totals, took time.Duration) map[string]any {
	return map[string]any{
		"total_cost_usd": c.CostUSD, "total_api_duration_ms": c.API.Milliseconds(), "total_duration_ms": took.Milliseconds(),
		"total_lines_added": 0, "total_lines_removed": 0, "model_usage": streamjson.ModelUsage(c),
	}
}

func (s *sdk) cost(context.Context, nothing) (any, error) {
	c := s.conv.Engine.Costs()
	return map[string]any{"text": fmt.Sprintf("Total cost: $%.4f", c.CostUSD), "session": usageOf(c, time.Since(s.began))}, nil
}

func (s *sdk) usage(context.Context, nothing) (any, error) {
	return map[string]any{
		"session":           usageOf(s.conv.Engine.Costs(), time.Since(s.began)),
		"subscription_type": nil, "rate_limits_available": false, "rate_limits": nil, "behaviors": nil,
	}, nil
}

// context is what fills the window, in the published form. Rows keep hew's own
// names of sources: programs go by kind.
func (s *sdk) context(context.Context, nothing) (any, error) {
	r := s.conv.Context()
	type category struct {
		Name   string `json:"name"`
		Tokens int    `json:"tokens"`
		Color  string `json:"color"`
		Kind   string `json:"kind"`
	}
	rows := []category{}
	for _, src := range r.Sources {
		rows = append(rows, category{src.Name, src.Tokens, "text", "used"})
	}
	rows = append(rows, category{"free", r.Free, "inactive", "free"})
	files := []map[string]any{}
	for _, f := range s.conv.MemoryFiles() {
		files = append(files, map[string]any{"path": f.Path, "type": f.Scope, "tokens": f.Bytes / 4})
	}
	return map[string]any{
		"categories": rows, "totalTokens": r.Used, "maxTokens": r.Window, "rawMaxTokens": r.Window, "percentage": r.Percent,
		"gridRows": [][]any{}, "model": r.Model, "memoryFiles": files, "mcpTools": []any{}, "agents": []any{},
		"autoCompactThreshold": r.Trigger, "isAutoCompactEnabled": r.Trigger > 0, "apiUsage": nil,
	}, nil
}

// rewind brings the files back to how they were before a user message.
func (s *sdk) rewind(ctx context.Context, in struct {
	To  string `json:"user_message_id"`
	Dry bool   `json:"dry_run"`
},
) (any, error) {
	out := struct {
		Can        bool     `json:"canRewind"`
		Error      string   `json:"error,omitempty"`
		Files      []string `json:"filesChanged,omitempty"`
		Insertions int      `json:"insertions"`
		Deletions  int      `json:"deletions"`
	}{}
	preview, err := s.conv.Engine.Rewind(ctx, engine.Rewind{To: in.To, Files: true, Preview: true})
	if err != nil {
		out.Error = err.Error()
		return out, nil
	}
	out.Can = true
	for _, step := range preview.Plan.Steps {
		out.Files = append(out.Files, step.Path)
	}
	if in.Dry {
		return out, nil
	}
	done, err := s.conv.Engine.Rewind(ctx, engine.Rewind{To: in.To, Files: true})
	if err != nil {
		return nil, err
	}
	out.Files = append(done.Report.Restored, done.Report.Removed...)
	for _, f := range done.Report.Failed {
		out.Can, out.Error = false, out.Error+fmt.Sprintf("%v; ", f)
	}
	return out, nil
}

// maxRead bounds what read_file returns, in bytes.
const maxRead = 16 << 20

// readFile reads a file of the working directories for the host.
func (s *sdk) readFile(_ context.Context, in struct {
	Path     string `json:"path"`
	Max      int64  `json:"max_bytes"`
	Encoding string `json:"encoding"`
},
) (_ any, err error) {
	path, err := s.inside(in.Path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	limit := int64(maxRead)
	if in.Max > 0 {
		limit = min(limit, in.Max)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil, err
	}
	out := map[string]any{"absPath": path, "truncated": info.Size() > int64(len(data))}
	if in.Encoding == "base64" {
		out["contents"], out["encoding"] = base64.StdEncoding.EncodeToString(data), "base64"
		return out, nil
	}
	out["contents"], out["lossy"] = strings.ToValidUTF8(string(data), "\ufffd"), !utf8.Valid(data)
	return out, nil
}

// inside finds a path of the host in the working directories: the request is no
// way around what the session may see.
func (s *sdk) inside(name string) (string, error) {
	place := s.conv.Engine.Place()
	if !filepath.IsAbs(name) {
		name = filepath.Join(place.Cwd, name)
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(place.Roots, func(r string) bool { return fsys.Within(r, real) }) {
		return "", fmt.Errorf("%s is outside the working directories", name)
	}
	return real, nil
}

// maxSuggestions is how many files are suggested, maxVisited how many are looked at.
const (
	maxSuggestions = 20
	maxVisited     = 20_000
)

// suggestFiles lists files whose path holds the letters of the query.
func (s *sdk) suggestFiles(ctx context.Context, in struct {
	Query string `json:"query"`
},
) (any, error) {
	type row struct {
		Path string `json:"path"`
	}
	rows, seen := []row{}, 0
	query, root := strings.ToLower(in.Query), s.conv.Engine.Place().Cwd
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		seen++
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return nil // what cannot be read is not suggested
		case len(rows) == maxSuggestions || seen > maxVisited:
			return filepath.SkipAll
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err == nil && strings.Contains(strings.ToLower(rel), query) {
			rows = append(rows, row{filepath.ToSlash(rel)})
		}
		return nil
	})
	return map[string]any{"suggestions": rows}, err
}
