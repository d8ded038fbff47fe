package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/tool"
)

// UpdateKind is what an update does.
type UpdateKind string

// The kinds of update.
const (
	AddRules          UpdateKind = "addRules"
	ReplaceRules      UpdateKind = "replaceRules"
	RemoveRules       UpdateKind = "removeRules"
	SetMode           UpdateKind = "setMode"
	AddDirectories    UpdateKind = "addDirectories"
	RemoveDirectories UpdateKind = "removeDirectories"
)

// Destination is where an update is kept.
type Destination string

// The destinations.
const (
	ToSession Destination = "session"
	ToLocal   Destination = "localSettings"
	ToProject Destination = "projectSettings"
	ToUser    Destination = "userSettings"
	ToFlags   Destination = "cliArg"
)

// Update is one lasting change of the permission state.
type Update struct {
	Kind        UpdateKind
	Behavior    tool.Behavior
	Rules       []string
	Mode        Mode
	Directories []string
	Destination Destination
}

// maxSuggested is the largest number of rules that one answer may add: more
// cannot be shown.
const maxSuggested = 5

// suggest proposes lasting answers to the question. A proposal covers no more
// than the pattern it shows; where that cannot be said in a rule, there is none.
func (c *chain) suggest() []Update {
	if len(c.needs) != 1 || c.s.mode() == Plan || c.s.cfg.ManagedOnly {
		return nil
	}
	n := &c.needs[0]
	f := c.s.cfg.Families
	switch n.Kind {
	case tool.NeedRead:
		dir, ok := readDir(n.place)
		if !ok {
			return nil
		}
		return []Update{{Kind: AddRules, Behavior: tool.Allow, Rules: []string{f.Read + "(/" + escapeDir(dir) + "/**)"}, Destination: ToSession}}
	case tool.NeedEdit:
		return c.suggestEdit(n)
	case tool.NeedExec:
		return n.shell.suggest()
	case tool.NeedFetch:
		if !n.plain {
			return nil
		}
		return []Update{{Kind: AddRules, Behavior: tool.Allow, Rules: []string{f.Fetch + "(domain:" + n.host + ")"}, Destination: ToLocal}}
	case tool.NeedUse:
		rule := c.r.Spec.Name
		if n.Detail != "" {
			rule += "(" + escapeStars(n.Detail) + ")"
		}
		if _, _, _, ok := split(rule); !ok {
			return nil
		}
		return []Update{{Kind: AddRules, Behavior: tool.Allow, Rules: []string{rule}, Destination: ToLocal}}
	}
	return nil
}

// readDir is the folder whose reading would have to be allowed. There is none
// for a place that is reached by a link from another folder: an allow rule must
// cover both names, and one that covers both would be broader than what is shown.
func readDir(pl place) (string, bool) {
	if pl.lost {
		return "", false
	}
	dir := path.Dir(pl.names[0])
	for _, n := range pl.names {
		if path.Dir(n) != dir {
			return "", false
		}
	}
	return dir, dir != "/"
}

func escapeStars(s string) string { return strings.ReplaceAll(s, "*", `\*`) }

func (c *chain) suggestEdit(n *judged) []Update {
	if n.place.lost || c.s.protected(n.place) {
		return nil
	}
	if c.inside(n.place) {
		return []Update{{Kind: SetMode, Mode: AcceptEdits, Destination: ToSession}}
	}
	dir := path.Dir(n.place.names[len(n.place.names)-1])
	if c.criticalName(dir) {
		return nil
	}
	return []Update{
		{Kind: AddDirectories, Directories: []string{dir}, Destination: ToSession},
		{Kind: SetMode, Mode: AcceptEdits, Destination: ToSession},
	}
}

