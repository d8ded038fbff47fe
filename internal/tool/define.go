package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// InputError is an input that does not fit the schema. Its text names each
// missing, unexpected or mistyped parameter on a line of its own, because that
// is what lets a model repair the call.
type InputError struct {
	Tool   string
	Faults []string
}

// Error lists the faults.
func (e *InputError) Error() string {
	return "InputValidationError: " + e.Tool + " failed due to the following issues:\n" + strings.Join(e.Faults, "\n")
}

// Define makes a tool of a spec and a typed plan function. The input is
// checked against spec.Schema before plan runs, so plan sees only well-typed
// values. The schema is read when the first call comes, since most runs use few
// of their tools; one that cannot be read panics then: a programming error that
// any use of the tool shows.
func Define[In any](spec Spec, plan func(In, Env) (Call, error)) Tool {
	read := sync.OnceValue(func() *schema {
		var s schema
		if err := json.Unmarshal(spec.Schema, &s); err != nil {
			panic(fmt.Sprintf("tool %s: schema: %v", spec.Name, err))
		}
		return &s
	})
	return &defined[In]{spec, read, plan}
}

type defined[In any] struct {
	spec   Spec
	schema func() *schema
	plan   func(In, Env) (Call, error)
}

func (d *defined[In]) Spec() Spec { return d.spec }

func (d *defined[In]) Plan(raw json.RawMessage, env Env) (Call, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, &InputError{d.spec.Name, []string{"The input is not valid JSON: " + err.Error()}}
	}
	if faults := d.schema().check("", v); len(faults) > 0 {
		return nil, &InputError{d.spec.Name, faults}
	}
	var in In
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, &InputError{d.spec.Name, []string{decodeFault(err)}}
	}
	return d.plan(in, env)
}

func decodeFault(err error) string {
	var te *json.UnmarshalTypeError
	if errors.As(err, &te) {
		return fmt.Sprintf("The parameter `%s` type is expected as `%s` but provided as `%s`", te.Field, te.Type, te.Value)
	}
	return err.Error()
}

// schema is the subset of JSON Schema that tool inputs of the ecosystem use.
// Checking it here, and not with a general validator, keeps the fault texts in
// the form that models know and costs no start-up time.
type schema struct {
	Type       string             `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Items      *schema            `json:"items"`
	Enum       []string           `json:"enum"`
	Additional *bool              `json:"additionalProperties"`
	Minimum    *float64           `json:"minimum"`
	Maximum    *float64           `json:"maximum"`
	ExclMin    *float64           `json:"exclusiveMinimum"`
	MinItems   int                `json:"minItems"`
	MaxItems   int                `json:"maxItems"`
	MinLength  int                `json:"minLength"`
	MaxLength  int                `json:"maxLength"`
}

func (s *schema) check(at string, v any) []string {
	if s.Type != "" && !s.typed(v) {
		return []string{fmt.Sprintf("The parameter `%s` type is expected as `%s` but provided as `%s`", name(at), s.Type, typeOf(v))}
	}
	switch v := v.(type) {
	case map[string]any:
		return s.checkObject(at, v)
	case []any:
		return s.checkArray(at, v)
	case string:
		return s.checkString(at, v)
	case float64:
		return s.checkNumber(at, v)
	}
	return nil
}

func (s *schema) checkObject(at string, v map[string]any) []string {
	var faults []string
	for _, r := range s.Required {
		if _, ok := v[r]; !ok {
			faults = append(faults, fmt.Sprintf("The required parameter `%s` is missing", join(at, r)))
		}
	}
	keys := make([]string, 0, len(v))
	for k := range v {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		p, known := s.Properties[k]
		if !known {
			if s.Additional != nil && !*s.Additional {
				faults = append(faults, fmt.Sprintf("An unexpected parameter `%s` was provided", join(at, k)))
			}
			continue
		}
		faults = append(faults, p.check(join(at, k), v[k])...)
	}
	return faults
}

func (s *schema) checkArray(at string, v []any) []string {
	if s.MinItems > 0 && len(v) < s.MinItems {
		return []string{fmt.Sprintf("The parameter `%s` needs at least %d items", name(at), s.MinItems)}
	}
	if s.MaxItems > 0 && len(v) > s.MaxItems {
		return []string{fmt.Sprintf("The parameter `%s` takes at most %d items", name(at), s.MaxItems)}
	}
	if s.Items == nil {
		return nil
	}
	var faults []string
	for i, e := range v {
		faults = append(faults, s.Items.check(fmt.Sprintf("%s[%d]", at, i), e)...)
	}
	return faults
}

func (s *schema) checkString(at, v string) []string {
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
		return []string{fmt.Sprintf("The parameter `%s` must be one of %s", name(at), strings.Join(s.Enum, ", "))}
	}
	n := len([]rune(v))
	if n < s.MinLength || (s.MaxLength > 0 && n > s.MaxLength) {
		return []string{fmt.Sprintf("The parameter `%s` has a length of %d, out of its limits", name(at), n)}
	}
	return nil
}

func (s *schema) checkNumber(at string, v float64) []string {
	if (s.Minimum != nil && v < *s.Minimum) || (s.Maximum != nil && v > *s.Maximum) || (s.ExclMin != nil && v <= *s.ExclMin) {
		return []string{fmt.Sprintf("The parameter `%s` is out of range: %v", name(at), v)}
	}
	return nil
}

func (s *schema) typed(v any) bool {
	got := typeOf(v)
	return got == s.Type || (s.Type == "number" && got == "integer")
}

func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	default:
		return "object"
	}
}

func join(at, k string) string {
	if at == "" {
		return k
	}
	return at + "." + k
}

func name(at string) string {
	if at == "" {
		return "input"
	}
	return at
}

// Func is a Call made of plain values, enough for most tools.
type Func struct {
	Facts  Traits
	Wants  []Need
	Line   string
	Before View
	Do     func(ctx context.Context, emit func(Progress)) Result
}

// Traits returns the facts.
func (f *Func) Traits() Traits { return f.Facts }

// Needs returns the wants.
func (f *Func) Needs() []Need { return f.Wants }

// Title returns the line.
func (f *Func) Title() string { return f.Line }

// Preview returns the view to show before the call runs.
func (f *Func) Preview() View { return f.Before }

// Run calls Do.
func (f *Func) Run(ctx context.Context, emit func(Progress)) Result { return f.Do(ctx, emit) }

// Fault is an error of Plan that the model sees as plain text, without the
// wrapper for calls that were not understood: the input is fine, the world is not.
type Fault struct{ Text string }

// Error returns the text.
func (f *Fault) Error() string { return f.Text }
