package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Source says where a plugin or a marketplace comes from. Kinds: directory,
// file, github, git, git-subdir, url, archive; npm and command are read, so that
// a refusal can name them.
type Source struct {
	Kind     string `json:"source"`
	Path     string `json:"path,omitempty"`
	Repo     string `json:"repo,omitempty"`
	URL      string `json:"url,omitempty"`
	Ref      string `json:"ref,omitempty"`
	SHA      string `json:"sha,omitempty"`
	SHA256   string `json:"sha256,omitempty"`
	Package  string `json:"package,omitempty"`
	Version  string `json:"version,omitempty"`
	Registry string `json:"registry,omitempty"`
}

// ErrRefused marks sources that hew does not use.
var ErrRefused = errors.New("refused")

// parseSource reads the source of a plugin: "./path", or an object. The object's
// kind may also be the only key, as in {"github": "owner/repo"}.
func parseSource(raw json.RawMessage) (Source, error) {
	var path string
	if json.Unmarshal(raw, &path) == nil {
		return relative(path)
	}
	var s Source
	if err := json.Unmarshal(raw, &s); err != nil {
		return Source{}, errors.New(`"source" must be a path that begins with ./, or an object with a "source"`)
	}
	if s.Kind == "" {
		if err := s.short(raw); err != nil {
			return Source{}, err
		}
	}
	return s, s.check()
}

func relative(path string) (Source, error) {
	clean := filepath.ToSlash(filepath.Clean(filepath.FromSlash(path)))
	if path != "." && !strings.HasPrefix(path, "./") || strings.HasPrefix(clean, "../") || clean == ".." {
		return Source{}, fmt.Errorf("the source %q must be a path inside the marketplace that begins with ./", fsys.Printable(path))
	}
	return Source{Kind: "relative", Path: clean}, nil
}

func (s *Source) short(raw json.RawMessage) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	for _, kind := range []string{"github", "url", "git-subdir", "npm", "archive", "command"} {
		var v string
		if m[kind] == nil || json.Unmarshal(m[kind], &v) != nil {
			continue
		}
		s.Kind = kind
		switch kind {
		case "github":
			s.Repo = v
		case "npm":
			s.Package = v
		default:
			s.URL = v
		}
		return nil
	}
	return errors.New(`"source" names no kind: github, url, git-subdir or archive`)
}

func (s *Source) check() error {
	switch s.Kind {
	case "directory", "file":
		if s.Path == "" {
			return fmt.Errorf("a source of kind %s needs a path", s.Kind)
		}
	case "github":
		owner, name, ok := strings.Cut(s.Repo, "/")
		if !ok || !validName(owner) || !validName(strings.TrimSuffix(name, ".git")) {
			return fmt.Errorf("%q is no GitHub repository: write owner/name", fsys.Printable(s.Repo))
		}
	case "git", "url", "git-subdir":
		return s.checkGit()
	case "archive":
		if len(s.SHA256) != 64 {
			return errors.New("an archive needs its sha256, 64 hexadecimal digits: without it nobody knows what was downloaded")
		}
		return checkURL(s.URL)
	case "npm":
		return fmt.Errorf("%w: npm packages are not installed, since that can run their scripts; ask the author for a git, archive or folder source", ErrRefused)
	case "command":
		return fmt.Errorf("%w: a source that runs a command on this machine is not used; ask the author for a git, archive or folder source", ErrRefused)
	default:
		return fmt.Errorf("%q is no kind of source: use a ./path, github, url, git-subdir or archive", fsys.Printable(s.Kind))
	}
	return nil
}

func (s *Source) checkGit() error {
	if s.Kind == "git-subdir" {
		if _, err := relative("./" + strings.TrimPrefix(s.Path, "./")); err != nil || s.Path == "" {
			return errors.New("git-subdir needs a path inside the repository")
		}
		if owner, name, ok := strings.Cut(s.URL, "/"); ok && validName(owner) && validName(name) {
			s.URL = "https://github.com/" + s.URL
		}
	}
	for _, v := range []string{s.Ref, s.SHA} {
		if strings.HasPrefix(v, "-") || strings.ContainsAny(v, " \t\n:\\^~?*[") {
			return fmt.Errorf("%q is no name of a commit or branch", fsys.Printable(v))
		}
	}
	return checkRemote(s.URL)
}

