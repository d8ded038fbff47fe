package wiring

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/hew-agent/hew/internal/action/gate"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/tool"
)

// fileMentions finds @path and @"path with blanks", each with #L5 or #L5-7 behind it.
var fileMentions = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[\s(])@(?:"([^"\n]+)"|([^\s"'()]+))`)
})

var lineRange = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+)#L(\d{1,9})(?:-L?(\d{1,9}))?$`) })

// Bounds of what one prompt may bring in.
const (
	maxNamed  = 20
	maxListed = 200 // names of a folder
)

// fileMention shows the model files and folders that a prompt names with @, when
// a call of the tool that reads would run unasked. What is not there, or not
// allowed, stays a word of the prompt.
type fileMention struct{ b *build }

// Name is the source's word for programs.
func (fileMention) Name() string { return "file_mention" }

// Class says that it comes with what the user says.
func (fileMention) Class() prompt.Class { return prompt.OnDemand }

// Delta is one reminder for each file or folder that is named.
func (m fileMention) Delta(ctx context.Context, f prompt.Facts) ([]prompt.Item, error) {
	var out []prompt.Item
	seen := map[string]bool{}
	for _, words := range f.Words {
		for _, hit := range fileMentions().FindAllStringSubmatch(words, maxNamed) {
			name := hit[1] + hit[2]
			if seen[name] || len(seen) == maxNamed {
				continue
			}
			seen[name] = true
			if text := m.show(ctx, name); text != "" {
				out = append(out, prompt.Item{Text: text})
			}
		}
	}
	return out, nil
}

// show is what the model is told of a name, "" for nothing.
func (m fileMention) show(ctx context.Context, name string) string {
	name = strings.TrimRight(name, ".,;:!?")
	from, lines := 0, 0
	if r := lineRange().FindStringSubmatch(name); r != nil {
		name = r[1]
		from, lines = number(r[2]), 1
		if r[3] != "" {
			lines = max(1, number(r[3])-from+1)
		}
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(m.b.env("HOME"), rest)
	}
	at, err := fsys.Locate(m.b.conv.Engine.Place().Cwd, name)
	if err != nil {
		return ""
	}
	switch fsys.KindOf(at.Real) {
	case fsys.KindRegular:
		return m.file(ctx, at.Real, from, lines)
	case fsys.KindDir:
		return m.folder(at.Real)
	default:
		return ""
	}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0 // too large: all that there is
	}
	return n
}

// file reads as the model would.
func (m fileMention) file(ctx context.Context, path string, from, lines int) string {
	in := map[string]any{"file_path": path}
	if from > 0 {
		in["offset"], in["limit"] = from, lines
	}
	p, ok := m.plan(in)
	if !ok {
		return ""
	}
	r := p.Call.Run(ctx, func(tool.Progress) {})
	var text strings.Builder
	for _, b := range r.Content {
		if t, ok := b.(*msg.Text); ok {
			text.WriteString(t.Text)
		}
	}
	if r.IsError || text.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("The user names %s. It was read for you with the %s tool and input %s:\n%s", path, p.Use.Name, p.Use.Input, text.String())
}

// folder lists names, when reading in it is allowed.
func (m fileMention) folder(path string) string {
	if _, ok := m.plan(map[string]any{"file_path": filepath.Join(path, "x")}); !ok {
		return ""
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The user names the folder %s. It holds:\n", path)
	for i, e := range entries {
		if i == maxListed {
			fmt.Fprintf(&b, "and %d more\n", len(entries)-i)
			break
		}
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		b.WriteString(fsys.Printable(name) + "\n")
	}
	return b.String()
}

// plan is the call that reads, if it would run unasked.
func (m fileMention) plan(in map[string]any) (tool.Planned, bool) {
	t, ok := m.b.conv.Engine.Tool("Read")
	if !ok || !m.b.gateRef.Offered(t.Spec()) {
		return tool.Planned{}, false
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return tool.Planned{}, false // plain values: cannot fail
	}
	env := m.b.conv.Engine.Env()
	call, err := t.Plan(raw, env)
	if err != nil {
		return tool.Planned{}, false
	}
	p := tool.Planned{Tool: t, Use: msg.NewToolUse("mention", t.Spec().Name, raw), Call: call, Env: env}
	return p, m.b.gateRef.Explain(p, gate.HookAnswer{}).Behavior == tool.Allow
}
