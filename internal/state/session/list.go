package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Surface tells which sessions a continuation may pick.
type Surface int

// The surfaces. People continue what people started; a script continues any.
const (
	Interactive Surface = iota
	Headless
)

// List returns the project's sessions, the newest first. Files that are no
// session (no entry, a subagent's log) are left out; one that cannot be read
// is in the list, with its Problem.
func (s Store) List() ([]Summary, error) {
	names, err := s.files()
	if err != nil {
		return nil, err
	}
	index := s.readIndex()
	found := make([]indexed, len(names))
	parallel(len(names), func(i int) {
		found[i] = index.summary(s, names[i])
	})
	s.writeIndex(index, found)
	var out []Summary
	for _, f := range found {
		if f.ok {
			out = append(out, f.Summary)
		}
	}
	slices.SortFunc(out, newestFirst)
	return out, nil
}

func newestFirst(a, b Summary) int {
	if c := b.Modified.Compare(a.Modified); c != 0 {
		return c
	}
	return strings.Compare(b.ID, a.ID)
}

// files are the ids of the project's transcripts.
func (s Store) files() ([]string, error) {
	dir, err := os.ReadDir(s.Dir())
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, failed("list sessions in", s.Dir(), err)
	}
	var out []string
	for _, e := range dir {
		if id, ok := strings.CutSuffix(e.Name(), ".jsonl"); ok && ValidID(id) {
			out = append(out, id)
		}
	}
	return out, nil
}

