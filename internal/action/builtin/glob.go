package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/hew-agent/hew/internal/backend/search"
	"github.com/hew-agent/hew/internal/tool"
)

const globName = "Glob"

// Searcher is what Glob and Grep need of the search engine.
type Searcher interface {
	Glob(ctx context.Context, q search.GlobQuery) (search.GlobResult, error)
	Grep(ctx context.Context, q search.GrepQuery) (search.GrepResult, error)
}

// maxGlob is the number of files that one call lists.
const maxGlob = 100

type globInput struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
}

func newGlob(c *Config) tool.Tool {
	spec := tool.Spec{Name: globName, RuleFamily: readName, MainField: "pattern", Always: true, Act: tool.ActSearch}
	return define("glob", spec, func(in globInput, env tool.Env) (tool.Call, error) {
		root, err := searchRoot(env, in.Path)
		if err != nil {
			return nil, err
		}
		// An absolute pattern moves the root; the gate judges where the search really begins.
		root, pattern := search.SplitGlob(root, in.Pattern)
		return &tool.Func{
			Facts: tool.Traits{ReadOnly: true, ConcurrencySafe: true},
			Wants: []tool.Need{{Kind: tool.NeedRead, Path: root}},
			Line:  fmt.Sprintf("%s %s", globName, oneLine(in.Pattern)),
			Do: func(ctx context.Context, _ func(tool.Progress)) tool.Result {
				start := c.Now()
				r, err := c.Search.Glob(ctx, search.GlobQuery{
					Root: root, Pattern: pattern, Rules: c.GlobRules, Limit: maxGlob, Exclude: c.Hidden(env),
				})
				if err != nil {
					return c.searchFailed(env, root, err)
				}
				return globResult(env, r, c.Now().Sub(start).Milliseconds())
			},
		}, nil
	})
}

// searchRoot is where a search begins.
func searchRoot(env tool.Env, path string) (string, error) {
	if path == "" {
		path = env.Cwd
	}
	return place(env, path)
}

func (c *Config) searchFailed(env tool.Env, root string, err error) tool.Result {
	if errors.Is(err, fs.ErrNotExist) {
		return tool.Failure(c.missing(env, root))
	}
	return tool.Failure(err.Error())
}

func globResult(env tool.Env, r search.GlobResult, ms int64) tool.Result {
	names := []string{}
	for _, p := range r.Paths {
		names = append(names, short(env, p))
	}
	text := strings.Join(names, "\n")
	if len(names) == 0 {
		text = "No files found"
	}
	if r.Total > len(names) {
		text += fmt.Sprintf("\n(%d of %d files shown, %d not listed: use a more specific pattern or path.)", len(names), r.Total, r.Total-len(names))
	}
	text += skipped(env, r.Skips, r.SkipCount)
	return done(text, map[string]any{"durationMs": ms, "numFiles": len(names), "filenames": names, "truncated": r.Total > len(names)},
		fileView(fmt.Sprintf("%d files", r.Total), names))
}

func fileView(title string, names []string) tool.View {
	v := tool.ListView{Title: title}
	for _, n := range names {
		v.Items = append(v.Items, tool.Item{Text: n})
	}
	return v
}

// skipped says what could not be searched: a silent gap would read as "not there".
func skipped(env tool.Env, skips []search.Skip, total int) string {
	if total == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n(%d not searched:", total)
	for i, s := range skips {
		if i == 5 {
			b.WriteString(" …")
			break
		}
		fmt.Fprintf(&b, " %s (%v)", filepath.ToSlash(short(env, s.Path)), bare(s.Err))
	}
	return b.String() + ")"
}

// bare is an error without the path that is named before it.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
