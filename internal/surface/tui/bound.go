package tui

import (
	"strings"

	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/keys"
)

// actions are those of key bindings that are not the editor's; false passes the
// key on.
func actions() map[string]func(u *ui) bool {
	return map[string]func(u *ui) bool{
		"app:interrupt":        (*ui).cancel,
		"app:exit":             (*ui).endOfInput,
		"app:redraw":           func(u *ui) bool { u.paint.Resize(u.width, u.height); return true },
		"app:suspend":          (*ui).suspend,
		"app:toggleTodos":      func(u *ui) bool { u.hideTodo = !u.hideTodo; return true },
		"app:toggleTranscript": (*ui).transcript,
		"chat:cancel":          (*ui).escape,
		"chat:cycleMode":       (*ui).nextMode,
		"chat:modelPicker":     func(u *ui) bool { u.command("model", ""); return true },
		"chat:externalEditor":  (*ui).editOutside,
		"chat:killAgents":      (*ui).stopWork,
		"chat:imagePaste":      (*ui).pasteImage,
		"history:previous":     (*ui).upInQueue,
		"task:background":      (*ui).toBackground,
	}
}

// bound does what a key is bound to; false when it is for the editor as it is.
func (u *ui) bound(p input.Press) bool {
	u.readBindings()
	if u.ed.First(p) {
		return false
	}
	action, m := u.binds.Resolve(u.contexts(), p.Key)
	switch m {
	case keys.Waiting:
		u.hint = u.binds.Pending() + " …"
		return true
	case keys.Unbound:
		return p.Text == "" // a key that types goes on typing
	case keys.Act:
	case keys.Free:
		return false
	}
	if do, ok := actions()[action]; ok && do(u) {
		return true
	}
	if name, ok := strings.CutPrefix(action, "command:"); ok {
		u.submit(Said{Text: "/" + name, Shown: "/" + name})
		return true
	}
	out, ok := u.ed.Act(action)
	if ok {
		u.edited(p, out)
	}
	return ok
}

// contexts are those of key bindings that hold now, the innermost first.
func (u *ui) contexts() []string {
	list := []string{u.ed.Context()}
	if list[0] == "Autocomplete" {
		list = append(list, keys.Prompt)
	}
	if u.busy {
		list = append(list, keys.Working)
	}
	return append(list, keys.Everywhere)
}

// readBindings takes a changed file of key bindings.
func (u *ui) readBindings() {
	if u.c.Bindings == nil {
		return
	}
	changes, problems, changed := u.c.Bindings()
	if !changed {
		return
	}
	u.binds.Table = keys.Default().With(changes)
	for _, p := range problems {
		u.sayPlain("keybindings.json: " + p)
	}
}

// stopWork ends all background work at the second press.
func (u *ui) stopWork() bool {
	if u.live == nil {
		return true
	}
	if u.again("chat:killAgents") {
		u.live.StopWork()
		u.hint = "background work is stopped"
		return true
	}
	u.hint = "once more stops all background work"
	return true
}
