package prompt

import "context"

// Class says who may change a part of the window, and when.
type Class string

// The classes of mutability, in the order of the layers of the window.
const (
	// ReadOnly is fixed for the session: the system prompt, the tools.
	ReadOnly Class = "read-only"
	// Reloadable is configuration of people, read again when a session starts,
	// is cleared or is compacted: instruction files, rules.
	Reloadable Class = "hot-reloadable"
	// SystemWritten is kept by the system itself: auto memory, summaries.
	SystemWritten Class = "system-written"
	// AppendOnly only grows: the conversation.
	AppendOnly Class = "append-only"
	// Runtime is filled while the work goes on: tool results, notices.
	Runtime Class = "runtime"
	// OnDemand is loaded when something asks for it: nested instructions, schemas.
	OnDemand Class = "on-demand"
)

// Source adds to the window while a conversation runs: what becomes known late
// must never change what was sent before, so it is appended as a message of its
// own and recorded like any other.
//
// A source is asked before every request: behind the prompt before the first
// one of a run, behind the results of tools before the others, and once more
// after history was compacted. Calls never overlap.
type Source interface {
	// Name is a stable word for programs ("nested_memory", "background_notice"):
	// the type of the transcript's attachment, and the source that `hew context`
	// shows. Not "instructions" and not "prompt_snapshot".
	Name() string
	// Class is the mutability class of what the source adds.
	Class() Class
	// Delta is what the model should know now. It must not wait for anything slow:
	// work that takes longer is begun here, and its result handed out by a later
	// call. An error is shown as a notice, once as long as its text stays the same;
	// the run goes on and the source sees the same facts again.
	Delta(ctx context.Context, f Facts) ([]Item, error)
}

// Facts are what a source may know of the conversation. Words, Read and Edited
// hold what came since the source last answered without an error. Nothing in it
// may be changed or kept.
type Facts struct {
	// Words are the texts that a person or a host wrote, oldest first, without
	// those of the harness.
	Words []string
	// Read and Edited are the files and folders that admitted calls which did not
	// fail have read and changed: absolute paths, in the order of the calls, each
	// as often as it happened.
	Read, Edited []string
	// History are the ids of the messages that the next request is made of. An id
	// that is gone was compacted or cleared away.
	History []string
	// Cwd is the conversation's current directory.
	Cwd string
}

// Item is one thing that a source says.
type Item struct {
	// Key names the thing within its source: a path, a server, an agent. An item
	// with a key is said once: a source may return it every time, and it is said
	// again only when its text is another one or when the message that said it is
	// no longer in history. So a source that describes a state returns the whole
	// state, and the model hears of what is new or changed. An item without a key
	// is said each time that it is returned.
	Key string
	// Text is put into a system reminder, unless Tagged says that it already stands
	// in tags of its own. It must be the same bytes for the same state: no clock,
	// no order of a map.
	Text   string
	Tagged bool
}

// block is the text as it is sent.
func (i Item) block() string {
	text := clean(i.Text)
	if text == "" || i.Tagged {
		return text
	}
	return Reminder(text)
}
