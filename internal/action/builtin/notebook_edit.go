package builtin

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hew-agent/hew/internal/action/builtin/notebook"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/tool"
)

const notebookEditName = "NotebookEdit"

type notebookInput struct {
	NotebookPath string `json:"notebook_path"`
	CellID       string `json:"cell_id"`
	NewSource    string `json:"new_source"`
	CellType     string `json:"cell_type"`
	EditMode     string `json:"edit_mode"`
}

func newNotebookEdit(c *Config) tool.Tool {
	spec := tool.Spec{Name: notebookEditName, RuleFamily: editName, MainField: "notebook_path", Always: true, Deferred: true}
	return define("notebook_edit", spec, func(in notebookInput, env tool.Env) (tool.Call, error) {
		path, err := place(env, in.NotebookPath)
		if err != nil {
			return nil, err
		}
		if in.EditMode == "" {
			in.EditMode = "replace"
		}
		switch {
		case !strings.EqualFold(filepath.Ext(path), ".ipynb"):
			return nil, refuse("%s is not a notebook (.ipynb); use %s.", fsys.Printable(path), editName)
		case in.EditMode == "insert" && in.CellType == "":
			return nil, refuse("cell_type is needed to insert a cell: code or markdown.")
		case in.EditMode != "insert" && in.CellID == "":
			return nil, refuse("cell_id is needed to %s a cell.", in.EditMode)
		}
		n := &cellEdit{c: c, env: env, path: path, in: in, id: c.NewID()}
		return c.plan(env, path, strings.TrimSpace(fmt.Sprintf("%s %s, %s cell %s", notebookEditName, short(env, path), in.EditMode, oneLine(in.CellID))), n.check, n.run), nil
	})
}

// cellEdit is one planned change of a cell.
type cellEdit struct {
	c    *Config
	env  tool.Env
	path string
	in   notebookInput
	id   string // of an inserted cell
	// found by check: the type and source that the cell had, and the language.
	oldSource, kind, lang string
}

func (n *cellEdit) run() tool.Result {
	ch, err := n.c.commit(n.check)
	if err != nil {
		return outcome(err)
	}
	return n.result(ch)
}

func (n *cellEdit) check() (*change, error) {
	old, err := fsys.ReadText(n.path, fsys.Limits{MaxBytes: maxNotebook})
	if fsys.CauseOf(err) == fsys.CauseMissing {
		return nil, refuse("%s", n.c.missing(n.env, n.path))
	}
	if err != nil {
		return nil, err
	}
	ch := &change{path: n.path, old: old, was: n.c.Seen.CheckContent(n.path, old.Raw), knew: true}
	switch ch.was {
	case fsys.Unread, fsys.PartialView:
		return nil, refuse("%s has not been read completely yet. Read it with %s first: it shows the cell ids.", fsys.Printable(n.path), readName)
	case fsys.Changed:
		return nil, refuse("%s has changed since it was read. Read it again with %s first.", fsys.Printable(n.path), readName)
	case fsys.Fresh:
	}
	nb, err := notebook.Parse(old.Raw)
	if err != nil {
		return nil, refuse("%s cannot be changed cell by cell: %v.", fsys.Printable(n.path), err)
	}
	if ch.after, err = n.changed(nb); err != nil {
		return nil, err
	}
	if err := notebook.Check(ch.after); err != nil {
		return nil, err
	}
	return ch, ch.complete()
}

func (n *cellEdit) changed(nb *notebook.Notebook) ([]byte, error) {
	at := -1
	n.lang, n.kind, n.oldSource = nb.Language(), n.in.CellType, ""
	if n.in.CellID != "" {
		if at = nb.Find(n.in.CellID); at < 0 {
			return nil, refuse("No cell %q in %s. Its cells are: %s.", n.in.CellID, fsys.Printable(n.path), firstFew(nb.IDs()))
		}
	}
	if n.in.EditMode == "insert" {
		return nb.Insert(at, n.in.NewSource, n.in.CellType, n.id), nil
	}
	source, kind := nb.Source(at)
	n.oldSource = source
	if n.kind == "" || n.in.EditMode == "delete" {
		n.kind = kind
	}
	if n.in.EditMode == "delete" {
		return nb.Delete(at), nil
	}
	return nb.Replace(at, n.in.NewSource, n.in.CellType), nil
}

func firstFew(ids []string) string {
	if len(ids) == 0 {
		return "(none)"
	}
	if len(ids) > 30 {
		return strings.Join(ids[:30], ", ") + fmt.Sprintf(" and %d more", len(ids)-30)
	}
	return strings.Join(ids, ", ")
}

func (n *cellEdit) result(ch *change) tool.Result {
	id := n.in.CellID
	var text string
	switch n.in.EditMode {
	case "insert":
		id = n.newID(ch)
		text = fmt.Sprintf("Inserted %s cell %s in %s.", n.kind, id, fsys.Printable(n.path))
	case "delete":
		text = fmt.Sprintf("Deleted cell %s of %s.", id, fsys.Printable(n.path))
	default:
		text = fmt.Sprintf("Replaced the source of cell %s in %s.", id, fsys.Printable(n.path))
	}
	data := map[string]any{
		"new_source": n.in.NewSource, "cell_id": id, "cell_type": n.kind, "language": n.lang, "edit_mode": n.in.EditMode,
		"notebook_path": n.path, "original_file": original(ch.before(), true), "updated_file": original(ch.content, true), "error": "",
	}
	if n.in.EditMode != "insert" {
		data["old_source"] = n.oldSource
	}
	return done(text, data, ch.view())
}

// newID is how Read will name the inserted cell.
func (n *cellEdit) newID(ch *change) string {
	nb, err := notebook.Parse(ch.after)
	if err != nil || nb.WantsIDs() {
		return n.id
	}
	old, err := notebook.Parse(ch.old.Raw)
	if err != nil || n.in.CellID == "" {
		return "cell-0"
	}
	return fmt.Sprintf("cell-%d", old.Find(n.in.CellID)+1)
}
