// Package trust tells what a folder would run, its digest, and whether the user agreed.
//
// A repository can ask for hooks, variables, helper programs, servers and grants.
// Nothing of that counts until a person has said yes to it, and the yes holds for
// the content that was there: what is added or changed later asks again.
package trust

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/hew-agent/hew/internal/state/settings"
)

// Config says which folder is meant and what the user said on the command line.
type Config struct {
	// Settings locate the folder and its files; Trust, BaseURLs, FlagSettings and Sources are not read.
	Settings settings.Config
	// Run is what the user said for this run only.
	Run Consent
	// Includes lists what the folder's instruction files include from outside of
	// it. Optional.
	Includes func() []Include
	// ReadOnly keeps Check from recording what it sees for the first time.
	ReadOnly bool
}

// Include is a file outside of the folder that an instruction file of the folder
// gives to the model; both absolute, Real canonical.
type Include struct{ Real, From string }

// Consent is a person's word for one run.
type Consent int

// The consents. ConsentRun (--setting-sources naming project) covers what the
// folder runs; ConsentAll (--trust) what it grants and where it sends as well.
const (
	ConsentNone Consent = iota
	ConsentRun
	ConsentAll
)

// State says why a folder has the trust it has.
type State string

// The states.
const (
	// Nothing: the folder asks for nothing.
	Nothing State = "nothing"
	// Unknown: nobody has said yes.
	Unknown State = "unknown"
	// Accepted: the user agreed to all that is there.
	Accepted State = "accepted"
	// Changed: the user agreed, but to something else.
	Changed State = "changed"
	// Undecided: the content cannot be bound: a file cannot be read or the record not be kept.
	Undecided State = "undecided"
)

// Verdict is the outcome for one start of hew.
type Verdict struct {
	State State
	// Level and BaseURLs are what settings are loaded with.
	Level    settings.Trust
	BaseURLs settings.Confirmed
	// Includes tells that includes from outside count; see Included.
	Includes settings.Confirmed
	// Items are what the folder would run or be granted.
	Items []Item
	// Changes lead from what was agreed to to Items; filled when State is Changed.
	Changes []Change
	// Key is the folder that the mark is about.
	Key string
	// Trouble says why the state is Undecided.
	Trouble error
	all     bool // everything counts in this run
}

// Check collects what the folder asks for and compares it with what the user
// agreed to. The first content seen under a mark that another tool set is agreed
// to, and recorded here; nothing else is written.
func Check(c Config) Verdict {
	v := Verdict{Key: settings.TrustKey(c.Settings.Cwd), State: Nothing}
	var err error
	v.Items, err = c.collect()
	mark, markErr := settings.ReadTrust(c.Settings.Home, c.Settings.Cwd)
	if err = errors.Join(err, markErr); err != nil {
		v.State, v.Trouble = Undecided, err
		return v.granted(c.Run)
	}
	if mark != settings.Untrusted {
		v.compare(c, mark)
	} else if len(v.Items) > 0 {
		v.State = Unknown
	}
	return v.granted(c.Run)
}

// compare binds a mark to the content.
func (v *Verdict) compare(c Config, mark settings.Trust) {
	old, err := readRecord(c.Settings.Home, v.Key)
	switch {
	case err != nil:
		v.State, v.Trouble = Undecided, err
		return
	case old == nil:
		old = &record{Key: v.Key, Source: bySource, Items: v.Items}
		if c.ReadOnly {
			break
		}
		// Content that cannot be recorded cannot be bound either.
		if err := old.write(c.Settings.Home); err != nil && len(v.Items) > 0 {
			v.State, v.Trouble = Undecided, err
			return
		}
	}
	if v.Changes = changes(old.Items, v.Items); slices.ContainsFunc(v.Changes, Change.asks) {
		v.State = Changed
		return
	}
	v.Changes = nil
	v.State, v.Level = Accepted, mark
	if len(v.Items) == 0 {
		v.State = Nothing
	}
	own := mark == settings.Trusted
	v.BaseURLs = settings.Confirmed(own && old.Source == byUser)
	v.Includes = settings.Confirmed(own && v.includes() && (old.Source == byUser || settings.IncludesApproved(c.Settings.Home, c.Settings.Cwd)))
}

// granted adds the word for this run.
func (v Verdict) granted(run Consent) Verdict {
	switch run {
	case ConsentAll:
		v.Level, v.BaseURLs, v.Includes, v.all = settings.Trusted, true, true, true
	case ConsentRun:
		v.Level = max(v.Level, settings.ParentTrusted)
	case ConsentNone:
	}
	return v
}

// Skipped lists what does not count in this run, of the files that are read at
// all; nil sources are all of them.
func (v Verdict) Skipped(sources []settings.Scope) []Item {
	var out []Item
	for _, it := range v.Items {
		scope := settings.Project
		if it.Local {
			scope = settings.Local
		}
		if sources != nil && !slices.Contains(sources, scope) {
			continue
		}
		if !v.counts(it.Kind) {
			out = append(out, it)
		}
	}
	return out
}

func (v Verdict) counts(k Kind) bool {
	switch k {
	case BaseURL:
		return bool(v.BaseURLs)
	case Outside:
		return bool(v.Includes)
	case AllowRule, Directory, Mode, Marketplace, Sandbox:
		return v.Level == settings.Trusted
	case Hook, Variable, Helper, Server, Plugin, Agent, Skill, Command, Script, Other:
	}
	return v.Level != settings.Untrusted
}

func (v Verdict) includes() bool {
	return slices.ContainsFunc(v.Items, func(it Item) bool { return it.Kind == Outside })
}

// Included tells whether an instruction file of the folder may include the file
// of this canonical name from outside.
func (v Verdict) Included(real string) bool {
	return v.all || bool(v.Includes) && slices.ContainsFunc(v.Items, func(it Item) bool { return it.Kind == Outside && it.Text == real })
}

// Accept records the user's yes to what the folder asks for now: the mark that
// the ecosystem's tools share, and the content beside it.
func Accept(ctx context.Context, c Config) (Verdict, error) {
	items, err := c.collect()
	if err != nil {
		return Verdict{}, err
	}
	key := settings.TrustKey(c.Settings.Cwd)
	old, err := readRecord(c.Settings.Home, key)
	if err != nil || old == nil {
		old = &record{Key: key} // what cannot be read is replaced
	}
	// A yes in one folder of a checkout says nothing about the others.
	keep := slices.DeleteFunc(slices.Clone(old.Items), func(it Item) bool { return it.Folder == folder(c.Settings.Cwd) })
	next := &record{Key: key, Source: byUser, Items: append(keep, items...)}
	if err := next.write(c.Settings.Home); err != nil {
		return Verdict{}, err
	}
	if err := settings.AcceptTrust(ctx, c.Settings.Home, c.Settings.Cwd); err != nil {
		return Verdict{}, err
	}
	return Check(c), nil
}

// Forget takes the yes back. The record stays, so that a mark of another tool
// does not make new content pass.
func Forget(ctx context.Context, c Config) error {
	return settings.ForgetTrust(ctx, c.Settings.Home, c.Settings.Cwd)
}

// folder is where in its checkout a folder lies, as a slash path: "." for the
// root, the same in every worktree.
func folder(cwd string) string {
	rel, err := filepath.Rel(settings.CheckoutRoot(cwd), cwd)
	if err != nil {
		return "."
	}
	return filepath.ToSlash(rel)
}
