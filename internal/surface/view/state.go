package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// Outline is what is known of a call before it runs; see engine.Outline.
type Outline struct {
	Title   string
	Act     tool.Act
	Preview tool.View
}

// State is what a person sees. It is a value: Apply returns the next one and
// costs as much as the event, because what is finished is shared. One goroutine
// applies; States that were handed out may be read by others.
type State struct {
	// Items are finished and never change; they only grow.
	Items []Item
	// Live are not finished, in the order of the conversation.
	Live []Item
	// Todo is the newest to-do list, Tasks what runs in the background or did.
	Todo  []tool.Item
	Tasks []event.TaskChanged
	// Questions wait for an answer.
	Questions []event.Question
	Run       Progress
	// Window is how full the window is, in tokens; 0 when that is not known.
	Window int

	planner string
	serial  int
	// text is the open block as it arrives; States share its bytes.
	text []byte
}

// Progress is how a run goes.
type Progress struct {
	// Busy tells that one is under way, since Began.
	Busy  bool
	Began time.Time
	Turn  int
	// Output counts tokens of the model: those of finished replies and an estimate
	// of the open one.
	Output int
	spoken int
	// Waits says why nothing arrives at the moment: "", or a sentence.
	Waits string
	// Active is the line of the to-do list that is being worked on.
	Active string
}

// Fold makes States of events.
type Fold struct {
	// Outline describes a call; Cost reads the account in USD.
	Outline func(*msg.ToolUse) Outline
	Cost    func() float64
	cost    float64
}

// Apply returns the state after an event that happened at a moment.
func (f *Fold) Apply(s State, ev event.Event, at time.Time) State {
	if ev.Origin != (event.Origin{}) {
		return f.inner(s, ev)
	}
	switch b := ev.Body.(type) {
	case event.TurnStarted:
		if !s.Run.Busy {
			s.Run = Progress{Busy: true, Began: at}
			f.cost = f.Cost()
		}
		s.Run.Turn, s.Run.Waits = b.Turn, ""
	case event.Retrying:
		s.Run.Waits = retrying(b)
	case event.Delta:
		return s.delta(b, at)
	case event.Message:
		return f.message(s, b, at)
	case event.Retracted:
		return s.retract(b)
	case event.ToolStarted:
		return s.call(b.Use.ID, func(c *Call) { c.Status, c.Began, c.Title = Running, at, b.Title })
	case event.ToolProgress:
		return s.call(b.UseID, func(c *Call) { c.Progress = progressText(c.Progress, b.Progress) })
	case event.ToolFinished:
		return s.finished(b)
	case event.Decided:
		return s.call(b.Use.ID, func(c *Call) { c.Why = b.Decision.Reason })
	case event.Asked:
		s.Questions = append(s.Questions[:len(s.Questions):len(s.Questions)], b.Question)
	case event.Answered:
		s.Questions = slices.DeleteFunc(slices.Clone(s.Questions), func(q event.Question) bool { return q.ID == b.ID })
	case event.ModelCall:
		return s.modelCall(b)
	case event.Compacting:
		s.Run.Waits = ""
		if !b.Over {
			s.Run.Waits = fmt.Sprintf("the window is %d%% full: summarising the conversation", b.Percent)
		}
	case event.Compacted:
		return s.add(Compaction{"compact-" + b.Boundary, b.Trigger, b.PreTokens, b.PostTokens, b.Took})
	case event.TaskChanged:
		return s.task(b)
	case event.Notice:
		return s.add(Note{s.next("note"), b.Level, b.Code, b.Text})
	case event.CommandRan:
		return s.add(Command{"command-" + b.ID, b.Name, b.Args, b.Output, b.Failed})
	case event.Done:
		return f.done(s, b.Terminal, at)
	case event.HookRan, event.Shaped, event.Step:
	}
	return s
}

func retrying(b event.Retrying) string {
	why := b.Category
	if b.Status > 0 {
		why = fmt.Sprintf("%s, status %d", why, b.Status)
	}
	return fmt.Sprintf("the model's server did not answer (%s): try %d of %d in %s", why, b.Attempt, b.Max, b.Delay.Round(100*time.Millisecond))
}

// progressText keeps the end of what a call prints.
func progressText(had string, p tool.Progress) string {
	if p.Text == "" {
		return had
	}
	return p.Text
}

