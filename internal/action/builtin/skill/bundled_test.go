package skill_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/action/builtin/skill"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/state/catalog"
)

// book is a book whose ports count what is asked of them.
func book(c skill.Config) *skill.Book {
	if c.Values == nil {
		c.Values = func(*catalog.Skill) catalog.Values { return catalog.Values{} }
	}
	return skill.NewBook(c)
}

func nothing(event.Body) {}

// A skill that somebody may not invoke is refused before anything of it counts.
func TestRefusedBeforeItBegins(t *testing.T) {
	begun := false
	k := book(skill.Config{
		Refused: func(*catalog.Skill, skill.By) string { return "not for you" },
		Begin:   func(*catalog.Skill, []string, skill.By) { begun = true },
	})
	s := &catalog.Skill{Name: "x", ForModel: true, ForUser: true}
	if _, err := k.Load(context.Background(), s, "", skill.Model, nothing); err == nil || !strings.Contains(err.Error(), "not for you") {
		t.Errorf("%v", err)
	}
	if _, err := k.Fork(context.Background(), s, "", skill.User, nothing); err == nil {
		t.Error("a fork was made")
	}
	if begun || len(k.Uses()) != 0 {
		t.Errorf("begun %v, uses %v", begun, k.Uses())
	}
}

// Each bundled skill is a folder with a SKILL.md that says what it is for.
func TestBundledSkillsDescribeThemselves(t *testing.T) {
	list, err := fs.ReadDir(skill.Bundled(), ".")
	if err != nil || len(list) == 0 {
		t.Fatalf("%d %v", len(list), err)
	}
	for _, d := range list {
		raw, err := fs.ReadFile(skill.Bundled(), d.Name()+"/SKILL.md")
		if errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(string(raw), "---\n") || !strings.Contains(string(raw), "\ndescription: ") {
			t.Errorf("%s: %v, begins %.40q", d.Name(), err, raw)
		}
	}
}
