package wiring

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/state/memory"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/state/settings"
	"github.com/hew-agent/hew/internal/state/trust"
)

// instructions reads the files of people's instructions.
func (b *build) instructions() *memory.Instructions {
	if b.uninstructed() {
		return memory.Load(memory.Config{})
	}
	in := memory.Load(b.memoryConfig())
	for _, n := range in.Notes() {
		b.tell(n)
	}
	return in
}

// forgetFiles lets instructions and notes be read again: a new session begins.
func (b *build) forgetFiles() {
	b.rereadFiles()
	if b.lazy != nil {
		b.lazy.paths, b.lazy.items, b.lazy.fresh = nil, nil, nil
	}
	if b.recall != nil {
		b.recall.forget()
	}
}

// rereadFiles lets the instructions of the start be read again.
func (b *build) rereadFiles() {
	b.disk = memory.Disk{}
	b.memory = sync.OnceValue(b.instructions)
}

// uninstructed tells that no file of instructions is read.
func (b *build) uninstructed() bool {
	return b.o.Bare || b.env("CLAUDE_CODE_DISABLE_CLAUDE_MDS") != ""
}

// tell shows a note to the person, or only to a trace when nothing is wrong.
func (b *build) tell(n memory.Note) {
	switch {
	case !n.Quiet:
		b.notice(n.String())
	case b.o.Trace != nil:
		b.o.Trace(event.Event{Body: event.Notice{Level: event.Info, Code: "instructions", Text: n.String()}})
	}
}

// memoryConfig is where instructions are looked for, and what counts of them.
func (b *build) memoryConfig() memory.Config {
	c := memory.Config{
		Managed: b.settingsConfig.Managed(), ManagedText: b.settings.Text("claudeMd"),
		Home: b.home.Dir, Cwd: b.place.Project, Exclude: b.settings.ClaudeMDExcludes(),
		Untrusted: b.trust.Level == settings.Untrusted, Outside: b.trust.Included, Disk: &b.disk,
	}
	var err error
	if c.Agents, err = memory.ParseAgentsMode(b.settings.Text("agentsMd")); err != nil {
		b.notice(err.Error())
	}
	if on, err := strconv.ParseBool(b.env("CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD")); err == nil && on {
		c.Roots = b.place.Roots[1:]
	}
	if b.settingsConfig.Sources != nil {
		for scope, of := range map[memory.Scope]settings.Scope{memory.User: settings.User, memory.Project: settings.Project, memory.Local: settings.Local} {
			if !slices.Contains(b.settingsConfig.Sources, of) {
				c.Without = append(c.Without, scope)
			}
		}
	}
	return c
}

// includes lists what the folder's instruction files include from outside of it,
// whichever of them will be read: it is asked before the settings count. What is
// read for it is not read again.
func (b *build) includes() []trust.Include {
	if b.o.Bare {
		return nil
	}
	in := memory.Load(memory.Config{Cwd: b.settingsConfig.Cwd, Agents: memory.AgentsAlways, Disk: &b.disk})
	var out []trust.Include
	for _, i := range in.Outside() {
		out = append(out, trust.Include{Real: i.Real, From: i.From})
	}
	return out
}

// ownNotes is the folder of the model's own notes about this project, nil when
// auto memory is switched off.
func (b *build) ownNotes() *memory.Notebook {
	off := !b.settings.AutoMemoryEnabled()
	if v := b.env("CLAUDE_CODE_DISABLE_AUTO_MEMORY"); v != "" {
		said, err := strconv.ParseBool(v)
		off = said || err != nil
	}
	if off || b.o.Bare {
		return nil
	}
	n := &memory.Notebook{Dir: b.notesDir()}
	if in := b.confines(); in != "" && fsys.Within(in, n.Dir) {
		n.Within = in
	}
	return n
}

// notesDir is the folder that the settings name, else that of the project in the
// configuration home. All worktrees of a repository and all its folders share it.
func (b *build) notesDir() string {
	if text := b.settings.Text("autoMemoryDirectory"); text != "" {
		dir, err := b.chosenNotes(text)
		if err == nil {
			return dir
		}
		b.notice(fmt.Sprintf("autoMemoryDirectory %q is not used: %v", text, err))
	}
	key := session.Key(settings.TrustKey(b.place.Project))
	if name := b.o.getenv("CLAUDE_CODE_PROJECT_DIR_NAME"); name != "" && b.home.Moved {
		if chosen, err := session.ChosenKey(name); err == nil { // else the session is not opened at all
			key = chosen
		}
	}
	return filepath.Join(b.home.Projects(), key, "memory")
}

// aboutNotes is what the system prompt says of the model's own notes.
func (b *build) aboutNotes() string {
	if b.notebook == nil {
		return ""
	}
	return b.notebook.Instructions()
}

// chosenNotes refuses a folder that holds more than notes: what lies in it is
// written without asking.
func (b *build) chosenNotes(text string) (string, error) {
	if !filepath.IsAbs(text) && text != "~" && (len(text) < 2 || text[0] != '~' || text[1] != '/') {
		return "", fmt.Errorf("it must be absolute or begin with ~/")
	}
	l, err := fsys.Locate(b.place.Project, text)
	if err != nil {
		return "", err
	}
	for _, holds := range []string{b.place.Project, b.o.userHome(), b.home.Dir} {
		if holds != "" && (fsys.Within(l.Name, holds) || fsys.Within(l.Real, holds)) {
			return "", fmt.Errorf("%s lies in it, and the model writes there without asking; name a folder for notes alone", fsys.Printable(holds))
		}
	}
	return l.Name, nil
}

// noteFolders are where the model writes its own notes.
func (b *build) noteFolders() []string {
	if b.notebook == nil {
		return nil
	}
	return []string{b.notebook.Dir}
}

// indexes are those of the notes that a conversation begins with: one for all
// projects, where the user has made one, and the project's.
func (b *build) indexes() []memory.File {
	if b.notebook == nil {
		return nil
	}
	var out []memory.File
	for _, n := range []memory.Notebook{{Dir: b.home.Dir}, *b.notebook} {
		f, note, ok := n.Read()
		if note != nil {
			b.tell(*note)
		}
		if ok {
			out = append(out, f)
		}
	}
	return out
}

// instructed tells hooks of files that were read.
func (h *hooks) instructed(ctx context.Context, files []memory.File, emit func(event.Body)) {
	if len(files) == 0 || !h.d.Wants("InstructionsLoaded") {
		return
	}
	for _, f := range files {
		h.fire(ctx, hook.InstructionsLoaded{
			Path: f.Path, Memory: string(f.Scope), Reason: string(f.Reason), Globs: f.Globs, Trigger: f.Trigger, Parent: f.Parent,
		}, emit)
	}
}
