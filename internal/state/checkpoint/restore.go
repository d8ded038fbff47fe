package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Report is what a rewind did.
type Report struct {
	// Restored and Removed are the names that changed.
	Restored []string `json:"restored"`
	Removed  []string `json:"removed"`
	// Kept are copies of what somebody else had made of a name.
	Kept []Kept `json:"kept,omitempty"`
	// Failed are names that could not be changed; the same rewind may be run again.
	Failed []Refusal `json:"failed,omitempty"`
	// Lost and Notes are those of the plan.
	Lost  []Refusal `json:"lost,omitempty"`
	Notes []string  `json:"notes,omitempty"`
}

// Kept is one copy that was put aside.
type Kept struct {
	Path string `json:"path"`
	Copy string `json:"copy,omitempty"`
	Why  string `json:"why"`
}

// Rewind brings the files back to before a prompt; see Plan. It can be
// killed or fail at any point: each file is as before or as wanted, and the
// same call again does the rest.
func (t *Tracker) Rewind(ctx context.Context, to Point) (*Report, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, err := t.plan(ctx, to)
	if err != nil {
		return nil, err
	}
	r := &rewind{t: t, ctx: ctx, report: &Report{Lost: p.Lost, Notes: p.Notes}, aside: filepath.Join(t.c.Dir, "kept", t.c.Now().UTC().Format("20060102T150405.000"))}
	r.run(p.Steps)
	return r.report, t.rewound(r.done)
}

// rewound writes down what a rewind did.
func (t *Tracker) rewound(done []Change) error {
	if len(done) == 0 {
		return nil
	}
	for i := range done {
		ch := &done[i]
		if e, err := lookAt(string(ch.Path)); err == nil && e.Kind == ch.After.Kind {
			e.Sum, e.Where, e.Target, e.Fresh = ch.After.Sum, ch.After.Where, ch.After.Target, true
			ch.After = e
		}
		if t.index != nil && t.index.covers(string(ch.Path)) {
			t.index.put(string(ch.Path), ch.After)
		}
	}
	t.log.lenient = true // what was done is done, and shows in the files
	defer func() { t.log.lenient = false }()
	return t.log.add(record{Kind: kindRewind, Time: t.c.Now().UnixNano(), Message: t.message, Changes: done})
}

// rewind is one rewind under way.
type rewind struct {
	t      *Tracker
	ctx    context.Context
	report *Report
	aside  string
	done   []Change
	blobs  map[string][]byte
}

// run goes in an order in which each step finds what it needs: what is in the
// way goes first (which also frees room on a full disk), folders come before
// their files, and get their modes when nothing is left to be put into them.
func (r *rewind) run(steps []Step) {
	ready := make([]*Step, 0, len(steps))
	for i := range steps {
		if s := &steps[i]; r.keep(s) {
			ready = append(ready, s)
		}
	}
	r.open(ready)
	for _, s := range slices.Backward(ready) {
		if s.now.Kind != Absent && s.now.Kind != s.target.Kind {
			r.try(s, r.remove)
		}
	}
	r.each(ready, func(s *Step) bool { return s.target.Kind == Folder }, r.folder)
	r.each(ready, func(s *Step) bool { return s.target.Kind == Link }, r.link)
	r.files(ready)
	for _, s := range slices.Backward(ready) {
		if s.target.Kind == Folder {
			r.try(s, func(s *Step) error { return os.Chmod(s.Path, s.target.Mode) })
		}
	}
	for _, s := range ready {
		r.finish(s)
	}
}

func (r *rewind) each(steps []*Step, which func(*Step) bool, do func(*Step) error) {
	for _, s := range steps {
		if which(s) {
			r.try(s, do)
		}
	}
}

// try runs one part of a step; a step that failed is not tried further.
func (r *rewind) try(s *Step, do func(*Step) error) {
	if s.failed || r.ctx.Err() != nil {
		s.failed = true
		return
	}
	err := do(s)
	if errors.Is(err, fs.ErrPermission) {
		err = r.unlocked(s, do)
	}
	if err != nil {
		s.failed = true
		r.report.Failed = append(r.report.Failed, Refusal{s.Path, explain(err)})
	}
}

