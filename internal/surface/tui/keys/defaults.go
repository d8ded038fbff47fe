package keys

import "sync"

// Contexts that are not those of a widget.
const (
	Everywhere = "Global"
	Prompt     = "Chat"
	Working    = "Task" // something runs
)

// Default is the table of a person who changed nothing.
func Default() Table { return defaults() }

var defaults = sync.OnceValue(func() Table {
	pick := map[string]string{
		"up": "select:previous", "k": "select:previous", "ctrl+p": "select:previous", "down": "select:next", "j": "select:next", "ctrl+n": "select:next",
		"pgup": "select:pageUp", "pgdown": "select:pageDown", "home": "select:first", "end": "select:last", "enter": "select:accept", "esc": "select:cancel",
	}
	settings := map[string]string{"space": "select:accept", "/": "settings:search", "r": "settings:retry", "enter": "settings:close", "esc": "confirm:no"}
	for k, a := range pick {
		if settings[k] == "" {
			settings[k] = a
		}
	}
	return Table{map[string]map[string]string{
		"Global": {
			"ctrl+c": "app:interrupt", "ctrl+d": "app:exit", "ctrl+l": "app:redraw", "ctrl+t": "app:toggleTodos", "ctrl+o": "app:toggleTranscript",
			"ctrl+z": "app:suspend", "ctrl+r": "history:search",
		},
		"Chat": {
			"esc": "chat:cancel", "ctrl+x ctrl+k": "chat:killAgents", "shift+tab": "chat:cycleMode", "alt+m": "chat:cycleMode", "alt+p": "chat:modelPicker",
			"alt+o": "chat:fastMode", "alt+t": "chat:thinkingToggle", "enter": "chat:submit", "ctrl+j": "chat:newline", "shift+enter": "chat:newline",
			"alt+enter": "chat:newline", "up": "history:previous", "down": "history:next", "ctrl+p": "history:previous", "ctrl+n": "history:next",
			"ctrl+_": "chat:undo", "alt+_": "chat:redo", "ctrl+g": "chat:externalEditor", "ctrl+x ctrl+e": "chat:externalEditor", "ctrl+s": "chat:stash",
			"ctrl+v": "chat:imagePaste", "alt+v": "chat:imagePaste",
		},
		"Autocomplete": {
			"tab": "autocomplete:accept", "right": "autocomplete:accept", "esc": "autocomplete:dismiss", "up": "autocomplete:previous", "ctrl+p": "autocomplete:previous",
			"down": "autocomplete:next", "ctrl+n": "autocomplete:next",
		},
		"Settings": settings,
		"Confirmation": {
			"y": "confirm:yes", "enter": "confirm:yes", "n": "confirm:no", "esc": "confirm:no", "up": "confirm:previous", "down": "confirm:next",
			"tab": "confirm:nextField", "space": "confirm:toggle", "shift+tab": "confirm:cycleMode", "ctrl+e": "confirm:toggleExplanation", "ctrl+d": "permission:toggleDebug",
		},
		"Tabs":       {"tab": "tabs:next", "right": "tabs:next", "shift+tab": "tabs:previous", "left": "tabs:previous"},
		"Help":       {"esc": "help:dismiss"},
		"Transcript": {"ctrl+e": "transcript:toggleShowAll", "ctrl+c": "transcript:exit", "esc": "transcript:exit", "q": "transcript:exit"},
		"HistorySearch": {
			"ctrl+r": "historySearch:next", "tab": "historySearch:accept", "esc": "historySearch:cancel", "ctrl+c": "historySearch:cancel", "enter": "historySearch:accept",
			"ctrl+s": "historySearch:scope", "up": "historySearch:next", "down": "historySearch:previous",
		},
		Working:       {"ctrl+b": "task:background", "ctrl+x ctrl+b": "task:background"},
		"ThemePicker": {"ctrl+t": "theme:toggleSyntaxHighlighting"},
		"Attachments": {
			"right": "attachments:next", "left": "attachments:previous", "backspace": "attachments:remove", "delete": "attachments:remove",
			"down": "attachments:exit", "esc": "attachments:exit",
		},
		"Footer": {
			"right": "footer:next", "left": "footer:previous", "up": "footer:up", "ctrl+p": "footer:up", "down": "footer:down", "ctrl+n": "footer:down",
			"enter": "footer:openSelected", "esc": "footer:clearSelection",
		},
		"MessageSelector": {
			"up": "messageSelector:up", "k": "messageSelector:up", "ctrl+p": "messageSelector:up", "down": "messageSelector:down", "j": "messageSelector:down",
			"ctrl+n": "messageSelector:down", "ctrl+up": "messageSelector:top", "shift+up": "messageSelector:top", "alt+up": "messageSelector:top", "K": "messageSelector:top",
			"ctrl+down": "messageSelector:bottom", "shift+down": "messageSelector:bottom", "alt+down": "messageSelector:bottom", "J": "messageSelector:bottom",
			"enter": "messageSelector:select",
		},
		"DiffDialog": {
			"esc": "diff:dismiss", "left": "diff:previousSource", "right": "diff:nextSource", "up": "diff:previousFile", "down": "diff:nextFile", "enter": "diff:viewDetails",
			"k": "diff:previousFile", "j": "diff:nextFile",
		},
		"ModelPicker": {"left": "modelPicker:decreaseEffort", "right": "modelPicker:increaseEffort"},
		"Select":      pick,
		"Plugin":      {"space": "plugin:toggle", "i": "plugin:install"},
		"Scroll": {
			"pgup": "scroll:pageUp", "pgdown": "scroll:pageDown", "ctrl+home": "scroll:top", "ctrl+end": "scroll:bottom",
			"ctrl+shift+c": "selection:copy", "super+c": "selection:copy",
		},
	}}
})

// more are actions that no key has until a person gives it one.
func more() map[string][]string {
	return map[string][]string{
		"Global":        {"app:toggleTeammatePreview", "app:globalSearch", "app:quickOpen", "app:toggleTerminal", "app:toggleBrief", "history:previous", "history:next"},
		"Chat":          {"chat:clearInput", "chat:clearScreen", "chat:messageActions"},
		"HistorySearch": {"historySearch:execute"},
		"DiffDialog":    {"diff:back"},
		"Scroll": {
			"scroll:lineUp", "scroll:lineDown", "scroll:halfPageUp", "scroll:halfPageDown", "scroll:fullPageUp", "scroll:fullPageDown", "selection:clear",
		},
	}
}
