package dialog

import (
	"time"

	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// asking is what dialogs share that put answers under a text: the guard, the
// scrolled text, the numbered answers, and a field or a pager over them.
type asking struct {
	guard  guard
	page   page
	choice choice
	field  *Field
	close  func(text string) // takes the field's text
	pager  *Pager
	done   bool
	tabs   bool // tab and down end the field, as Enter does

	// head is the first line and foot the keys that work, before the last one.
	head func(width int) style.Line
	foot func() []string
	// pick takes an answer, leave is Esc, press has other keys first. Optional: press.
	pick  func(i int)
	leave func()
	press func(ev input.Press, again bool) bool
	// before is called once it is known what of the text is on the screen. Optional.
	before func(width, height int)

	row int // the first line of the answers as drawn last
}

// Done tells that the dialog was answered or left.
func (a *asking) Done() bool { return a.done }

// Ready is when keys begin to count, zero before the first Draw.
func (a *asking) Ready() time.Time { return a.guard.ready }

// Shown notes the first paint, where it was not right after the first Draw.
func (a *asking) Shown(now time.Time) { a.guard.shown(now) }

// Ignored hands out the keys and pastes that came too early to be an answer:
// they belong to what the person was typing.
func (a *asking) Ignored() []input.Event { return a.guard.take() }

// Handle answers, scrolls and edits. The cells of the mouse are the dialog's own.
func (a *asking) Handle(ev input.Event) bool {
	if a.done || a.guard.stops(ev) {
		return true
	}
	if a.pager != nil {
		took := a.pager.Handle(ev)
		if a.pager.Done() {
			a.pager = nil
		}
		return took
	}
	switch ev := ev.(type) {
	case input.Press:
		again := a.guard.repeats(ev)
		if a.field != nil {
			return a.typed(ev, again)
		}
		if a.press != nil && a.press(ev, again) {
			return true
		}
		return a.move(ev, again)
	case input.Paste:
		if a.field != nil {
			return a.field.Handle(ev)
		}
		a.guard.refuse(ev)
		return true
	case input.Mouse:
		return a.mouse(ev)
	case input.Focus, input.Resize, input.Resumed, input.Ended:
	}
	return false
}

// typed edits the field. A held Enter ends nothing.
func (a *asking) typed(ev input.Press, again bool) bool {
	if again && (ev.Key == "enter" || ev.Key == "esc") {
		return true
	}
	if a.tabs && (ev.Key == "tab" || ev.Key == "down") {
		ev.Key = "enter"
	}
	took := a.field.Handle(ev)
	switch {
	case a.field.Left():
		a.field = nil
	case a.field.Done():
		text, end := a.field.Value, a.close
		a.field = nil
		end(text)
	}
	return took
}

// write opens a field; end takes its text.
func (a *asking) write(f Field, end func(text string)) { a.field, a.close = NewField(f), end }

func (a *asking) mouse(ev input.Mouse) bool {
	switch ev.Kind {
	case input.WheelUp:
		a.page.scroll(-3)
	case input.WheelDown:
		a.page.scroll(3)
	case input.Click:
		i := a.choice.clicked(ev, a.row)
		if i < 0 || a.field != nil {
			return false
		}
		was := a.choice.at
		if a.choice.at = i; i == was {
			a.take(i)
		}
	case input.Release, input.Drag:
		return false
	}
	return true
}

// move has the keys that all these dialogs know.
func (a *asking) move(ev input.Press, again bool) bool {
	if i := a.choice.digit(ev.Key); i >= 0 {
		if !again {
			a.jump(i)
		}
		return true
	}
	switch ev.Key {
	case "enter":
		if !again {
			a.take(a.choice.at)
		}
	case "esc", "ctrl+c":
		if !again {
			a.leave()
		}
	case "up", "k", "ctrl+p":
		if a.choice.at == 0 {
			a.page.scroll(-1)
		}
		a.choice.step(-1)
	case "down", "j", "ctrl+n":
		if a.page.more() > 0 {
			a.page.scroll(1)
			return true
		}
		a.choice.step(1)
	default:
		return a.page.key(ev.Key)
	}
	return true
}

// jump takes an answer by its number. One that says more than there was room for
// is shown first, and taken by a second press.
func (a *asking) jump(i int) {
	was := a.choice.at
	if a.choice.at = i; i == was || !a.choice.tight || a.choice.opts[i].notes == nil {
		a.take(i)
	}
}

// take takes an answer, unless it cannot be given yet.
func (a *asking) take(i int) {
	if i < len(a.choice.opts) && !a.choice.opts[i].blocked {
		a.pick(i)
	}
}

// Draw fits the question into the cells: all answers where they have room, what
// they are about above them.
func (a *asking) Draw(width, height int) frame.Frame {
	a.guard.shown(a.guard.o.Now())
	if a.pager != nil {
		return fit(a.pager.Draw(width, height), width, height)
	}
	a.page.fill(max(1, width-2))
	lines := []style.Line{a.head(width)}
	if a.field != nil {
		n := min(a.field.height(width), max(2, height-3))
		body := indented(a.page.view(max(1, height-1-n)), 2)
		return fit(frame.Stack(frame.Frame{Lines: append(lines, body...)}, a.field.Draw(width, n)), width, height)
	}
	if a.before != nil {
		a.before(width, height)
	}
	room := max(1, height-2)
	list := a.share(width, room)
	body := a.page.view(max(1, room-list))
	if a.before != nil {
		a.before(width, height)
		if a.page.more() > 0 && !a.page.body && len(body) > 1 {
			body[len(body)-1] = style.Text(style.Warning, body[len(body)-1].String()+", to be read first").Cut(a.page.width)
		}
	}
	lines = append(lines, indented(body, 2)...)
	if len(lines)+list+2 <= height && len(body) > 0 {
		lines = append(lines, nil)
	}
	a.row = len(lines)
	lines = append(lines, a.choice.view(width, list)...)
	lines = append(lines, a.keys(width))
	return fit(frame.Frame{Lines: lines}, width, height)
}

// share is how many of the lines the answers take. Where not all fits, the text
// keeps three lines, or half of them.
func (a *asking) share(width, room int) int {
	all, few := a.choice.rooms(width)
	text := len(a.page.lines)
	if all+text <= room {
		return all
	}
	text = min(text, max(3, room-all))
	if room-text >= all {
		return all
	}
	own := len(a.choice.full(a.choice.at, width))
	return max(min(few, max(room-text, room/2)), min(own, room-1), 1)
}

// keys is the footer, empty until keys count.
func (a *asking) keys(width int) style.Line {
	if !a.guard.open() {
		return style.Text(style.Dim, " …")
	}
	keys := a.foot()
	if a.page.more() > 0 || a.page.top > 0 {
		keys = append([]string{"pgdn reads on"}, keys...)
	}
	return hints(keys, width)
}

// hints is a footer: as many keys as fit, the last of them always.
func hints(keys []string, width int) style.Line {
	line := " "
	for i, k := range keys[:len(keys)-1] {
		if style.Width(line+k+" · "+keys[len(keys)-1]) > width && i > 0 {
			break
		}
		line += k + " · "
	}
	return style.Text(style.Dim, line+keys[len(keys)-1]).Cut(width)
}

// heading is a title of foreign text.
func heading(text string) func(width int) style.Line {
	return func(width int) style.Line {
		return style.Line{{Text: " "}, {Text: label(text, width-2), Role: style.Heading}}
	}
}
