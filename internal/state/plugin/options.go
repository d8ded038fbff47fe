package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/state/settings"
)

// Option is something that a plugin wants to be told.
type Option struct {
	Key         string          `json:"-"`
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Sensitive   bool            `json:"sensitive"`
	Required    bool            `json:"required"`
	Multiple    bool            `json:"multiple"`
	Default     json.RawMessage `json:"default"`
	Min         *float64        `json:"min"`
	Max         *float64        `json:"max"`
}

// Options reads the questions of a plugin, in the order of their keys.
func Options(p *catalog.Plugin) ([]Option, error) {
	if p.UserConfig == nil {
		return nil, nil
	}
	var m map[string]Option
	if err := json.Unmarshal(p.UserConfig, &m); err != nil {
		return nil, fmt.Errorf("\"userConfig\": %w", err)
	}
	var out []Option
	for _, key := range slices.Sorted(maps.Keys(m)) {
		o := m[key]
		o.Key = key
		if !optionKey(key) {
			return nil, fmt.Errorf("\"userConfig\": the key %q is not made of letters, digits and _", fsys.Printable(key))
		}
		if !slices.Contains([]string{"string", "number", "boolean", "directory", "file"}, o.Type) {
			return nil, fmt.Errorf("\"userConfig\": %s has the type %q; use string, number, boolean, directory or file", key, fsys.Printable(o.Type))
		}
		out = append(out, o)
	}
	return out, nil
}

func checkOptions(p *catalog.Plugin) error {
	_, err := Options(p)
	return err
}

func optionKey(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// value reads what a person wrote for an option. Several values stand in a JSON list.
func (o Option) value(text string) (any, error) {
	if o.Multiple && strings.HasPrefix(strings.TrimSpace(text), "[") {
		var many []string
		if err := json.Unmarshal([]byte(text), &many); err != nil {
			return nil, fmt.Errorf("%s takes a list of texts: %w", o.Key, err)
		}
		return many, nil
	}
	switch o.Type {
	case "boolean":
		v, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%s is true or false, not %q", o.Key, fsys.Printable(text))
		}
		return v, nil
	case "number":
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || o.Min != nil && v < *o.Min || o.Max != nil && v > *o.Max {
			return nil, fmt.Errorf("%s is a number%s, not %q", o.Key, o.bounds(), fsys.Printable(text))
		}
		return v, nil
	}
	if strings.ContainsRune(text, 0) {
		return nil, fmt.Errorf("%s holds a NUL", o.Key)
	}
	return text, nil
}

func (o Option) bounds() string {
	out := ""
	if o.Min != nil {
		out += fmt.Sprintf(" of at least %v", *o.Min)
	}
	if o.Max != nil {
		out += fmt.Sprintf(" of at most %v", *o.Max)
	}
	return out
}

// secretsFile keeps sensitive options, for the user alone.
func (s *Store) secretsFile() string { return s.Settings.Home.Own("plugins", "secrets.json") }

// Configure keeps answers to a plugin's questions: sensitive ones in a file of
// their own, the others in the user's settings.
func (s *Store) Configure(ctx context.Context, id ID, p *catalog.Plugin, answers map[string]string) error {
	list, err := Options(p)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(answers)) {
		at := slices.IndexFunc(list, func(o Option) bool { return o.Key == key })
		if at < 0 {
			return fmt.Errorf("%s asks for no option %q; it asks for: %s", id, fsys.Printable(key), keysOf(list))
		}
		v, err := list[at].value(answers[key])
		if err != nil {
			return err
		}
		if list[at].Sensitive {
			err = fsys.UpdateJSON(ctx, s.secretsFile(), fsys.WriteOptions{Mode: 0o600}, func(d *fsys.JSONDoc) error { return d.Set(v, id.String(), key) })
		} else {
			err = s.Settings.Set(ctx, settings.User, v, "pluginConfigs", id.String(), "options", key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func keysOf(list []Option) string {
	if len(list) == 0 {
		return "nothing"
	}
	var out []string
	for _, o := range list {
		out = append(out, o.Key)
	}
	return strings.Join(out, ", ")
}

// forget removes the secrets of a plugin.
func (s *Store) forget(ctx context.Context, id ID) error {
	if fsys.KindOf(s.secretsFile()) == fsys.KindMissing {
		return nil
	}
	return fsys.UpdateJSON(ctx, s.secretsFile(), fsys.WriteOptions{Mode: 0o600}, func(d *fsys.JSONDoc) error {
		d.Delete(id.String())
		return nil
	})
}

// Answers are the values of a plugin's options as text, and the keys that it
// needs and nobody has answered.
func (s *Store) Answers(id ID, p *catalog.Plugin) (answers map[string]string, missing []string, err error) {
	list, err := Options(p)
	if err != nil || len(list) == 0 {
		return nil, nil, err
	}
	var secrets map[string]map[string]json.RawMessage
	if err := readJSON(s.secretsFile(), &secrets); err != nil {
		return nil, nil, err
	}
	answers = map[string]string{}
	for _, o := range list {
		raw := o.Default
		if v, ok := s.Values.Raw("pluginConfigs", id.String(), "options", o.Key); ok {
			raw = v
		}
		if v := secrets[id.String()][o.Key]; v != nil {
			raw = v
		}
		text, ok := plainText(raw)
		switch {
		case ok:
			answers[o.Key] = text
		case o.Required:
			missing = append(missing, o.Key)
		}
	}
	return answers, missing, nil
}

// plainText is a value as programs see it: a text as it is, several with commas between.
func plainText(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", false
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, true
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return strings.Join(list, ","), true
	}
	return string(raw), true
}

// OptionEnv are the variables in which a plugin's programs find the answers.
func OptionEnv(answers map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range answers {
		out["CLAUDE_PLUGIN_OPTION_"+strings.ToUpper(k)] = v
	}
	return out
}

// ParseAnswer reads KEY=VALUE.
func ParseAnswer(text string) (key, value string, err error) {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return "", "", errors.New("options are written KEY=VALUE")
	}
	return key, value, nil
}
