package builtin

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/tool"
)

const editName = "Edit"

type editInput struct {
	FilePath   string `json:"file_path"`
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all"`
}

func newEdit(c *Config) tool.Tool {
	spec := tool.Spec{Name: editName, MainField: "file_path", Always: true}
	return define("edit", spec, func(in editInput, env tool.Env) (tool.Call, error) {
		path, err := place(env, in.FilePath)
		if err != nil {
			return nil, err
		}
		if in.OldString == in.NewString {
			return nil, refuse("old_string and new_string are the same: there is nothing to change.")
		}
		e := &editing{c: c, env: env, path: path, in: in}
		return c.plan(env, path, editName+" "+short(env, path), e.check, e.run), nil
	})
}

// editing is one planned replacement.
type editing struct {
	c    *Config
	env  tool.Env
	path string
	in   editInput
}

func (e *editing) run() tool.Result {
	ch, err := e.c.commit(e.check)
	if err != nil {
		return outcome(err)
	}
	return e.result(ch)
}

// check is every check of an edit, on the file as it is now.
func (e *editing) check() (*change, error) {
	if strings.ContainsRune(e.in.NewString, 0) {
		return nil, refuse("new_string holds a NUL character; this tool edits text.")
	}
	if strings.EqualFold(filepath.Ext(e.path), ".ipynb") {
		return nil, refuse("%s is a notebook; change its cells with %s.", fsys.Printable(e.path), notebookEditName)
	}
	old, err := fsys.ReadText(e.path, fsys.Limits{MaxBytes: e.c.Limits.LoadBytes})
	switch fsys.CauseOf(err) {
	case fsys.CauseMissing:
		return e.create()
	case fsys.CauseIsDir, fsys.CauseBinary, fsys.CauseTooLarge, fsys.CauseNotRegular:
		return nil, refuse("%s cannot be edited as text: %v. Use a program in the shell if it must change.", fsys.Printable(e.path), err)
	case fsys.CauseOther, fsys.CauseNotDir, fsys.CauseLinkLoop, fsys.CausePermission, fsys.CauseReadOnlyFile,
		fsys.CauseReadOnlyFS, fsys.CauseDiskFull, fsys.CauseBadPath, fsys.CauseLocked, fsys.CauseNotPrivate:
	}
	if err != nil {
		return nil, err
	}
	ch := &change{path: e.path, old: old, was: e.c.Seen.CheckContent(e.path, old.Raw)}
	ch.knew = ch.was == fsys.Fresh
	if err := e.replace(ch); err != nil {
		return nil, err
	}
	return ch, ch.complete()
}

// create makes the file when the call says so.
func (e *editing) create() (*change, error) {
	if e.in.OldString != "" {
		return nil, refuse("%s An empty old_string would create the file.", e.c.missing(e.env, e.path))
	}
	ch := &change{path: e.path, after: []byte(e.in.NewString), knew: true}
	return ch, ch.complete()
}

// replace finds the places and computes the new bytes.
func (e *editing) replace(ch *change) (err error) {
	var spans []fsys.Span
	match := fsys.Exact
	if e.in.OldString == "" {
		if len(ch.old.Content) > 0 {
			return refuse("%s exists and is not empty, so an empty old_string cannot tell where to insert. Give the text beside the place, or replace the file with %s.", fsys.Printable(e.path), writeName)
		}
		spans = []fsys.Span{{}}
	} else {
		spans, match = ch.old.Find(e.in.OldString)
	}
	if err := e.countable(ch, spans); err != nil {
		return err
	}
	edits := make([]fsys.Edit, len(spans))
	for i, s := range spans {
		edits[i] = fsys.Edit{Span: s, New: e.in.NewString}
	}
	if ch.after, err = ch.old.Apply(edits); err != nil {
		return refuseEncoding(err)
	}
	ch.note = e.note(ch, spans, match)
	return nil
}

