package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/plain"
)

// Command is a shell command that is about to run.
type Command struct {
	// Use is the id of the call, Text the command.
	Use, Text string
	// Names are files that the command names: their bytes are compared, whatever
	// their times say.
	Names []string
	// Pin saves all bytes in hew's own folder, also those that the repository
	// holds, because the command may remove the repository.
	Pin bool
	// Notes say what of the command no rewind undoes.
	Notes []string
}

// Cover is what a snapshot holds.
type Cover struct {
	// First tells that it is the first one of its working directories.
	First bool
	// Files is how many names are known.
	Files int
	// LeftOut are the files and folders that could not be saved, by path.
	LeftOut []LeftOut
}

// Before takes the snapshot that a command needs. On an error nothing may be
// assumed to be saved.
func (t *Tracker) Before(ctx context.Context, c Command) (Cover, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first, err := t.begin(ctx)
	if err != nil {
		return Cover{}, err
	}
	found, failed, err := t.changed(ctx, c.Names)
	if err != nil {
		return Cover{}, err
	}
	if err := t.book(ctx, found); err != nil {
		return Cover{}, err
	}
	if c.Pin {
		if err := t.pin(ctx); err != nil {
			return Cover{}, err
		}
	}
	r := record{Kind: kindBegin, Time: t.c.Now().UnixNano(), Message: t.message, Use: c.Use, Command: plain.Cut(c.Text, longest), Notes: c.Notes}
	if err := t.log.add(r); err != nil {
		return Cover{}, err
	}
	t.last = &command{use: c.Use, message: t.message}
	return Cover{First: first, Files: t.index.count, LeftOut: t.leftOut(failed)}, nil
}

// longest is how much of a command the journal keeps, in bytes.
const longest = 2000

// End is a command that returned.
type End struct {
	// Use is the id of the call; Open tells that something of it goes on.
	Use  string
	Open bool
}

// After notes that a command returned.
func (t *Tracker) After(e End) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil || t.last.use != e.Use {
		return nil
	}
	now := t.c.Now()
	t.last.ended, t.last.open = now, e.Open
	if err := t.log.add(record{Kind: kindEnd, Time: now.UnixNano(), Message: t.message, Use: e.Use, Open: e.Open}); err != nil {
		return err
	}
	if t.watch == nil || e.Open {
		return nil // the next snapshot finds what it changed, with the same walk
	}
	return t.settle(context.Background())
}

// Settle books what commands have changed since the last snapshot.
func (t *Tracker) Settle(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.settle(ctx)
}

func (t *Tracker) settle(ctx context.Context) error {
	if t.index == nil || t.last == nil {
		return nil
	}
	found, _, err := t.changed(ctx, nil)
	if err != nil {
		return err
	}
	return t.book(ctx, found)
}

// begin looks at the roots that were not looked at before.
func (t *Tracker) begin(ctx context.Context) (first bool, err error) {
	if t.index == nil {
		t.index = newIndex()
	}
	if t.watch == nil && t.c.Watch && len(t.index.roots) == 0 {
		t.watch = newWatcher()
	}
	var roots []string
	for _, r := range t.c.Roots {
		if !t.index.covers(r) && !slices.ContainsFunc(roots, func(o string) bool { return fsys.Within(o, r) }) {
			roots = append(roots, r)
		}
	}
	if len(roots) == 0 {
		return false, nil
	}
	found, _, err := t.look(ctx, roots, nil)
	if err != nil {
		t.index = nil
		t.unwatch()
		return false, err
	}
	t.save(ctx, found, false)
	name := fmt.Sprintf("tree-%d.jsonl", len(t.index.roots)+1)
	if err := writeTree(filepath.Join(t.c.Dir, name), found); err != nil {
		t.index = nil
		t.unwatch()
		return false, err
	}
	t.index.roots = append(t.index.roots, roots...)
	return true, t.log.add(record{Kind: kindStart, Time: t.c.Now().UnixNano(), Message: t.message, Roots: roots, File: name})
}

func (t *Tracker) unwatch() {
	if t.watch != nil {
		t.watch.close()
		t.watch = nil
	}
}

// changed looks for what is not as the index says: in the folders that the
// kernel names when it watches, else everywhere.
func (t *Tracker) changed(ctx context.Context, names []string) ([]Change, []LeftOut, error) {
	if t.watch == nil {
		return t.look(ctx, t.index.roots, names)
	}
	dirs, all := t.watch.dirty()
	if all {
		full := t.watch.full
		t.unwatch()
		if !full { // there is no use in trying again
			t.watch = newWatcher()
		}
		return t.look(ctx, t.index.roots, names)
	}
	for path := range t.index.linked {
		dirs[filepath.Dir(path)] = true
	}
	for _, n := range names {
		dirs[filepath.Dir(n)] = true
	}
	for d := range dirs {
		if !t.index.covers(d) {
			delete(dirs, d)
		}
	}
	found, failed, err := t.lookInto(ctx, dirs, names)
	return found, failed, err
}

