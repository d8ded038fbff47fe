package classify

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/tool"
)

// maxAction bounds the input of the call to judge, in bytes. It is shown whole or
// not at all: what was cut out could be the part that matters.
const maxAction = 32_000

// maxGuidance bounds the instruction files, in bytes.
const maxGuidance = 40_000

//go:embed system.md
var systemText string

// Instructions at the end of the two requests; all before them is the same.
const (
	quick = `Judge <action> now, in one word and nothing else: allow, or block. When in doubt, say block: a block is looked at again with more care.`
	slow  = `A quick look did not clear <action>. Judge it now with care. Reply with one JSON object and nothing else, its members in this order:
{"reasons": "two or three sentences: which rule or which user message decides, and how", "rule": "hard_deny" or "soft_deny" or "allow" or "intent" or "none", "decision": "allow" or "block"}
"rule" names the kind of rule that decides: "intent" when the user explicitly asked for this exact action, "none" when no rule touches it.`
)

// Guidance is one instruction file.
type Guidance struct {
	// Label says whose it is, Path where it stands.
	Label, Path, Text string
}

// system is the part that all requests of a session share.
func system(r Rules) string {
	var b strings.Builder
	b.WriteString(systemText)
	for _, s := range []struct {
		name  string
		rules []string
	}{
		{"hard_deny", r.HardDeny},
		{"soft_deny", r.SoftDeny},
		{"allow", r.Allow},
		{"environment", r.Environment},
	} {
		fmt.Fprintf(&b, "\n<%s>\n", s.name)
		for _, text := range s.rules {
			b.WriteString("- " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n")
		}
		fmt.Fprintf(&b, "</%s>\n", s.name)
	}
	return b.String()
}

// facts is everything about one call, without the instruction at the end.
func (c *Classifier) facts(p tool.Planned, why, git string) (string, error) {
	input, err := decode(p.Use.Input)
	if err != nil {
		return "", fmt.Errorf("the input of the call cannot be read: %w", err)
	}
	action := jsonLine("action", struct {
		Tool  string `json:"tool"`
		Input any    `json:"input"`
		Dir   string `json:"directory"`
		Why   string `json:"stopped_by"`
	}{p.Use.Name, input, p.Env.Cwd, why})
	if len(action) > maxAction {
		return "", fmt.Errorf("the call is too large for the classifier (%d bytes)", len(action))
	}
	said, err := c.c.Transcript.render()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	section(&b, "guidance", c.guidance())
	section(&b, "conversation", said)
	section(&b, "session", jsonLine("start_directory", p.Env.Project)+git)
	section(&b, "action", action)
	return b.String(), nil
}

func section(b *strings.Builder, name, body string) {
	fmt.Fprintf(b, "<%s>\n%s</%s>\n", name, body, name)
}

// guidance shows the instruction files, each cut to what is left of the bound.
func (c *Classifier) guidance() string {
	if c.c.Guidance == nil {
		return ""
	}
	var b strings.Builder
	left := maxGuidance
	for _, g := range c.c.Guidance() {
		text := g.Text
		if len(text) > left {
			text = strings.ToValidUTF8(text[:left], "") + "… the rest is left out"
		}
		left = max(0, left-len(text))
		b.WriteString(jsonLine("file", map[string]string{"path": g.Path, "whose": g.Label, "text": text}))
	}
	return b.String()
}
