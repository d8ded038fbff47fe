// Package policy holds rules, modes, chain → Decision; a pure function of request and snapshot (links and globs through a two-method `Paths` port in the request).
//
// The order is fixed: deny rules, ask rules, safety checks, the mode, allow
// rules, then the question. The first list with a match decides, however
// specific the others are, and a rule of any scope can deny. What is not
// understood asks.
package policy

import (
	"encoding/json"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/tool"
)

// Scope is where a rule comes from.
type Scope string

// The scopes, most powerful first. The order matters for display only: any
// scope can deny, and nothing lifts a denial.
const (
	ScopeManaged Scope = "managed"
	ScopeFlags   Scope = "cli"
	ScopeLocal   Scope = "local"
	ScopeProject Scope = "project"
	ScopeUser    Scope = "user"
	ScopeSession Scope = "session"
)

// Origin is the provenance of a rule.
type Origin struct {
	Scope Scope
	// File is the settings file, or words such as "--allowedTools".
	File string
	// Dir is the folder that "/path" rules of this origin start from; empty
	// means the start directory.
	Dir string
}

// Layer is the rule lists of one origin, as written.
type Layer struct {
	Origin           Origin
	Allow, Ask, Deny []string
	// Held layers belong to a folder that is not trusted: their allow rules are
	// not used. Deny and ask rules always hold.
	Held bool
}

// Families are the rule names that judge the kinds of access: path rules for
// reading and for editing, command rules, domain rules. The tools themselves
// name them in Spec.RuleFamily or by being called so.
type Families struct{ Read, Edit, Exec, Fetch string }

// FileSystem tells how names compare where the session runs.
type FileSystem struct {
	CaseInsensitive bool
	// Normalizing file systems treat composed and decomposed spellings as one.
	Normalizing bool
}

// Config is everything a Snapshot is made of.
type Config struct {
	Layers   []Layer
	Mode     Mode
	Families Families
	// Tools is the known tool set; rules that name none of it are warned about.
	Tools []tool.Spec
	// Project is the start directory and Home the user's, absolute. Roots are
	// further working directories, absolute or relative to Project.
	Project, Home string
	Roots         []string
	FS            FileSystem
	// Protected are further files and folders, absolute, that allow rules never
	// open for writing: hew's own configuration.
	Protected []string
	// Output are folders, absolute, where hew keeps what the session's own
	// commands printed. Reading there needs no rule: the model has seen the
	// beginning of it and is told where the rest is.
	Output []string
	// Notes are folders, absolute, where the model keeps its own notes: the file
	// tools read and write there unasked, but for names that are protected below
	// them. Rules, plan mode and links that lead out hold all the same.
	Notes []string
	// DocHosts are fetched unasked unless a rule says otherwise.
	DocHosts []string

	// ManagedOnly drops allow, ask and deny rules of every other scope.
	ManagedOnly bool
	// BlockReadsOutside and BlockWritesOutside refuse file tools outside the
	// working directories whatever the rules allow; shell commands that name
	// such paths ask.
	BlockReadsOutside, BlockWritesOutside bool
	// NoPrompts marks every question NoPrompt.
	NoPrompts bool
	// ClassifyAllShell suspends every allow rule for shell commands while auto
	// mode's classifier judges, not only the broad ones.
	ClassifyAllShell bool
	// ClassifyInPlan lets auto mode's classifier judge, in plan mode too, the shell
	// commands that would be asked about.
	ClassifyInPlan bool
	// BypassDisabled makes the bypass mode act as the default one.
	BypassDisabled bool

	// GitPrograms says why git's reading commands, run in a folder, could start
	// a program that the repository there names, "" when they could not. Like
	// Paths it only looks. nil: the repository is trusted.
	GitPrograms func(dir string) string

	// Reader remembers what command texts mean; nil reads anew each time.
	Reader *shellread.Reader
}

// Paths is what a decision may ask about the file system.
type Paths interface {
	// Resolve returns path, which is absolute but need not be clean, with every
	// link resolved from left to right as the kernel does. A tail that does not
	// exist is kept. ok is false when the path cannot be resolved.
	Resolve(path string) (real string, ok bool)
	// Glob returns the existing names that an absolute shell pattern matches.
	Glob(pattern string) []string
}

// Shell is the language of the shell that runs commands.
type Shell = shellread.Shell

