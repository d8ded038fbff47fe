package frontmatter

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// What is read without the YAML library is what the library reads.
func FuzzPlain(f *testing.F) {
	for _, head := range []string{
		"name: a\ndescription: Does thing number 7 when it is asked to\ntools: Read, Grep\n", "d: \"Use when: asked\"\n", "a: yes\n", "a: True\n", "y: x\n",
		"a: b\na: c\n", "a: x #y\n", "a: b \n", "a: -\n", "a: b\r\n", "a: \"b\"c\n", "a: Bash(git *)\n", "null: x\n", "a:  b\n", "a: b", "a: \"x\" \"y\"\n", "a: b [c, {d}]\n",
	} {
		f.Add([]byte(head))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		got, ok := plain(head)
		if !ok {
			return
		}
		var want map[string]any
		if err := yaml.Unmarshal(head, &want); err != nil {
			t.Fatalf("%q is no YAML: %v", head, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", head, d)
		}
	})
}

func TestPlain(t *testing.T) {
	for head, want := range map[string]bool{
		"name: a\ndescription: Does it, when asked.\n": true, "d: \"Use when: asked\"\n": true, "tools: Bash(git *), Read\n": true,
		"a: yes\n": false, "a: [b]\n": false, "a: b: c\n": false, "a: 1\n": false, "a:\n": false, "": false, "a: b\na: c\n": false, "a: é\n": false,
	} {
		if _, ok := plain([]byte(head)); ok != want {
			t.Errorf("%q: %v", head, ok)
		}
	}
}
