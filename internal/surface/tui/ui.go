package tui

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/surface/tui/editor"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/keys"
	"github.com/hew-agent/hew/internal/surface/tui/style"
	"github.com/hew-agent/hew/internal/surface/view"
)

// pace is the time between two drawings of what arrives by itself; keys are
// drawn at once.
const pace = 33 * time.Millisecond

// ui is the terminal while it runs. Everything but post is used by the goroutine
// of loop alone.
type ui struct {
	c     *Config
	prefs Prefs
	ctx   context.Context
	paint Painter

	live   *Live
	run    *runner
	store  *view.Store
	sink   sink
	ed     *editor.Editor
	queued []queuedPrompt
	// modal has the keyboard when it is not nil; asks are the questions behind it.
	modal    *modal
	asks     []ask
	askModal *modal
	drafts   chan editor.Draft
	lastKey  string
	lastAt   time.Time
	binds    keys.Resolver

	width, height int
	busy          bool // a run is under way, or about to begin
	spent         float64
	hideTodo      bool
	hint          string
	lineText      string // of the person's status line
	lineChanged   chan struct{}
	away          bool // the window has not the keyboard
	pressed       time.Time
	pressedKey    string
	said          []style.Line // to be printed with the next drawing

	posts   chan func()
	changes <-chan struct{}
	dirty   bool
	leave   error // why the loop ends; ErrLeft for a person's wish
	ended   bool
	// opening counts what must come before the conversation.
	before []Gate
	first  string
}

type queuedPrompt struct {
	id   string
	said Said
}

// ErrLeft ends the terminal because the person wants that; it is no error of Run.
var ErrLeft = errors.New("left")

// Run shows the terminal until the person leaves, and returns the session that
// was open then, "" for none.
func Run(ctx context.Context, c Config) (session string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	u := &ui{
		c: &c, prefs: c.Prefs, ctx: ctx, paint: c.Paint(c.Prefs), posts: make(chan func(), 64), first: c.Prompt, before: c.Before,
		lineChanged: make(chan struct{}, 1), drafts: make(chan editor.Draft, 1),
	}
	u.ed = u.newEditor()
	u.binds.Table = keys.Default()
	u.ed.SetDraft(c.Draft)
	if c.KeepDraft != nil {
		go u.writeDrafts(ctx)
	}
	u.store = view.NewStore(view.Fold{Outline: u.outline, Cost: u.cost}, view.State{})
	u.changes, _ = u.store.Subscribe()
	err = u.loop()
	u.refuseAll()
	cancel()
	if u.live != nil {
		session = u.live.Engine.Session()
		err = errors.Join(err, u.live.Close())
	}
	return session, errors.Join(err, u.paint.Close())
}

// post runs do on the loop's goroutine.
func (u *ui) post(do func()) {
	select {
	case u.posts <- do:
	case <-u.ctx.Done():
	}
}

// async runs slow work beside the loop and hands its end back to it.
func (u *ui) async(work func(ctx context.Context) func()) {
	go func() { // ends with its work; ctx ends it
		then := work(u.ctx)
		if then != nil {
			u.post(then)
		}
	}()
}

// loop is the heart: one event, then, when something has changed, one drawing.
func (u *ui) loop() error {
	var frameTimer, second, ready <-chan time.Time
	for !u.ended {
		select {
		case ev, ok := <-u.c.Device.Events():
			if !ok {
				return u.leave
			}
			u.handle(ev)
			u.draw()
			frameTimer = nil
		case q := <-u.c.Asker.asks:
			u.asked(q)
			u.draw()
		case <-u.c.Learned:
			u.repaint()
		case text := <-u.c.Notices:
			u.notice(text)
		case <-u.c.FilesChanged:
			u.ed.Refresh()
			u.dirty = true
		case do := <-u.posts:
			do()
			u.dirty = true
		case <-u.changes:
			u.dirty = true
			u.noticeRun()
		case <-u.over():
			u.overtaken()
			u.draw()
		case <-frameTimer:
			frameTimer = nil
			u.draw()
		case <-second:
			second = nil
			u.dirty = true
		case <-ready:
			ready = nil
			u.dirty = true
		case <-u.ctx.Done():
			return u.leave
		}
		if u.dirty && frameTimer == nil {
			frameTimer = time.After(pace)
		}
		if at := u.readyAt(); !at.IsZero() && ready == nil {
			ready = time.After(at.Sub(u.c.Now()))
		}
		if u.busy && second == nil {
			second = time.After(time.Second)
		}
	}
	if errors.Is(u.leave, ErrLeft) {
		return nil
	}
	return u.leave
}

