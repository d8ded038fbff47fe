package plugin

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/state/settings"
)

// Loaded is a plugin that a session could have.
type Loaded struct {
	ID     ID
	Plugin *catalog.Plugin
	// Scope is whose it is: user, project, local, managed, "command line".
	Scope string
	// Options are the answers to its questions.
	Options map[string]string
	// Public are those of them that are not secret.
	Public map[string]string
	// Off says why it is not in use, "" when it is.
	Off string
	// Fault tells that Off is something that a person should mend.
	Fault bool
}

// Session says what one session asks for.
type Session struct {
	// Trust is the folder's level, Dirs are the values of --plugin-dir.
	Trust settings.Trust
	Dirs  []string
	// User and Project tell which scopes are read (--setting-sources).
	User, Project bool
}

// Load finds the plugins of a session. An error is about Dirs, which the user
// gave for this run; all else is told in the list.
func (s *Store) Load(c Session) ([]Loaded, error) {
	var out []Loaded
	for _, dir := range c.Dirs {
		l, err := s.inline(dir)
		if err != nil {
			return nil, fmt.Errorf("--plugin-dir: %w", err)
		}
		out = append(out, l)
	}
	out = append(out, s.enabled()...)
	out = append(out, s.skillsDirs(c)...)
	settle(out)
	for i := range out {
		s.answer(&out[i])
	}
	return out, nil
}

// settle decides between plugins of one name, the first counts, and switches
// off what lacks something it needs.
func settle(list []Loaded) {
	names := map[string]ID{}
	for i := range list {
		l := &list[i]
		if l.Off != "" {
			continue
		}
		if by, taken := names[l.Plugin.Name]; taken {
			l.Off, l.Fault = fmt.Sprintf("the name belongs to %s already", by), true
			continue
		}
		names[l.Plugin.Name] = l.ID
	}
	for again := true; again; {
		again = false
		for i := range list {
			if l := &list[i]; l.Off == "" {
				if lack := lacks(l, list); lack != "" {
					l.Off, l.Fault, again = lack, true, true
				}
			}
		}
	}
}

func lacks(l *Loaded, list []Loaded) string {
	deps, err := Dependencies(l.Plugin)
	if err != nil {
		return err.Error()
	}
	for _, d := range deps {
		have := slices.IndexFunc(list, func(o Loaded) bool {
			return o.Off == "" && o.ID.Name == d.ID.Name && (d.ID.Market == "" || o.ID.Market == d.ID.Market)
		})
		if have < 0 {
			return "it needs the plugin " + d.ID.String() + ", which is not in use"
		}
		if ok, err := d.fits(list[have].Plugin.Version); err != nil || !ok {
			return fmt.Sprintf("it needs the plugin %s %s, not %s", d.ID, d.Version, list[have].Plugin.Version)
		}
	}
	return ""
}

func (s *Store) answer(l *Loaded) {
	if l.Off != "" {
		return
	}
	answers, missing, err := s.Answers(l.ID, l.Plugin)
	if err != nil {
		l.Off, l.Fault = err.Error(), true
		return
	}
	l.Options, l.Public = answers, map[string]string{}
	if list, err := Options(l.Plugin); err == nil { // Answers has read them
		for _, o := range list {
			if v, ok := answers[o.Key]; ok && !o.Sensitive {
				l.Public[o.Key] = v
			}
		}
	}
	if len(missing) > 0 {
		l.Off, l.Fault = fmt.Sprintf("it wants to be told %s: hew plugin configure %s %s=…", keyList(missing), l.ID, missing[0]), true
	}
}

func keyList(keys []string) string {
	var out strings.Builder
	for i, k := range keys {
		if i > 0 {
			out.WriteString(", ")
		}
		out.WriteString(k)
	}
	return out.String()
}

// inline reads a plugin that the command line names: the user's word for this run.
func (s *Store) inline(dir string) (Loaded, error) {
	path, err := fsys.Abs(s.Settings.Cwd, dir)
	if err != nil {
		return Loaded{}, err
	}
	if fsys.KindOf(path) == fsys.KindRegular {
		if path, err = s.unpacked(path); err != nil {
			return Loaded{}, err
		}
	}
	if path, err = fsys.Real(path); err != nil {
		return Loaded{}, err
	}
	if fsys.KindOf(path) != fsys.KindDir {
		return Loaded{}, fmt.Errorf("%s is not there or is no folder", fsys.Printable(dir))
	}
	p, err := catalog.ReadPlugin(path, filepath.Base(path))
	if err != nil {
		return Loaded{}, err
	}
	p.Market = Inline
	id := ID{p.Name, Inline}
	p.Data = s.Data(id)
	return Loaded{ID: id, Plugin: p, Scope: settings.Flag.String()}, nil
}

// unpacked is the folder of an archive, which is unpacked once for its content.
func (s *Store) unpacked(path string) (string, error) {
	data, _, err := fsys.ReadRaw(path, fsys.Limits{MaxBytes: maxArchive})
	if err != nil {
		return "", err
	}
	staged, err := s.stage()
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(staged) }() // the sweep takes what is left
	tree := filepath.Join(staged, "tree")
	if err := os.MkdirAll(tree, 0o755); err != nil {
		return "", err
	}
	if err := unpack(data, tree, maxUnpack); err != nil {
		return "", fmt.Errorf("%s: %w", fsys.Printable(path), err)
	}
	tree = single(tree)
	sum, err := digest(tree)
	if err != nil {
		return "", err
	}
	to := s.dir("cache", Inline, "archive", sum[:16])
	if fsys.KindOf(to) == fsys.KindMissing {
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return "", err
		}
		if err := os.Rename(tree, to); err != nil {
			return "", err
		}
	}
	return to, nil
}