// unlocked tries again with the folder made writable meanwhile.
func (r *rewind) unlocked(s *Step, do func(*Step) error) error {
	dir := filepath.Dir(s.Path)
	st, err := os.Lstat(dir)
	if err != nil || !st.IsDir() {
		return do(s)
	}
	if err := os.Chmod(dir, st.Mode().Perm()|0o700); err != nil {
		return err
	}
	return errors.Join(do(s), os.Chmod(dir, st.Mode()&(fs.ModePerm|fs.ModeSetgid|fs.ModeSticky)))
}

func explain(err error) string {
	why := reason(err)
	if strings.HasPrefix(why, "the disk with") {
		return "the disk is full; make room and run the same rewind again"
	}
	return why
}

func (r *rewind) finish(s *Step) {
	if s.failed {
		return
	}
	if s.Action == Remove {
		r.report.Removed = append(r.report.Removed, s.Path)
	} else {
		r.report.Restored = append(r.report.Restored, s.Path)
	}
	r.done = append(r.done, Change{Path: osName(s.Path), Before: s.now, After: s.target})
}

// keep puts aside what somebody else has made of the name. Without that copy
// the step must not be taken.
func (r *rewind) keep(s *Step) bool {
	for i := range s.versions {
		r.keepVersion(s, i)
	}
	if s.Foreign == "" {
		return true
	}
	k := Kept{Path: s.Path, Why: s.Foreign}
	if s.now.Kind == File {
		k.Copy = filepath.Join(r.aside, trimRoot(s.Path))
		if err := putAside(k.Copy, s.Path); err != nil {
			r.report.Failed = append(r.report.Failed, Refusal{s.Path, s.Foreign + ", and that version cannot be kept aside: " + explain(err)})
			return false
		}
	}
	r.report.Kept = append(r.report.Kept, k)
	return true
}

// keepVersion names the copy of what somebody else had made of a file before
// hew changed it again.
func (r *rewind) keepVersion(s *Step, i int) {
	e := &s.versions[i]
	if e.Kind != File || !r.t.store.has(e.Sum) {
		return
	}
	copied := filepath.Join(r.aside, fmt.Sprintf("%s.%d", trimRoot(s.Path), i+1))
	if err := putAside(copied, r.t.store.path(e.Sum)); err != nil {
		copied = r.t.store.path(e.Sum)
	}
	r.report.Kept = append(r.report.Kept, Kept{s.Path, copied, "somebody else changed it between two changes of hew"})
}

// trimRoot makes a path relative, so that it can stand below another.
func trimRoot(path string) string {
	rest := path[len(filepath.VolumeName(path)):]
	return strings.TrimLeft(rest, string(filepath.Separator))
}

