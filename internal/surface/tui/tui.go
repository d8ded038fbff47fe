// Package tui is the terminal: reads keys, shows the conversation, asks.
//
// One goroutine, ui.loop, owns everything that is drawn. The runner submits
// prompts and folds events into a view.Store; the loop draws the store's state
// when it has changed. What is finished is printed once into the terminal's own
// scrollback, what is not stands in a live region of few lines.
package tui

import (
	"context"
	"time"

	"github.com/hew-agent/hew/internal/core/command"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/surface/tui/editor"
	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/keys"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// Device is the terminal's input; app hands in term.Term.
type Device interface {
	Events() <-chan input.Event
	// Suspend stops the program, as ctrl+z does.
	Suspend() error
	// Call asks for the attention of a person who looks elsewhere; Copy puts text
	// into the clipboard.
	Call(title, text string)
	Copy(text string)
}

// Painter draws; paint has three.
type Painter interface {
	// Commit prints finished lines, once.
	Commit(lines []style.Line)
	// Live replaces what is not finished.
	Live(f frame.Frame) error
	// Resize says that the window has another size, or that its content is not known.
	Resize(width, height int)
	Close() error
}

// Config makes a terminal. Fields without a comment are required.
type Config struct {
	Device Device
	// Paint makes the painter for preferences and what is known of the terminal,
	// which Learned tells more of.
	Paint   func(Prefs) Painter
	Learned <-chan struct{}
	Prefs   Prefs
	// Asker is where questions come in.
	Asker *Asker
	// Open opens the conversation. It is called beside the first paint, so that a
	// person can type at once.
	Open func(ctx context.Context) (*Live, error)
	// Before are dialogs that must be answered before Open: trust, a first start. Optional.
	Before []Gate
	// Prompt is what is said first, "" for nothing.
	Prompt string
	// Pick opens the screen of past sessions at the start.
	Pick bool
	// Version and Dir stand in the header; Greeting under it, "" for nothing.
	Version, Dir, Greeting string
	// Notices are remarks that somebody wants the person to read.
	Notices <-chan string
	// EditFile opens a file in the person's editor and returns when that has ended.
	EditFile func(path string) error
	// ClipboardImage writes the picture of the clipboard into a file.
	ClipboardImage func(ctx context.Context) (path string, err error)
	// Files finds the files that fit a mention, as far as they are known now;
	// FilesChanged receives when there are more.
	Files        func(query string) []string
	FilesChanged <-chan struct{}
	// Recall lists earlier prompts, newest first; see editor.Config.
	Recall func(scope string) []editor.Entry
	// Draft is what stood in the editor when hew was killed; KeepDraft writes down
	// what stands there now. Optional.
	Draft     editor.Draft
	KeepDraft func(d editor.Draft) error
	// Bindings reads what the person has changed of the key bindings, and what is
	// wrong there; changed is false when nothing is new since the last call. Optional.
	Bindings func() (c keys.Changes, problems []string, changed bool)
	Now      func() time.Time
	NewID    func() string
}

// Mention is something that can be named with @ and is no file.
type Mention struct{ Text, About string }

// Live is an open conversation as the terminal uses it. All are required but
// those that say otherwise.
type Live struct {
	Engine   *engine.Engine
	Commands *command.Book
	// Next waits for what the conversation goes on with by itself; Tasks are changes
	// of background work that no run has told of, TaskEnded says that there are some.
	Next      func(ctx context.Context) *msg.Message
	Tasks     func() []event.TaskChanged
	TaskEnded <-chan struct{}
	// Message makes the message of a prompt: mentions and pictures are resolved. The
	// notes say what could not be.
	Message func(ctx context.Context, d Said) (m *msg.Message, notes []string)
	// Shell runs a command of the person, without model and approval, and returns
	// the message that tells the conversation of it, and what it printed.
	Shell func(ctx context.Context, command string) (m *msg.Message, shown string, err error)
	// Remember is the screen that asks where a line of memory goes.
	Remember func(text string) *Screen
	// Screens are the commands that open a screen, in the order of their list.
	Screens []ScreenCommand
	// Modes are the permission modes that shift+tab goes through.
	Modes []string
	// ToBackground lets running commands and subagents go on in the background and
	// says how many did.
	ToBackground func() (int, error)
	// StopWork ends all background work.
	StopWork func()
	// Typed notes a prompt in the history.
	Typed func(d Said) error
	// Mentions are agents, resources and other things to name with @.
	Mentions func(query string) []Mention
	// StatusLine follows the person's status line until ctx ends. Optional.
	StatusLine func(ctx context.Context, changed <-chan struct{}, show func(text string))
	// Switch opens another session in the place of this one.
	Switch func(ctx context.Context, id string) (*Live, error)
	Close  func() error
}

// Said is what a person typed.
type Said struct {
	// Text is whole, with pastes; Shown is as it stood in the editor.
	Text, Shown string
	// Images are files of pictures, in the order of their chips.
	Images []string
	// Pastes are the long pastes by their number.
	Pastes map[int]string
}

// Gate is a dialog that stands before the conversation.
type Gate struct {
	Widget frame.Widget
	// Done takes the answer; an error ends the program.
	Done func() error
	// Skip tells that it need not be shown any more; Done is called at once.
	// Optional.
	Skip func() bool
	// Later are gates that are known only now; with it nothing else is set.
	Later func() []Gate
}
