package dialog

import (
	"net/url"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// Access is how a person wants to reach a model.
type Access string

// The ways.
const (
	NoAccess   Access = ""        // not now
	FoundKey   Access = "found"   // with the key that is in the environment
	TypedKey   Access = "key"     // with the key that was typed
	OwnGateway Access = "gateway" // at an address of their own
)

// Setup is what a first start found out.
type Setup struct {
	Access Access
	// Key is what was typed; with a gateway it may be empty. Never print it.
	Key string
	// Address is that of the gateway.
	Address string
	// Theme is the chosen one, "" when it was not asked for.
	Theme string
	Trust TrustChoice
}

// FirstRunConfig is what a first start asks. Empty fields are not asked.
type FirstRunConfig struct {
	// Found is the name of a variable that holds a key, "" for none.
	Found string
	// Themes are the names, Sample draws something in all colours. Show is called
	// when another theme is looked at, so that the caller can paint with it.
	Themes []string
	Sample func(width int) []style.Line
	Show   func(theme string)
	// Trust is asked last.
	Trust *Trust
}

// FirstRun leads through a first start: access to a model, theme, trust.
type FirstRun struct {
	c     FirstRunConfig
	o     Options
	setup Setup
	now   frame.Widget // nil once all is done
	next  func()
	shown int // the theme that was shown last
	left  bool
}

// NewFirstRun makes the dialogs of a first start.
func NewFirstRun(c FirstRunConfig, o Options) *FirstRun {
	f := &FirstRun{c: c, o: o, shown: -1}
	f.access()
	return f
}

// Setup is what was found out, once Done.
func (f *FirstRun) Setup() Setup { return f.setup }

// Left tells that the person wants to leave rather than to go on.
func (f *FirstRun) Left() bool { return f.left }

// Done tells that all was asked.
func (f *FirstRun) Done() bool { return f.now == nil || f.left }

// Ready is when keys begin to count.
func (f *FirstRun) Ready() time.Time {
	if a, ok := f.now.(interface{ Ready() time.Time }); ok {
		return a.Ready()
	}
	return time.Time{}
}

// Ignored hands out what was typed too early.
func (f *FirstRun) Ignored() []input.Event {
	if a, ok := f.now.(interface{ Ignored() []input.Event }); ok {
		return a.Ignored()
	}
	return nil
}

// Handle passes an event to the question that is asked, and goes on after it.
func (f *FirstRun) Handle(ev input.Event) bool {
	if f.Done() {
		return true
	}
	if p, ok := ev.(input.Press); ok && p.Key == "ctrl+c" {
		f.left = true
		return true
	}
	took := f.now.Handle(ev)
	f.look()
	if f.now.Done() {
		f.next()
	}
	return took
}

// look shows the theme at the cursor.
func (f *FirstRun) look() {
	c, ok := f.now.(*Choose)
	if !ok || f.shown < 0 || c.choice.at == f.shown {
		return
	}
	f.shown = c.choice.at
	if f.c.Show != nil {
		f.c.Show(f.c.Themes[f.shown])
	}
	c.page.width = 0
}

// Draw shows the question.
func (f *FirstRun) Draw(width, height int) frame.Frame {
	if f.now == nil {
		return frame.Frame{}
	}
	return fit(f.now.Draw(width, height), width, height)
}

func (f *FirstRun) ask(w frame.Widget, next func()) { f.now, f.next = w, next }

func (f *FirstRun) access() {
	answers, ways := []string{"Type an API key", "Use a gateway or a server of my own", "Not now"}, []Access{TypedKey, OwnGateway, NoAccess}
	if f.c.Found != "" {
		answers, ways = append([]string{"Use the key in " + label(f.c.Found, 60)}, answers...), append([]Access{FoundKey}, ways...)
	}
	w := NewChoose(Choices{
		Title: "How should hew reach a model?", Answers: answers, Safe: len(answers) - 1,
		Page: func(width int) []style.Line {
			return paragraph(style.Dim, "Welcome. Nothing is sent anywhere before this is answered.", width)
		},
	}, f.o)
	w.choice.at = 0
	f.ask(w, func() {
		f.setup.Access = ways[w.Taken()]
		switch f.setup.Access {
		case TypedKey:
			f.key("The API key (it is shown as dots)", f.theme)
		case OwnGateway:
			f.gateway()
		case FoundKey, NoAccess:
			f.theme()
		}
	})
}

// field asks for a text; leaving it goes back to the first question.
func (f *FirstRun) field(c Field, take func(text string), next func()) {
	w := NewField(c)
	f.ask(w, func() {
		if w.Left() {
			f.access()
			return
		}
		take(strings.TrimSpace(w.Value))
		next()
	})
}

func (f *FirstRun) key(what string, next func()) {
	optional := f.setup.Access == OwnGateway
	f.field(Field{Label: what, Secret: true, Check: func(v string) string {
		v = strings.TrimSpace(v)
		switch {
		case v == "" && !optional:
			return "a key is needed; esc goes back"
		case strings.ContainsAny(v, " \t"):
			return "a key has no blanks inside"
		}
		return ""
	}}, func(text string) { f.setup.Key = text }, next)
}

func (f *FirstRun) gateway() {
	f.field(Field{Label: "The address, such as https://gateway.example", Check: func(v string) string {
		u, err := url.Parse(strings.TrimSpace(v))
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return "an address begins with https:// or http://"
		}
		return ""
	}}, func(text string) { f.setup.Address = text }, func() {
		f.key("Its key or token (may stay empty)", f.theme)
	})
}

func (f *FirstRun) theme() {
	if len(f.c.Themes) == 0 {
		f.trust()
		return
	}
	w := NewChoose(Choices{Title: "Which colours?", Answers: f.c.Themes, Page: f.c.Sample}, f.o)
	f.shown = 0
	f.ask(w, func() {
		f.setup.Theme = f.c.Themes[w.Taken()]
		f.shown = -1
		f.trust()
	})
}

func (f *FirstRun) trust() {
	f.now = nil
	if t := f.c.Trust; t != nil {
		f.ask(t, func() { f.setup.Trust, f.now = t.Choice(), nil })
	}
}

var _ frame.Widget = (*FirstRun)(nil)