func putAside(to, from string) error {
	if err := makeDir(filepath.Dir(to)); err != nil {
		return err
	}
	src, err := openFile(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// open makes folders writable whose modes come back at the end.
func (r *rewind) open(steps []*Step) {
	for _, s := range steps {
		if s.now.Kind == Folder && s.now.Mode&0o700 != 0o700 {
			_ = os.Chmod(s.Path, s.now.Mode|0o700) // if not, the steps below say so
		}
	}
}

func (r *rewind) remove(s *Step) error {
	if err := inPlace(s.Path); err != nil {
		return err
	}
	err := os.Remove(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil && s.now.Kind == Folder && !errors.Is(err, fs.ErrPermission) {
		return errors.New("the folder holds files that hew did not make; move them away and run the rewind again")
	}
	return err
}

func (r *rewind) folder(s *Step) error {
	if err := inPlace(s.Path); err != nil {
		return err
	}
	err := os.Mkdir(s.Path, s.target.Mode|0o700)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Chmod(s.Path, s.target.Mode|0o700)
}

func (r *rewind) link(s *Step) error {
	return r.swap(s.Path, func(tmp string) error { return os.Symlink(string(s.target.Target), tmp) })
}

// swap makes something under a name of its own and gives it its place at once.
// The name depends on the path alone: what a killed rewind left is overwritten
// by the next.
func (r *rewind) swap(path string, make func(tmp string) error) error {
	if err := inPlace(path); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(path))
	tmp := filepath.Join(filepath.Dir(path), ".hew-rewind-"+hex.EncodeToString(sum[:8]))
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := make(tmp); err != nil {
		return errors.Join(err, removed(tmp))
	}
	if err := os.Rename(tmp, path); err != nil {
		return errors.Join(err, removed(tmp))
	}
	return nil
}

func removed(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// inPlace refuses a path that leads through a link: it would reach out of the tree.
func inPlace(path string) error {
	dir := filepath.Dir(path)
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the folder %s is not there; if it was moved, move it back, else make it", dir)
	}
	if err != nil {
		return err
	}
	if real != dir {
		return fmt.Errorf("%s is a link now, and leads to %s", dir, real)
	}
	return nil
}

// batch bounds what is asked of git at once, in bytes.
const batch = 32 << 20

// files restores files; those that only the repository holds are fetched many
// at a time.
func (r *rewind) files(steps []*Step) {
	var group []*Step
	size := int64(0)
	flush := func() {
		r.fetch(group)
		r.each(group, func(*Step) bool { return true }, r.file)
		group, size, r.blobs = nil, 0, nil
	}
	for _, s := range steps {
		if s.target.Kind != File {
			continue
		}
		group, size = append(group, s), size+s.target.Size
		if size > batch {
			flush()
		}
	}
	flush()
}

func (r *rewind) fetch(group []*Step) {
	ids := map[Git][]string{}
	for _, s := range group {
		id, held := strings.CutPrefix(s.target.Where, "g")
		if !held || r.t.store.has(s.target.Sum) {
			continue
		}
		for _, root := range r.t.roots() {
			if g := r.t.git(r.ctx, root); g != nil && fsys.Within(root, s.Path) {
				ids[g] = append(ids[g], id)
				break
			}
		}
	}
	r.blobs = map[string][]byte{}
	for g, list := range ids {
		got, err := g.Contents(r.ctx, list)
		if err != nil {
			continue // each file of it then says that it is missing
		}
		maps.Copy(r.blobs, got)
	}
}

// file restores bytes and mode of one file.
func (r *rewind) file(s *Step) error {
	if s.now.Kind == File && s.now.Sum == s.target.Sum && s.target.Sum != "" {
		return os.Chmod(s.Path, s.target.Mode)
	}
	return r.swap(s.Path, func(tmp string) error {
		if err := r.bytes(s, tmp); err != nil {
			return err
		}
		return os.Chmod(tmp, s.target.Mode)
	})
}

var errMissing = errors.New("the saved bytes are gone")

func (r *rewind) bytes(s *Step, tmp string) error {
	dst, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	h := sha256.New()
	err = r.source(&s.target, io.MultiWriter(dst, h))
	if err = errors.Join(err, dst.Close()); err != nil {
		return err
	}
	if sum := hex.EncodeToString(h.Sum(nil)); s.target.Sum != "" && sum != s.target.Sum {
		return errors.New("the saved bytes are damaged")
	}
	return nil
}

// source writes the bytes of an entry, from wherever they are.
func (r *rewind) source(e *Entry, w io.Writer) error {
	from := ""
	switch {
	case r.t.store.has(e.Sum):
		from = r.t.store.path(e.Sum)
	case strings.HasPrefix(e.Where, "b"):
		from = filepath.Join(r.t.c.Dir, strings.TrimPrefix(e.Where, "b"))
	case strings.HasPrefix(e.Where, "g"):
		data, ok := r.blobs[strings.TrimPrefix(e.Where, "g")]
		if !ok {
			return fmt.Errorf("%w from the repository", errMissing)
		}
		_, err := w.Write(data)
		return err
	default:
		return errMissing
	}
	f, err := openFile(from)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// roots are the working directories of this process and those of earlier ones.
func (t *Tracker) roots() []string {
	out := slices.Clone(t.c.Roots)
	if t.index != nil {
		out = append(out, t.index.roots...)
	}
	return out
}

func readLink(path string) (osName, error) {
	target, err := os.Readlink(path)
	return osName(target), err
}