// noticeRun compares what the store says with what the loop knows of the run.
func (u *ui) noticeRun() {
	s, _ := u.store.State()
	was := u.busy
	u.busy = s.Run.Busy || u.run != nil && u.run.running()
	if u.run != nil {
		u.taken()
	}
	if was && !u.busy {
		u.spent = 0
		u.stirLine()
		if u.away {
			u.c.Device.Call("hew", "the work is done")
		}
	}
	if u.live != nil {
		u.spent = u.live.Engine.Costs().CostUSD
	}
}

// taken forgets queued prompts that a run has taken up.
func (u *ui) taken() {
	waiting := map[string]bool{}
	for _, id := range u.run.waiting() {
		waiting[id] = true
	}
	var left []queuedPrompt
	for _, q := range u.queued {
		if waiting[q.id] {
			left = append(left, q)
		}
	}
	u.queued = left
}

// draw prints what is finished and redraws the rest.
func (u *ui) draw() {
	u.dirty = false
	if u.width == 0 {
		return // the size is not known yet
	}
	s, _ := u.store.State()
	u.sink.width, u.sink.whole = u.width, u.prefs.Verbose
	lines := u.sink.take(s)
	if len(u.said) > 0 {
		lines = append(u.said, lines...)
		u.said = nil
	}
	if len(lines) > 0 {
		u.paint.Commit(lines)
	}
	if err := u.paint.Live(u.compose()); err != nil {
		u.ended, u.leave = true, err
	}
}

func (u *ui) handle(ev input.Event) {
	switch ev := ev.(type) {
	case input.Resize:
		first := u.width == 0
		if f, ok := u.paint.(*Full); ok && ev.Width != u.width {
			f.Forget()
			u.sink = sink{}
		}
		u.width, u.height = ev.Width, ev.Height
		u.paint.Resize(ev.Width, ev.Height)
		if first {
			u.start()
		}
	case input.Resumed:
		u.paint.Resize(u.width, u.height)
	case input.Focus:
		if u.away = !ev.In; ev.In {
			u.readBindings()
		}
	case input.Ended:
		u.ended, u.leave = true, ev.Err
	case input.Press, input.Paste, input.Mouse:
		u.key(ev)
	}
}

// start prints the header and opens the conversation, behind what must come before.
func (u *ui) start() {
	u.readBindings()
	u.say(style.Line{{Text: "hew ", Role: style.Accent}, {Text: u.c.Version, Role: style.Dim}, {Text: "  " + u.c.Dir, Role: style.Dim}})
	if u.c.Greeting != "" {
		u.say(style.Text(style.Warning, u.c.Greeting))
	}
	u.nextGate()
}

// say prints lines of hew's own.
func (u *ui) say(lines ...style.Line) {
	for _, l := range lines {
		u.said = append(u.said, style.Wrap(l, u.width)...)
	}
	u.dirty = true
}

func (u *ui) nextGate() {
	if len(u.before) == 0 {
		u.open()
		return
	}
	g := u.before[0]
	u.before = u.before[1:]
	if g.Later != nil {
		u.before = append(g.Later(), u.before...)
		u.nextGate()
		return
	}
	if g.Skip != nil && g.Skip() {
		u.passed(g)
		return
	}
	u.show(&modal{widget: g.Widget, closed: func() { u.passed(g) }})
}

