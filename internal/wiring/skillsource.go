package wiring

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hew-agent/hew/internal/action/builtin/skill"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/core/compact"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/state/prompt"
)

// Name is the source's word for programs.
func (c *skillset) Name() string { return "skill_listing" }

// Class says that skills are definitions on disk.
func (c *skillset) Class() prompt.Class { return prompt.Reloadable }

// Delta lists the skills while the tool that loads them is offered, and those
// that belong to files which were met. It also hears when a person speaks again.
func (c *skillset) Delta(ctx context.Context, f prompt.Facts) ([]prompt.Item, error) {
	c.spoken(f)
	d := c.s.b.defs
	if slices.ContainsFunc(f.Edited, definitionFile) {
		d.refresh(ctx, func(event.Body) {})
	}
	items := c.said()
	if !c.offered() {
		return items, nil
	}
	return slices.Concat(items, c.listing(), c.met(slices.Concat(f.Read, f.Edited))), nil
}

// listing is the list of skills; nothing while they are not offered.
func (c *skillset) listing() []prompt.Item {
	if !c.offered() {
		return nil
	}
	list := c.s.b.defs.now().Listing(c.budget(), c.s.count0, c.s.shown)
	if list == "" {
		return nil
	}
	return []prompt.Item{{Key: "skills", Text: "Skills that can be loaded with the " + skill.Spec().Name + " tool:\n" + harmlessTags(list)}}
}

// spoken takes back what was lent for the last words of a person.
func (c *skillset) spoken(f prompt.Facts) {
	if len(f.Words) == 0 {
		return
	}
	c.mu.Lock()
	opening := c.opening
	c.opening = false
	c.mu.Unlock()
	if !opening {
		c.over()
	}
}

// said are the reports of skills that a person ran as subagents, each once.
func (c *skillset) said() []prompt.Item {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []prompt.Item
	for _, r := range c.reports {
		out = append(out, prompt.Item{Text: r})
	}
	c.reports = nil
	return out
}

func (c *skillset) offered() bool {
	for _, t := range c.h.pool() {
		if t.Spec().Name == skill.Spec().Name {
			return c.h.gate().Offered(t.Spec())
		}
	}
	return false
}

// count0 is how often a skill was used before this session.
func (s *skills) count0(name string) int { return s.counts()[name] }

// listingShare is the part of the window that descriptions of skills may take.
const listingShare = 0.01

// budget is the size of the list in bytes.
func (c *skillset) budget() int {
	b := c.s.b
	if n, err := strconv.Atoi(b.env("SLASH_COMMAND_TOOL_CHAR_BUDGET")); err == nil && n > 0 {
		return n
	}
	share := listingShare
	if v, ok := b.settings.Number("skillListingBudgetFraction"); ok && v > 0 && v <= 1 {
		share = v
	}
	return int(share * float64(c.h.engine().Model().Window) * bytesPerToken)
}

// definitionFile tells files from which skills, commands, agents or styles are read.
func definitionFile(path string) bool {
	path = filepath.ToSlash(path)
	return strings.Contains(path, "/.claude/") || strings.Contains(path, "/.agents/")
}

// met says which skills belong to files that were read or edited: skills of
// the folders above them, and skills with fitting paths. It returns all of them
// each time, so that a compaction loses none.
func (c *skillset) met(paths []string) []prompt.Item {
	d := c.s.b.defs
	for _, path := range paths {
		if fsys.KindOf(path) == fsys.KindRegular {
			d.nested(path)
		}
	}
	k := d.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range k.All() {
		how := c.s.shown(s.Name)
		if _, told := c.beside[s.Name]; told || !s.ForModel || how == catalog.ShownOff || how == catalog.ShownUserOnly {
			continue
		}
		for _, path := range paths {
			if len(s.Paths) > 0 && k.Covers(s, path) || len(s.Paths) == 0 && !slices.Contains(k.Skills, s) {
				c.beside[s.Name] = "A skill for files such as " + fsys.Printable(path) + ", to be loaded with the " + skill.Spec().Name + " tool:\n- " +
					s.Name + ": " + harmlessTags(strings.Join(strings.Fields(s.Listing()), " "))
				break
			}
		}
	}
	var out []prompt.Item
	for _, name := range sortedNames(c.beside) {
		out = append(out, prompt.Item{Key: "skill " + name, Text: c.beside[name]})
	}
	return out
}

func sortedNames(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// harmlessTags keeps the words of a file from ending the reminder that they stand in.
func harmlessTags(s string) string {
	return strings.ReplaceAll(s, "system-reminder", "system_reminder")
}

// submitting notes where a prompt begins, and takes back what skills had lent
// until then, unless the prompt is what a command has just made. What nobody
// typed (a member's message, the end of background work) begins a turn too: a
// grant was for the turn that asked for the skill.
func (c *skillset) submitting(submit func(context.Context, engine.Input) iter.Seq[event.Event]) func(context.Context, engine.Input) iter.Seq[event.Event] {
	if c == nil {
		return submit
	}
	return func(ctx context.Context, in engine.Input) iter.Seq[event.Event] {
		if in.Message == nil {
			return submit(ctx, in)
		}
		if in.Message.Meta {
			c.over()
			return submit(ctx, in)
		}
		c.mu.Lock()
		made := c.expected != nil && slices.Contains(in.Message.Blocks, c.expected)
		c.expected, c.opening = nil, true
		c.mu.Unlock()
		if !made {
			c.over()
		}
		return submit(ctx, in)
	}
}

// Bounds of the skills that are said again after a compaction, in bytes: 5,000
// tokens each and 25,000 together.
const (
	maxSkill  = 5_000 * bytesPerToken
	maxSkills = 25_000 * bytesPerToken
)

// liveSkills are the skills in use, the newest first.
func (b *build) liveSkills([]*msg.Message) []compact.Announcement {
	if b.craft == nil {
		return nil
	}
	b.craft.book.Dropped()
	var out []compact.Announcement
	room := maxSkills
	for _, u := range slices.Backward(b.craft.book.Uses()) {
		text := compact.Clip(u.Text, min(maxSkill, room))
		if room -= len(text); room < 0 || text == "" {
			break
		}
		out = append(out, compact.Announcement{
			Kind: "skills", Pinned: true, Text: fmt.Sprintf("%s%s%s\n%s", skill.Announced, u.Name, skill.AnnouncedEnd, harmlessTags(text)),
		})
	}
	return out
}
