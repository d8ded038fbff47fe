package builtin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/tool"
)

// change is a checked new content of one file, ready to be written.
type change struct {
	path string
	// old is the file as it was checked; nil when it does not exist.
	old   *fsys.Text
	after []byte
	// content is after, decoded.
	content string
	// knew tells that the model has seen the whole old content.
	knew bool
	// was is how the model's view related to the file.
	was fsys.Freshness
	// note is added to the result text.
	note string
}

// refusal is a check that failed; its text is for the model.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

func refuse(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

// before is the old content, "" for a new file.
func (c *change) before() string {
	if c.old == nil {
		return ""
	}
	return c.old.Content
}

func (c *change) view() tool.DiffView {
	return tool.DiffView{Path: c.path, Old: c.before(), New: c.content, Created: c.old == nil, Hunks: hunks(c.before(), c.content)}
}

// complete decodes the new bytes, which must still be text.
func (c *change) complete() error {
	t, err := fsys.Decode(c.after)
	if err != nil {
		return refuse("The new content would not be text: %v. Write binary files with a program in the shell.", err)
	}
	c.content = t.Content
	return nil
}

// errRaced is a file that changed between its check and the write.
var errRaced = errors.New("the file kept changing while it was being written; try again")

// maxRaces is how often a write starts over when somebody else writes too.
const maxRaces = 3

// commit checks and writes in one step: what was true when the call was
// planned may not be true any more. check is run again until the file is
// still the one that it looked at when the bytes go out.
func (c *Config) commit(check func() (*change, error)) (*change, error) {
	c.Writes.Lock()
	defer c.Writes.Unlock()
	for range maxRaces {
		ch, err := check()
		if err != nil {
			return nil, err
		}
		if !ch.current() {
			continue
		}
		w, err := fsys.WriteFile(ch.path, ch.after, fsys.WriteOptions{})
		if err != nil {
			return nil, err
		}
		extent := fsys.Partial
		if ch.knew {
			extent = fsys.Whole
		}
		c.Seen.Record(ch.path, fsys.View{Status: w.Status, Content: ch.after, Extent: extent})
		return ch, nil
	}
	return nil, errRaced
}

// current tells whether the file is still as it was checked.
func (c *change) current() bool {
	now, err := fsys.Stat(c.path)
	if err != nil {
		return true // the write will say it better
	}
	if c.old == nil {
		return now.Kind == fsys.KindMissing
	}
	return now.Size == c.old.Status.Size && now.ModTime.Equal(c.old.Status.ModTime) && now.Inode == c.old.Status.Inode
}

// outcome words an error of commit.
func outcome(err error) tool.Result {
	var r *refusal
	if errors.As(err, &r) {
		return tool.Refused(r.text)
	}
	return tool.Failure(sentence(err.Error()))
}

// sentence starts an error text with a capital letter.
func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// changing is a Call of a tool that writes one file. Neither plan nor title
// depend on the file: calls of one reply are planned together, and an earlier
// one may make the text that a later one changes.
type changing struct {
	tool.Func
	check   func() error
	preview func() tool.View
}

// Check tells, right before a person is asked, whether the call would be refused.
func (c *changing) Check() error { return c.check() }

// Preview shows the change that the call would make now.
func (c *changing) Preview() tool.View { return c.preview() }

// plan makes the call of a change. Before the gate has decided, content is
// compared only where reading is free: an error text quotes the file.
func (c *Config) plan(env tool.Env, path, title string, check func() (*change, error), run func() tool.Result) tool.Call {
	call := &changing{
		check: func() error {
			var r *refusal
			if c.Reading(env, path) != tool.Allow {
				return nil
			}
			if _, err := check(); errors.As(err, &r) {
				return err
			}
			return nil
		},
		preview: func() tool.View {
			ch, err := check()
			if err != nil {
				return tool.TextView{Text: err.Error()}
			}
			return ch.view()
		},
	}
	call.Wants = []tool.Need{{Kind: tool.NeedEdit, Path: path}}
	call.Line = title
	call.Do = func(ctx context.Context, _ func(tool.Progress)) tool.Result {
		// A write is short and must not be cut in half: only its beginning is cancelled.
		if err := ctx.Err(); err != nil {
			return tool.Failure("Not written: " + err.Error())
		}
		return run()
	}
	return call
}
