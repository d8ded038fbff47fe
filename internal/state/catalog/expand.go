package catalog

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Values are what a skill's placeholders stand for.
type Values struct {
	// Arguments is what was typed after the name, as it was typed.
	Arguments string
	// Session, Effort and Project are those of the conversation.
	Session, Effort, Project string
	// Options are the answers that the user gave a plugin, by key.
	Options map[string]string
}

// Piece is a part of a rendered skill: text, or a command whose output stands
// there. A command was written by the skill's author; nothing of the arguments
// is in it unless its author put a placeholder there.
type Piece struct {
	Text    string
	Command string // "" for text
}

// Expand replaces the placeholders of a skill's body and cuts it at the
// commands to run. What a command prints is not looked at again.
func (s *Skill) Expand(body string, v Values) []Piece {
	fill := newFiller(s, v)
	pieces := cut(body)
	for i := range pieces {
		pieces[i].Text = fill.text(pieces[i].Text)
	}
	// What a person answered never becomes part of a command: the shell would run it.
	fill.forget("user_config.")
	for i := range pieces {
		pieces[i].Command = fill.text(pieces[i].Command)
	}
	if args := strings.TrimSpace(v.Arguments); args != "" && !fill.used {
		last := &pieces[len(pieces)-1]
		last.Text = strings.TrimRight(last.Text, "\n")
		pieces = append(pieces, Piece{Text: "\n\nARGUMENTS: " + args})
	}
	return pieces
}

// Grants are the skill's allowed-tools with the folders filled in; a skill of
// an untrusted repository grants nothing.
func (s *Skill) Grants(v Values) []string {
	if s.Held {
		return nil
	}
	fill := newFiller(s, Values{Session: v.Session, Effort: v.Effort, Project: v.Project})
	var out []string
	for _, rule := range s.Allowed {
		out = append(out, fill.folders(rule))
	}
	return out
}

// injection finds the places of commands: !`cmd` at the start of a line or
// after white space, and fenced blocks that open with ```!.
var injection = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?m)(^|[ \\t])!`([^`\\n]+)`|^```!\\s*\\n((?s:.*?))\\n?^```[ \\t]*$")
})

func cut(body string) []Piece {
	if !strings.Contains(body, "!`") && !strings.Contains(body, "```!") {
		return []Piece{{Text: body}}
	}
	var out []Piece
	at := 0
	for _, m := range injection().FindAllStringSubmatchIndex(body, -1) {
		start, command := m[0], ""
		if m[4] >= 0 {
			start, command = m[3], body[m[4]:m[5]]
		} else {
			command = body[m[6]:m[7]]
		}
		if strings.TrimSpace(command) == "" {
			continue
		}
		out = append(out, Piece{Text: body[at:start]}, Piece{Command: command})
		at = m[1]
	}
	return append(out, Piece{Text: body[at:]})
}

type filler struct {
	fixed map[string]string
	named map[string]int
	args  []string
	all   string
	used  bool
}

func newFiller(s *Skill, v Values) *filler {
	f := &filler{
		fixed: map[string]string{
			"CLAUDE_SESSION_ID": v.Session, "CLAUDE_EFFORT": v.Effort, "CLAUDE_SKILL_DIR": s.Dir,
			"CLAUDE_PROJECT_DIR": v.Project, "CLAUDE_PLUGIN_ROOT": s.Root, "CLAUDE_PLUGIN_DATA": s.Data,
		},
		named: map[string]int{}, args: splitArguments(v.Arguments), all: strings.TrimSpace(v.Arguments),
	}
	for key, value := range s.options {
		f.fixed["user_config."+key] = value
	}
	for key, value := range v.Options {
		f.fixed["user_config."+key] = value
	}
	for i, name := range s.Arguments {
		f.named[name] = i
	}
	return f
}

// placeholder matches everything that begins with a dollar sign and may stand for something.
var placeholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\\\$|\$\{([A-Za-z_][\w.]*)\}|\$ARGUMENTS(?:\[(\d+)\])?|\$(\d+)|\$([A-Za-z_]\w*)`)
})

// forget leaves the placeholders that begin with prefix as they are.
func (f *filler) forget(prefix string) {
	for key := range f.fixed {
		if strings.HasPrefix(key, prefix) {
			delete(f.fixed, key)
		}
	}
}

func (f *filler) text(s string) string {
	if !strings.Contains(s, "$") {
		return s
	}
	return placeholder().ReplaceAllStringFunc(s, func(m string) string { return f.one(m) })
}

// folders fills in the ${…} forms only: a rule must not depend on what was typed.
func (f *filler) folders(s string) string {
	return placeholder().ReplaceAllStringFunc(s, func(m string) string {
		if strings.HasPrefix(m, "${") {
			return f.one(m)
		}
		return m
	})
}

func (f *filler) one(m string) string {
	if m == `\$` {
		return "$"
	}
	parts := placeholder().FindStringSubmatch(m)
	switch {
	case parts[1] != "":
		if value, ok := f.fixed[parts[1]]; ok {
			return value
		}
		return m
	case parts[2] != "":
		return f.index(parts[2], m)
	case m == "$ARGUMENTS":
		f.used = true
		return f.all
	case parts[3] != "":
		return f.index(parts[3], m)
	}
	i, ok := f.named[parts[4]]
	if !ok {
		return m
	}
	f.used = true
	if i < len(f.args) {
		return f.args[i]
	}
	return ""
}

// index is the argument at a position; a missing one stays as it is written.
func (f *filler) index(digits, literal string) string {
	i, err := strconv.Atoi(digits)
	if err != nil || i >= len(f.args) {
		return literal
	}
	f.used = true
	return f.args[i]
}

// splitArguments cuts a line as a shell does: quotes hold words together, a
// backslash takes the next character as it is. A quote that never closes
// reaches to the end.
func splitArguments(line string) []string {
	var out []string
	var word strings.Builder
	open, quote := false, rune(0)
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, open = true, true
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if open {
				out = append(out, word.String())
				word.Reset()
				open = false
			}
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if open {
		out = append(out, word.String())
	}
	return out
}
