// Package input is what a terminal sends, as events: keys by their names, pastes, the mouse, its size.
package input

// Event is one thing that the terminal sent. The union is sealed.
//
//sumtype:decl
type Event interface{ input() }

// Press is a key that went down.
type Press struct {
	// Key is the key's name with its modifiers in the order ctrl, alt, shift, super,
	// joined by +: "a", "A", "?", "ctrl+c", "alt+enter", "shift+tab". Keys without a
	// character are up, down, left, right, home, end, pgup, pgdown, enter, tab, esc,
	// space, backspace, delete, insert, f1 to f12. A letter with shift alone is the
	// capital letter.
	Key string
	// Text is what the key types, "" for keys that type nothing; an input method may
	// type many characters at once.
	Text string
}

// Paste is pasted or dropped text, whole, as the terminal sent it.
type Paste struct {
	Text string
	// Lost is how many bytes at the end were too many to keep.
	Lost int
}

// Mouse is an act of the mouse; cells count from 0.
type Mouse struct {
	X, Y   int
	Kind   MouseKind
	Button MouseButton
}

// MouseKind is what the mouse did.
type MouseKind uint8

// The kinds.
const (
	Click MouseKind = iota
	Release
	Drag
	WheelUp
	WheelDown
)

// MouseButton is the button of a click.
type MouseButton uint8

// The buttons.
const (
	NoButton MouseButton = iota
	LeftButton
	MiddleButton
	RightButton
)

// Focus says whether the terminal's window has the keyboard now.
type Focus struct{ In bool }

// Resize is the terminal's size in cells, sent once at the start too.
type Resize struct{ Width, Height int }

// Resumed says that the process was stopped and goes on: the screen is unknown.
type Resumed struct{}

// Ended says that the terminal is gone; it is the last event.
type Ended struct{ Err error }

func (Press) input()   {}
func (Paste) input()   {}
func (Mouse) input()   {}
func (Focus) input()   {}
func (Resize) input()  {}
func (Resumed) input() {}
func (Ended) input()   {}
