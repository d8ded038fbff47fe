package term

import (
	"errors"
	"fmt"
	"time"

	uv "github.com/charmbracelet/ultraviolet"

	"github.com/hew-agent/hew/internal/surface/tui/input"
)

const (
	escWait     = 50 * time.Millisecond  // after which a lone Esc is the key
	restWait    = time.Second            // for the rest of an answer that began to arrive
	lateAnswers = 100 * time.Millisecond // at the end, for answers under way
	maxQueue    = 4096                   // events that wait for the program; further bytes wait in the terminal
)

// sigKind is what a signal means here.
type sigKind uint8

const (
	sigSize sigKind = iota
	sigStop
	sigGo
	sigGone
)

// pump is the one goroutine that decodes, in the order of what happened.
func (t *Term) pump(signals *signals) {
	defer close(t.events)
	d := &decoder{limit: pasteLimit}
	w, h := t.Size()
	queue := []input.Event{input.Resize{Width: w, Height: h}}
	var timer <-chan time.Time
	for {
		var out chan<- input.Event
		var head input.Event
		if len(queue) > 0 {
			out, head = t.events, queue[0]
		}
		in := t.bytes
		if len(queue) > maxQueue {
			in = nil
		}
		select {
		case <-t.quit:
			return
		case out <- head:
			queue = queue[1:]
			if _, last := head.(input.Ended); last {
				return
			}
		case b := <-in:
			d.feed(b)
			timer = t.wait(d)
		case <-timer:
			d.expire()
			timer = nil
		case err := <-t.failed:
			queue = append(queue, ended(d, err)...)
		case s := <-signals.ch:
			queue = append(queue, t.signal(signals.kind(s))...)
			queue = t.resized(queue, &w, &h)
		}
		events, answers := d.take()
		queue = append(queue, events...)
		t.hear(answers)
		if t.sized(answers) {
			queue = t.resized(queue, &w, &h)
		}
	}
}

// wait starts the clock for what may be a lone Esc.
func (t *Term) wait(d *decoder) <-chan time.Time {
	waits, sequence := d.pending()
	switch {
	case sequence:
		return t.cfg.After(restWait)
	case waits:
		return t.cfg.After(escWait)
	}
	return nil
}

func ended(d *decoder, err error) []input.Event {
	d.expire()
	d.finishPaste()
	events, _ := d.take()
	return append(events, input.Ended{Err: fmt.Errorf("%w: %w", ErrGone, err)})
}

// signal acts on a signal and returns the events that it means.
func (t *Term) signal(kind sigKind) []input.Event {
	switch kind {
	case sigSize:
	case sigStop:
		_ = t.leave() // the shell that takes over sets its own modes
		stopSelf()
	case sigGo:
		t.mu.Lock()
		lent := t.reader == nil
		t.parted = true // also where it was stopped without being asked
		t.mu.Unlock()
		if lent { // it belongs to another program, which got the signal too
			return nil
		}
		if err := t.enter(); err != nil {
			return []input.Event{input.Ended{Err: err}}
		}
		return []input.Event{input.Resumed{}}
	case sigGone:
		return []input.Event{input.Ended{Err: ErrGone}}
	}
	return nil
}

// ErrGone is why Ended came when the terminal was closed by its other side.
var ErrGone = errors.New("the terminal was closed")

// resized adds the terminal's size to the queue if it is another one. However
// many changes wait, the program sees the last.
func (t *Term) resized(queue []input.Event, w, h *int) []input.Event {
	nw, nh := t.Size()
	if nw == *w && nh == *h {
		return queue
	}
	*w, *h = nw, nh
	for i, ev := range queue {
		if _, ok := ev.(input.Resize); ok {
			queue = append(queue[:i:i], queue[i+1:]...)
			break
		}
	}
	return append(queue, input.Resize{Width: nw, Height: nh})
}

// sized tells whether the terminal announced a size by itself, as Windows'
// console does, which has no signal for it.
func (t *Term) sized(answers []uv.Event) bool {
	for _, a := range answers {
		if _, ok := a.(uv.WindowSizeEvent); ok {
			return true
		}
	}
	return false
}

// hear learns from the terminal's answers.
func (t *Term) hear(answers []uv.Event) {
	if len(answers) == 0 {
		return
	}
	t.mu.Lock()
	before := t.caps
	for _, a := range answers {
		t.caps.hear(a)
	}
	before.asked = t.caps.asked
	changed := t.caps != before
	if !t.away && changed {
		t.on.wanted = t.caps.modes()
		t.emit(t.on.enter())
	}
	t.mu.Unlock()
	if changed {
		select {
		case t.learned <- struct{}{}:
		default:
		}
	}
}
