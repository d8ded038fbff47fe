package keys

import (
	"os"
	"strings"
	"testing"
)

func TestStrokes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"ctrl+e": "ctrl+e", "Control+E": "ctrl+e", "shift+ctrl+c": "ctrl+shift+c", "cmd+c": "super+c", "meta+p": "alt+p", "opt+Up": "alt+up", "K": "K", "shift+k": "K",
		"escape": "esc", "Return": "enter", "pageup": "pgup", "ctrl++": "ctrl++", "+": "+", "ctrl+k ctrl+s": "ctrl+k ctrl+s", "?": "?", "shift+tab": "shift+tab", "F5": "f5",
		"ctrl+shift+-": "ctrl+shift+-", "ctrl+/": "ctrl+_", "ctrl+m": "enter", "ctrl+K": "ctrl+k", "space": "space", "ü": "ü",
	} {
		if got, err := chord(in); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", in, got, err, want)
		}
	}
	for _, bad := range []string{"", "ctrl+", "hyper+x", "ctrl+foo", "foo", "a b c d e", "\x01"} {
		if got, err := chord(bad); err == nil {
			t.Errorf("%q is %q", bad, got)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	changes, problems := Parse([]byte(`{"$schema":"x","bindings":[
 {"bindings":{"ctrl+e":"chat:externalEditor","ctrl+u":null,"ctrl+k ctrl+d":"command:doctor"},"context":"Chat"},
 {"context":"Global","bindings":{"f2":"app:toggleTodos"}}
]}`))
	if len(problems) > 0 || len(changes) != 4 {
		t.Fatal(changes, problems)
	}
	for _, c := range []struct{ file, problem string }{
		{``, "line 1, column 1: the file ends too early"},
		{"{\n  \"bindings\": [\n", "line 3, column 1: the file ends too early"},
		{"{\n \"bindings\": [}]}", "line 2, column 15: invalid character '}'"},
		{`[]`, "line 1, column 1: the file must be an object"},
		{`{}`, `there is no "bindings"`},
		{`{"bindings":{}}`, "line 1, column 13: bindings must be a list"},
		{`{"bindings":[3]}`, "line 1, column 14: a block of bindings must be an object"},
		{`{"keys":[],"bindings":[]}`, `line 1, column 2: unknown field "keys"`},
		{`{"bindings":[]} x`, "line 1, column 17: invalid character 'x' after"},
		{"{\"bindings\":[\n{\"context\":\"Chatt\",\"bindings\":{}}]}", `line 2, column 12: unknown context "Chatt"; there are Attachments, Autocomplete`},
		{`{"bindings":[{"context":"Chat","bindings":{"ctrl+e":"chat:nothing"}}]}`, `line 1, column 53: unknown action "chat:nothing"; the context Chat has`},
		{`{"bindings":[{"context":"Chat","bindings":{"ctrl+e":"app:redraw"}}]}`, `"app:redraw" is no action of the context Chat but of Global`},
		{`{"bindings":[{"context":"Help","bindings":{"x":"command:doctor"}}]}`, "works in the context Chat only"},
		{`{"bindings":[{"context":"Chat","bindings":{"x":"command:a b"}}]}`, "names no command"},
		{`{"bindings":[{"context":"Chat","bindings":{"hyper+e":"chat:stash"}}]}`, `line 1, column 44: "hyper+e": "hyper" is no modifier`},
		{`{"bindings":[{"context":"Chat","bindings":{"ctrl+e":3}}]}`, "must be a text such as"},
		{`{"bindings":[{"context":"Chat","bindings":{"ctrl+c":"chat:stash"}}]}`, "ctrl+c cannot be bound"},
		{`{"bindings":[{"context":"Chat","bindings":{"ctrl+e":null,"Ctrl+E":"chat:stash"}}]}`, "bound twice"},
		{`{"bindings":[{"context":"Chat","bindings":[]}]}`, "bindings must be an object"},
	} {
		_, problems := Parse([]byte(c.file))
		if len(problems) != 1 || !strings.Contains(problems[0].String(), c.problem) {
			t.Errorf("%s: %v, want %s", c.file, problems, c.problem)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	changes, problems := Parse([]byte(`{"bindings":[
 {"context":"Chat","bindings":{"ctrl+e":"chat:externalEditor","ctrl+u":null,"ctrl+x ctrl+k":null,"ctrl+k ctrl+s":"chat:stash","ctrl+t":null}},
 {"context":"Select","bindings":{"x":"select:accept"}}]}`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	chat := []string{"Chat", "Global"}
	for _, c := range []struct {
		contexts []string
		keys     string
		want     string
	}{
		{chat, "ctrl+e", "chat:externalEditor"},
		{chat, "ctrl+u", "unbound"},
		{chat, "ctrl+o", "app:toggleTranscript"},
		{chat, "ctrl+t", "unbound"},
		{[]string{"Help", "Global"}, "ctrl+t", "app:toggleTodos"},
		{chat, "a", "free"},
		{chat, "ctrl+x", "waiting"},
		{chat, "ctrl+x ctrl+e", "chat:externalEditor"},
		{chat, "ctrl+x ctrl+k", "unbound"},
		{chat, "ctrl+k ctrl+s", "chat:stash"},
		{chat, "ctrl+k ctrl+o", "app:toggleTranscript"},
		{chat, "ctrl+k b", "free"},
		{[]string{"Autocomplete", "Chat", "Global"}, "up", "autocomplete:previous"},
		{[]string{"Autocomplete", "Chat", "Global"}, "enter", "chat:submit"},
		{[]string{"Select"}, "x", "select:accept"},
		{[]string{"Nowhere"}, "x", "free"},
	} {
		r := &Resolver{Table: Default().With(changes)}
		got := ""
		for k := range strings.FieldsSeq(c.keys) {
			action, m := r.Resolve(c.contexts, k)
			got = map[Meaning]string{Free: "free", Act: action, Waiting: "waiting", Unbound: "unbound"}[m]
		}
		if got != c.want {
			t.Errorf("%v %s: %s, want %s", c.contexts, c.keys, got, c.want)
		}
	}
	if got := Default().Keys("Chat", "chat:externalEditor"); strings.Join(got, ",") != "ctrl+g,ctrl+x ctrl+e" {
		t.Error(got)
	}
}

// The table says its own keys as the terminal does.
func TestTheDefaultsAreWellFormed(t *testing.T) {
	t.Parallel()
	for context, bound := range Default().bound {
		for k, action := range bound {
			if got, err := chord(k); got != k || err != nil {
				t.Errorf("%s: %q is %q, %v", context, k, got, err)
			}
			if ns, name, ok := strings.Cut(action, ":"); !ok || ns == "" || name == "" {
				t.Errorf("%s: %q", context, action)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"bindings":[{"context":"Chat","bindings":{"ctrl+e":"chat:externalEditor","ctrl+u":null}}]}`)
	f.Add("{\"bindings\":[\n{\"context\":7,\"bindings\":{\"++\":[]}}]} x")
	f.Add(`{"bindings":[{"bindings":{"ctrl+x ctrl+k":""}}`)
	f.Fuzz(func(t *testing.T, file string) {
		changes, problems := Parse([]byte(file))
		for _, p := range problems {
			if p.Line < 1 || p.Col < 1 || p.Line > strings.Count(file, "\n")+1 {
				t.Errorf("%v of %q", p, file)
			}
		}
		for _, c := range changes {
			if again, err := chord(c.Keys); err != nil || again != c.Keys {
				t.Errorf("%q is %q at the second reading, %v", c.Keys, again, err)
			}
		}
		Default().With(changes)
	})
}

// docs/keys.md lists every action, and its keys.
func TestTheDocumentHasAllActions(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../../docs/keys.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(raw)
	for context, known := range actions() {
		for action := range known {
			row := "`" + action + "`"
			if k := Default().Keys(context, action); len(k) > 0 {
				row += " " + strings.Join(k, ", ")
			}
			if !strings.Contains(doc, row) {
				t.Errorf("%s: %s is not there", context, row)
			}
		}
	}
}