// next makes an id for an item that events give none. It takes a pointer: ids
// must not come twice.
func (s *State) next(kind string) string {
	s.serial++
	return fmt.Sprintf("%s-%d", kind, s.serial)
}

// add appends a finished item, behind what is still live when nothing is.
func (s State) add(it Item) State {
	if len(s.Live) > 0 {
		s.Live = append(s.Live[:len(s.Live):len(s.Live)], it)
		return s.settle()
	}
	s.Items = append(s.Items, it)
	return s
}

// settle moves the finished head of what is live to what is finished.
func (s State) settle() State {
	n := 0
	for n < len(s.Live) && settled(s.Live[n]) {
		n++
	}
	if n > 0 {
		s.Items = append(s.Items, s.Live[:n]...)
		s.Live = slices.Clone(s.Live[n:])
	}
	return s
}

func settled(it Item) bool {
	switch it := it.(type) {
	case Reply:
		return !it.Open
	case Thought:
		return !it.Open
	case Call:
		return it.Status != Pending && it.Status != Running
	case Prompt, Note, Command, Compaction, Ending:
	}
	return true
}

// call changes a live call.
func (s State) call(id string, change func(*Call)) State {
	for i, it := range s.Live {
		if c, ok := it.(Call); ok && c.ID == id {
			change(&c)
			s.Live = slices.Clone(s.Live)
			s.Live[i] = c
			return s
		}
	}
	return s
}

// delta adds a piece of a reply to the block that is open.
func (s State) delta(d event.Delta, at time.Time) State {
	thought := false
	switch d.Kind {
	case event.DeltaText:
	case event.DeltaThinking:
		thought = true
	case event.DeltaInput:
		s.Run.spoken += len(d.Text)
		return s
	case event.DeltaOther:
		return s
	}
	s.Run.spoken += len(d.Text)
	s.Run.Waits = ""
	last := len(s.Live) - 1
	if last >= 0 {
		switch it := s.Live[last].(type) {
		case Reply:
			if it.Open && !thought {
				return s.grow(last, d.Text)
			}
		case Thought:
			if it.Open && thought {
				return s.grow(last, d.Text)
			}
		case Prompt, Call, Note, Command, Compaction, Ending:
		}
	}
	s = s.close(at)
	s.text = nil
	id := s.next("block")
	var it Item = Reply{ID: id, Open: true}
	if thought {
		it = Thought{ID: id, Open: true}
	}
	s.Live = append(s.Live[:len(s.Live):len(s.Live)], it)
	return s.grow(len(s.Live)-1, d.Text)
}

// grow appends to the open block. The text of a State is a window on bytes that
// only grow, so a delta costs its own length.
func (s State) grow(i int, more string) State {
	s.text = append(s.text, more...)
	s.Live = slices.Clone(s.Live)
	switch it := s.Live[i].(type) {
	case Reply:
		it.Text = view(s.text)
		s.Live[i] = it
	case Thought:
		it.Text = view(s.text)
		s.Live[i] = it
	case Prompt, Call, Note, Command, Compaction, Ending:
	}
	return s
}

// close ends blocks whose message never came whole: the reply was cut.
func (s State) close(time.Time) State {
	live := slices.Clone(s.Live)
	for i, it := range live {
		switch it := it.(type) {
		case Reply:
			it.Open = false
			live[i] = it
		case Thought:
			it.Open = false
			live[i] = it
		case Prompt, Call, Note, Command, Compaction, Ending:
		}
	}
	s.Live = live
	return s.settle()
}

// message takes in what has become part of the conversation.
func (f *Fold) message(s State, m event.Message, at time.Time) State {
	if m.Msg.Role != msg.RoleAssistant {
		if (m.Source == "prompt" || m.Source == "steer") && !m.Msg.Meta {
			s = s.close(at)
			text, images := said(m.Msg)
			return s.add(Prompt{m.Msg.ID, text, images, m.Source, at})
		}
		return s
	}
	for i, b := range m.Msg.Blocks {
		s = f.block(s, m.Msg, i, b, at)
	}
	return s
}