// enabled are the plugins that settings turn on or off.
func (s *Store) enabled() []Loaded {
	var out []Loaded
	for _, name := range s.Values.Keys("enabledPlugins") {
		id, err := ParseID(name)
		if err != nil || id.Market == "" {
			out = append(out, Loaded{ID: ID{Name: fsys.Printable(name)}, Off: "the settings name it without a marketplace: write NAME@MARKETPLACE", Fault: true})
			continue
		}
		if id.Market == SkillsDir {
			continue
		}
		origin, _ := s.Values.Origin("enabledPlugins", name)
		l := Loaded{ID: id, Scope: origin.Scope.String()}
		on, isBool := s.Values.Bool("enabledPlugins", name)
		s.installed(&l, on || !isBool)
		out = append(out, l)
	}
	return out
}

func (s *Store) installed(l *Loaded, on bool) {
	i, ok, err := s.find(l.ID)
	switch {
	case err != nil:
		l.Off, l.Fault = err.Error(), true
		return
	case !ok:
		l.Off, l.Fault = "it is not installed: hew plugin install "+l.ID.String(), on
		if !on {
			l.Off = "switched off"
		}
		return
	}
	if l.Plugin, err = s.read(i); err != nil {
		l.Off, l.Fault = err.Error(), true
		return
	}
	switch {
	case !on:
		l.Off = "switched off"
	case s.blocked(l.ID.Market) != nil:
		l.Off, l.Fault = s.blocked(l.ID.Market).Error(), true
	default:
		changes, err := s.waiting(l.ID, l.Plugin)
		if err != nil {
			l.Off, l.Fault = err.Error(), true
		} else if len(changes) > 0 {
			l.Off = fmt.Sprintf("it would run or be granted something that was not agreed to (%s): hew plugin approve %s shows and agrees", Summary(grantsOf(changes)), l.ID)
			l.Fault = true
		}
	}
}

func grantsOf(list []Change) []catalog.Grant {
	out := make([]catalog.Grant, len(list))
	for i, c := range list {
		out[i] = c.New
	}
	return out
}

// blocked asks the administrator's lists about a marketplace that was added before
// they were written. A marketplace that is gone is judged by nothing but a list
// of the only ones allowed.
func (s *Store) blocked(market string) error {
	_, strict := s.Values.Raw("strictKnownMarketplaces")
	_, black := s.Values.Raw("blockedMarketplaces")
	if !strict && !black {
		return nil
	}
	list, err := s.Markets()
	if err != nil {
		return err
	}
	for _, k := range list {
		if k.Name == market {
			return s.allowed(k.Source)
		}
	}
	if strict {
		return fmt.Errorf("%w: the administrator allows certain marketplaces only, and where %s came from is not known", ErrRefused, market)
	}
	return nil
}

// skillsDirs are the plugins that lie in folders of skills: the user's, and
// those of a project that is trusted.
func (s *Store) skillsDirs(c Session) []Loaded {
	var out []Loaded
	if c.User {
		out = append(out, s.skillsDir(filepath.Join(s.Settings.Home.Dir, "skills"), "user", "")...)
	}
	if c.Project {
		why := ""
		if c.Trust == settings.Untrusted {
			why = "this folder is not trusted: hew trust"
		}
		dirs := []string{s.Settings.Cwd}
		if root := s.project(); root != s.Settings.Cwd {
			dirs = append(dirs, root)
		}
		for _, dir := range dirs {
			out = append(out, s.skillsDir(filepath.Join(dir, ".claude", "skills"), "project", why)...)
		}
	}
	return out
}

func (s *Store) skillsDir(dir, scope, why string) []Loaded {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []Loaded
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(path, filepath.FromSlash(catalog.ManifestFile))); err != nil {
			continue
		}
		id := ID{fsys.Printable(e.Name()), SkillsDir}
		l := Loaded{ID: id, Scope: scope, Off: why}
		if on, set := s.Values.Bool("enabledPlugins", e.Name()+"@"+SkillsDir); set && !on {
			l.Off = "switched off"
		}
		p, err := catalog.ReadPlugin(path, e.Name())
		if err != nil {
			l.Off, l.Fault = err.Error(), why == ""
		} else {
			p.Market, p.Data, l.Plugin = SkillsDir, s.Data(ID{p.Name, SkillsDir}), p
			l.ID.Name = p.Name
		}
		out = append(out, l)
	}
	return out
}

// Find is a plugin that is installed here, whether or not the settings name it.
func (s *Store) Find(id ID) (Loaded, error) {
	i, ok, err := s.find(id)
	if err != nil || !ok {
		return Loaded{}, orUnknown(err, id)
	}
	p, err := s.read(i)
	return Loaded{ID: id, Plugin: p, Scope: i.Scope, Off: "no settings name it"}, err
}
