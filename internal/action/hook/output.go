package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/tool"
)

// output is what one hook printed, understood.
type output struct {
	Outcome
	// ignored lists fields that the event does not know, for a warning.
	ignored []string
	// async tells that the first line declared the hook asynchronous.
	async bool
}

// field is one key of the output object and the column that allows it.
type field struct {
	column Column
	set    func(o *Outcome, raw json.RawMessage) error
}

// topFields and ownFields are the keys at the top and in hookSpecificOutput.
var topFields = sync.OnceValue(func() map[string]field {
	return map[string]field{
		"continue": {Halting, func(o *Outcome, raw json.RawMessage) error {
			v := true
			err := json.Unmarshal(raw, &v)
			o.Stopped = !v
			return err
		}},
		"stopReason":       text(Halting, func(o *Outcome) *string { return &o.StopReason }),
		"suppressOutput":   truth(Quiet, func(o *Outcome) *bool { return &o.silent }),
		"systemMessage":    texts(UserMessage, func(o *Outcome) *[]string { return &o.Messages }),
		"terminalSequence": texts(TerminalSequence, func(o *Outcome) *[]string { return &o.Terminal }),
		"reason":           text(Blocking, func(o *Outcome) *string { return &o.Reason }),
		"decision":         {Blocking, setDecision},
	}
})

var ownFields = sync.OnceValue(func() map[string]field {
	return map[string]field{
		"additionalContext":        texts(Context, func(o *Outcome) *[]string { return &o.Context }),
		"permissionDecision":       {Permission, setPermission},
		"permissionDecisionReason": text(Permission, func(o *Outcome) *string { return &o.Reason }),
		"updatedInput":             {UpdatedInput, func(o *Outcome, raw json.RawMessage) error { return setObject(&o.Input, raw) }},
		"decision":                 {RequestDecision, setRequest},
		"retry":                    truth(Retry, func(o *Outcome) *bool { return &o.Retry }),
		"updatedToolOutput":        verbatim(UpdatedOutput, func(o *Outcome) *json.RawMessage { return &o.Output }),
		"updatedMCPToolOutput":     verbatim(UpdatedOutput, func(o *Outcome) *json.RawMessage { return &o.MCPOutput }),
		"classifierContext":        texts(ClassifierContext, func(o *Outcome) *[]string { return &o.ClassifierContext }),
		"sessionTitle":             text(SessionTitle, func(o *Outcome) *string { return &o.Title }),
		"initialUserMessage":       text(InitialMessage, func(o *Outcome) *string { return &o.InitialPrompt }),
		"watchPaths":               {WatchPaths, func(o *Outcome, raw json.RawMessage) error { return json.Unmarshal(raw, &o.WatchPaths) }},
		"reloadSkills":             truth(ReloadSkills, func(o *Outcome) *bool { return &o.ReloadSkills }),
		"suppressOriginalPrompt":   truth(SuppressPrompt, func(o *Outcome) *bool { return &o.SuppressPrompt }),
		"action":                   {Elicited, setAction},
		"content":                  {Elicited, func(o *Outcome, raw json.RawMessage) error { return setObject(&o.Content, raw) }},
		"displayContent":           {Display, func(o *Outcome, raw json.RawMessage) error { return json.Unmarshal(raw, &o.Display) }},
		"worktreePath":             text(WorktreePath, func(o *Outcome) *string { return &o.Worktree }),
	}
})

// Outputs names the fields of the output that the event knows; those of
// hookSpecificOutput come after a dot.
func (r Row) Outputs() []string {
	var out []string
	for key, f := range topFields() {
		if f.column&r.Returns != 0 {
			out = append(out, key)
		}
	}
	for key, f := range ownFields() {
		if f.column&r.Returns != 0 {
			out = append(out, "."+key)
		}
	}
	slices.Sort(out)
	return out
}

func text(c Column, at func(*Outcome) *string) field {
	return field{c, func(o *Outcome, raw json.RawMessage) error { return json.Unmarshal(raw, at(o)) }}
}

func truth(c Column, at func(*Outcome) *bool) field {
	return field{c, func(o *Outcome, raw json.RawMessage) error { return json.Unmarshal(raw, at(o)) }}
}

func verbatim(c Column, at func(*Outcome) *json.RawMessage) field {
	return field{c, func(o *Outcome, raw json.RawMessage) error { *at(o) = raw; return nil }}
}

// texts adds one text; an empty one says nothing.
func texts(c Column, at func(*Outcome) *[]string) field {
	return field{c, func(o *Outcome, raw json.RawMessage) error {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		if s != "" {
			*at(o) = append(*at(o), s)
		}
		return nil
	}}
}

func setDecision(o *Outcome, raw json.RawMessage) error {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	switch s {
	case "block":
		o.Blocked = true
	case "approve":
		o.approved = true
	default:
		return fmt.Errorf("%q is neither block nor approve", clip(s, 40))
	}
	return nil
}

func setPermission(o *Outcome, raw json.RawMessage) error {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	if severity(tool.Behavior(s)) == 0 {
		return fmt.Errorf("%q is not one of allow, deny, ask, defer", clip(s, 40))
	}
	o.Behavior = tool.Behavior(s)
	return nil
}

func setObject(at *json.RawMessage, raw json.RawMessage) error {
	if len(raw) == 0 || raw[0] != '{' {
		return errors.New("must be an object")
	}
	*at = raw
	return nil
}

func setAction(o *Outcome, raw json.RawMessage) error {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	if strictness(s) == 0 {
		return fmt.Errorf("%q is not one of accept, decline, cancel", clip(s, 40))
	}
	o.Action = s
	return nil
}

