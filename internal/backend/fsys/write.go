package fsys

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// WriteOptions shape WriteFile; the zero value is right for a file that the user works on.
type WriteOptions struct {
	// Mode is for a file that does not exist yet; 0 means 0666 less the umask. An existing file keeps its mode.
	Mode fs.FileMode
}

// Written tells what WriteFile did.
type Written struct {
	Real    string // the file that changed: the link's target when path was a link
	Created bool
	// InPlace is true when the file was overwritten instead of replaced (see WriteFile): a crash of the machine in
	// that moment could have left it half written.
	InPlace bool
	Status  Status // of the file after the write
}

// WriteFile makes data the content of path. Missing parent folders are created and links are followed: the link stays
// a link. Normally a temporary file in the same folder is written, synced and renamed over the old one, so that a
// reader sees the old bytes or the new ones and a full disk leaves the old file; mode and, where allowed, owner stay.
//
// Three files are overwritten in place, because replacing them would cut them off from something: one with several hard
// links, one whose owner could not be kept, and one in a folder that takes no new files. Even then the bytes that must
// grow are written first and a failed write puts the old content back. A file without any write permission is refused
// with CauseReadOnlyFile, whoever asks. What is no regular file is refused. Extended attributes are not carried over.
//
// Temporary files of killed writers to the same file are removed on the way.
func WriteFile(path string, data []byte, o WriteOptions) (Written, error) {
	return writer{write: writeAll}.file(path, data, o)
}

// writer holds the one step that tests must be able to fail: moving bytes to the disk.
type writer struct {
	write func(f *os.File, data []byte) error
}

func writeAll(f *os.File, data []byte) error {
	_, err := f.Write(data)
	return err
}

func (w writer) file(path string, data []byte, o WriteOptions) (Written, error) {
	real, err := Real(path)
	if err != nil {
		return Written{}, err
	}
	old, err := Stat(real)
	if err != nil {
		return Written{}, err
	}
	out := Written{Real: real, Created: !old.Exists()}
	if err := writable(path, real, old); err != nil {
		return out, err
	}
	if out.Created {
		if err := os.MkdirAll(filepath.Dir(real), 0o777); err != nil {
			return out, wrap("create the folder of", path, err)
		}
	}
	out.InPlace, err = w.put(real, data, old, o)
	if err != nil {
		return out, wrap("write", path, err)
	}
	out.Status, err = Stat(real)
	return out, err
}

// writable refuses what must not be written whatever the process may do.
func writable(path, real string, old Status) error {
	switch old.Kind {
	case KindMissing:
		return nil
	case KindRegular:
	case KindDir, KindFIFO, KindDevice, KindSocket, KindLinkLoop, KindOther:
		return kindError("write", path, old.Kind)
	}
	if old.Mode.Perm()&0o222 == 0 {
		return &Error{Op: "write", Path: path, Cause: CauseReadOnlyFile}
	}
	return wrap("write", path, mayWrite(real))
}

// put replaces or overwrites and says whether it was the latter.
func (w writer) put(real string, data []byte, old Status, o WriteOptions) (inPlace bool, err error) {
	if old.Links > 1 {
		return true, w.overwrite(real, data)
	}
	sweepTemp(real)
	err = w.replace(real, data, old, o)
	if errors.Is(err, errTempGone) {
		err = w.replace(real, data, old, o)
	}
	if old.Exists() && (errors.Is(err, errOwner) || errors.Is(err, errNoTemp) && CauseOf(err) == CausePermission) {
		return true, w.overwrite(real, data)
	}
	return false, err
}

var (
	errNoTemp   = errors.New("could not create a temporary file beside it")
	errTempGone = errors.New("the temporary file vanished before it was renamed")
	errOwner    = errors.New("could not keep the owner of the file")
)

func (w writer) replace(real string, data []byte, old Status, o WriteOptions) (err error) {
	perm := fs.FileMode(0o666)
	if o.Mode != 0 {
		perm = o.Mode.Perm()
	}
	if old.Exists() {
		perm = 0o600 // until it has its owner, the content is nobody else's to read
	}
	tmp := tempName(real)
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoTemp, err)
	}
	defer func() {
		if err != nil {
			// The first error is the one to report; the file may be closed or renamed already.
			_ = f.Close()
			_ = os.Remove(tmp)
		}
	}()
	if err := w.write(f, data); err != nil {
		return err
	}
	if err := likeOld(f, old, o); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(tmp, real); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: %w", errTempGone, err)
		}
		return err
	}
	syncDir(filepath.Dir(real))
	return nil
}

// likeOld gives the new file the owner and mode of the one that it replaces.
func likeOld(f *os.File, old Status, o WriteOptions) error {
	if !old.Exists() {
		if o.Mode != 0 {
			return f.Chmod(o.Mode)
		}
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if now := statusOf(info); now.uid != old.uid || now.gid != old.gid {
		if err := f.Chown(old.uid, old.gid); err != nil {
			return fmt.Errorf("%w: %w", errOwner, err)
		}
	}
	return f.Chmod(old.Mode)
}

// overwrite writes into the existing file. Bytes beyond the old size go first: that is where a full disk shows, while
// the old content is still untouched.
func (w writer) overwrite(real string, data []byte) (err error) {
	before, err := os.ReadFile(real)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(real, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := w.overwriteOpen(f, before, data); err != nil {
		return errors.Join(err, w.putBack(f, before))
	}
	return f.Sync()
}

func (w writer) overwriteOpen(f *os.File, before, data []byte) error {
	size := len(before)
	if len(data) > size {
		if _, err := f.Seek(int64(size), 0); err != nil {
			return err
		}
		if err := w.write(f, data[size:]); err != nil {
			return err
		}
	}
	if _, err := f.Seek(0, 0); err != nil {
		return err
	}
	if err := w.write(f, data[:min(size, len(data))]); err != nil {
		return err
	}
	return f.Truncate(int64(len(data)))
}

func (w writer) putBack(f *os.File, before []byte) error {
	if err := f.Truncate(int64(len(before))); err != nil {
		return fmt.Errorf("putting the old content back: %w", err)
	}
	if _, err := f.WriteAt(before, 0); err != nil {
		return fmt.Errorf("putting the old content back: %w", err)
	}
	return nil
}

// Temporary names are ".<name>.hew-<pid>-<random>": hidden, in the folder of the file so that a rename is atomic, and
// telling whose they are.
func tempName(real string) string {
	dir, name := filepath.Split(real)
	if len(name) > 200 { // a name may have 255 bytes on all systems of interest
		name = name[:200]
	}
	return filepath.Join(dir, fmt.Sprintf("%s%d-%s", tempPrefix(name), os.Getpid(), rand.Text()[:8]))
}

func tempPrefix(name string) string { return "." + name + ".hew-" }

// sweepLimit bounds how many names of a huge folder are looked at for leftovers.
const sweepLimit = 10_000

// sweepTemp removes temporary files for real whose writer is dead. It is best effort: what it cannot do is no reason to
// refuse the write.
func sweepTemp(real string) {
	dir, name := filepath.Split(real)
	if len(name) > 200 {
		name = name[:200]
	}
	d, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return
	}
	names, _ := d.Readdirnames(sweepLimit)
	_ = d.Close()
	for _, n := range names {
		rest, ok := strings.CutPrefix(n, tempPrefix(name))
		if !ok {
			continue
		}
		pid, err := strconv.Atoi(rest[:max(0, strings.IndexByte(rest, '-'))])
		if err == nil && pid != os.Getpid() && processDead(pid) {
			_ = os.Remove(filepath.Join(dir, n))
		}
	}
}
