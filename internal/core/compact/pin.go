package compact

import (
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/event"
)

// Tags around what a person pinned in a prompt, and around all pins in a summary.
const (
	openPin, closePin   = "<pin>", "</pin>"
	openPins, closePins = "<pinned>\n", "\n</pinned>"
)

// pinnedPart is how much of the room of a new window pins may take, in percent.
// What people said besides gets less by what they take.
const pinnedPart = 15

// pinsIn are the texts between <pin> and </pin>, in order, each once.
func pinsIn(text string) []string {
	var out []string
	for {
		_, rest, ok := strings.Cut(text, openPin)
		if !ok {
			return out
		}
		var pin string
		if pin, text, ok = strings.Cut(rest, closePin); !ok {
			return out
		}
		if pin = strings.TrimSpace(pin); pin != "" && !slices.Contains(out, pin) {
			out = append(out, pin)
		}
	}
}

// pins are what people pinned in the messages that are compacted, and what an
// earlier summary carries, oldest first.
func (j *job) pins() []string {
	var out []string
	for _, m := range j.old {
		text := ""
		switch {
		case isSummary(m):
			if _, rest, ok := strings.Cut(m.Text(), openPins); ok {
				text = rest
			}
		case prompted(m):
			text = m.Text()
		}
		for _, pin := range pinsIn(text) {
			if !slices.Contains(out, pin) {
				out = append(out, pin)
			}
		}
	}
	return out
}

// pinned is the block of a summary that carries pins word for word, "" for none.
// Where they do not fit, the newest stay and the user is told.
func (j *job) pinned() string {
	pins, room := j.pins(), bytesOf(j.available*pinnedPart/100)
	from := len(pins)
	for from > 0 && len(pins[from-1])+len(openPin)+len(closePin)+1 <= room {
		from--
		room -= len(pins[from]) + len(openPin) + len(closePin) + 1
	}
	if from > 0 {
		j.emit(event.Notice{Level: event.Warning, Code: "pins_dropped", Text: plural(from, "pinned text does", "pinned texts do") +
			" not fit the window beside newer ones and stays in the transcript only; shorten what you pin, or put it into an instruction file"})
	}
	if pins = pins[from:]; len(pins) == 0 {
		return ""
	}
	return "\n\nPinned by the user, word for word; it holds for the rest of the session:\n" + openPins +
		openPin + strings.Join(pins, closePin+"\n"+openPin) + closePin + closePins
}

// repin adds to a text that was cut what it lost of the pins of the whole.
func repin(cut, whole string) string {
	for _, pin := range pinsIn(whole) {
		if !strings.Contains(cut, openPin+pin+closePin) {
			cut += "\n" + openPin + pin + closePin
		}
	}
	return cut
}
