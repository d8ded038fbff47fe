package wiring

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// setUp runs the Setup hooks, once and where the command line asks for them, and
// makes the folder of the variables that hooks may set.
func (h *hooks) setUp(ctx context.Context, emit func(event.Body)) []*msg.Message {
	if slices.ContainsFunc([]string{"Setup", "SessionStart", "CwdChanged", "FileChanged"}, h.d.Wants) {
		err := os.MkdirAll(filepath.Dir(h.env), 0o700)
		if h.made = err == nil; !h.made {
			emit(event.Notice{Level: event.Warning, Code: "hook_variables", Text: "hooks cannot set variables: " + err.Error()})
		}
	}
	if h.set || h.b.o.Setup == "" {
		return nil
	}
	h.set = true
	o := h.fire(ctx, hook.Setup{Trigger: h.b.o.Setup}, emit)
	return h.reminders("Setup", o.Context)
}

// SetUp runs the Setup hooks and nothing else.
func (c *Conversation) SetUp(ctx context.Context) {
	if h := c.build.hooks; h != nil {
		h.setUp(ctx, h.afterwards)
	}
}

// maxWatched bounds the files that FileChanged hooks can ask for. Each costs one
// look before a request.
const maxWatched = 512

// filesSeen are watched files as they were at the last look.
type filesSeen struct {
	asked []string // by watchPaths, absolute
	last  map[string]fsys.Status
}

// watch adds the files that a hook wants to hear of.
func (h *hooks) watch(o hook.Outcome) {
	for _, p := range o.WatchPaths {
		if !filepath.IsAbs(p) {
			p = filepath.Join(h.cwd, p)
		}
		if len(h.seen.asked) < maxWatched && !slices.Contains(h.seen.asked, p) {
			h.seen.asked = append(h.seen.asked, p)
		}
	}
	if h.d.Wants("FileChanged") {
		h.look()
	}
}

// look takes down how the files that are new on the list are now.
func (h *hooks) look() []string {
	list := slices.Clone(h.seen.asked)
	for _, name := range h.d.WatchList() {
		if filepath.IsLocal(name) {
			list = append(list, filepath.Join(h.b.place.Project, name))
		}
	}
	list = list[:min(len(list), maxWatched)]
	if h.seen.last == nil {
		h.seen.last = map[string]fsys.Status{}
	}
	for _, p := range list {
		if _, known := h.seen.last[p]; !known {
			h.seen.last[p] = status(p)
		}
	}
	return list
}

// changed tells of watched files that are other ones than at the last look.
func (h *hooks) changed(ctx context.Context, emit func(event.Body)) {
	if !h.d.Wants("FileChanged") {
		return
	}
	for _, p := range h.look() {
		was, now := h.seen.last[p], status(p)
		if unchanged(was, now) {
			continue
		}
		h.seen.last[p] = now
		h.watch(h.fire(ctx, hook.FileChanged{Path: p, Change: changeOf(was, now)}, emit))
	}
}

func unchanged(a, b fsys.Status) bool {
	return a.Kind == b.Kind && a.Size == b.Size && a.Inode == b.Inode && a.ModTime.Equal(b.ModTime)
}

func changeOf(was, now fsys.Status) string {
	none := fsys.Status{}.Kind
	switch {
	case was.Kind == none:
		return "add"
	case now.Kind == none:
		return "unlink"
	}
	return "change"
}
