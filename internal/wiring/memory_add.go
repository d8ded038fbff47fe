package wiring

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/memory"
	"github.com/hew-agent/hew/internal/state/settings"
)

// MemoryPlace is an instruction file that a person may add a line to.
type MemoryPlace struct {
	Scope memory.Scope
	Path  string
	// Exists tells that it is there already.
	Exists bool
}

// MemoryPlaces are the files to choose from: the project's, yours for this
// project, yours for all. The project's is the one that is read now: CLAUDE.md
// where there is none yet.
func (c *Conversation) MemoryPlaces() []MemoryPlace { return c.build.memoryPlaces() }

// Remember appends a line to the file of a scope and returns its path. The model
// sees it from the next session, /clear or compaction on; what this conversation
// should know at once is to be said in it.
func (c *Conversation) Remember(ctx context.Context, scope memory.Scope, text string) (string, error) {
	return c.build.remembered(ctx, scope, text)
}

func (b *build) memoryPlaces() []MemoryPlace {
	project := filepath.Join(b.place.Project, "CLAUDE.md")
	own := []string{project, filepath.Join(b.place.Project, ".claude", "CLAUDE.md"), filepath.Join(b.place.Project, "AGENTS.md")}
	for _, path := range own {
		if slices.ContainsFunc(b.files(), func(f memory.File) bool { return f.Path == path && f.Reason == memory.AtStart }) {
			project = path
			break
		}
	}
	out := []MemoryPlace{
		{Scope: memory.Project, Path: project},
		{Scope: memory.Local, Path: filepath.Join(b.place.Project, "CLAUDE.local.md")},
		{Scope: memory.User, Path: filepath.Join(b.home.Dir, "CLAUDE.md")},
	}
	for i := range out {
		out[i].Exists = fsys.KindOf(out[i].Path) == fsys.KindRegular
	}
	return out
}

func (b *build) remembered(ctx context.Context, scope memory.Scope, text string) (string, error) {
	places := b.memoryPlaces()
	i := slices.IndexFunc(places, func(p MemoryPlace) bool { return p.Scope == scope })
	if i < 0 {
		return "", fmt.Errorf("there is no instruction file of the scope %q to add to", scope)
	}
	a := memory.Addition{Path: places[i].Path, Lock: b.home.Own("memory.lock"), Text: text}
	if scope != memory.User {
		a.Within = settings.CheckoutRoot(b.place.Project)
	}
	return a.Path, memory.Add(ctx, a)
}
