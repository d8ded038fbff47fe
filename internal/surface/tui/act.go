package tui

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/core/command"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/surface/tui/dialog"
	"github.com/hew-agent/hew/internal/surface/tui/editor"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// twice is how close two presses of a key must be to mean more than one
// (interactive.md §2).
const twice = 800 * time.Millisecond

// again tells that the key was pressed a moment ago, too.
func (u *ui) again(key string) bool {
	now := u.c.Now()
	second := u.pressedKey == key && now.Sub(u.pressed) < twice
	u.pressedKey, u.pressed = key, now
	if second {
		u.pressedKey = ""
	}
	return second
}

// key gives a key to what it is for: a dialog, an action, the editor.
func (u *ui) key(ev input.Event) {
	u.hint = ""
	u.dirty = true
	if p, ok := ev.(input.Press); ok {
		defer func() { u.lastKey, u.lastAt = p.Key, u.c.Now() }()
	}
	if u.modal != nil {
		u.toModal(ev)
		return
	}
	if u.scroll(ev) {
		return
	}
	if p, ok := ev.(input.Press); ok {
		if u.bound(p) {
			return
		}
		if p.Text == "?" && u.ed.Empty() {
			u.command("help", "")
			return
		}
	}
	if p, ok := ev.(input.Paste); ok && u.pictures(p.Text) {
		return
	}
	u.edited(ev, u.ed.Handle(ev))
}

// edited follows what the editor says.
func (u *ui) edited(ev input.Event, o editor.Outcome) {
	switch o {
	case editor.Submit:
		u.enter()
	case editor.Leave:
		if p, ok := ev.(input.Press); ok && (p.Key == "up" || p.Key == "ctrl+p") && len(u.queued) > 0 && u.ed.Empty() {
			u.takeBack()
		}
	case editor.Changed:
		u.keepDraft()
	case editor.EditOutside:
		u.editOutside()
	case editor.None:
	}
}

// pasteImage attaches the picture of the clipboard, where there is a way to read it.
func (u *ui) pasteImage() bool {
	u.async(func(ctx context.Context) func() {
		path, err := u.c.ClipboardImage(ctx)
		return func() {
			if err != nil {
				u.hint = err.Error()
				return
			}
			u.ed.AddImage(path)
		}
	})
	return true
}

// upInQueue takes queued prompts back when the editor is empty.
func (u *ui) upInQueue() bool {
	if len(u.queued) == 0 || !u.ed.Empty() || u.ed.MenuOpen() {
		return false
	}
	u.takeBack()
	return true
}

// takeBack puts what waits into the editor again.
func (u *ui) takeBack() {
	var texts []string
	for _, q := range u.queued {
		if u.run == nil || u.run.withdraw(q.id) {
			texts = append(texts, q.said.Text)
		}
	}
	u.queued = nil
	if len(texts) == 0 {
		return
	}
	if d := u.ed.Draft().Text; d != "" {
		texts = append(texts, d)
	}
	u.ed.Set(strings.Join(texts, "\n"))
}

// escape closes the menu, interrupts, clears, or opens the way back: what is
// nearest.
func (u *ui) escape() bool {
	switch {
	case u.ed.MenuOpen() || u.ed.Escapes():
		return false
	case u.busy:
		u.interrupt()
		return true
	case !u.ed.Empty():
		if u.again("esc") {
			u.note(u.ed.Draft())
			u.ed.Clear()
			u.keepDraft()
			return true
		}
		u.hint = "esc again clears"
	case u.again("esc"):
		u.command("rewind", "")
	default:
		u.hint = "esc again goes back to an earlier prompt"
	}
	return true
}

// interrupt ends the run and keeps everything: what waits comes back to the editor.
func (u *ui) interrupt() {
	u.takeBack()
	u.live.Engine.Interrupt()
}

// cancel is ctrl+c: it interrupts what runs, else clears the text, else leaves at
// the second press. Background work goes on.
func (u *ui) cancel() bool {
	switch {
	case u.ed.MenuOpen():
		return false
	case u.busy:
		u.interrupt()
	case !u.ed.Empty():
		u.note(u.ed.Draft())
		u.ed.Clear()
		u.keepDraft()
	case u.again("ctrl+c"):
		u.quit()
	default:
		u.hint = "ctrl+c again leaves"
	}
	return true
}

func (u *ui) endOfInput() bool {
	if !u.ed.Empty() {
		return false
	}
	if u.again("ctrl+d") {
		u.quit()
		return true
	}
	u.hint = "ctrl+d again leaves"
	return true
}

func (u *ui) quit() { u.ended, u.leave = true, ErrLeft }

