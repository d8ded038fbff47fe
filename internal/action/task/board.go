package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/msg"
)

// The states of an Item, as the ecosystem's files spell them.
const (
	Open    = "pending"
	Claimed = "in_progress"
	Done    = "completed"
)

// Item is one entry of a shared task list, a JSON file of its own named after
// its id, in the form of the ecosystem.
type Item struct {
	ID          string                     `json:"id"`
	Subject     string                     `json:"subject"`
	Description string                     `json:"description"`
	ActiveForm  string                     `json:"activeForm,omitempty"`
	Owner       string                     `json:"owner,omitempty"`
	Status      string                     `json:"status"`
	Blocks      []string                   `json:"blocks"`
	BlockedBy   []string                   `json:"blockedBy"`
	Metadata    map[string]json.RawMessage `json:"metadata,omitempty"`
}

// Items are the tasks of a list by id.
type Items map[string]*Item

// Board is a task list in a folder. Several processes may share it: every
// change is made under a lock of the kernel, which a killed holder frees, and
// lands whole. It is safe for concurrent use.
type Board struct {
	Dir string
	// Gone tells that the owner of a claimed task is known to have ended without
	// giving it back; its tasks are then open again. Optional.
	Gone func(owner string) bool
	// Log is told of each task that was taken back. Optional.
	Log func(text string)
}

const (
	// BoardLock is the lock file in the folder of a list.
	BoardLock = ".lock"
	// boardMark holds the highest id ever given, so that ids of deleted tasks
	// are not given again.
	boardMark = ".highwatermark"
)

// maxItem bounds the file of a task, in bytes.
const maxItem = 1 << 20

// Change runs fn over all tasks under the lock and stores what it leaves;
// tasks that it deletes are removed. An error of fn changes nothing.
func (b Board) Change(ctx context.Context, fn func(all Items) error) error {
	return fsys.WithLock(ctx, filepath.Join(b.Dir, BoardLock), func() error {
		all, err := b.Load()
		if err != nil {
			return err
		}
		before := make(map[string]string, len(all))
		for id, t := range all {
			before[id] = string(msg.Encode(t))
		}
		b.takeBack(all)
		if err := fn(all); err != nil {
			return err
		}
		return b.store(before, all)
	})
}

// takeBack opens the tasks of owners that are gone.
func (b Board) takeBack(all Items) {
	if b.Gone == nil {
		return
	}
	gone := map[string]bool{}
	for _, t := range all.Sorted() {
		if t.Status != Claimed || t.Owner == "" {
			continue
		}
		is, known := gone[t.Owner]
		if !known {
			is = b.Gone(t.Owner)
			gone[t.Owner] = is
		}
		if !is {
			continue
		}
		if b.Log != nil {
			b.Log(fmt.Sprintf("task #%s is open again: its owner %s ended without completing it", t.ID, t.Owner))
		}
		t.Status, t.Owner = Open, ""
	}
}

func (b Board) store(before map[string]string, all Items) error {
	for _, t := range all.Sorted() {
		now := string(msg.Encode(t))
		if now == before[t.ID] {
			continue
		}
		if _, err := fsys.WriteFile(b.file(t.ID), append([]byte(now), '\n'), fsys.WriteOptions{}); err != nil {
			return err
		}
	}
	for id := range before {
		if all[id] == nil {
			if err := os.Remove(b.file(id)); err != nil {
				return fmt.Errorf("delete task %s: %w", id, err)
			}
		}
	}
	return nil
}

func (b Board) file(id string) string { return filepath.Join(b.Dir, id+".json") }

// Load reads all tasks. A file that cannot be read is named in the error:
// guessing would give its id away again.
func (b Board) Load() (Items, error) {
	names, err := os.ReadDir(b.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return Items{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the task list: %w", err)
	}
	all := Items{}
	for _, e := range names {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !validID(id) {
			continue
		}
		raw, _, err := fsys.ReadRaw(b.file(id), fsys.Limits{MaxBytes: maxItem})
		if errors.Is(err, os.ErrNotExist) { // deleted since the folder was read
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read task %s: %w", id, err)
		}
		t := &Item{}
		if err := json.Unmarshal(raw, t); err != nil {
			return nil, fmt.Errorf("task file %s is broken (%w); repair or remove it", b.file(id), err)
		}
		t.ID = id
		all[id] = t
	}
	return all, nil
}

// validID accepts what may be a file name and nothing else.
func validID(id string) bool {
	return id != "" && len(id) < 20 && strings.Trim(id, "0123456789") == ""
}

// NextID gives the next number; call it in Change.
func (b Board) NextID(all Items) (string, error) {
	top := 0
	if raw, err := os.ReadFile(filepath.Join(b.Dir, boardMark)); err == nil {
		top, _ = strconv.Atoi(strings.TrimSpace(string(raw))) // a broken mark counts as none: the files decide
	}
	for id := range all {
		if n, err := strconv.Atoi(id); err == nil {
			top = max(top, n)
		}
	}
	id := strconv.Itoa(top + 1)
	_, err := fsys.WriteFile(filepath.Join(b.Dir, boardMark), []byte(id), fsys.WriteOptions{})
	return id, err
}

// Claim makes owner the one who works on a task: the one of id, or with "" the
// first that is open and waits for nothing. Nil without an error: there is none.
func (b Board) Claim(ctx context.Context, id, owner string) (*Item, error) {
	var got *Item
	err := b.Change(ctx, func(all Items) error {
		for _, t := range all.Sorted() {
			if id != "" && t.ID != id || id == "" && (t.Status != Open || len(t.Waiting(all)) > 0) {
				continue
			}
			if why := t.Closed(all, owner); why != "" {
				return errors.New(why)
			}
			t.Status, t.Owner = Claimed, owner
			got = t
			return nil
		}
		return nil
	})
	return got, err
}

// Closed says why owner cannot claim the task now, "" when nothing is in the way.
func (t *Item) Closed(all Items, owner string) string {
	switch w := t.Waiting(all); {
	case t.Status == Done:
		return fmt.Sprintf("Task #%s is completed already.", t.ID)
	case t.Status == Claimed && t.Owner != "" && t.Owner != owner:
		return fmt.Sprintf("Task #%s is being worked on by %s.", t.ID, t.Owner)
	case t.Status == Open && t.Owner != "" && t.Owner != owner:
		return fmt.Sprintf("Task #%s is assigned to %s.", t.ID, t.Owner)
	case len(w) > 0:
		return fmt.Sprintf("Task #%s is blocked by #%s.", t.ID, strings.Join(w, ", #"))
	}
	return ""
}

// Sorted lists tasks by number.
func (all Items) Sorted() []*Item {
	return slices.SortedFunc(maps.Values(all), func(a, b *Item) int {
		x, _ := strconv.Atoi(a.ID)
		y, _ := strconv.Atoi(b.ID)
		return x - y
	})
}

// Waiting lists the tasks that t waits for: those blocking it that are not completed.
func (t *Item) Waiting(all Items) []string {
	out := []string{}
	for _, id := range t.BlockedBy {
		if b := all[id]; b != nil && b.Status != Done {
			out = append(out, id)
		}
	}
	return out
}
