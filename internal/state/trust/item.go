package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Kind says what an item is.
type Kind string

// The kinds, in the words that people read.
const (
	Hook        Kind = "hook"
	Variable    Kind = "variable"
	BaseURL     Kind = "base URL"
	Helper      Kind = "helper command"
	Server      Kind = "MCP server"
	AllowRule   Kind = "allow rule"
	Directory   Kind = "additional directory"
	Mode        Kind = "permission mode"
	Plugin      Kind = "plugin setting"
	Marketplace Kind = "marketplace"
	Agent       Kind = "agent"
	Skill       Kind = "skill"
	Command     Kind = "command file"
	Script      Kind = "script"
	Sandbox     Kind = "sandbox setting"
	Outside     Kind = "outside include"
	Other       Kind = "setting"
)

// Item is one thing that the folder would run or be granted.
type Item struct {
	Kind Kind `json:"kind"`
	// Name tells it from others of its kind: the event of a hook, the variable.
	Name string `json:"name"`
	// File is where it stands, a slash path from the root of the checkout.
	File string `json:"file"`
	// Folder is the folder in the checkout in which hew was started, as a slash path.
	Folder string `json:"started_in"`
	// Local tells that it stands in the local settings file.
	Local bool `json:"local,omitempty"`
	// Text is what would run, word for word; of a large file the beginning.
	Text string `json:"text"`
	// Digest covers the whole content.
	Digest string `json:"digest"`
}

// maxText bounds what is kept of a content for the diff, in bytes.
const maxText = 64 << 10

// bind sets Text and Digest.
func (it Item) bind(content []byte) Item {
	sum := sha256.Sum256(content)
	it.Digest = hex.EncodeToString(sum[:])
	if len(content) > maxText {
		it.Text = strings.ToValidUTF8(string(content[:maxText]), "\ufffd") + fmt.Sprintf("\n… %d bytes in all", len(content))
		return it
	}
	it.Text = strings.ToValidUTF8(string(content), "\ufffd")
	return it
}

// Summary counts items by kind: "2 hooks, 1 variable".
func Summary(items []Item) string {
	var order []Kind
	count := map[Kind]int{}
	for _, it := range items {
		if count[it.Kind] == 0 {
			order = append(order, it.Kind)
		}
		count[it.Kind]++
	}
	parts := make([]string, len(order))
	for i, k := range order {
		word := string(k)
		if count[k] > 1 {
			if before, ok := strings.CutSuffix(word, "y"); ok {
				word = before + "ie"
			}
			word += "s"
		}
		parts[i] = fmt.Sprintf("%d %s", count[k], word)
	}
	return strings.Join(parts, ", ")
}