// checkRemote accepts addresses that git fetches without starting a helper
// program of the address's choice (ext::, remote helpers).
func checkRemote(remote string) error {
	if filepath.IsAbs(remote) {
		return nil
	}
	bad := remote == "" || strings.HasPrefix(remote, "-") || strings.Contains(remote, "::") || strings.ContainsFunc(remote, func(r rune) bool { return r <= ' ' })
	scheme, _, has := strings.Cut(remote, "://")
	if !bad && has {
		switch scheme {
		case "https", "ssh", "git+ssh", "file":
			return nil
		case "http":
			return checkURL(remote)
		}
	}
	host, path, scp := strings.Cut(remote, ":") // user@host:path
	if !bad && !has && scp && path != "" && strings.Contains(host, "@") && !strings.Contains(host, "/") {
		return nil
	}
	return fmt.Errorf("%q is no address of a git repository that hew fetches: use https, ssh, file or a path", fsys.Printable(remote))
}

// checkURL accepts https, and http on this machine only.
func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return fmt.Errorf("%q is no address", fsys.Printable(text))
	}
	host := u.Hostname()
	if u.Scheme == "https" || u.Scheme == "http" && (host == "localhost" || host == "127.0.0.1" || host == "::1") {
		return nil
	}
	return fmt.Errorf("%q must begin with https://", fsys.Printable(text))
}

// bare tells a repository without a work tree, whose files only git can read.
func bare(dir string) bool {
	return fsys.KindOf(filepath.Join(dir, filepath.FromSlash(MarketFile))) == fsys.KindMissing &&
		fsys.KindOf(filepath.Join(dir, "HEAD")) == fsys.KindRegular && fsys.KindOf(filepath.Join(dir, "objects")) == fsys.KindDir
}

// remote is the address for git, "" for other kinds.
func (s Source) remote() string {
	switch s.Kind {
	case "github":
		return "https://github.com/" + s.Repo + ".git"
	case "git", "url", "git-subdir":
		return s.URL
	}
	return ""
}

// String is the source for people.
func (s Source) String() string {
	at := ""
	if s.Ref != "" {
		at = " at " + s.Ref
	}
	if s.SHA != "" {
		at = " at " + s.SHA
	}
	switch s.Kind {
	case "github":
		return "github " + s.Repo + at
	case "directory", "file", "relative":
		return s.Path
	case "git-subdir":
		return s.URL + " " + s.Path + at
	case "npm":
		return "npm " + s.Package
	}
	return s.URL + at
}

// ParseMarketSource reads what a person writes: a folder, a file, owner/repo, an
// address of a git repository, or of a marketplace file. Behind # stands a ref.
func ParseMarketSource(cwd, text string) (Source, error) {
	if abs, err := fsys.Abs(cwd, text); err == nil && !strings.Contains(text, "://") {
		switch fsys.KindOf(abs) {
		case fsys.KindDir:
			if bare(abs) {
				return Source{Kind: "git", URL: abs}, nil
			}
			return Source{Kind: "directory", Path: abs}, nil
		case fsys.KindRegular:
			return Source{Kind: "file", Path: abs}, nil
		}
	}
	address, ref, _ := strings.Cut(text, "#")
	s := Source{Kind: "git", URL: address, Ref: ref}
	if owner, name, ok := strings.Cut(address, "/"); ok && validName(owner) && validName(name) {
		s = Source{Kind: "github", Repo: address, Ref: ref}
	} else if strings.HasPrefix(address, "http") && strings.HasSuffix(address, ".json") {
		s = Source{Kind: "url", URL: address}
		return s, checkURL(address)
	}
	if err := s.check(); err != nil {
		return Source{}, fmt.Errorf("%s is neither a folder, a marketplace file, owner/repo nor an address of a repository: %w", fsys.Printable(text), err)
	}
	return s, nil
}
