package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// A fork of a large session does not copy it. Its first line, of the type
// "fork-reference", says how many bytes of the source's transcript come before
// its own lines; as a transcript only grows, they stay the same. Prune and
// redact, the only ones that rewrite, look after the forks of what they touch.
const referenceType = "fork-reference"

// Reference is where a fork's history begins.
type Reference struct {
	// Session and Project name the source, Bytes how much of its file counts.
	Session string `json:"sessionId"`
	Project string `json:"project"`
	Bytes   int64  `json:"bytes"`
}

// referenceLine is the first line of such a fork. Beside the reference it has
// what lists show, so that they need not open the source.
type referenceLine struct {
	Type       string    `json:"type"`
	SessionID  string    `json:"sessionId"`
	ForkedFrom Reference `json:"forkedFrom"`
	Cwd        string    `json:"cwd,omitempty"`
	Branch     string    `json:"gitBranch,omitempty"`
	Entrypoint string    `json:"entrypoint,omitempty"`
	First      string    `json:"firstPrompt,omitempty"`
	LastPrompt string    `json:"lastPrompt,omitempty"`
	Title      string    `json:"customTitle,omitempty"`
}

// maxReference bounds that line; prompts in it are cut.
const (
	maxReference       = 16 << 10
	maxReferencePrompt = 2000
)

// reference reads the reference of a file that begins with head; ok is false for all other files.
func reference(head []byte) (line referenceLine, size int64, ok bool) {
	nl := bytes.IndexByte(head, '\n')
	if nl < 0 || !bytes.HasPrefix(head, []byte(`{"type":"`+referenceType+`"`)) {
		return line, 0, false
	}
	v := gjson.ParseBytes(head[:nl])
	from := v.Get("forkedFrom")
	line = referenceLine{
		Type: referenceType, SessionID: v.Get("sessionId").String(),
		ForkedFrom: Reference{Session: from.Get("sessionId").String(), Project: from.Get("project").String(), Bytes: from.Get("bytes").Int()},
		Cwd:        v.Get("cwd").String(), Branch: v.Get("gitBranch").String(), Entrypoint: v.Get("entrypoint").String(),
		First: v.Get("firstPrompt").String(), LastPrompt: v.Get("lastPrompt").String(), Title: v.Get("customTitle").String(),
	}
	r := line.ForkedFrom
	ok = ValidID(r.Session) && r.Bytes > 0 && r.Project != "" && filepath.Base(r.Project) == r.Project && !strings.HasPrefix(r.Project, ".")
	return line, int64(nl + 1), ok
}

// transcript is a session's file with what comes before it in the files of
// the sessions that it was forked from, as one piece.
type transcript struct {
	parts []part
	files []*os.File
	// own is where the session's own lines begin, size the end of them.
	own, size int64
	// id is the session's own id, known only for a fork by reference.
	id string
	// lost says what of the history could not be found, "" when all is there.
	lost string
}

// part is a stretch of a file and where it stands in the whole.
type part struct {
	r    io.ReaderAt
	at   int64
	size int64
}

// maxForks bounds how long a line of forks of forks is followed.
const maxForks = 100

// openTranscript opens the file at path and, for a fork by reference, its sources.
func openTranscript(path string) (*transcript, error) {
	t := &transcript{}
	if err := t.open(path, -1, 0); err != nil {
		t.close()
		return nil, err
	}
	for _, p := range t.parts {
		t.size += p.size
	}
	at := int64(0)
	for i := range t.parts {
		t.parts[i].at = at
		at += t.parts[i].size
	}
	t.own = t.parts[len(t.parts)-1].at
	return t, nil
}

// open adds the first limit bytes of the file at path (all for -1), after those of its sources.
func (t *transcript) open(path string, limit int64, depth int) error {
	f, st, err := fsys.OpenRegular(path)
	if err != nil {
		return err
	}
	t.files = append(t.files, f)
	size := st.Size
	if limit >= 0 && limit < size {
		size = limit
	}
	head := make([]byte, min(st.Size, maxReference))
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return failed("read transcript", path, err)
	}
	line, _, ok := reference(head[:n])
	if ok {
		if depth == 0 {
			t.id = line.SessionID
		}
		t.source(path, line.ForkedFrom, depth)
	}
	t.parts = append(t.parts, part{r: f, size: size})
	return nil
}

// source adds what r refers to. A source that is gone is told, not an error: what the fork has of its own remains.
func (t *transcript) source(path string, r Reference, depth int) {
	home := filepath.Dir(filepath.Dir(filepath.Dir(path)))
	from := Store{Home: home, Project: r.Project}.Path(r.Session)
	if depth >= maxForks {
		t.lost = fmt.Sprintf("the history before this fork is left out: more than %d sessions refer to each other", maxForks)
		return
	}
	st, err := fsys.Stat(from)
	if err == nil && (st.Kind != fsys.KindRegular || st.Size < r.Bytes) {
		err = fmt.Errorf("it is a %s of %d bytes", st.Kind, st.Size)
	}
	if err == nil {
		err = t.open(from, r.Bytes, depth+1)
	}
	if err != nil {
		t.lost = fmt.Sprintf("the history before this fork is left out: %d bytes of session %s (%s) cannot be read: %v", r.Bytes, r.Session, fsys.Printable(from), err)
	}
}

func (t *transcript) close() {
	for _, f := range t.files {
		closeQuietly(f)
	}
}

// ReadAt reads across the files.
func (t *transcript) ReadAt(p []byte, off int64) (int, error) {
	if len(t.parts) == 1 {
		return t.parts[0].r.ReadAt(p, off)
	}
	i := sort.Search(len(t.parts), func(i int) bool { return t.parts[i].at+t.parts[i].size > off })
	n := 0
	for ; i < len(t.parts) && n < len(p); i++ {
		at := off + int64(n) - t.parts[i].at
		want := min(int64(len(p)-n), t.parts[i].size-at)
		got, err := t.parts[i].r.ReadAt(p[n:n+int(want)], at)
		n += got
		if int64(got) < want {
			if err == nil {
				err = io.ErrUnexpectedEOF
			}
			return n, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// all reads the whole from its beginning.
func (t *transcript) all() *io.SectionReader { return io.NewSectionReader(t, 0, t.size) }
