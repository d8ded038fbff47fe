package dialog

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/style"
	"github.com/hew-agent/hew/internal/tool"
)

// everywhere makes every widget with s in every place that takes foreign text.
func everywhere(s string, c *clock) []frame.Widget {
	o := c.options()
	raw := msg.Encode(map[string]any{"questions": []any{
		map[string]any{"question": s, "header": s, "multiSelect": true, "options": []any{
			map[string]string{"label": s, "description": s, "preview": s}, map[string]string{"label": "b", "description": s},
		}}, map[string]any{"question": "two", "header": s, "options": []any{map[string]string{"label": s, "description": s}}},
	}})
	use := msg.NewToolUse("t", s, raw)
	q := event.Question{
		Use: use, Tool: s, Title: s, Part: s, Risk: s, Origin: event.Origin{Agent: s},
		Decision: tool.Decision{Reason: s, Rule: s, File: s, Trace: []tool.Step{{Name: s, Outcome: s, Detail: s, Rule: s, File: s}}},
		Suggestions: []event.Suggestion{
			{Type: "addRules", Destination: "localSettings", Rules: []event.Rule{{Tool: s, Content: s}}},
			{Type: "addDirectories", Destination: s, Directories: []string{s}},
			{Type: "setMode", Mode: s, Destination: "session"},
		},
	}
	lines := func(width int) []style.Line {
		return []style.Line{style.Text(style.Plain, s), style.Text(style.Bold, s+s)}
	}
	list := List{
		Title: s, Empty: s, Intro: lines, Note: s, Many: true, Keys: []Key{{"d", s}},
		Preview: func(_, width int) []style.Line { return lines(width) },
		Rows:    []Row{{Label: s, Detail: s, Right: s, Section: s, Mark: s}, {Label: "x", Right: s, Depth: 30}, {Label: s}},
	}
	out := []frame.Widget{
		NewQuestions(q, o), NewForm(event.Form{Server: s, Message: s, Mode: "url", URL: s}, o), NewForm(form2(s), o),
		NewTrust(s, []Group{{s, []string{s, s}}}, o), NewApproval(Server{Name: s, Command: s, Env: []string{s}, File: s}, o),
		NewOffer([]string{s}, o), NewConfirm(s, s, s, o), NewList(list, 0), NewList(List{Title: "e", Empty: s}, 0),
		&Pager{Title: s, Lines: lines}, NewField(Field{Label: s, Value: s}),
		NewFirstRun(FirstRunConfig{Found: s, Themes: []string{s}, Sample: lines}, o),
		&Pager{Title: "m", Lines: func(width int) []style.Line { return Meter([]Share{{s, 3}, {s, 4}}, 9, width) }},
	}
	for _, v := range []tool.View{
		nil,
		tool.TextView{Text: s},
		tool.TerminalView{Command: s},
		tool.ListView{Title: s, Items: []tool.Item{{Text: s}}},
		tool.DiffView{Path: s, Hunks: []tool.Hunk{{OldStart: 1, NewStart: 9, Lines: []string{"+" + s, "-" + s, s, ""}}}},
		tool.TableView{Header: []string{s}, Rows: [][]string{{s, s}}},
		tool.NestedView{Title: s, Views: []tool.View{tool.TextView{Text: s}}},
	} {
		q.Preview = v
		out = append(out, NewPermission(q, o))
	}
	q.Preview = tool.TextView{Text: s}
	return append(out, NewPlan(q, o))
}

func form2(s string) event.Form {
	return event.Form{Server: s, Message: s, Mode: "form", Schema: json.RawMessage(msg.Encode(map[string]any{"properties": map[string]any{
		"a" + s: map[string]any{"type": "string", "title": s, "description": s, "default": s},
		"b" + s: map[string]any{"type": "string", "enum": []string{s, "b"}, "enumNames": []string{s}},
		"c":     map[string]any{"type": "array", "items": map[string]any{"enum": []string{s}}},
	}, "required": []string{"c"}}))}
}

// hostile are texts that would steer a terminal, hide something or break a line.
func hostile() []string {
	return []string{
		"", "x", "plain text", "\x1b[2J\x1b[31mred\x1b[0m", "\x1b]52;c;aGk=\x07copied\x1b]0;title\x1b\\", "over\rwritten\r\n\b\b", "a\tb\tc\n\n\n\n\n\nd",
		"\u202eevil\u2066x\u2069 \u200b\u200c\u200d\ufeff\u2060", "\u009b31m\u0085\u2028\u2029", "日本語の文字と👩\u200d💻🇩🇪❤\ufe0f", "e" + strings.Repeat("\u0301", 300),
		"שלום עולם \u05bf العربية", "\xff\xfe\x80 broken", "\U000e0041\U000e0042tag", strings.Repeat("wide日", 80), strings.Repeat(" ", 300) + "tail",
		strings.Repeat("\u1100\u1161\u11a8", 40), "\u0e33\u0e33\u0e33ำำ", strings.Repeat("line\n", 50), "‹› | ⟨9 spaces⟩", "\u3164\u2800\u115f", "🏳\ufe0f\u200d🌈" + strings.Repeat("\u200d🌈", 50),
	}
}

func TestNothingStaysWithinItsCells(t *testing.T) {
	all := append(append([][2]int(nil), sizes...), [2]int{1, 1}, [2]int{2, 3}, [2]int{7, 4}, [2]int{20, 5}, [2]int{121, 12})
	for i, s := range hostile() {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			c := newClock()
			for j, w := range everywhere(s, c) {
				tour(t, w, c, [][2]int{all[(i+j)%len(all)], all[(i+j+3)%len(all)], {40, 10}})
			}
		})
	}
}

// tour draws a widget at all sizes, in the states that a few keys lead to.
func tour(t *testing.T, w frame.Widget, c *clock, all [][2]int) {
	t.Helper()
	for _, s := range all {
		fits(t, w, s[0], s[1])
	}
	c.pass(time.Second)
	for _, k := range []string{"", "down", "tab", "x", "esc", "ctrl+e", "/", "q", "enter", "right", "space", "end", "3", "y"} {
		c.pass(time.Second)
		ev := input.Press{Key: k}
		if len(k) == 1 {
			ev.Text = k
		}
		w.Handle(ev)
		w.Handle(input.Mouse{Y: 3, Kind: input.WheelDown})
		fits(t, w, all[2][0], all[2][1])
	}
}

// A line of 10 MB is shown where it is what the dialog is about, and cut elsewhere.
func TestLongLine(t *testing.T) {
	long := strings.Repeat("0123456789abcde ", 10<<20/16)
	c := newClock()
	fits(t, NewPermission(command(long), c.options()), 80, 24)
	for _, w := range []frame.Widget{
		NewList(List{Title: long, Rows: []Row{{Label: long, Detail: long, Right: long}}}, 0), NewField(Field{Label: "x", Value: long[:1<<20]}),
	} {
		for _, s := range sizes {
			fits(t, w, s[0], s[1])
		}
	}
}