// setRequest reads the answer to a PermissionRequest.
func setRequest(o *Outcome, raw json.RawMessage) error {
	var d struct {
		Behavior  string             `json:"behavior"`
		Input     json.RawMessage    `json:"updatedInput"`
		Updates   []event.Suggestion `json:"updatedPermissions"`
		Message   string             `json:"message"`
		Interrupt bool               `json:"interrupt"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	switch tool.Behavior(d.Behavior) {
	case tool.Allow:
		o.Behavior, o.Updates = tool.Allow, d.Updates
		if len(d.Input) > 0 && string(d.Input) != "null" {
			return setObject(&o.Input, d.Input)
		}
	case tool.Deny:
		o.Behavior, o.Message, o.Interrupt = tool.Deny, d.Message, d.Interrupt
	default:
		return fmt.Errorf("behavior %q is neither allow nor deny", clip(d.Behavior, 40))
	}
	return nil
}

// parseOutput reads what a hook printed: JSON when the first character that is
// not blank is {, else plain text. An error means that it is neither: the hook
// has given no answer.
func parseOutput(r *Row, text string) (output, error) {
	var o output
	body := strings.TrimSpace(text)
	if rest, ok := declaresAsync(body); ok {
		o.async = true
		body = rest
	}
	switch {
	case body == "":
		return o, nil
	case body[0] != '{':
		o.plainText(r, body)
		return o, nil
	case !utf8.ValidString(body):
		return o, errors.New("the output is not valid UTF-8")
	}
	top, order, ok := objectOf(json.RawMessage(body))
	if !ok {
		return o, errors.New("the output begins like JSON but is none")
	}
	for _, key := range order {
		if key == "hookSpecificOutput" {
			if err := o.own(r, top[key]); err != nil {
				return output{}, err
			}
			continue
		}
		if err := o.take(r, topFields()[key], key, top[key]); err != nil {
			return output{}, err
		}
	}
	o.translate(r)
	return o, nil
}

// declaresAsync reads a first line {"async": true, …}.
func declaresAsync(body string) (rest string, ok bool) {
	line, rest, _ := strings.Cut(body, "\n")
	if !strings.HasPrefix(line, "{") || !strings.Contains(line, `"async"`) {
		return body, false
	}
	var head struct {
		Async bool `json:"async"`
	}
	if json.Unmarshal([]byte(line), &head) != nil || !head.Async {
		return body, false
	}
	return strings.TrimSpace(rest), true
}

func (o *output) plainText(r *Row, body string) {
	if r.Returns&PlainContext != 0 {
		o.Context = append(o.Context, body)
	}
	if r.Returns&WorktreePath != 0 {
		o.Worktree = strings.TrimSpace(body[strings.LastIndexByte(body, '\n')+1:])
	}
}

func (o *output) own(r *Row, raw json.RawMessage) error {
	if raw == nil {
		return nil
	}
	m, order, ok := objectOf(raw)
	if !ok {
		return errors.New("hookSpecificOutput must be an object")
	}
	name, ok := textOf(m["hookEventName"])
	if !ok || name != "" && name != r.Event {
		return fmt.Errorf("hookEventName is not %s", r.Event)
	}
	if name == "" {
		o.ignored = append(o.ignored, "(missing hookEventName)")
	}
	for _, key := range order {
		if key == "hookEventName" {
			continue
		}
		if err := o.take(r, ownFields()[key], key, m[key]); err != nil {
			return err
		}
	}
	return nil
}

// take sets one field if the event knows it.
func (o *output) take(r *Row, f field, key string, raw json.RawMessage) error {
	switch {
	case raw == nil: // null: not said
		return nil
	case f.set == nil, f.column&r.Returns == 0:
		o.ignored = append(o.ignored, clip(key, 60))
		return nil
	}
	if err := f.set(&o.Outcome, raw); err != nil {
		return fmt.Errorf("%s: %w", clip(key, 60), plainError(err))
	}
	return nil
}

func plainError(err error) error {
	var te *json.UnmarshalTypeError
	if errors.As(err, &te) {
		return fmt.Errorf("must not be of type %s", te.Value)
	}
	return err
}

// translate turns the old words of a call's event into the new ones, and drops
// behaviors that the event has not.
func (o *output) translate(r *Row) {
	if r.Exit2 == Denies {
		switch {
		case o.Blocked:
			o.Blocked, o.Behavior = false, tool.Deny
		case o.approved && o.Behavior == "":
			o.Behavior = tool.Allow
		}
	}
	if o.Behavior == Defer && r.Returns&Deferral == 0 {
		o.Behavior = tool.Ask
		o.ignored = append(o.ignored, "permissionDecision defer (asked instead)")
	}
	o.approved = false
}

// cleanSequence keeps what a hook may send to a terminal: BEL, and the
// operating system commands for titles, notifications and progress (OSC 0, 1,
// 2, 9, 99, 777). ok is false when there is anything else.
func cleanSequence(s string) bool {
	for s != "" {
		if s[0] == '\a' {
			s = s[1:]
			continue
		}
		rest, ok := strings.CutPrefix(s, "\x1b]")
		if !ok {
			return false
		}
		end := strings.IndexAny(rest, "\a\x1b")
		if end < 0 {
			return false
		}
		code, body, _ := strings.Cut(rest[:end], ";")
		if !strings.Contains(" 0 1 2 9 99 777 ", " "+code+" ") || strings.ContainsFunc(body, func(c rune) bool { return c < ' ' || c >= 0x7f && c < 0xa0 || c == utf8.RuneError }) {
			return false
		}
		rest = rest[end:]
		if s, ok = strings.CutPrefix(rest, "\x1b\\"); !ok {
			if s, ok = strings.CutPrefix(rest, "\a"); !ok {
				return false
			}
		}
	}
	return true
}
