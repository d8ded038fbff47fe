package prompt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/msg"
)

// fake is a source that says what a test wants and keeps what it was told.
type fake struct {
	name  string
	items []Item
	err   error
	facts []Facts
}

func (f *fake) Name() string { return f.name }
func (f *fake) Class() Class { return Runtime }
func (f *fake) Delta(_ context.Context, facts Facts) ([]Item, error) {
	f.facts = append(f.facts, facts)
	return f.items, f.err
}

func late(sources ...Source) *Late {
	n := 0
	return NewLate(LateConfig{
		Sources: sources, Now: func() time.Time { return time.Unix(1, 0) },
		NewID: func() string { n++; return fmt.Sprintf("late-%d", n) },
	})
}

func take(l *Late, history []*msg.Message, f Facts) ([]*msg.Message, string) {
	said, failures := l.Take(context.Background(), history, f)
	var out []string
	for _, s := range said {
		history = append(history, s.Message)
		for _, b := range s.Message.Blocks {
			out = append(out, s.Source+": "+b.(*msg.Text).Text)
		}
	}
	for _, f := range failures {
		out = append(out, f.Source+" failed: "+f.Err.Error())
	}
	return history, strings.Join(out, "\n")
}

func prompted(text string) []*msg.Message {
	return []*msg.Message{msg.User("u-"+text, time.Unix(1, 0), text)}
}

func TestStateIsSaidOnceAndChangesOnly(t *testing.T) {
	s := &fake{name: "servers", items: []Item{{Key: "a", Text: "A one"}, {Key: "b", Text: "B one"}}}
	l := late(s)
	h, got := take(l, prompted("go"), Facts{})
	if want := "servers: <system-reminder>\nA one\n</system-reminder>\nservers: <system-reminder>\nB one\n</system-reminder>"; got != want {
		t.Fatalf("first: %q", got)
	}
	if h, got = take(l, h, Facts{}); got != "" {
		t.Errorf("unchanged: %q", got)
	}
	s.items[1].Text = "B two"
	if h, got = take(l, h, Facts{}); got != "servers: <system-reminder>\nB two\n</system-reminder>" {
		t.Errorf("changed: %q", got)
	}
	s.items[1].Text = "B one"
	if h, got = take(l, h, Facts{}); !strings.Contains(got, "B one") {
		t.Errorf("changed back, and not said: %q", got)
	}
	if _, got = take(l, h, Facts{}); got != "" {
		t.Errorf("changed back, and said twice: %q", got)
	}
}

func TestWhatCompactionTookIsSaidAgain(t *testing.T) {
	s := &fake{name: "agents", items: []Item{{Key: "x", Text: "agent x"}}}
	l := late(s)
	h, _ := take(l, prompted("go"), Facts{})
	_, got := take(l, append(prompted("summary"), h[:1]...), Facts{})
	if !strings.Contains(got, "agent x") {
		t.Errorf("after the message was compacted away: %q", got)
	}
}

func TestResumeRepeatsNothing(t *testing.T) {
	items := []Item{{Key: "x", Text: "agent x"}}
	h, _ := take(late(&fake{name: "agents", items: items}), prompted("go"), Facts{})
	if _, got := take(late(&fake{name: "agents", items: items}), h, Facts{}); got != "" {
		t.Errorf("said again after a resume: %q", got)
	}
	// The words of a person are no announcement.
	typed := prompted(Reminder("agent x"))
	if _, got := take(late(&fake{name: "agents", items: items}), typed, Facts{}); got == "" {
		t.Error("what a person typed counted as said")
	}
}

func TestItemsWithoutKeyAreSaidAsOftenAsReturned(t *testing.T) {
	s := &fake{name: "notices", items: []Item{{Text: "<task-notification>t1</task-notification>", Tagged: true}}}
	l := late(s)
	h, got := take(l, prompted("go"), Facts{})
	if got != "notices: <task-notification>t1</task-notification>" {
		t.Errorf("%q", got)
	}
	if _, again := take(l, h, Facts{}); again != got {
		t.Errorf("second: %q", again)
	}
}

func TestAFailedSourceIsToldOnceAndSeesItsFactsAgain(t *testing.T) {
	s := &fake{name: "memory", err: errors.New("no folder")}
	other := &fake{name: "other", items: []Item{{Text: "fine"}}}
	l := late(s, other)
	h, got := take(l, prompted("go"), Facts{Words: []string{"go"}, Read: []string{"/w/a"}})
	if !strings.Contains(got, "memory failed: no folder") || !strings.Contains(got, "other: ") {
		t.Errorf("%q", got)
	}
	if h, got = take(l, h, Facts{Words: []string{"more"}}); strings.Contains(got, "failed") {
		t.Errorf("the same failure was told twice: %q", got)
	}
	s.err = nil
	take(l, h, Facts{Read: []string{"/w/b"}})
	if f := s.facts[2]; !slices.Equal(f.Words, []string{"go", "more"}) || !slices.Equal(f.Read, []string{"/w/a", "/w/b"}) {
		t.Errorf("facts after the failures: %+v", f)
	}
	if f := other.facts[2]; len(f.Words) != 0 || !slices.Equal(f.Read, []string{"/w/b"}) {
		t.Errorf("facts of a source that answered: %+v", f)
	}
}

func TestASourceSeesTheHistoryOfTheRequest(t *testing.T) {
	s := &fake{name: "x", items: []Item{{Key: "k", Text: "t"}}}
	l := late(s)
	h, _ := take(l, prompted("go"), Facts{})
	take(l, h, Facts{})
	take(l, h[1:], Facts{})
	want := [][]string{{"u-go"}, {"u-go", "late-1"}, {"late-1"}}
	for i, f := range s.facts {
		if !slices.Equal(f.History, want[i]) {
			t.Errorf("call %d: %v, want %v", i, f.History, want[i])
		}
	}
}
