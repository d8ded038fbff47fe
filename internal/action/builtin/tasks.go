package builtin

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
	"github.com/hew-agent/hew/internal/tool"
)

// item is one entry of the shared list, a JSON file of its own named after its
// id, in the form of the ecosystem.
type item struct {
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

// taskList is a folder of tasks. Several processes may share it: every change
// is made under a lock and lands whole.
type taskList struct{ dir string }

const (
	taskLock = ".lock"
	// taskMark holds the highest id ever given, so that ids of deleted tasks
	// are not given again.
	taskMark = ".highwatermark"
)

// change runs fn over all tasks under the lock and stores what it returns;
// tasks that it leaves out are removed.
func (l taskList) change(ctx context.Context, fn func(all map[string]*item) error) error {
	return fsys.WithLock(ctx, filepath.Join(l.dir, taskLock), func() error {
		all, err := l.load()
		if err != nil {
			return err
		}
		before := make(map[string]string, len(all))
		for id, t := range all {
			before[id] = string(encode(t))
		}
		if err := fn(all); err != nil {
			return err
		}
		return l.store(before, all)
	})
}

func (l taskList) store(before map[string]string, all map[string]*item) error {
	for id, t := range all {
		now := string(encode(t))
		if now == before[id] {
			continue
		}
		if _, err := fsys.WriteFile(l.file(id), append([]byte(now), '\n'), fsys.WriteOptions{}); err != nil {
			return err
		}
	}
	for id := range before {
		if all[id] == nil {
			if err := os.Remove(l.file(id)); err != nil {
				return fmt.Errorf("delete task %s: %w", id, err)
			}
		}
	}
	return nil
}

func (l taskList) file(id string) string { return filepath.Join(l.dir, id+".json") }

// load reads all tasks. A file that cannot be read is named in the error:
// guessing would give its id away again.
func (l taskList) load() (map[string]*item, error) {
	names, err := os.ReadDir(l.dir)
	if errors.Is(err, os.ErrNotExist) {
		return map[string]*item{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the task list: %w", err)
	}
	all := make(map[string]*item)
	for _, e := range names {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !validID(id) {
			continue
		}
		raw, _, err := fsys.ReadRaw(l.file(id), fsys.Limits{MaxBytes: 1 << 20})
		if err != nil {
			return nil, fmt.Errorf("read task %s: %w", id, err)
		}
		t := &item{}
		if err := json.Unmarshal(raw, t); err != nil {
			return nil, fmt.Errorf("task file %s is broken (%w); repair or remove it", l.file(id), err)
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

// nextID gives the next number; call it under the lock.
func (l taskList) nextID(all map[string]*item) (string, error) {
	top := 0
	if raw, err := os.ReadFile(filepath.Join(l.dir, taskMark)); err == nil {
		top, _ = strconv.Atoi(strings.TrimSpace(string(raw))) // a broken mark counts as none: the files decide
	}
	for id := range all {
		if n, err := strconv.Atoi(id); err == nil {
			top = max(top, n)
		}
	}
	id := strconv.Itoa(top + 1)
	_, err := fsys.WriteFile(filepath.Join(l.dir, taskMark), []byte(id), fsys.WriteOptions{})
	return id, err
}

// sorted lists tasks by number.
func sorted(all map[string]*item) []*item {
	return slices.SortedFunc(maps.Values(all), func(a, b *item) int {
		x, _ := strconv.Atoi(a.ID)
		y, _ := strconv.Atoi(b.ID)
		return x - y
	})
}

// waiting lists the tasks that t waits for: those blocking it that are not completed.
func (t *item) waiting(all map[string]*item) []string {
	out := []string{}
	for _, id := range t.BlockedBy {
		if b := all[id]; b != nil && b.Status != "completed" {
			out = append(out, id)
		}
	}
	return out
}

func hashed(ids []string) string {
	return "#" + strings.Join(ids, ", #")
}

// taskView shows the whole list to people.
func taskView(all map[string]*item) tool.View {
	v := tool.ListView{Title: "Tasks"}
	for _, t := range sorted(all) {
		text := t.Subject
		if t.Status == "in_progress" && t.ActiveForm != "" {
			text = t.ActiveForm
		}
		v.Items = append(v.Items, tool.Item{Text: "#" + t.ID + " " + text, State: t.Status})
	}
	return v
}
