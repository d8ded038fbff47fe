package builtin

import (
	"errors"
	"fmt"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/tool"
)

const writeName = "Write"

type writeInput struct {
	FilePath string `json:"file_path"`
	Content  string `json:"content"`
}

func newWrite(c *Config) tool.Tool {
	spec := tool.Spec{Name: writeName, RuleFamily: editName, MainField: "file_path", Always: true}
	return define("write", spec, func(in writeInput, env tool.Env) (tool.Call, error) {
		path, err := place(env, in.FilePath)
		if err != nil {
			return nil, err
		}
		check := func() (*change, error) { return c.checkWrite(path, in.Content) }
		return c.plan(env, path, writeName+" "+short(env, path), check, func() tool.Result {
			ch, err := c.commit(check)
			if err != nil {
				return outcome(err)
			}
			return ch.written(in.Content)
		}), nil
	})
}

// checkWrite is every check of a whole-file write, on the file as it is now.
func (c *Config) checkWrite(path, content string) (*change, error) {
	if strings.ContainsRune(content, 0) {
		return nil, refuse("content holds a NUL character; this tool writes text. Write binary files with a program in the shell.")
	}
	ch := &change{path: path, knew: true}
	old, err := fsys.ReadText(path, fsys.Limits{MaxBytes: c.Limits.LoadBytes})
	switch fsys.CauseOf(err) {
	case fsys.CauseMissing:
		ch.after = []byte(content)
		return ch, ch.complete()
	case fsys.CauseBinary:
		return nil, refuse("%s is a binary file; writing text over it is refused. Remove it first if it should really be replaced.", fsys.Printable(path))
	case fsys.CauseOther, fsys.CauseNotDir, fsys.CauseIsDir, fsys.CauseNotRegular, fsys.CauseLinkLoop, fsys.CausePermission, fsys.CauseReadOnlyFile,
		fsys.CauseReadOnlyFS, fsys.CauseDiskFull, fsys.CauseTooLarge, fsys.CauseBadPath, fsys.CauseLocked, fsys.CauseNotPrivate:
	}
	if err != nil {
		return nil, err
	}
	ch.old, ch.was = old, c.Seen.CheckContent(path, old.Raw)
	switch ch.was {
	case fsys.Unread:
		return nil, refuse("%s exists and has not been read yet. Read it completely with %s first, or change a part of it with %s.", fsys.Printable(path), readName, editName)
	case fsys.PartialView:
		return nil, refuse("Only a part of %s has been read, and this would replace all of it. Read it completely with %s first, or change a part of it with %s.", fsys.Printable(path), readName, editName)
	case fsys.Changed:
		return nil, refuse("%s has changed since it was read (by the user, a formatter or a command). Read it again with %s before writing it.", fsys.Printable(path), readName)
	case fsys.Fresh:
	}
	if ch.after, err = rewritten(old, content); err != nil {
		return nil, refuseEncoding(err)
	}
	return ch, ch.complete()
}

// rewritten is the bytes of a file with a new content: in its own encoding,
// lines that stay keep their line endings.
func rewritten(old *fsys.Text, content string) ([]byte, error) {
	if old.Encoding == fsys.UTF8 && old.EOL == fsys.LF && old.Undecodable == 0 || len(old.Raw) == 0 {
		return []byte(content), nil
	}
	if old.EOL != fsys.LF {
		content = strings.ReplaceAll(content, "\r\n", "\n")
	}
	var edits []fsys.Edit
	for _, e := range udiff.Lines(old.Content, content) {
		edits = append(edits, fsys.Edit{Span: fsys.Span{Start: e.Start, End: e.End}, New: e.New})
	}
	return old.Apply(edits)
}

// refuseEncoding turns "this character does not exist in the file's encoding"
// and its like into a refusal; they are the input's fault.
func refuseEncoding(err error) error {
	var fe *fsys.Error
	if errors.As(err, &fe) && fe.Cause == fsys.CauseOther {
		return refuse("%s", sentence(err.Error()))
	}
	return err
}

// written is the result of a whole-file write.
func (c *change) written(content string) tool.Result {
	view := c.view()
	kind, text := "update", fmt.Sprintf("Updated %s.", fsys.Printable(c.path))
	if c.old == nil {
		kind, text = "create", fmt.Sprintf("Created %s.", fsys.Printable(c.path))
	}
	return done(text+" Your view of the file is current; no need to read it again.", map[string]any{
		"type": kind, "filePath": c.path, "content": content, "structuredPatch": view.Hunks, "originalFile": original(c.before(), c.old != nil),
	}, view)
}
