package skill

import (
	"regexp"
	"strings"
	"sync"

	"github.com/hew-agent/hew/internal/msg"
)

// Announced opens what is said of a skill again after a compaction.
const Announced = "The skill "

// AnnouncedEnd ends the first line of that.
const AnnouncedEnd = " was invoked earlier in this conversation. It is not asked for anew: do not carry it out again, but what it says still counts for the work that goes on."

// typed finds the name of a command that a person typed.
var typed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^<command-message>[^<]*</command-message>\n<command-name>/([^<\s]+)</command-name>`)
})

// found are the skills whose texts stand in history, in the order of their loading.
func found(history []*msg.Message) []Use {
	var out []Use
	var waiting []string // loaded by calls; their texts follow
	for _, m := range history {
		next := ""
		for _, b := range m.Blocks {
			switch b := b.(type) {
			case *msg.ToolResult:
				if name, ok := strings.CutPrefix(words(b.Content), Launching); ok && !b.IsError {
					waiting = append(waiting, name)
				}
			case *msg.Text:
				switch name, rest := announced(b.Text); {
				case name != "":
					out = append(out, Use{name, rest})
				case strings.HasPrefix(b.Text, "<system-reminder>"):
				case typed().MatchString(b.Text):
					next = typed().FindStringSubmatch(b.Text)[1]
				case next != "":
					out, next = took(out, next, b.Text), ""
				case len(waiting) > 0 && m.Meta:
					out, waiting = took(out, waiting[0], b.Text), waiting[1:]
				}
			case *msg.ToolUse, *msg.Thinking, *msg.Image, *msg.Document, *msg.Opaque:
			}
		}
	}
	return out
}

// took adds a loading; one that found its text in place says nothing new.
func took(uses []Use, name, text string) []Use {
	if strings.HasPrefix(text, "The skill "+name+" is already loaded") {
		return uses
	}
	return append(uses, Use{name, text})
}

func words(content []msg.Block) string {
	if len(content) != 1 {
		return ""
	}
	t, ok := content[0].(*msg.Text)
	if !ok {
		return ""
	}
	return t.Text
}

func announced(text string) (name, rest string) {
	text, ok := strings.CutPrefix(text, "<system-reminder>\n"+Announced)
	if !ok {
		return "", ""
	}
	name, rest, ok = strings.Cut(text, AnnouncedEnd+"\n")
	if !ok || strings.ContainsAny(name, " \n") {
		return "", ""
	}
	return name, strings.TrimSuffix(rest, "\n</system-reminder>")
}
