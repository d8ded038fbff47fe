package classify

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The words of a verdict.
const (
	wordAllow = "allow"
	wordBlock = "block"
)

// parseQuick reads the first stage: one word, with or without a full stop.
// Anything else is an error, however clear it may look to a person.
func parseQuick(reply string) (clear bool, err error) {
	switch strings.ToLower(strings.TrimSuffix(strings.TrimSpace(reply), ".")) {
	case wordAllow:
		return true, nil
	case wordBlock:
		return false, nil
	}
	return false, fmt.Errorf("the classifier's first reply is neither allow nor block: %s", Shown(reply, 60))
}

// ruling is the reply of the second stage.
type ruling struct {
	reasons, rule, decision string
}

// parseSlow reads the second stage: one JSON object of exactly the three members,
// each once and a string. A code fence around it is tolerated.
func parseSlow(reply string) (ruling, error) {
	fields, err := members(unfenced(strings.TrimSpace(reply)))
	if err != nil {
		return ruling{}, fmt.Errorf("the classifier's reply cannot be used: %w", err)
	}
	r := ruling{fields["reasons"], fields["rule"], fields["decision"]}
	switch r.rule {
	case "hard_deny", "soft_deny", "allow", "intent", "none":
	default:
		return ruling{}, fmt.Errorf("the classifier names a rule that does not exist: %s", Shown(r.rule, 40))
	}
	if r.decision != wordAllow && r.decision != wordBlock {
		return ruling{}, fmt.Errorf("the classifier's decision is neither allow nor block: %s", Shown(r.decision, 40))
	}
	if r.rule == "hard_deny" && r.decision == wordAllow {
		return ruling{}, errors.New("the classifier contradicts itself: it allows what it says is hard_deny")
	}
	if strings.TrimSpace(r.reasons) == "" {
		return ruling{}, errors.New("the classifier gives no reasons")
	}
	return r, nil
}

func unfenced(s string) string {
	inner, ok := strings.CutPrefix(s, "```")
	inner, closed := strings.CutSuffix(inner, "```")
	if !ok || !closed {
		return s
	}
	return strings.TrimPrefix(strings.TrimLeft(inner, " "), "json")
}

// members reads an object of strings token by token, because encoding/json takes
// the last of two members with one name and ignores case.
func members(text string) (map[string]string, error) {
	d := json.NewDecoder(strings.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("it is no JSON object")
	}
	out := map[string]string{}
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("it is no JSON object: %w", err)
		}
		key, _ := k.(string)
		v, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("it is no JSON object: %w", err)
		}
		value, ok := v.(string)
		_, twice := out[key]
		if !ok || twice || key != "reasons" && key != "rule" && key != "decision" {
			return nil, fmt.Errorf("its member %s is not expected", Shown(key, 40))
		}
		out[key] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("it is no JSON object: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON object")
	}
	if len(out) != 3 {
		return nil, errors.New("it lacks one of reasons, rule, decision")
	}
	return out, nil
}

// Shown is text that a model wrote, on one line, without control and format
// characters (which could turn the rest of a line around), at most n runes.
func Shown(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
