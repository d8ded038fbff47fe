package term

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"

	"github.com/hew-agent/hew/internal/surface/tui/input"
)

const (
	esc        = 0x1b
	pasteEnd   = "\x1b[201~"
	pasteLimit = 64 << 20 // bytes of one paste that are kept
	burst      = 64       // bytes of plain text in one read that nobody typed key by key
	longest    = 1 << 13  // bytes of an unfinished sequence before it is given up
)

// decoder turns what a terminal sends into events. Bytes may be cut anywhere.
type decoder struct {
	keys  uv.EventDecoder
	limit int
	// buf is the beginning of something that has not arrived yet.
	buf     []byte
	pasting bool
	paste   []byte
	tail    []byte // may be the beginning of pasteEnd
	lost    int
	events  []input.Event
	answers []uv.Event
}

// take returns what was decoded since the last call.
func (d *decoder) take() (events []input.Event, answers []uv.Event) {
	events, answers = d.events, d.answers
	d.events, d.answers = nil, nil
	return events, answers
}

// feed decodes what arrived in one read.
func (d *decoder) feed(b []byte) {
	if d.pasting && (string(b) == "\x03" || string(b) == "\x1b[99;5u") {
		d.finishPaste() // its end was lost on the way, and a person pressed Ctrl+C
	}
	if d.pasting {
		b = d.pasted(b)
	}
	d.buf = append(d.buf, b...)
	d.scan(waiting)
}

// moment is whether more of a sequence may still arrive.
type moment uint8

const (
	waiting moment = iota
	expired
)

// expire decodes what is there as if nothing followed: a lone Esc is the key.
func (d *decoder) expire() { d.scan(expired) }

// pending tells whether something waits for its rest, and whether that is
// certain to be more than a key.
func (d *decoder) pending() (waits, sequence bool) {
	waits = len(d.buf) > 0 && !d.pasting
	return waits, waits && len(d.buf) > 2
}

func (d *decoder) scan(now moment) {
	buf := d.buf
	for len(buf) > 0 && !d.pasting {
		n := d.text(buf)
		if n == 0 {
			n = d.one(buf, now)
		}
		if n == 0 {
			break
		}
		buf = buf[n:]
		if d.pasting {
			buf = d.pasted(buf)
		}
	}
	if len(buf) > longest {
		buf = nil
	}
	d.buf = append(d.buf[:0:0], buf...)
}

// text takes a burst of plain characters as one press: an unbracketed paste or a
// phrase of an input method.
func (d *decoder) text(buf []byte) int {
	n, wide := 0, 0
	for n < len(buf) {
		r, size := utf8.DecodeRune(buf[n:])
		if r == utf8.RuneError || r < ' ' || r >= 0x7f && r < 0xa0 {
			break
		}
		if r >= 0x80 {
			wide++
		}
		n += size
	}
	whole := wide > 1 && wide == utf8.RuneCount(buf[:n])
	if n < burst && !whole {
		return 0
	}
	s := string(buf[:n])
	d.events = append(d.events, input.Press{Key: s, Text: s})
	return n
}

// one decodes the first event and returns its length; 0 waits for more.
func (d *decoder) one(buf []byte, now moment) int {
	n, ev := d.keys.Decode(buf)
	if now == waiting && n >= len(buf) && partial(buf, ev) {
		return 0
	}
	switch ev := ev.(type) {
	case nil, uv.UnknownEvent, uv.UnknownCsiEvent, uv.UnknownOscEvent, uv.UnknownDcsEvent, uv.UnknownSs3Event:
		return max(n, 1)
	case uv.PasteStartEvent:
		d.pasting = true
	case uv.MultiEvent:
		for _, e := range ev {
			d.put(e)
		}
	default:
		d.put(ev)
	}
	return max(n, 1)
}

// partial tells whether a sequence that ends where the buffer ends may go on.
func partial(buf []byte, ev uv.Event) bool {
	if buf[0] != esc {
		_, unknown := ev.(uv.UnknownEvent)
		return !utf8.FullRune(buf) || unknown && len(buf) > 1
	}
	switch {
	case len(buf) == 1:
		return true
	case len(buf) == 2:
		return strings.IndexByte("[O]P_^X\x1b", buf[1]) >= 0
	case buf[len(buf)-1] == esc:
		return true
	}
	if bytes.HasPrefix(buf, []byte("\x1b[M")) {
		return len(buf) < 6 // the three bytes of an old mouse report
	}
	_, unknown := ev.(uv.UnknownEvent)
	return unknown
}

func (d *decoder) put(ev uv.Event) {
	switch ev := ev.(type) {
	case uv.KeyPressEvent:
		if p, ok := press(uv.Key(ev)); ok {
			d.events = append(d.events, p)
		}
	case uv.FocusEvent:
		d.events = append(d.events, input.Focus{In: true})
	case uv.BlurEvent:
		d.events = append(d.events, input.Focus{})
	case uv.MouseClickEvent:
		d.mouse(uv.Mouse(ev), input.Click)
	case uv.MouseReleaseEvent:
		d.mouse(uv.Mouse(ev), input.Release)
	case uv.MouseMotionEvent:
		d.mouse(uv.Mouse(ev), input.Drag)
	case uv.MouseWheelEvent:
		kind := input.WheelUp
		if ev.Button == uv.MouseWheelDown {
			kind = input.WheelDown
		}
		if ev.Button == uv.MouseWheelDown || ev.Button == uv.MouseWheelUp {
			d.mouse(uv.Mouse(ev), kind)
		}
	default:
		d.answers = append(d.answers, ev)
	}
}

func (d *decoder) mouse(m uv.Mouse, kind input.MouseKind) {
	out := input.Mouse{X: m.X, Y: m.Y, Kind: kind}
	switch m.Button {
	case uv.MouseLeft:
		out.Button = input.LeftButton
	case uv.MouseMiddle:
		out.Button = input.MiddleButton
	case uv.MouseRight:
		out.Button = input.RightButton
	}
	d.events = append(d.events, out)
}

// pasted takes pasted bytes and returns those after the paste's end.
func (d *decoder) pasted(b []byte) (rest []byte) {
	b = append(d.tail, b...)
	d.tail = nil
	if text, after, ok := bytes.Cut(b, []byte(pasteEnd)); ok {
		d.keep(text)
		d.finishPaste()
		return after
	}
	n := len(b)
	for i := max(0, n-len(pasteEnd)+1); i < n; i++ {
		if strings.HasPrefix(pasteEnd, string(b[i:])) {
			d.tail = append([]byte(nil), b[i:]...)
			n = i
		}
	}
	d.keep(b[:n])
	return nil
}

func (d *decoder) keep(b []byte) {
	if room := d.limit - len(d.paste); len(b) > room {
		d.lost += len(b) - room
		b = b[:room]
	}
	d.paste = append(d.paste, b...)
}

func (d *decoder) finishPaste() {
	if d.pasting {
		d.events = append(d.events, input.Paste{Text: strings.ToValidUTF8(string(d.paste), string(unicode.ReplacementChar)), Lost: d.lost})
	}
	d.pasting, d.paste, d.tail, d.lost = false, nil, nil, 0
}