// countable refuses what is not found, ambiguous, or many in a file that the
// model does not know.
func (e *editing) countable(ch *change, spans []fsys.Span) error {
	switch {
	case len(spans) == 0:
		return e.notFound(ch)
	case e.in.ReplaceAll && len(spans) > 1 && !ch.knew && ch.was != fsys.PartialView:
		return refuse("%s, and replace_all would change %d places in it that you have not seen. Read it with %s first.", e.unseen(ch), len(spans), readName)
	case e.in.ReplaceAll:
		return nil
	}
	spans = overlapping(ch.old.Content, spans)
	if len(spans) == 1 {
		return nil
	}
	return refuse("old_string occurs %d times in %s: lines %s. Add neighbouring lines until it is unique, or set replace_all to change every one.",
		len(spans), fsys.Printable(e.path), lineList(ch.old.Content, spans))
}

func (e *editing) unseen(ch *change) string {
	if ch.was == fsys.Changed {
		return fsys.Printable(e.path) + " has changed since it was read"
	}
	return fsys.Printable(e.path) + " has not been read yet"
}

// overlapping adds the places that begin inside another one: "aa" stands twice
// in "aaa", and which one is meant nobody can know.
func overlapping(content string, spans []fsys.Span) []fsys.Span {
	if len(spans) != 1 {
		return spans
	}
	s := spans[0]
	want := content[s.Start:s.End]
	if len(want) < 2 {
		return spans
	}
	if i := strings.Index(content[s.Start+1:min(len(content), s.End+len(want)-1)], want); i >= 0 {
		at := s.Start + 1 + i
		spans = append(spans, fsys.Span{Start: at, End: at + len(want)})
	}
	return spans
}

// maxListed bounds the line numbers of an error text.
const maxListed = 12

func lineList(content string, spans []fsys.Span) string {
	var out []string
	line, at := 1, 0
	for i, s := range spans {
		if i == maxListed {
			out = append(out, "…")
			break
		}
		line += strings.Count(content[at:s.Start], "\n")
		at = s.Start
		out = append(out, fmt.Sprint(line))
	}
	return strings.Join(out, ", ")
}

// notFound names the nearest text, so that the next try can be right.
func (e *editing) notFound(ch *change) error {
	var b strings.Builder
	fmt.Fprintf(&b, "old_string was not found in %s.", fsys.Printable(e.path))
	if ch.was == fsys.Changed {
		fmt.Fprintf(&b, " The file has changed since it was read: read it again with %s.", readName)
	}
	if near := nearest(ch.old.Content, e.in.OldString); near != "" {
		b.WriteString("\n" + near)
	} else {
		fmt.Fprintf(&b, " Nothing in the file resembles it; check the path, or read the file with %s. old_string was:\n%s", readName, clip(e.in.OldString, 500))
	}
	return refuse("%s", b.String())
}

// note is what the model should know beside success.
func (e *editing) note(ch *change, spans []fsys.Span, match fsys.Match) string {
	var notes []string
	if match == fsys.Equivalent {
		notes = append(notes, "The text matched in another Unicode composition (é as one or two characters); the file's own form was kept.")
	}
	switch ch.was {
	case fsys.Changed:
		notes = append(notes, "The file had changed since you read it; the edit was made in its current content. Read it again before you rely on the rest of it.")
	case fsys.Unread:
		notes = append(notes, "You have not read the rest of this file.")
	case fsys.Fresh, fsys.PartialView:
		notes = append(notes, "Your view of the file is current; no need to read it again.")
	}
	return fmt.Sprintf("at line %s. %s", lineList(ch.old.Content, spans), strings.Join(notes, " "))
}

func (e *editing) result(ch *change) tool.Result {
	view := ch.view()
	added, removed := counts(view.Hunks)
	text := fmt.Sprintf("Updated %s (+%d −%d) %s", fsys.Printable(e.path), added, removed, ch.note)
	switch {
	case ch.old == nil:
		text = fmt.Sprintf("Created %s. Your view of the file is current; no need to read it again.", fsys.Printable(e.path))
	case e.in.ReplaceAll:
		text = fmt.Sprintf("Updated %s, every occurrence replaced (+%d −%d) %s", fsys.Printable(e.path), added, removed, ch.note)
	}
	return done(text, map[string]any{
		"filePath": e.path, "oldString": e.in.OldString, "newString": e.in.NewString, "originalFile": original(ch.before(), ch.old != nil),
		"structuredPatch": view.Hunks, "userModified": false, "replaceAll": e.in.ReplaceAll,
	}, view)
}
