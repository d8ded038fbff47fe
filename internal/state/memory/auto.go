package memory

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/frontmatter"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/plain"
)

// IndexFile is the file of a notebook that every conversation begins with.
const IndexFile = "MEMORY.md"

// Bounds of the index, the documented ones of the ecosystem.
const (
	IndexLines = 200
	IndexBytes = 25 << 10
)

// Bounds of the topic files: how many are looked at, how deep their folders go,
// how much of one is read for its header, and how long one that is given to the
// model as a whole may be.
const (
	maxTopics  = 500
	topicDepth = 4
	headBytes  = 8 << 10
	maxTopic   = 64 << 10
)

// Notebook is a folder in which the model keeps what it learns: an index and a
// file a topic. It writes them with its ordinary tools.
type Notebook struct {
	// Dir is the folder, absolute. It need not exist.
	Dir string
	// Within, when set, is a checkout that is not trusted: what a link takes from
	// outside of it is left out.
	Within string
}

//go:embed auto.md
var autoText string

// Instructions tells the model about its notebook.
func (n Notebook) Instructions() string {
	return strings.TrimSpace(strings.ReplaceAll(autoText, "{{dir}}", printed(n.Dir)))
}

// printed keeps a name with a newline from looking like more lines of the prompt.
func printed(path string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(path, "\ufffd"))
}

// Index is the path of the index.
func (n Notebook) Index() string { return filepath.Join(n.Dir, IndexFile) }

// Read reads the index as the model sees it: its beginning, and a warning when
// that is not all. ok is false when there is none or it is empty; the note then
// may say why.
func (n Notebook) Read() (f File, note *Note, ok bool) {
	path := n.Index()
	r := readText(path)
	switch {
	case errors.Is(r.err, fs.ErrNotExist):
		return f, nil, false
	case r.err != nil:
		return f, &Note{Path: path, Text: r.err.Error()}, false
	case n.leads(r.real):
		return f, &Note{Path: path, Text: "it links to " + fsys.Printable(r.real) + ", outside this folder, which is not trusted (see hew trust)"}, false
	case r.text == "":
		return f, nil, false
	}
	f = File{Path: path, Scope: Auto, Size: r.size, Reason: AtStart}
	var cut string
	f.Text, cut = beginning(r.text)
	if cut != "" {
		f.Text += "\n\n" + cut
		note = &Note{Path: path, Text: cut, Kept: true}
	}
	return f, note, true
}

// leads tells that a canonical name lies outside of what the notebook may hold.
func (n Notebook) leads(real string) bool { return n.Within != "" && !fsys.Within(n.Within, real) }

// beginning cuts an index to its bounds; told says so, "" when nothing is cut.
func beginning(text string) (kept, told string) {
	lines := strings.SplitAfter(text, "\n")
	n, size := 0, 0
	for n < len(lines) && n < IndexLines && size+len(lines[n]) <= IndexBytes {
		size += len(lines[n])
		n++
	}
	if n == len(lines) {
		return text, ""
	}
	first := strings.TrimSpace(lines[n])
	if len(first) > 120 {
		first = strings.ToValidUTF8(first[:120], "") + "…"
	}
	return strings.TrimRight(text[:size], "\n"), fmt.Sprintf(
		"WARNING: %s has %d lines and %d bytes; only its first %d lines were loaded (the limit is %d lines and %d KB). The first line left out is line %d: %q. Keep one short line a memory and move the details into topic files.",
		IndexFile, len(lines), len(text), n, IndexLines, IndexBytes>>10, n+1, first)
}

// Full tells what is to be said to the model about an index that it has just
// written, "" when it is well within its bounds.
func (n Notebook) Full() string {
	r := readText(n.Index())
	if r.err != nil {
		return ""
	}
	lines, size := strings.Count(r.text, "\n")+1, len(r.text)
	switch {
	case lines > IndexLines || size > IndexBytes:
		return fmt.Sprintf("Error: %s now has %d lines and %d bytes, more than the %d lines and %d KB that a conversation begins with: the rest will not be seen. Rewrite it shorter now: one short line a memory, the details in topic files.",
			n.Index(), lines, size, IndexLines, IndexBytes>>10)
	case lines > IndexLines*9/10 || size > IndexBytes*9/10:
		return fmt.Sprintf("%s is nearly full: %d of %d lines, %d of %d bytes. Merge or drop entries before you add more.",
			n.Index(), lines, IndexLines, size, IndexBytes)
	}
	return ""
}

