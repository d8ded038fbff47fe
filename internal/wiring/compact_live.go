package wiring

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/action/builtin"
	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/core/compact"
	"github.com/hew-agent/hew/internal/msg"
)

// Bounds of what is said again after a compaction.
const (
	// recentFiles is how many of the files read last are shown again.
	recentFiles = 5
	// maxRecent is the largest of them, in bytes: about 5,000 tokens.
	maxRecent = 17_500
	// maxAnnounced bounds the to-do list and a plan, in bytes.
	maxAnnounced = 8_000
)

// live is one kind of state that goes on beside the conversation; dropped are the
// messages that a compaction takes out.
type live func(dropped []*msg.Message) []compact.Announcement

// lives are the kinds, in the order in which they are said: one line each.
func (b *build) lives() []live {
	return []live{b.liveTodos, b.livePlan, b.liveSkills, b.liveWork, b.liveFiles}
}

// announce says again what must not be forgotten.
func (b *build) announce(dropped []*msg.Message) []compact.Announcement {
	var out []compact.Announcement
	for _, l := range b.lives() {
		out = append(out, l(dropped)...)
	}
	return out
}

func (b *build) liveTodos([]*msg.Message) []compact.Announcement {
	list := b.todos.Get("")
	if len(list) == 0 {
		return nil
	}
	var s strings.Builder
	s.WriteString("Your to-do list as it stands now:\n")
	for _, t := range list {
		fmt.Fprintf(&s, "- [%s] %s\n", t.Status, t.Content)
	}
	return []compact.Announcement{{Kind: "todos", Text: compact.Clip(s.String(), maxAnnounced), Pinned: true}}
}

// recallTodos takes the to-do list of a resumed session from the last call that
// wrote it.
func (b *build) recallTodos(history []*msg.Message) {
	for _, m := range slices.Backward(history) {
		for _, u := range slices.Backward(m.ToolUses()) {
			if u.Name != "TodoWrite" {
				continue
			}
			var list []builtin.Todo
			gjson.GetBytes(u.Input, "todos").ForEach(func(_, v gjson.Result) bool {
				list = append(list, builtin.Todo{
					Content: v.Get("content").String(), Status: v.Get("status").String(), ActiveForm: v.Get("activeForm").String(),
				})
				return true
			})
			b.todos.Set("", list)
			return
		}
	}
}

// livePlan is plan mode, and the last plan that was put before the user.
func (b *build) livePlan(dropped []*msg.Message) []compact.Announcement {
	var out []compact.Announcement
	if b.gateRef.Mode() == "plan" {
		out = append(out, compact.Announcement{Kind: "plan", Pinned: true, Text: "Plan mode is on: nothing may be changed until the user has approved a plan."})
	}
	for _, m := range slices.Backward(dropped) {
		for _, u := range m.ToolUses() {
			plan := gjson.GetBytes(u.Input, "plan").String()
			if u.Name == "ExitPlanMode" && plan != "" {
				return append(out, compact.Announcement{Kind: "plan", Pinned: true, Text: "The plan that was last put before the user:\n" + compact.Clip(plan, maxAnnounced)})
			}
		}
	}
	return out
}

// liveWork is what runs in the background.
func (b *build) liveWork([]*msg.Message) []compact.Announcement { return working(&b.background) }

func working(list *task.List) []compact.Announcement {
	var s strings.Builder
	for _, w := range list.All() {
		t := w.Status()
		if t.State != shell.Running && t.State != shell.Pending {
			continue
		}
		fmt.Fprintf(&s, "- %s (%s): %s", t.ID, t.Kind, compact.Clip(t.Title, 200))
		if t.OutputFile != "" {
			s.WriteString("; output in " + t.OutputFile)
		}
		s.WriteString("\n")
	}
	if s.Len() == 0 {
		return nil
	}
	return []compact.Announcement{{Kind: "background", Text: "This still runs in the background:\n" + s.String(), Pinned: true}}
}

// liveFiles are the files that were read last, as they are now.
func (b *build) liveFiles(dropped []*msg.Message) []compact.Announcement {
	var out []compact.Announcement
	seen := map[string]bool{}
	for _, m := range slices.Backward(dropped) {
		for _, u := range slices.Backward(m.ToolUses()) {
			path := gjson.GetBytes(u.Input, "file_path").String()
			if path == "" || seen[path] || len(seen) == recentFiles {
				continue
			}
			seen[path] = true
			if b.seen.Check(path) == fsys.Unread {
				continue // the call failed, or was another session's: nothing is shown that was not read here
			}
			t, err := fsys.ReadText(path, fsys.Limits{MaxBytes: maxRecent})
			if err != nil {
				out = append(out, compact.Announcement{Kind: "file", Text: "The file " + path + " was read before the conversation was summarised; read it again if its content is needed."})
				continue
			}
			out = append(out, compact.Announcement{Kind: "file", Text: "The file " + path + " was read before the conversation was summarised. It holds now:\n" + t.Content})
		}
	}
	return out
}
