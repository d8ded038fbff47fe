package classify

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
)

// Rules are the four lists of prose that the judge decides by. What stands in
// HardDeny nothing clears; Allow makes exceptions from SoftDeny, and so does the
// user's explicit word for the exact action. Environment says what is trusted.
type Rules struct {
	HardDeny    []string `json:"hard_deny"`
	SoftDeny    []string `json:"soft_deny"`
	Allow       []string `json:"allow"`
	Environment []string `json:"environment"`
}

// Splice stands in a list for hew's own entries of that list.
const Splice = "$defaults"

//go:embed defaults.json
var defaultsJSON []byte

// Defaults are hew's own rules. The result is the caller's.
func Defaults() Rules {
	d := parsedDefaults()
	return Rules{slices.Clone(d.HardDeny), slices.Clone(d.SoftDeny), slices.Clone(d.Allow), slices.Clone(d.Environment)}
}

// parsedDefaults is no variable: that would keep the package in builds without auto mode.
func parsedDefaults() Rules {
	var r Rules
	if err := json.Unmarshal(defaultsJSON, &r); err != nil {
		// The file is part of the program and has a test.
		panic(fmt.Sprintf("classify: defaults.json: %v", err))
	}
	return r
}

// Resolve returns the rules in force: a list that is nil is hew's own, another
// one replaces it, with hew's entries in the place of the first "$defaults".
func (r Rules) Resolve() Rules {
	d := parsedDefaults()
	return Rules{
		HardDeny: splice(r.HardDeny, d.HardDeny), SoftDeny: splice(r.SoftDeny, d.SoftDeny),
		Allow: splice(r.Allow, d.Allow), Environment: splice(r.Environment, d.Environment),
	}
}

func splice(own, defaults []string) []string {
	if own == nil {
		return slices.Clone(defaults)
	}
	out, done := []string{}, false
	for _, s := range own {
		switch {
		case s != Splice:
			out = append(out, s)
		case !done:
			out, done = append(out, defaults...), true
		}
	}
	return out
}
