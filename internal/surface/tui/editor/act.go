package editor

import (
	"strings"

	"github.com/hew-agent/hew/internal/surface/tui/input"
)

// Context is the context of key bindings that the editor is in: HistorySearch,
// Autocomplete or Chat.
func (e *Editor) Context() string {
	switch {
	case e.search != nil:
		return "HistorySearch"
	case e.menu.open():
		return "Autocomplete"
	}
	return "Chat"
}

// First tells that the key means something here whatever is bound to it: the
// commands of vim's normal and visual mode, and esc where vim wants it.
func (e *Editor) First(p input.Press) bool {
	if e.vim == nil || e.search != nil || e.menu.open() {
		return false
	}
	if p.Key == "esc" || p.Key == "ctrl+[" {
		return e.Escapes()
	}
	return e.vim.mode != insertMode && (p.Text != "" || p.Key == "ctrl+r" || len(e.vim.typed) > 0)
}

// Act does the action of a key binding, as its usual key would; false when the
// action is not the editor's.
func (e *Editor) Act(action string) (Outcome, bool) {
	switch action {
	case "chat:stash":
		e.Stash()
		return Changed, true
	case "chat:externalEditor":
		return EditOutside, true
	case "chat:clearInput":
		e.Clear()
		return Changed, true
	case "history:search", "historySearch:execute":
		if action == "historySearch:execute" && e.search == nil || action == "history:search" && e.search != nil {
			return None, true
		}
	}
	key := map[string]string{
		"chat:cancel": "esc", "chat:submit": "enter", "chat:newline": "ctrl+j", "chat:undo": "ctrl+_", "chat:redo": "alt+_",
		"history:previous": "up", "history:next": "down", "history:search": "ctrl+r",
		"autocomplete:accept": "tab", "autocomplete:dismiss": "esc", "autocomplete:previous": "up", "autocomplete:next": "down",
		"historySearch:next": "ctrl+r", "historySearch:previous": "down", "historySearch:accept": "enter", "historySearch:execute": "enter",
		"historySearch:cancel": "esc", "historySearch:scope": "ctrl+s",
	}[action]
	if key == "" {
		return None, false
	}
	p := input.Press{Key: key}
	out := e.Handle(p)
	if action == "historySearch:execute" && out == Changed {
		out = Submit
	}
	return out, true
}

// Replace puts text that was edited elsewhere in the place of the draft. Pictures
// whose labels are still there stay.
func (e *Editor) Replace(text string) {
	d := e.Draft()
	text = strings.TrimRight(text, "\r\n")
	e.SetDraft(Draft{Text: text, Shown: text, Images: d.Images})
}
