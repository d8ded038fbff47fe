package wiring

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/core/command"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/state/settings"
)

// ownStyles are the output styles that hew brings; a file of the same name
// takes the place of one.
func ownStyles() []*catalog.Style {
	return []*catalog.Style{
		catalog.BuiltInStyle("Concise", "As few words as possible: results first, no commentary",
			"Use as few words as the content allows. Lead with the result. One sentence where one will do, a list only where things are a list, no introduction, no summary of what was just shown, no offers. Say what you are about to do only when it is risky or will take long. Facts that the person needs in order to judge the result (what failed, what was not checked, what is left) are never left out for brevity."),
		catalog.BuiltInStyle("Explanatory", "Explains why the code is as it is while it works",
			"While you work, share what is worth knowing about this code base: why a part is built as it is, which trade-off a choice makes, which convention of the project you follow and where it shows. Put such a remark before or after the change it belongs to, marked as `★ Insight`, in two or three sentences. Prefer what is particular to this project over general knowledge, and leave the remark out when there is nothing to say. You may be longer than usual for this purpose, not for any other."),
		catalog.BuiltInStyle("Learning", "Leaves small, meaningful pieces of the work to the person",
			"Help the person to learn by doing. Do the groundwork yourself, and where a piece of two to ten lines holds a real decision (an algorithm, a data structure, an error policy, a piece of design), stop before it: put a marker `TODO(human)` in the file at that place, and ask the person to write it, in this form: **Learn by doing**, then the context (what is built and why this piece matters), the task (file, function and what it must do), and guidance (what to weigh, without the solution). Ask for one piece at a time and wait. When it is written, say what is good about it and what it means for the rest, then go on. Remarks marked as `★ Insight` may explain what you did yourself."),
		catalog.BuiltInStyle("Proactive", "Carries the work on by itself and asks only when it must",
			"Carry the work as far as it can go without the person. Decide small questions yourself, say in a line what you decided, and go on; ask only where a wrong guess would cost much or cannot be undone. After a step, take the next one that the goal plainly needs: run the checks, repair what they show, bring the tests and documents in line. Do not widen the goal: what is merely desirable is named at the end, not done. Permission rules and refusals bind you as ever."),
	}
}

// style is the output style of a conversation that begins now, nil for the default.
func (b *build) style() *catalog.Style {
	name := b.styleName()
	if b.o.Bare {
		return nil
	}
	for _, s := range b.pluginStyles() {
		if s.Forced {
			return s
		}
	}
	if name == "" || strings.EqualFold(name, defaultStyle) {
		return nil
	}
	if s := b.findStyle(name); s != nil {
		return s
	}
	b.notice(fmt.Sprintf("there is no output style %q; the default is used. There are: %s", name, strings.Join(b.styles(), ", ")))
	return nil
}

// styleName is the setting as it is now: it may have changed since the start.
func (b *build) styleName() string {
	if b.conv.Engine == nil { // the start: the settings were just read
		return b.settings.OutputStyle()
	}
	s, _ := settings.Load(b.settingsConfig) // what is wrong in them was told when it came up
	return s.OutputStyle()
}

// pluginStyles are the styles that plugins bring; files are read only when there are plugins.
func (b *build) pluginStyles() []*catalog.Style {
	if len(b.plugins) == 0 {
		return nil
	}
	return b.defs.now().Styles
}

func (b *build) findStyle(name string) *catalog.Style {
	own := ownStyles()
	at := slices.IndexFunc(own, func(s *catalog.Style) bool { return strings.EqualFold(s.Name, name) })
	if s := b.defs.now().Style(name); s != nil {
		return s
	}
	if at < 0 {
		return nil
	}
	return own[at]
}

// styles are the names of all output styles, the default first.
func (b *build) styles() []string {
	out := []string{defaultStyle}
	for _, s := range slices.Concat(ownStyles(), b.defs.now().Styles) {
		if !slices.ContainsFunc(out, func(n string) bool { return strings.EqualFold(n, s.Name) }) {
			out = append(out, s.Name)
		}
	}
	return out
}

// styled puts a conversation's style into its system prompt.
func (b *build) styled(c *prompt.Config) {
	s := b.style()
	b.conv.Style = defaultStyle
	if s == nil {
		return
	}
	text, err := s.Prompt()
	if err != nil {
		b.notice(err.Error() + "; the default style is used")
		return
	}
	b.conv.Style = s.Name
	c.Style, c.General = "# Output style: "+s.Name+"\n"+text, !s.KeepCoding
}

// recalledStyle is the style that the system prompt of a resumed session has.
func recalledStyle(system []string) string {
	for _, block := range system {
		if _, rest, ok := strings.Cut(block, "# Output style: "); ok && (strings.HasPrefix(block, "# Output style: ") || strings.Contains(block, "\n# Output style: ")) {
			name, _, _ := strings.Cut(rest, "\n")
			return name
		}
	}
	return defaultStyle
}

// styleReminder keeps a long conversation in its style.
type styleReminder struct {
	b       *build
	prompts int
}

// styleEvery is how many prompts pass from one reminder to the next.
const styleEvery = 5

// Name is the source's word for programs.
func (*styleReminder) Name() string { return "output_style" }

// Class says that reminders come while the work goes on.
func (*styleReminder) Class() prompt.Class { return prompt.Runtime }

// Delta reminds at every fifth prompt.
func (r *styleReminder) Delta(_ context.Context, f prompt.Facts) ([]prompt.Item, error) {
	if len(f.Words) == 0 || r.b.conv.Style == defaultStyle {
		return nil, nil
	}
	r.prompts++
	if r.prompts%styleEvery != 0 {
		return nil, nil
	}
	return []prompt.Item{{Text: "The output style " + r.b.conv.Style + " is on. Keep to what the system prompt says about it."}}, nil
}

// styleCommand is /output-style.
func (b *build) styleCommand() command.Command {
	return command.Command{
		Name: "output-style", Hint: "[name]", About: "Show the output styles, or choose one for this project; it counts from the next /clear on",
		Run: func(ctx context.Context, args string, _ func(event.Event)) (string, error) {
			if args == "" {
				return "Output style: " + b.conv.Style + "\nThere are: " + strings.Join(b.styles(), ", "), nil
			}
			name := defaultStyle
			if !strings.EqualFold(args, defaultStyle) {
				s := b.findStyle(args)
				if s == nil {
					return "", fmt.Errorf("there is no output style %q; there are: %s", args, strings.Join(b.styles(), ", "))
				}
				name = s.Name
			}
			if err := b.settingsConfig.Set(ctx, settings.Local, name, "outputStyle"); err != nil {
				return "", err
			}
			return "Output style: " + name + " from the next conversation of this project on (/clear begins one).", nil
		},
	}
}