// Stores are all projects of a configuration home.
func Stores(home string) ([]Store, error) {
	dir, err := os.ReadDir(filepath.Join(home, "projects"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failed("look for sessions in", home, err)
	}
	var out []Store
	for _, p := range dir {
		out = append(out, Store{Home: home, Project: p.Name()})
	}
	return out, nil
}

// ListAll returns the sessions of all projects, the newest first.
func ListAll(home string) ([]Summary, error) {
	stores, err := Stores(home)
	if err != nil {
		return nil, err
	}
	var out []Summary
	for _, s := range stores {
		if fsys.KindOf(s.Dir()) != fsys.KindDir {
			continue
		}
		list, err := s.List()
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	slices.SortFunc(out, newestFirst)
	return out, nil
}

// parallel calls do with 0 to n-1 on a few goroutines and waits for all.
func parallel(n int, do func(i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(n, workers()) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wait.Wait()
}

// workers is how many files are read at a time; more would only fill memory.
func workers() int { return min(max(2, runtime.GOMAXPROCS(0)), 8) }

// Latest returns the session that --continue picks in directory cwd, or
// fs.ErrNotExist. Two directories may share a folder because their names
// differ in punctuation only; the other's sessions are not picked. Only as
// many files are read as it takes to find it.
func (s Store) Latest(cwd string, from Surface) (Summary, error) {
	ids, err := s.files()
	if err != nil {
		return Summary{}, err
	}
	var byAge []Summary
	for _, id := range ids {
		if info, err := os.Stat(s.Path(id)); err == nil && info.Mode().IsRegular() {
			byAge = append(byAge, Summary{ID: id, Modified: info.ModTime()})
		}
	}
	slices.SortFunc(byAge, newestFirst)
	for _, at := range byAge {
		sum, ok := s.summary(at.ID)
		collides := sum.Cwd != cwd && Key(sum.Cwd) == Key(cwd)
		headless := strings.HasPrefix(sum.Entrypoint, "sdk")
		if !ok || collides || headless && from == Interactive {
			continue
		}
		if sum.Problem != "" {
			return Summary{}, &Unreadable{sum}
		}
		return sum, nil
	}
	return Summary{}, fmt.Errorf("no conversation to continue in %s: %w", cwd, fs.ErrNotExist)
}

// Unreadable says that a session is there and cannot be read.
type Unreadable struct{ Summary }

// Error names the file and what is wrong with it.
func (u *Unreadable) Error() string {
	return fmt.Sprintf("session %s cannot be read: %s: %s", u.ID, fsys.Printable(u.Path), u.Problem)
}

// Ambiguous says that a name leads to several sessions.
type Ambiguous struct {
	Name    string
	Matches []Summary
}

// Error lists the sessions.
func (a *Ambiguous) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q is the name of %d sessions; resume one by its id:", a.Name, len(a.Matches))
	for _, m := range a.Matches {
		fmt.Fprintf(&b, "\n  %s  %s  %s", m.ID, m.Modified.Format(time.DateTime), m.Cwd)
	}
	return b.String()
}

// Find returns the session with an id, or with exactly that title. An id is
// looked up in this project first, then in all others; a title in this project
// only. It is fs.ErrNotExist when there is none, *Ambiguous when several.
func (s Store) Find(name string) (Summary, error) {
	var found []Summary
	var err error
	switch {
	case name == "": // not the name of the sessions that have none: an unset variable must not remove one
	case ValidID(name):
		found, err = s.byID(name)
	default:
		found, err = s.byTitle(name)
	}
	if err != nil {
		return Summary{}, err
	}
	return one(name, found)
}

// one is the only session found.
func one(name string, found []Summary) (Summary, error) {
	switch {
	case len(found) == 1 && found[0].Problem != "":
		return Summary{}, &Unreadable{found[0]}
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return Summary{}, &Ambiguous{Name: name, Matches: found}
	}
	return Summary{}, &Unknown{Name: name}
}

// Unknown says that no session has an id or a name. It is fs.ErrNotExist.
type Unknown struct{ Name string }

// Error names what was looked for.
func (u *Unknown) Error() string {
	return fmt.Sprintf("no session found with id or name %q; hew sessions list --all lists them", u.Name)
}

// Is makes it fs.ErrNotExist.
func (u *Unknown) Is(target error) bool { return target == fs.ErrNotExist }

// Resolve is Find that also takes the beginning of an id, of four characters
// or more, that only one session of the project, else of the home, has.
func (s Store) Resolve(name string) (Summary, error) {
	sum, err := s.Find(name)
	if !errors.Is(err, fs.ErrNotExist) || len(name) < 4 {
		return sum, err
	}
	stores, err := Stores(s.Home)
	if err != nil {
		return Summary{}, err
	}
	for _, in := range [][]Store{{s}, stores} {
		var found []Summary
		for _, st := range in {
			ids, err := st.files()
			if err != nil {
				continue // no folder
			}
			for _, id := range ids {
				if strings.HasPrefix(id, strings.ToLower(name)) {
					sum, _ := st.there(id)
					found = append(found, sum)
				}
			}
		}
		if len(found) > 0 {
			return one(name, found)
		}
	}
	return one(name, nil)
}

func (s Store) byID(id string) ([]Summary, error) {
	if sum, ok := s.there(id); ok {
		return []Summary{sum}, nil
	}
	stores, err := Stores(s.Home)
	if err != nil {
		return nil, err
	}
	var out []Summary
	for _, other := range stores {
		if sum, ok := other.there(id); ok {
			out = append(out, sum)
		}
	}
	return out, nil
}

// there is summary for a session that somebody names: a file without a
// conversation is not passed over, as the name is right.
func (s Store) there(id string) (Summary, bool) {
	sum, ok := s.summary(id)
	if !ok && fsys.KindOf(sum.Path) == fsys.KindRegular {
		sum.Problem = oddity(sum.Path)
		return sum, true
	}
	return sum, ok
}

// oddity says what a file without a conversation holds instead.
func oddity(path string) string {
	f, st, err := fsys.OpenRegular(path)
	if err != nil {
		return err.Error()
	}
	defer closeQuietly(f)
	head := make([]byte, min(st.Size, 4096))
	n, _ := io.ReadFull(f, head)
	head = head[:n]
	switch {
	case n == 0:
		return "the file is empty; nothing was ever said in it"
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")), bytes.Count(head, []byte{0}) > n/4:
		return "it is not UTF-8 text (UTF-16, or binary); convert it, for example with iconv -f UTF-16 -t UTF-8"
	}
	return "it holds no line of a conversation"
}

// byTitle looks at the ends of the files first, and reads them whole only
// when no end has the title.
func (s Store) byTitle(title string) ([]Summary, error) {
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	match := func(sum Summary) bool { return sum.Problem == "" && strings.EqualFold(sum.Title, title) }
	found := slices.DeleteFunc(slices.Clone(all), func(sum Summary) bool { return !match(sum) })
	if len(found) > 0 {
		return found, nil
	}
	all = slices.DeleteFunc(all, func(sum Summary) bool { return sum.Title != "" || sum.Size <= 2*edge || sum.Problem != "" })
	parallel(len(all), func(i int) { all[i].Title = fullTitle(all[i].Path) })
	return slices.DeleteFunc(all, func(sum Summary) bool { return !match(sum) }), nil
}

func fullTitle(path string) string {
	f, _, err := fsys.OpenRegular(path)
	if err != nil {
		return ""
	}
	defer closeQuietly(f)
	title := ""
	for r := newLineReader(f); ; {
		line, err := r.next()
		if err != nil {
			return title
		}
		if !bytes.Contains(line.bytes, []byte("customTitle")) {
			continue
		}
		if v := gjson.GetBytes(line.bytes, "type"); v.Str == "custom-title" {
			title = or(gjson.GetBytes(line.bytes, "customTitle").String(), title)
		}
	}
}