// Topic is the header of a topic file.
type Topic struct {
	// Path is absolute; Name is the slash path from the notebook's folder.
	Path, Name string
	// Title, About and Kind come from the file's front matter: name, description
	// and type. They are empty when there is none or it is broken.
	Title, About, Kind string
	// Modified is when the file says that it was changed, else its time.
	Modified time.Time
	Size     int64
}

// Topics lists the topic files, the newest first. Links to folders are followed,
// each folder once. What cannot be read is left out and told.
func (n Notebook) Topics() ([]Topic, []Note) {
	w := &topicWalk{n: n, folders: map[string]bool{}}
	w.dir(n.Dir, "", 0)
	slices.SortStableFunc(w.topics, func(a, b Topic) int { return b.Modified.Compare(a.Modified) })
	return w.topics, w.notes
}

type topicWalk struct {
	n       Notebook
	folders map[string]bool // real paths
	topics  []Topic
	notes   []Note
}

func (w *topicWalk) dir(dir, rel string, depth int) {
	if fsys.KindOf(dir) != fsys.KindDir || depth > topicDepth {
		return
	}
	real, err := fsys.Real(dir)
	if err != nil || w.folders[real] {
		return
	}
	w.folders[real] = true
	if w.n.leads(real) {
		w.notes = append(w.notes, Note{Path: dir, Text: "it links to " + fsys.Printable(real) + ", outside this folder, which is not trusted (see hew trust)"})
		return
	}
	list, err := names(dir)
	if err != nil {
		w.notes = append(w.notes, Note{Path: dir, Text: err.Error()})
	}
	for _, name := range list {
		path, sub := filepath.Join(dir, name), name
		if rel != "" {
			sub = rel + "/" + name
		}
		switch {
		case len(w.topics) == maxTopics || strings.HasPrefix(name, ".") || len(w.folders) > maxTopics:
		case strings.EqualFold(filepath.Ext(name), ".md"):
			if sub != IndexFile {
				w.topic(path, sub)
			}
		default:
			w.dir(path, sub, depth+1)
		}
	}
}

func (w *topicWalk) topic(path, name string) {
	real, err := fsys.Real(path)
	if err == nil && w.n.leads(real) {
		err = errors.New("it links to " + fsys.Printable(real) + ", outside this folder, which is not trusted (see hew trust)")
	}
	var head []byte
	var st fsys.Status
	if err == nil {
		head, st, err = beginOf(path)
	}
	if err != nil {
		w.notes = append(w.notes, Note{Path: path, Text: err.Error()})
		return
	}
	m := frontmatter.Parse(head)
	t := Topic{
		Path: path, Name: printed(name), Title: short(m.Text("name")), About: short(m.Text("description")),
		Kind: short(m.Text("type")), Modified: st.ModTime, Size: st.Size,
	}
	if at, ok := m.Value("modified").(time.Time); ok {
		t.Modified = at
	} else if at, err := time.Parse(time.RFC3339, m.Text("modified")); err == nil {
		t.Modified = at
	}
	w.topics = append(w.topics, t)
}

// short fits a header's field into one line of a list.
func short(s string) string {
	return plain.Cut(strings.Join(strings.Fields(printed(s)), " "), 300)
}

func beginOf(path string) (head []byte, st fsys.Status, err error) {
	f, st, err := fsys.OpenRegular(path)
	if err != nil {
		return nil, st, err
	}
	defer func() { _ = f.Close() }() // only read
	head, err = io.ReadAll(io.LimitReader(f, headBytes))
	return head, st, err
}

// Open reads a topic file as a whole, with what a reader must know of its age.
func (t Topic) Open(now time.Time) (File, error) {
	if t.Size > maxTopic {
		return File{}, fmt.Errorf("%s has %d bytes, and a memory is given whole up to %d", fsys.Printable(t.Path), t.Size, maxTopic)
	}
	r := readText(t.Path)
	if r.err == nil && r.text == "" {
		r.err = errors.New("it is empty")
	}
	if r.err != nil {
		return File{}, fmt.Errorf("read the memory %s: %w", fsys.Printable(t.Path), r.err)
	}
	text := r.text
	if days := int(now.Sub(t.Modified).Hours() / 24); days > 1 {
		text = fmt.Sprintf("(This note is %d days old. What it says of code, files or people may have changed since: check it before you rely on it.)\n\n%s", days, text)
	}
	return File{Path: t.Path, Scope: Auto, Text: text, Size: r.size, Reason: Matched}, nil
}