func (f *Fold) block(s State, m *msg.Message, i int, b msg.Block, at time.Time) State {
	id := fmt.Sprintf("%s-%d", m.ID, i)
	switch b := b.(type) {
	case *msg.Text:
		return s.replace(Reply{ID: id, Text: b.Text})
	case *msg.Thinking:
		if b.Text == "" {
			return s
		}
		return s.replace(Thought{ID: id, Text: b.Text})
	case *msg.ToolUse:
		s = s.close(at)
		o := f.Outline(b)
		c := Call{ID: b.ID, Tool: b.Name, Title: o.Title, Act: o.Act, Preview: o.Preview, Status: Pending}
		s.Live = append(s.Live[:len(s.Live):len(s.Live)], c)
	case *msg.ToolResult, *msg.Image, *msg.Document, *msg.Opaque:
	}
	return s
}

// replace ends the open block with its whole text; a reply that came in one
// piece has none.
func (s State) replace(whole Item) State {
	s.text = nil
	for i, it := range s.Live {
		switch it := it.(type) {
		case Reply:
			if r, ok := whole.(Reply); ok && it.Open {
				r.ID = it.ID
				s.Live = slices.Clone(s.Live)
				s.Live[i] = r
				return s.settle()
			}
		case Thought:
			if r, ok := whole.(Thought); ok && it.Open {
				r.ID = it.ID
				s.Live = slices.Clone(s.Live)
				s.Live[i] = r
				return s.settle()
			}
		case Prompt, Call, Note, Command, Compaction, Ending:
		}
	}
	return s.add(whole)
}

// said is what a person's message says: its text, and how many other things came
// with it.
func said(m *msg.Message) (text string, others int) {
	var parts []string
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case *msg.Text:
			if !strings.HasPrefix(b.Text, "<system-reminder>") {
				parts = append(parts, b.Text)
			}
		case *msg.Image, *msg.Document:
			others++
		case *msg.Thinking, *msg.ToolUse, *msg.ToolResult, *msg.Opaque:
		}
	}
	return typed(strings.Join(parts, "\n")), others
}

// typed is a prompt as the person typed it: commands stand in tags for the model.
func typed(text string) string {
	if name, ok := tagged(text, "command-name"); ok && strings.HasPrefix(text, "<command-message>") {
		args, _ := tagged(text, "command-args")
		return strings.TrimSpace(name + " " + args)
	}
	if cmd, ok := tagged(text, "bash-input"); ok && strings.HasPrefix(text, "<bash-input>") {
		out, _ := tagged(text, "bash-stdout")
		errs, _ := tagged(text, "bash-stderr")
		return strings.TrimSpace("! " + cmd + "\n" + strings.TrimSpace(out+"\n"+errs))
	}
	return text
}

// tagged is what stands in a tag.
func tagged(text, tag string) (string, bool) {
	_, rest, ok := strings.Cut(text, "<"+tag+">")
	if !ok {
		return "", false
	}
	inner, _, ok := strings.Cut(rest, "</"+tag+">")
	return inner, ok
}

// retract takes back a reply that comes again. What was printed stays; a note
// says so.
func (s State) retract(event.Retracted) State {
	s = s.close(time.Time{})
	s.Live = slices.DeleteFunc(slices.Clone(s.Live), func(it Item) bool {
		c, ok := it.(Call)
		return ok && c.Status == Pending
	})
	return s.add(Note{s.next("note"), event.Info, "retracted", "the reply was taken back and comes again"})
}

func (s State) finished(b event.ToolFinished) State {
	if l, ok := b.Result.View.(tool.ListView); ok {
		s = s.plan(b.Use.Name, l)
	}
	s = s.call(b.Use.ID, func(c *Call) {
		c.Took, c.View, c.Text, c.Progress = b.Took, b.Result.View, content(b.Result.Content), ""
		c.Images = pictures(b.Result.Content)
		switch {
		case !b.Ran:
			c.Status = Refused
		case b.Result.IsError:
			c.Status = Failed
		default:
			c.Status = Done
		}
	})
	return s.settle()
}

// pictures counts the pictures of a result.
func pictures(blocks []msg.Block) int {
	n := 0
	for _, b := range blocks {
		if _, ok := b.(*msg.Image); ok {
			n++
		}
	}
	return n
}

