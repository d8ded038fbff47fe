package builtin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// ToolSearchName is the tool that loads the definitions of deferred tools.
const ToolSearchName = "ToolSearch"

// How many tools one search loads when the model does not say, and at most.
const (
	searchDefault = 5
	searchMost    = 50
)

// loadedPrefix opens the line of a result that names what was loaded; a resumed
// session reads it again. See LoadedTools.
const loadedPrefix = "Loaded: "

type searchInput struct {
	Query string `json:"query"`
	Max   int    `json:"max_results"`
}

func newToolSearch(c *Config) tool.Tool {
	spec := tool.Spec{Name: ToolSearchName, Condition: "tools are deferred (see ENABLE_TOOL_SEARCH)"}
	return define("tool_search", spec, func(in searchInput, _ tool.Env) (tool.Call, error) {
		if strings.TrimSpace(in.Query) == "" {
			return nil, &tool.InputError{Tool: ToolSearchName, Faults: []string{"The parameter `query` is empty"}}
		}
		return &tool.Func{
			// One after the other: the order in which tools are loaded is the order of their
			// definitions in later requests, also after a resume.
			Facts: tool.Traits{ReadOnly: true}, Line: "Load tools: " + in.Query,
			Do: func(context.Context, func(tool.Progress)) tool.Result { return loaded(in, c.Deferred()) },
		}, nil
	})
}

// loaded answers one search.
func loaded(in searchInput, deferred []tool.Spec) tool.Result {
	found := find(in, deferred)
	names := []string{}
	for _, s := range found {
		names = append(names, s.Name)
	}
	data := map[string]any{"matches": names, "query": in.Query, "total_deferred_tools": len(deferred)}
	if len(found) == 0 {
		return done("No matching deferred tools found", data, nil)
	}
	var b strings.Builder
	b.WriteString(loadedPrefix + strings.Join(names, ", ") + "\nThey can be called from your next reply on:\n")
	for _, s := range found {
		fmt.Fprintf(&b, "- %s: %s\n", s.Name, headline(s.Description))
	}
	r := done(strings.TrimSpace(b.String()), data, nil)
	r.Effects = []tool.Effect{tool.LoadTools{Names: names}}
	return r
}

// headline is the first line of a description, cut to a readable length.
func headline(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(line); len(r) > 160 {
		return string(r[:160]) + "…"
	}
	return line
}

// find understands the three forms of a query: "select:A,B" takes tools by
// name; words rank them; "+word" wants the word in the name.
func find(in searchInput, deferred []tool.Spec) []tool.Spec {
	most := in.Max
	if most <= 0 {
		most = searchDefault
	}
	if list, ok := strings.CutPrefix(strings.TrimSpace(in.Query), "select:"); ok {
		return selected(list, deferred)
	}
	found := ranked(in.Query, deferred)
	return found[:min(len(found), most, searchMost)]
}

// selected are the tools named, in the order of the names.
func selected(list string, deferred []tool.Spec) []tool.Spec {
	var out []tool.Spec
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(deferred, func(s tool.Spec) bool { return s.Name == name || slices.Contains(s.Aliases, name) })
		if i < 0 {
			i = slices.IndexFunc(deferred, func(s tool.Spec) bool { return strings.EqualFold(s.Name, name) })
		}
		if i >= 0 && !slices.ContainsFunc(out, func(s tool.Spec) bool { return s.Name == deferred[i].Name }) {
			out = append(out, deferred[i])
		}
	}
	return out
}

// ranked are the tools that the words fit, the best first; equals keep the
// order of their names.
func ranked(query string, deferred []tool.Spec) []tool.Spec {
	type hit struct {
		tool.Spec
		score int
	}
	var hits []hit
	for _, s := range deferred {
		if n := score(strings.Fields(strings.ToLower(query)), s); n > 0 {
			hits = append(hits, hit{s, n})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.Name, b.Name))
	})
	var out []tool.Spec
	for _, h := range hits {
		out = append(out, h.Spec)
	}
	return out
}

// score weighs a word as a part of the name more than inside of it, and that
// more than in the description. 0 is no match.
func score(words []string, s tool.Spec) int {
	name, parts := strings.ToLower(s.Name), parts(s.Name)
	about := strings.FieldsFunc(strings.ToLower(s.Description), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	total := 0
	for _, w := range words {
		w, must := strings.CutPrefix(w, "+")
		switch {
		case w == "":
		case slices.Contains(parts, w):
			total += 10
		case strings.Contains(name, w):
			total += 5
		case must:
			return 0
		case slices.Contains(about, w):
			total += 2
		}
	}
	return total
}

// parts are the words of a name: between "_" and "-", and at capitals.
func parts(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if unicode.IsUpper(r) && lower {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		if r == '_' || r == '-' {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}

// LoadedTools are the names that searches in history have loaded, in order.
func LoadedTools(history []*msg.Message) []string {
	uses := map[string]bool{}
	var out []string
	for _, m := range history {
		for _, b := range m.Blocks {
			switch b := b.(type) {
			case *msg.ToolUse:
				uses[b.ID] = uses[b.ID] || b.Name == ToolSearchName
			case *msg.ToolResult:
				if uses[b.ToolUseID] && !b.IsError {
					out = append(out, named(b.Content)...)
				}
			case *msg.Text, *msg.Thinking, *msg.Image, *msg.Document, *msg.Opaque:
			}
		}
	}
	return out
}

// named reads the names of a result.
func named(content []msg.Block) []string {
	for _, b := range content {
		t, ok := b.(*msg.Text)
		if !ok {
			continue
		}
		line, _, _ := strings.Cut(t.Text, "\n")
		if list, ok := strings.CutPrefix(line, loadedPrefix); ok {
			return strings.Split(list, ", ")
		}
	}
	return nil
}