// look walks whole trees.
func (t *Tracker) look(ctx context.Context, roots, names []string) ([]Change, []LeftOut, error) {
	s := t.scanner(names)
	found, err := s.walk(ctx, roots)
	if errors.Is(err, errTooMany) {
		return nil, nil, fmt.Errorf("the working directories hold more than %d files, too many to follow", t.c.Limits.Entries)
	}
	return found, s.failed, err
}

func (t *Tracker) scanner(names []string) *scanner {
	s := &scanner{index: t.index, skip: t.c.Skip, limit: t.c.Limits.Entries, since: time.Now(), watch: t.watch}
	if len(names) > 0 {
		s.check = map[string]bool{}
		for _, n := range names {
			s.check[n] = true
		}
	}
	return s
}

// lookInto looks at single folders, and below them only at what is new.
func (t *Tracker) lookInto(ctx context.Context, dirs map[string]bool, names []string) ([]Change, []LeftOut, error) {
	s := t.scanner(names)
	s.only = dirs
	found, err := s.walk(ctx, slices.Sorted(maps.Keys(dirs)))
	return once(found), s.failed, err
}

// once drops repetitions: a folder that is gone is met from above and by itself.
func once(found []Change) []Change {
	seen := make(map[osName]bool, len(found))
	return slices.DeleteFunc(found, func(ch Change) bool {
		again := seen[ch.Path]
		seen[ch.Path] = true
		return again
	})
}

// slack is how coarse the times of changes are compared with the clock.
const slack = 20 * time.Millisecond

// book saves what was found and writes down whose it is: the last command's,
// unless it happened after that had returned.
func (t *Tracker) book(ctx context.Context, found []Change) error {
	last := t.last
	found = t.save(ctx, found, false)
	by := map[string][]Change{}
	for _, ch := range found {
		whose := t.whose(ch)
		by[whose] = append(by[whose], ch)
	}
	now := t.c.Now().UnixNano()
	if last != nil {
		r := record{Kind: kindScan, Time: now, Message: last.message, Use: last.use, By: byCommand, Changes: by[byCommand]}
		if err := t.log.add(r); err != nil {
			return err
		}
		t.last = nil
	}
	for _, whose := range []string{byUnsure, byOther} {
		if len(by[whose]) == 0 {
			continue
		}
		r := record{Kind: kindScan, Time: now, Message: t.message, By: whose, Changes: by[whose]}
		if whose == byUnsure {
			r.Message = last.message
		}
		if err := t.log.add(r); err != nil {
			return err
		}
	}
	return nil
}

// whose tells who made a change that was found.
func (t *Tracker) whose(ch Change) string {
	last := t.last
	switch {
	case last == nil:
		return byOther
	case last.ended.IsZero():
		return byUnsure // hew was killed while it ran
	case t.when(ch) <= last.ended.Add(slack).UnixNano():
		return byCommand
	case last.open, ch.After.Kind == Absent: // a name that is gone has no time
		return byUnsure
	}
	return byOther
}

// when tells the moment of a change: that of the name, or for a name that is
// gone that of the nearest folder that is still there.
func (t *Tracker) when(ch Change) int64 {
	if ch.After.Kind != Absent {
		return max(ch.After.Ctime, ch.After.Mtime)
	}
	for dir := filepath.Dir(string(ch.Path)); ; dir = filepath.Dir(dir) {
		if e, err := lookAt(dir); err == nil && e.Kind == Folder {
			return max(e.Ctime, e.Mtime)
		}
		if dir == filepath.Dir(dir) {
			return 0
		}
	}
}

// pin copies what only the repository holds.
func (t *Tracker) pin(ctx context.Context) error {
	var found []Change
	for dir, f := range t.index.dirs {
		for name, e := range f.names {
			if e.Kind == File && strings.HasPrefix(e.Where, "g") {
				after := *e
				after.Where = ""
				found = append(found, Change{Path: osName(filepath.Join(dir, name)), Before: *e, After: after})
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	for i := range found {
		found[i].Before = Entry{}
	}
	t.save(ctx, found, true)
	return t.log.add(record{Kind: kindScan, Time: t.c.Now().UnixNano(), Message: t.message, By: byOther, Changes: unchanged(found)})
}

// unchanged makes changes that only say where the bytes are now.
func unchanged(found []Change) []Change {
	out := slices.Clone(found)
	for i := range out {
		out[i].Before = out[i].After
	}
	return out
}

func (t *Tracker) leftOut(failed []LeftOut) []LeftOut {
	out := append(slices.Collect(maps.Values(t.index.out)), failed...)
	slices.SortFunc(out, func(a, b LeftOut) int { return strings.Compare(a.Path, b.Path) })
	return out
}