// content is the text of a result.
func content(blocks []msg.Block) string {
	var parts []string
	for _, b := range blocks {
		if t, ok := b.(*msg.Text); ok {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// plan takes a list whose items have states as the to-do list.
func (s State) plan(by string, l tool.ListView) State {
	active := ""
	for _, it := range l.Items {
		switch it.State {
		case "in_progress":
			active = it.Text
		case "pending", "completed":
		default:
			return s
		}
	}
	if len(l.Items) == 0 && s.planner != by {
		return s
	}
	s.planner, s.Todo, s.Run.Active = by, l.Items, active
	return s
}

func (s State) modelCall(b event.ModelCall) State {
	if b.Side != "" || b.Err != "" {
		return s
	}
	s.Window = b.Usage.Context()
	s.Run.Output += b.Usage.OutputTokens
	s.Run.spoken = 0
	return s
}

// Tokens is how much the model has written in this run, about.
func (p Progress) Tokens() int { return p.Output + p.spoken/4 }

func (s State) task(b event.TaskChanged) State {
	tasks := slices.Clone(s.Tasks)
	for i, t := range tasks {
		if t.ID == b.ID {
			tasks[i] = merged(t, b)
			s.Tasks = tasks
			return s
		}
	}
	s.Tasks = append(tasks, b)
	return s
}

// merged keeps of what was known what a later word leaves out.
func merged(was, now event.TaskChanged) event.TaskChanged {
	if now.Status == event.TaskProgress {
		now.Status = event.TaskRunning
	}
	if now.Status == event.TaskMoved {
		now.Status, now.Foreground = event.TaskRunning, false
	}
	for _, f := range []struct{ to, from *string }{
		{&now.Kind, &was.Kind},
		{&now.Summary, &was.Summary},
		{&now.Use, &was.Use},
		{&now.OutputFile, &was.OutputFile},
		{&now.Type, &was.Type},
		{&now.Prompt, &was.Prompt},
		{&now.LastTool, &was.LastTool},
	} {
		if *f.to == "" {
			*f.to = *f.from
		}
	}
	if now.Spent == (event.TaskSpent{}) {
		now.Spent = was.Spent
	}
	return now
}

// within is how many titles of a subagent's calls are kept.
const within = 5

// inner takes in what a subagent does: its calls show in the call that started it.
func (f *Fold) inner(s State, ev event.Event) State {
	switch b := ev.Body.(type) {
	case event.ToolStarted:
		return s.call(ev.Origin.ParentUse, func(c *Call) {
			c.WithinN++
			c.Within = append(c.Within[:len(c.Within):len(c.Within)], b.Title)
			if len(c.Within) > within {
				c.Within = c.Within[len(c.Within)-within:]
			}
		})
	case event.Asked:
		s.Questions = append(s.Questions[:len(s.Questions):len(s.Questions)], b.Question)
	case event.Answered:
		s.Questions = slices.DeleteFunc(slices.Clone(s.Questions), func(q event.Question) bool { return q.ID == b.ID })
	case event.TaskChanged:
		return s.task(b)
	case event.Notice:
		if b.Level != event.Info {
			return s.add(Note{s.next("note"), b.Level, b.Code, b.Text})
		}
	case event.TurnStarted, event.Retrying, event.Delta, event.Message, event.Retracted, event.ToolProgress, event.ToolFinished,
		event.Decided, event.HookRan, event.ModelCall, event.Shaped, event.Compacting, event.Compacted, event.CommandRan, event.Step, event.Done:
	}
	return s
}

// done ends the run: nothing stays live.
func (f *Fold) done(s State, t event.Terminal, at time.Time) State {
	s = s.close(at)
	live := slices.Clone(s.Live)
	for i, it := range live {
		if c, ok := it.(Call); ok && !settled(c) {
			c.Status, c.Progress = Refused, ""
			live[i] = c
		}
	}
	s.Live = live
	s = s.settle()
	e := Ending{ID: s.next("end"), Reason: t.Reason, Detail: t.Detail, Tokens: s.Run.Output, Signals: t.Signals, CostUSD: f.Cost() - f.cost}
	if s.Run.Busy {
		e.Took = at.Sub(s.Run.Began)
	}
	s.Run, s.Questions, s.text = Progress{}, nil, nil
	if t.Reason == event.Local {
		return s
	}
	return s.add(e)
}
