package plugin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// stagingName is the folder of things in the making, below the cache so that a
// rename stays on one file system.
const stagingName = ".staging"

// stage makes an empty folder in which something is put together.
func (s *Store) stage() (string, error) {
	dir := s.dir("cache", stagingName, s.NewID())
	return dir, os.MkdirAll(dir, 0o700)
}

// Times after which what nobody needs any more goes.
const (
	stagingAge = time.Hour           // a killed installation
	orphanAge  = 14 * 24 * time.Hour // a version that a session may still be using
)

// sweep removes what killed installations left.
func (s *Store) sweep() {
	root := s.dir("cache", stagingName)
	entries, err := os.ReadDir(root)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && s.Now().Sub(info.ModTime()) > stagingAge {
			_ = os.RemoveAll(filepath.Join(root, e.Name())) // the next sweep tries again
		}
	}
}

// fetch brings a source into a folder in the making and returns where it lies,
// with the commit when it came from git. base is the marketplace's folder.
func (s *Store) fetch(ctx context.Context, src Source, staged, base string) (path, commit string, err error) {
	to := filepath.Join(staged, "tree")
	switch src.Kind {
	case "relative":
		if base == "" {
			return "", "", errors.New("the marketplace is a file alone: it has no folder in which the plugin could lie")
		}
		from := filepath.Join(base, filepath.FromSlash(src.Path))
		root, errRoot := fsys.Real(base)
		real, err := fsys.Real(from)
		if err = errors.Join(err, errRoot); err != nil {
			return "", "", err
		}
		if !fsys.Within(root, real) {
			return "", "", fmt.Errorf("the source %s leads out of the marketplace", fsys.Printable(src.Path))
		}
		return to, "", copyTree(real, to)
	case "directory":
		return to, "", copyTree(src.Path, to)
	case "archive":
		return s.archive(ctx, src, to)
	case "url":
		if strings.HasSuffix(src.URL, ".json") {
			return s.list(ctx, src, staged)
		}
	}
	commit, err = s.clone(ctx, src, to)
	if err == nil && src.Kind == "git-subdir" {
		to, err = subdir(to, src.Path)
	}
	return to, commit, err
}

func subdir(tree, path string) (string, error) {
	dir := filepath.Join(tree, filepath.FromSlash(path))
	real, err := fsys.Real(dir)
	if err != nil || !fsys.Within(tree, dir) || fsys.KindOf(real) != fsys.KindDir {
		return "", fmt.Errorf("the repository has no folder %s", fsys.Printable(path))
	}
	root, err := fsys.Real(tree)
	if err != nil || !fsys.Within(root, real) {
		return "", fmt.Errorf("the folder %s leads out of the repository", fsys.Printable(path))
	}
	return real, nil
}

func (s *Store) download(ctx context.Context, url string, most int64) (data []byte, err error) {
	if s.Get == nil {
		return nil, fmt.Errorf("%s: nothing can be downloaded here", url)
	}
	body, err := s.Get(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("download %s: %w", fsys.Printable(url), err)
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	data, err = io.ReadAll(io.LimitReader(body, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("download %s: it is larger than %d MB", fsys.Printable(url), most>>20)
	}
	return data, err
}

func (s *Store) archive(ctx context.Context, src Source, to string) (path, commit string, err error) {
	data, err := s.download(ctx, src.URL, maxArchive)
	if err != nil {
		return "", "", err
	}
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); !strings.EqualFold(got, src.SHA256) {
		return "", "", fmt.Errorf("%s is not the archive that the marketplace means: its sha256 is %s, not %s", fsys.Printable(src.URL), got, src.SHA256)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return "", "", err
	}
	if err := unpack(data, to, maxUnpack); err != nil {
		return "", "", err
	}
	return single(to), "", nil
}

// list downloads a marketplace's list.
func (s *Store) list(ctx context.Context, src Source, staged string) (path, commit string, err error) {
	data, err := s.download(ctx, src.URL, maxMarket)
	if err != nil {
		return "", "", err
	}
	path = filepath.Join(staged, "marketplace.json")
	return path, "", os.WriteFile(path, data, 0o644)
}

// clone fetches one commit of a repository. The commit's attributes are
// overruled, so that no filter of the user's configuration runs on its files,
// and submodules stay out.
func (s *Store) clone(ctx context.Context, src Source, to string) (commit string, err error) {
	if s.Git == nil {
		return "", errors.New("git is needed to fetch a repository and was not found")
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return "", err
	}
	git := func(args ...string) (string, error) {
		out, err := s.Git(ctx, to, args...)
		if err != nil {
			err = fmt.Errorf("git %s of %s: %w", args[0], fsys.Printable(src.remote()), err)
		}
		return strings.TrimSpace(out), err
	}
	if _, err := git("init", "--quiet", "--template="); err != nil {
		return "", err
	}
	attributes := filepath.Join(to, ".git", "info", "attributes")
	if err := os.MkdirAll(filepath.Dir(attributes), 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(attributes, []byte("* -filter -text -ident -working-tree-encoding -export-subst\n"), 0o644); err != nil {
		return "", err
	}
	want := "HEAD"
	if src.Ref != "" {
		want = src.Ref
	}
	if src.SHA != "" {
		want = src.SHA
	}
	if _, err := git("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", src.remote(), want); err != nil {
		if src.SHA == "" {
			return "", err
		}
		// Some servers give a commit by its name only with everything before it.
		if _, err := git("fetch", "--quiet", "--no-recurse-submodules", src.remote(), "+refs/*:refs/fetched/*"); err != nil {
			return "", err
		}
	} else {
		want = "FETCH_HEAD"
	}
	if _, err := git("checkout", "--quiet", "--detach", want, "--"); err != nil {
		return "", err
	}
	if commit, err = git("rev-parse", "HEAD"); err != nil {
		return "", err
	}
	if src.SHA != "" && !strings.HasPrefix(commit, strings.ToLower(src.SHA)) {
		return "", fmt.Errorf("%s gave the commit %s, not %s", fsys.Printable(src.remote()), commit, src.SHA)
	}
	return commit, os.RemoveAll(filepath.Join(to, ".git"))
}
