package wiring

import (
	"testing"

	"github.com/hew-agent/hew/internal/tool"
)

func TestWhenToolsAreDeferred(t *testing.T) {
	own := []tool.Spec{{Name: "NotebookEdit", Origin: builtinOrigin}}
	served := append(own, tool.Spec{Name: "mcp__a__b", Origin: "a"})
	for _, c := range []struct {
		value         string
		candidates    []tool.Spec
		bytes, window int
		want, off, ok bool
	}{
		{"", own, 1 << 20, 1000, false, false, true},
		{"", served, 1, 1000, true, false, true},
		{"true", own, 1, 1000, true, false, true},
		{"false", served, 1 << 20, 1000, false, true, true},
		{"auto", served, 3996, 10_000, false, false, true},
		{"auto", served, 4000, 10_000, true, false, true},
		{"AUTO:50", served, 19_996, 10_000, false, false, true},
		{"auto:50", served, 20_000, 10_000, true, false, true},
		{"auto:0", served, 1, 10_000, true, false, true},
		{"auto:x", nil, 0, 0, false, true, false},
		{"auto:101", nil, 0, 0, false, true, false},
		{"maybe", nil, 0, 0, false, true, false},
	} {
		when, ok := deferWhen(c.value)
		if ok != c.ok || (when == nil) != c.off {
			t.Errorf("%q: ok %v, off %v", c.value, ok, when == nil)
			continue
		}
		if when != nil && when(c.candidates, c.bytes, c.window) != c.want {
			t.Errorf("%q with %d tools of %d bytes in a window of %d: %v", c.value, len(c.candidates), c.bytes, c.window, !c.want)
		}
	}
}
