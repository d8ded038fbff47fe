package tui

import (
	"context"

	"github.com/hew-agent/hew/internal/surface/tui/dialog"
)

// Screen is what a command shows on a screen of its own: a list whose rows can
// be looked at and acted on, or several of them as tabs. It is data, made by
// those who know the subject; the terminal draws it.
type Screen struct {
	Title string
	// Intro is Markdown above the rows, Empty what stands in the place of none.
	Intro, Empty string
	Rows         []Row
	// Tabs are screens of their own; with them Rows is not used.
	Tabs []Screen
	// Text is a Markdown page instead of rows, with a picture of shares of Whole
	// above it when Meter has some.
	Text  string
	Meter []dialog.Share
	Whole int
	// Reload makes the screen anew after an action. Optional.
	Reload func(ctx context.Context) (Screen, error)
	// Actions work on any row or on none, such as adding one.
	Actions []Action
	// Chosen is the index of the row that is selected first.
	Chosen int
}

// Row is one line of a Screen.
type Row struct {
	// Label is what it is, Detail a dim remark, Right stands at the right edge.
	Label, Detail, Right string
	// Section is the heading under which it stands; rows of one stand together.
	Section string
	// Mark is one of the marks.
	Mark Mark
	// Preview is Markdown about it, made when it is looked at. Optional.
	Preview func(ctx context.Context) string
	// Actions by key; the first is what Enter does.
	Actions []Action
}

// Mark is a sign before a row.
type Mark uint8

// The marks.
const (
	NoMark  Mark = iota
	Current      // in use now
	On
	Off
	Warn
	Bad
)

// Action is something that a person can do with a row.
type Action struct {
	// Key is the key ("enter", "d"), Name what it does, for the footer.
	Key, Name string
	// Confirm is a question to be answered with yes first, "" for none.
	Confirm string
	// Input asks for a line of text first, under this label; "" for none. Value
	// stands in it at the beginning.
	Input, Value string
	// Secret hides what is typed.
	Secret bool
	// Do acts; text is what was typed. It may take long and runs beside the screen.
	Do func(ctx context.Context, text string) (Result, error)
}

// Result is what an action leads to.
type Result struct {
	// Say is a sentence for the conversation's margin, "" for none.
	Say string
	// Next is a screen that is opened on top, nil for none.
	Next *Screen
	// Close leaves all screens.
	Close bool
	// Submit is a prompt or command to run, Insert text for the editor. Optional.
	Submit, Insert string
	// Edit is a file to open in the person's editor, "" for none.
	Edit string
	// Switch goes on with another session of this or another folder, "" for none.
	Switch string
	// Prefs are changed settings of the terminal itself, Copy goes to the clipboard.
	// Optional.
	Prefs *Prefs
	Copy  string
	// Leave ends the program. Anew shows the conversation from its start: it is
	// another one now.
	Leave, Anew bool
	// Rest is called when no run is under way; a screen is loaded anew after it.
	Rest func(ctx context.Context) (Result, error)
}

// empty tells of a result that asks for nothing.
func (r Result) empty() bool {
	return r.Say == "" && r.Next == nil && !r.Close && r.Submit == "" && r.Insert == "" && r.Edit == "" && r.Switch == "" &&
		r.Prefs == nil && r.Copy == "" && !r.Leave && !r.Anew && r.Rest == nil
}

// Prefs is how a person wants the terminal.
type Prefs struct {
	// Theme is a theme's name, "auto" for one that fits the terminal.
	Theme string
	// Fullscreen uses the whole window instead of the scrollback.
	Fullscreen bool
	// Vim edits the input as vim does; VimRemaps are sequences of keys in insert mode.
	Vim       bool
	VimRemaps map[string]string
	// ScreenReader prints plain lines and moves no cursor.
	ScreenReader bool
	// ReducedMotion shows no moving signs; Verbose shows tool calls whole.
	ReducedMotion, Verbose bool
	// Notify is how a person is called who looks elsewhere: auto, terminal_bell,
	// notifications_disabled, ….
	Notify string
	// QuietBash adds the output of ! commands without asking the model.
	QuietBash bool
}

// ScreenCommand is a slash command of the terminal alone.
type ScreenCommand struct {
	Name    string
	Aliases []string
	// Hint shows the arguments, About is one line for people.
	Hint, About string
	// Open returns the screen for what follows the name. Neither screen nor result:
	// the command runs as it does on other surfaces.
	Open func(ctx context.Context, args string) (*Screen, Result, error)
	// AtRest says that it must wait for the end of a run.
	AtRest bool
}