func (u *ui) passed(g Gate) {
	if err := g.Done(); err != nil {
		u.ended, u.leave = true, err
		return
	}
	u.nextGate()
}

// open opens the conversation beside the loop.
func (u *ui) open() {
	u.async(func(ctx context.Context) func() {
		l, err := u.c.Open(ctx)
		return func() {
			if err != nil {
				u.ended, u.leave = true, err
				return
			}
			u.attach(l)
			if u.c.Pick {
				u.screenOf("resume", "")
			}
			if u.first != "" {
				u.submit(Said{Text: u.first, Shown: u.first})
				u.first = ""
			}
		}
	})
}

// recent is how many items of a past conversation are printed when it goes on.
const recent = 40

// attach makes a conversation the one that is shown.
func (u *ui) attach(l *Live) {
	ctx, stop := context.WithCancel(u.ctx)
	u.live = l
	u.run = newRunner(u.c, l, u.store, func() { u.post(u.reset) }, func() { u.post(u.noticeRun) })
	done := make(chan struct{})
	run := u.run
	go func() { // ends with ctx
		defer close(done)
		run.work(ctx)
	}()
	closeLive := l.Close
	l.Close = func() error {
		l.Engine.Interrupt()
		stop()
		<-done
		return closeLive()
	}
	f := view.Fold{Outline: u.outline, Cost: u.cost}
	past := f.Replay(l.Engine.View().History)
	u.store.Replace(past)
	u.sink = sink{items: max(0, len(past.Items)-recent)}
	if u.sink.items > 0 {
		u.say(nil, style.Text(style.Dim, fmt.Sprintf("  … %d earlier (ctrl+o shows all)", u.sink.items)))
	}
	if l.StatusLine != nil {
		go l.StatusLine(ctx, u.lineChanged, func(text string) { u.post(func() { u.lineText = text }) })
	}
	early := u.queued
	u.queued = nil
	for _, q := range early { // typed before the conversation was there
		u.noteSaid(q.said)
		u.submit(q.said)
	}
	u.ed.Refresh()
}

// reset begins the screen anew: the conversation is another one now.
func (u *ui) reset() {
	f := view.Fold{Outline: u.outline, Cost: u.cost}
	s, _ := u.store.State()
	u.said = append(u.said, u.sink.take(s)...)
	n := f.Replay(u.live.Engine.View().History)
	u.store.Replace(n)
	u.sink = sink{items: len(n.Items)}
	u.stirLine()
}

func (u *ui) outline(use *msg.ToolUse) view.Outline {
	if u.live == nil {
		return view.Outline{Title: use.Name}
	}
	o := u.live.Engine.Outline(use)
	return view.Outline{Title: o.Title, Act: o.Act, Preview: o.Preview}
}

func (u *ui) cost() float64 {
	if u.live == nil {
		return 0
	}
	return u.live.Engine.Costs().CostUSD
}

func (u *ui) mode() string {
	if u.live == nil {
		return ""
	}
	return u.live.Engine.Mode()
}

func (u *ui) stirLine() {
	select {
	case u.lineChanged <- struct{}{}:
	default:
	}
}

// notice shows a remark that came from outside of a run.
func (u *ui) notice(text string) {
	u.store.Apply(event.Event{Body: event.Notice{Level: event.Warning, Text: text}}, u.c.Now())
}

// statusLine is the person's own line; colours that it prints are not taken over.
func (u *ui) statusLine(w int) []style.Line {
	if u.lineText == "" {
		return nil
	}
	var out []style.Line
	for _, l := range texts(style.Dim, ansi.Strip(u.lineText), w-2) {
		out = append(out, append(style.Line{{Text: "  "}}, l...))
	}
	return out[:min(len(out), 3)]
}

var _ event.Asker = (*Asker)(nil)