// Request is one call to decide about.
type Request struct {
	Spec   tool.Spec
	Input  json.RawMessage
	Needs  []tool.Need
	Traits tool.Traits
	// Cwd is where the call runs; empty means the start directory.
	Cwd   string
	Paths Paths
	Shell Shell
	// Hook is what PreToolUse hooks answered: "" when nothing, otherwise one of
	// the behaviors, with the hook's reason.
	Hook       tool.Behavior
	HookReason string
	// Sandboxed tells that a shell call would run confined and that this is
	// enough to run it unasked.
	Sandboxed bool
}

// Decision is the outcome. Decision.Trace lists every step that was taken.
type Decision struct {
	tool.Decision
	// Part is the piece of a compound call that decided, "" for the whole.
	Part string
	// Classify tells that the auto-mode classifier answers before a person.
	Classify bool
	// NoPrompt tells that nobody is to be asked: permission hooks may still
	// answer, otherwise the call is refused.
	NoPrompt bool
	// Forced questions come from an ask rule or a safety check that nothing but
	// a person may answer.
	Forced bool
	// Suggest holds the lasting answers to offer; none covers more than what is
	// shown with it.
	Suggest []Update
}

// Snapshot is an immutable state of rules and mode. It is safe for concurrent use.
type Snapshot struct {
	cfg      Config
	deny     ruleSet
	ask      ruleSet
	allow    ruleSet
	roots    []string
	home     string
	warnings []Warning
}

// ruleSet is one list, with the rules of the families apart so that a decision
// looks only at those that can match.
type ruleSet struct {
	all []*Rule
	// general rules are about a call as a whole: plain tools, parameters,
	// servers, domains, names in parentheses.
	general []*Rule
	exec    []*Rule
	read    []*Rule
	edit    []*Rule
}

// New compiles cfg. Rules that cannot be used are left out and reported by
// Warnings; that is never an error, because one bad rule must not switch off
// the others.
func New(cfg Config) *Snapshot {
	s := &Snapshot{cfg: cfg, home: clean(cfg.Home)}
	s.roots = append(s.roots, clean(cfg.Project))
	for _, r := range cfg.Roots {
		s.roots = append(s.roots, s.absolute(r, cfg.Project))
	}
	for _, l := range cfg.Layers {
		if cfg.ManagedOnly && l.Origin.Scope != ScopeManaged {
			continue
		}
		s.add(&s.deny, tool.Deny, l.Deny, l.Origin)
		s.add(&s.ask, tool.Ask, l.Ask, l.Origin)
		if l.Held {
			continue
		}
		s.add(&s.allow, tool.Allow, l.Allow, l.Origin)
	}
	return s
}

func (s *Snapshot) add(set *ruleSet, b tool.Behavior, texts []string, o Origin) {
	for _, text := range texts {
		r, why := s.compile(text, b, o)
		if why != "" {
			s.warnings = append(s.warnings, Warning{Rule: text, Behavior: b, Origin: o, Text: why})
		}
		if r == nil {
			continue
		}
		set.all = append(set.all, r)
		if f := s.cfg.Families; r.whole() || r.param != "" || r.Tool != f.Exec && r.Tool != f.Read && r.Tool != f.Edit {
			set.general = append(set.general, r)
		}
		switch r.Tool {
		case s.cfg.Families.Exec:
			set.exec = append(set.exec, r)
		case s.cfg.Families.Read:
			// A rule that takes the reading tools away is not about what shell
			// commands read: no command could run under it.
			if !r.whole() || b == tool.Allow {
				set.read = append(set.read, r)
			}
		case s.cfg.Families.Edit:
			set.edit = append(set.edit, r)
		}
	}
}

// Warnings lists the rules that were skipped or can never match, with the reason.
func (s *Snapshot) Warnings() []Warning { return s.warnings }

// Mode returns the permission mode.
func (s *Snapshot) Mode() Mode { return s.cfg.Mode }

// Config returns what the snapshot was made of. The caller must not change it.
func (s *Snapshot) Config() Config { return s.cfg }

// Rules returns the rules in force with one behavior, in the order they are tried.
func (s *Snapshot) Rules(b tool.Behavior) []Rule {
	var set ruleSet
	switch b {
	case tool.Deny:
		set = s.deny
	case tool.Ask:
		set = s.ask
	case tool.Allow:
		set = s.allow
	}
	out := make([]Rule, len(set.all))
	for i, r := range set.all {
		out[i] = *r
	}
	return out
}