func (u *ui) nextMode() bool {
	if u.live == nil {
		return true
	}
	modes := u.live.Modes
	to := modes[(slices.Index(modes, u.mode())+1)%len(modes)]
	if err := u.live.Engine.SetMode(to); err != nil {
		u.hint = err.Error()
	}
	u.stirLine()
	return true
}

func (u *ui) toBackground() bool {
	if !u.busy || u.live == nil {
		return false
	}
	n, err := u.live.ToBackground()
	switch {
	case err != nil:
		u.hint = err.Error()
	case n == 0:
		u.hint = "nothing runs that could go on in the background"
	default:
		u.hint = "going on in the background: /tasks"
	}
	return true
}

func (u *ui) suspend() bool {
	if err := u.c.Device.Suspend(); err != nil {
		u.hint = err.Error()
	}
	return true
}

// transcript shows the whole conversation, nothing folded.
func (u *ui) transcript() bool {
	p := &dialog.Pager{Title: "Transcript", Follow: true, Lines: func(width int) []style.Line {
		s, _ := u.store.State()
		sh := sheet{width, true}
		var out []style.Line
		for _, it := range s.Items {
			out = append(out, sh.item(it)...)
		}
		for _, it := range s.Live {
			out = append(out, sh.item(it)...)
		}
		return out
	}}
	u.show(&modal{widget: p})
	return true
}

// enter sends what stands in the editor.
func (u *ui) enter() {
	d := u.ed.Draft()
	if strings.TrimSpace(d.Text) == "" && len(d.Images) == 0 {
		return
	}
	said := Said{Text: d.Text, Shown: d.Shown, Pastes: d.Pastes}
	for _, n := range sortedNumbers(d.Images) {
		said.Images = append(said.Images, d.Images[n])
	}
	u.note(d)
	u.ed.Clear()
	u.keepDraft()
	if u.live == nil {
		u.queued = append(u.queued, queuedPrompt{said: said}) // see attach
		return
	}
	u.submit(said)
}

// submit does what a text asks for.
func (u *ui) submit(s Said) {
	switch text := strings.TrimSpace(s.Text); {
	case strings.HasPrefix(text, "!") && len(text) > 1:
		u.shell(strings.TrimSpace(text[1:]))
	case strings.HasPrefix(text, "#") && len(text) > 1 && !strings.HasPrefix(text, "##"):
		u.openScreen(*u.live.Remember(strings.TrimSpace(text[1:])))
	default:
		if c, ok := command.Parse(text); ok && len(s.Images) == 0 && u.command(c.Name, c.Args) {
			return
		}
		u.send(s)
	}
}

// command opens the screen of a command; false when it has none here.
func (u *ui) command(name, args string) bool {
	if u.live == nil {
		return false
	}
	for _, c := range u.live.Screens {
		if c.Name != name && !slices.Contains(c.Aliases, name) {
			continue
		}
		if c.AtRest && u.busy {
			u.sayPlain("/" + name + " waits until the work at hand is done; esc interrupts it")
			u.run.rest(func() { u.post(func() { u.openCommand(c, args) }) })
			return true
		}
		u.openCommand(c, args)
		return true
	}
	return false
}

func (u *ui) openCommand(c ScreenCommand, args string) {
	u.async(func(ctx context.Context) func() {
		s, r, err := c.Open(ctx, args)
		return func() {
			switch {
			case err != nil:
				u.sayPlain("/" + c.Name + ": " + err.Error())
			case s != nil:
				u.openScreen(*s)
			case r.empty():
				text := strings.TrimSpace("/" + c.Name + " " + args)
				u.send(Said{Text: text, Shown: text})
			default:
				u.result(r)
			}
		}
	})
}

// send gives a prompt to the conversation: at once, or it waits for the next step
// of the run.
func (u *ui) send(s Said) {
	u.async(func(ctx context.Context) func() {
		m, notes := u.live.Message(ctx, s)
		return func() {
			for _, n := range notes {
				u.sayPlain(n)
			}
			u.hand(m, s)
		}
	})
}

func (u *ui) hand(m *msg.Message, s Said) {
	if u.busy {
		u.queued = append(u.queued, queuedPrompt{m.ID, s})
	}
	u.busy = true
	u.run.say(m)
}

// shell runs a command of the person.
func (u *ui) shell(cmd string) {
	u.hint = "running " + cmd
	u.async(func(ctx context.Context) func() {
		m, shown, err := u.live.Shell(ctx, cmd)
		return func() {
			u.hint = ""
			if err != nil {
				u.sayPlain(err.Error())
				return
			}
			if u.prefs.QuietBash {
				lines := hang(texts(style.Dim, shown, max(10, u.width-4)), "  ⎿ ", "    ", style.Dim)
				u.say(append([]style.Line{nil, style.Text(style.Warning, "! "+cmd)}, folded(lines, 20)...)...)
				u.live.Engine.Steer(m)
				return
			}
			u.hand(m, Said{Text: cmd, Shown: "!" + cmd})
		}
	})
}