func (sc *shellCall) suggest() []Update {
	if len(sc.facts.Issues) > 0 {
		return nil
	}
	if _, ok := sc.protectedWrite(); ok {
		return nil // no rule and no mode that may be offered allows it
	}
	var rules, reads, dirs []string
	edits := false
	for i := range sc.facts.Parts {
		p := &sc.facts.Parts[i]
		if p.Shadow {
			if len(p.Forms.Possible) > 0 && p.Name == "" {
				return nil
			}
			continue
		}
		if _, ok := sc.part(i); ok {
			continue
		}
		switch p.Class {
		case shellread.ReadOnly:
			r, ok := sc.suggestReads(i)
			if !ok {
				return nil
			}
			reads = append(reads, r...)
		case shellread.FileEdit:
			edits = true
			dirs = append(dirs, sc.outsideDirs(i)...)
		case shellread.Other:
			rule, ok := suggestRule(p)
			if !ok || sc.redirects(i) {
				return nil
			}
			rules = append(rules, sc.c.s.cfg.Families.Exec+"("+rule+")")
		}
		if sc.redirects(i) {
			edits = true
			dirs = append(dirs, sc.outsideDirs(i)...)
		}
	}
	return sc.updates(distinct(rules), distinct(reads), distinct(dirs), edits)
}

func (sc *shellCall) updates(rules, reads, dirs []string, edits bool) []Update {
	if len(rules)+len(reads) > maxSuggested {
		return nil
	}
	var out []Update
	if len(rules) > 0 {
		out = append(out, Update{Kind: AddRules, Behavior: tool.Allow, Rules: rules, Destination: ToLocal})
	}
	if len(reads) > 0 {
		out = append(out, Update{Kind: AddRules, Behavior: tool.Allow, Rules: reads, Destination: ToSession})
	}
	if slices.ContainsFunc(dirs, sc.c.criticalName) {
		return nil
	}
	if len(dirs) > 0 {
		out = append(out, Update{Kind: AddDirectories, Directories: dirs, Destination: ToSession})
	}
	if edits {
		out = append(out, Update{Kind: SetMode, Mode: AcceptEdits, Destination: ToSession})
	}
	return out
}

func distinct(s []string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}

func (sc *shellCall) suggestReads(i int) ([]string, bool) {
	var out []string
	for j := range sc.spots[i] {
		sp := &sc.spots[i][j]
		if sp.open || len(sp.globs) > 0 || sp.arg.Access != shellread.AccessRead {
			return nil, sp.arg.Redirect && sp.arg.Access != shellread.AccessRead && !sp.open
		}
		for _, pl := range sp.places {
			if sc.c.inside(pl) {
				continue
			}
			dir, ok := readDir(pl)
			if !ok {
				return nil, false
			}
			out = append(out, sc.c.s.cfg.Families.Read+"(/"+escapeDir(dir)+"/**)")
		}
	}
	return out, true
}

func (sc *shellCall) outsideDirs(i int) []string {
	var out []string
	for j := range sc.spots[i] {
		for _, pl := range sc.spots[i][j].places {
			if !sc.c.inside(pl) {
				out = append(out, path.Dir(pl.names[len(pl.names)-1]))
			}
		}
	}
	return out
}

// suggestRule writes a rule for one part: program and subcommand with " *"
// where the program is one that has subcommands, the exact text otherwise.
func suggestRule(p *shellread.Part) (string, bool) {
	if p.Unruled != "" || len(p.Words) == 0 {
		return "", false
	}
	for _, w := range p.Words {
		if !w.Literal() || strings.ContainsAny(w.Source, "\n") {
			return "", false
		}
	}
	exact := ""
	if len(p.Forms.Exact) > 0 {
		exact = escapeStars(p.Forms.Exact[len(p.Forms.Exact)-1])
	}
	words := p.Words[p.Start:]
	if p.Start > 0 || p.ExactOnly || len(p.Forms.Allow) == 0 || len(words) < 2 || !subcommands(words) {
		return exact, exact != ""
	}
	return words[0].Text + " " + words[1].Text + " *", true
}

// withSubcommands lists programs whose first operand names what they do; for
// any other program a prefix could mean anything.
const withSubcommands = " npm npx pnpm yarn bun go cargo git docker podman kubectl helm gh glab terraform aws gcloud az dotnet mvn gradle rake bundle composer poetry uv mix cmake rustup brew apt systemctl "

func subcommands(words []shellread.Word) bool {
	sub := words[1].Text
	return strings.Contains(withSubcommands, " "+words[0].Text+" ") && sub != "" && sub[0] >= 'a' && sub[0] <= 'z' &&
		strings.Trim(sub, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
