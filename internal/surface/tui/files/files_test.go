package files

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func filled(t *testing.T, paths ...string) *Index {
	t.Helper()
	x := &Index{}
	if err := x.Fill(context.Background(), giving(paths...)); err != nil {
		t.Fatal(err)
	}
	return x
}

func giving(paths ...string) func(context.Context, func(string)) error {
	return func(_ context.Context, add func(string)) error {
		for _, p := range paths {
			add(p)
		}
		return nil
	}
}

func list(m []Match) string {
	var out []string
	for _, m := range m {
		out = append(out, m.Path)
	}
	return strings.Join(out, " ")
}

func TestRanking(t *testing.T) {
	t.Parallel()
	x := filled(t, "cmd/hew/main.go", "internal/wiring/mainagent.go", "internal/domain/x.go", "docs/main.md", "README.md", "internal/surface/tui/editor/editor.go",
		"internal/surface/tui/editor/edits.go", "web/src/EditorPane.tsx", "größe/maß.txt", "pkg/remain.go")
	for _, c := range []struct{ query, first string }{
		{"", "README.md cmd/ docs/ größe/ internal/ pkg/ web/"},
		{"main", "docs/main.md cmd/hew/main.go internal/wiring/mainagent.go pkg/remain.go internal/domain/ internal/domain/x.go"},
		{"editorpane", "web/src/EditorPane.tsx"},
		{"EP", "web/src/EditorPane.tsx"},
		{"tuied", "internal/surface/tui/editor/"},
		{"tui/editor/e", "internal/surface/tui/editor/edits.go internal/surface/tui/editor/editor.go"},
		{`tui\editor\edits`, "internal/surface/tui/editor/edits.go"},
		{"./readme", "README.md"},
		{"maß", "größe/maß.txt"},
		{"grose", "größe/"},
		{"masz", ""},
	} {
		got := list(x.Find(context.Background(), c.query, 20))
		if !strings.HasPrefix(got, c.first) || c.first == "" && got != "" {
			t.Errorf("%q: %q, want first %q", c.query, got, c.first)
		}
	}
}

// A query that grows finds what it would find by itself.
func TestNarrowingLosesNothing(t *testing.T) {
	t.Parallel()
	x := &Index{paths: planted(12_000)}
	query := "src/edit_buf1"
	for i := range query {
		narrow := x.Find(context.Background(), query[:i+1], 50)
		fresh := (&Index{paths: x.paths}).Find(context.Background(), query[:i+1], 50)
		if list(narrow) != list(fresh) {
			t.Fatalf("%q: %s\nwant %s", query[:i+1], list(narrow), list(fresh))
		}
	}
	for i := len(query); i > 0; i-- { // and one that shrinks
		if len(x.Find(context.Background(), query[:i], 50)) == 0 {
			t.Fatalf("%q finds nothing", query[:i])
		}
	}
}

func TestPathsThatNoPromptCanNameAreLeftOut(t *testing.T) {
	t.Parallel()
	x := filled(t, "a\nb", "c\x1b[31m", "bad\xff", "ok name", strings.Repeat("long/", 1000)+"x")
	if got := list(x.Find(context.Background(), "", 20)); got != "ok name" {
		t.Errorf("%q", got)
	}
}

func TestAWalkThatFailsKeepsWhatWasThere(t *testing.T) {
	t.Parallel()
	x := filled(t, "one.go")
	broken := errors.New("broken")
	err := x.Fill(context.Background(), func(_ context.Context, add func(string)) error { add("two.go"); return broken })
	if got := list(x.Find(context.Background(), "", 20)); !errors.Is(err, broken) || got != "one.go" {
		t.Errorf("%q, %v", got, err)
	}
	if err := x.Fill(context.Background(), giving("three.go")); err != nil || list(x.Find(context.Background(), "", 20)) != "three.go" {
		t.Error(list(x.Find(context.Background(), "", 20)), err)
	}
}

func TestTheNumberOfPathsIsBounded(t *testing.T) {
	t.Parallel()
	x := &Index{most: 5000}
	walked := 0
	err := x.Fill(context.Background(), func(ctx context.Context, add func(string)) error {
		for ctx.Err() == nil {
			add(fmt.Sprint("f", walked))
			walked++
		}
		return ctx.Err()
	})
	if n, full := x.Len(); err != nil || n != 5000 || !full || walked > 5001 {
		t.Error(n, full, walked, err)
	}
}

func TestACancelledSearchEnds(t *testing.T) {
	t.Parallel()
	x := &Index{paths: planted(12_000)}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got := x.Find(ctx, "e", 10); got != nil {
		t.Error(got)
	}
}

// awaits asks until the finder answers with want.
func awaits(t *testing.T, f *Finder, changed <-chan struct{}, query, want string) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		got := list(f.Ask(query))
		if got == want {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("%q: %q, want %q", query, got, want)
		}
	}
}

func TestTheFinderKeepsItselfFresh(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	walks, changed := 0, make(chan struct{}, 100)
	f := NewFinder(Config{
		Walk: func(_ context.Context, add func(string)) error {
			walks++
			add(fmt.Sprintf("walk%d.go", walks))
			return nil
		},
		Changed: func() { changed <- struct{}{} },
		Now:     func() time.Time { return now },
	})
	defer f.Close()
	awaits(t, f, changed, "walk", "walk1.go")
	now = now.Add(time.Hour)
	if got := list(f.Ask("walk1")); got != "walk1.go" {
		t.Error("in the middle of a word:", got)
	}
	awaits(t, f, changed, "", "walk2.go")
}

func TestALargeFolderAnswersLater(t *testing.T) {
	t.Parallel()
	changed := make(chan struct{}, 100)
	f := NewFinder(Config{
		Walk: func(_ context.Context, add func(string)) error {
			for i := range quick + 10 {
				add(fmt.Sprintf("dir%d/file%d.go", i%10, i))
			}
			return nil
		},
		Changed: func() { changed <- struct{}{} },
		Now:     time.Now,
	})
	awaits(t, f, changed, "file49999", "dir9/file49999.go")
	f.Close()
	if f.Ask("file") != nil {
		t.Error("a closed finder answers")
	}
}