// note keeps a draft in the history.
func (u *ui) note(d editor.Draft) {
	u.noteSaid(Said{Text: d.Text, Shown: d.Shown, Pastes: d.Pastes})
}

func (u *ui) noteSaid(s Said) {
	if u.live == nil || strings.TrimSpace(s.Shown) == "" {
		return
	}
	live := u.live
	u.async(func(context.Context) func() {
		if err := live.Typed(s); err != nil {
			return func() { u.sayPlain("the prompt is not in the history: " + err.Error()) }
		}
		return nil
	})
}

// switchTo goes on with another session.
func (u *ui) switchTo(id string) {
	if u.busy {
		u.sayPlain("interrupt the work at hand first (esc)")
		return
	}
	old := u.live
	u.live, u.run = nil, nil
	u.async(func(ctx context.Context) func() {
		was := old.Engine.Session()
		closing := old.Close()
		l, err := old.Switch(ctx, id)
		if err != nil {
			back, again := old.Switch(ctx, was)
			return func() {
				u.sayPlain(fmt.Sprintf("session %s cannot be opened: %v", id, err))
				if again != nil {
					u.ended, u.leave = true, again
					return
				}
				u.attach(back)
			}
		}
		return func() {
			if closing != nil {
				u.sayPlain(closing.Error())
			}
			u.attach(l)
		}
	})
}

// editOutside opens the draft in the person's editor.
func (u *ui) editOutside() bool {
	text, err := u.outside(u.ed.Draft().Text)
	if err != nil {
		u.sayPlain("the editor: " + err.Error())
		return true
	}
	u.ed.Replace(text)
	u.keepDraft()
	return true
}

// outside lets the person edit a text in an editor of their own.
func (u *ui) outside(text string) (string, error) {
	f, err := os.CreateTemp("", "hew-prompt-*.md")
	if err != nil {
		return text, err
	}
	path := f.Name()
	defer func() { _ = os.Remove(path) }() // a leftover of the temporary folder harms nobody
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = u.c.EditFile(path)
	}
	u.paint.Resize(u.width, u.height)
	if err != nil {
		return text, err
	}
	out, err := os.ReadFile(path)
	if err != nil {
		return text, err
	}
	return string(out), nil
}

func (u *ui) editFile(path string) {
	if err := u.c.EditFile(path); err != nil {
		u.sayPlain("the editor: " + err.Error())
	}
	u.paint.Resize(u.width, u.height)
}

func (u *ui) setPrefs(p Prefs) {
	redraw := p.Theme != u.prefs.Theme || p.Fullscreen != u.prefs.Fullscreen
	u.prefs = p
	if p.Vim {
		u.ed.SetStyle(editor.Vim)
	} else {
		u.ed.SetStyle(editor.Readline)
	}
	if !redraw {
		return
	}
	u.repaint()
}

// repaint makes the painter anew: preferences or the terminal are other than they
// were known.
func (u *ui) repaint() {
	if err := u.paint.Close(); err != nil {
		u.hint = err.Error()
	}
	u.paint = u.c.Paint(u.prefs)
	u.paint.Resize(u.width, u.height)
	if _, full := u.paint.(*Full); full {
		u.sink = sink{}
	}
	u.dirty = true
}

// scroll takes the keys and the mouse of a full screen; false when they are not its own.
func (u *ui) scroll(ev input.Event) bool {
	f, ok := u.paint.(*Full)
	if !ok {
		return false
	}
	switch ev := ev.(type) {
	case input.Mouse:
		if text := f.Mouse(ev); text != "" {
			u.c.Device.Copy(text)
			u.hint = "copied"
		}
		return true
	case input.Press:
		switch ev.Key {
		case "pgup":
			f.Scroll(u.height / 2)
		case "pgdown":
			f.Scroll(-u.height / 2)
		case "ctrl+home":
			f.Scroll(1 << 30)
		case "ctrl+end":
			f.Scroll(-1 << 30)
		default:
			return false
		}
		return true
	case input.Paste, input.Focus, input.Resize, input.Resumed, input.Ended:
	}
	return false
}

// screenOf opens a command's screen by its name.
func (u *ui) screenOf(name, args string) { u.command(name, args) }

func sortedNumbers(m map[int]string) []int { return slices.Sorted(maps.Keys(m)) }
