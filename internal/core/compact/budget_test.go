package compact

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

func TestBudget(t *testing.T) {
	big := strings.Repeat("é", 5000)
	use := msg.NewToolUse("toolu/../1", "X", []byte(`{}`))
	img := msg.NewImage("image/png", "AA==")
	res := tool.Result{Content: []msg.Block{msg.NewText(big), img}}
	saved := map[string]string{}
	b := Budget{Keep: func(data []byte) (string, error) {
		p := filepath.Join("d", fsys.KeptName(data, ".txt"))
		saved[p] = string(data)
		return p, nil
	}}

	if got := b.Bound(tool.Spec{MaxResult: 10_000}, use, res); len(got.Content) != 2 || len(saved) != 0 {
		t.Fatal("a result within its limit was touched")
	}
	got := b.Bound(tool.Spec{MaxResult: 9_999}, use, res)
	text := got.Content[0].(*msg.Text).Text
	path := filepath.Join("d", fsys.KeptName([]byte(big), ".txt"))
	if saved[path] != big {
		t.Fatalf("saved %v", saved)
	}
	if !strings.Contains(text, path) || len(text) > previewBytes+300 || !utf8.ValidString(text) {
		t.Fatalf("%d bytes: %.200s", len(text), text)
	}
	if len(got.Content) != 2 || got.Content[1] != msg.Block(img) {
		t.Fatal("the image is gone")
	}

	b.Keep = func([]byte) (string, error) { return "", errors.New("disk full") }
	got = b.Bound(tool.Spec{MaxResult: 1000}, use, res)
	text = got.Content[0].(*msg.Text).Text
	if !strings.Contains(text, "disk full") || len(text) > 1300 || !utf8.ValidString(text) {
		t.Fatalf("%d bytes: %.200s", len(text), text)
	}
}

func FuzzBound(f *testing.F) {
	f.Add("some text", 4)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		if limit < 1 || limit > 1<<16 {
			return
		}
		b := Budget{Keep: func([]byte) (string, error) { return "", errors.New("x") }}
		got := b.Bound(tool.Spec{MaxResult: limit}, msg.NewToolUse("i", "X", []byte(`{}`)), tool.Text(s))
		n := 0
		for _, c := range got.Content {
			n += len(c.(*msg.Text).Text)
		}
		if n > limit+200 {
			t.Fatalf("%d bytes, limit %d", n, limit)
		}
	})
}
