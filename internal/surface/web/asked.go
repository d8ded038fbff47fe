package web

import (
	"encoding/json"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/event"
)

// question is one that the session asks and nobody has answered.
type question struct {
	id   string
	line []byte // as it is in the log
	body gjson.Result
	at   time.Time
}

// book holds the open questions of a session, in the order in which they were
// asked. Whoever takes one out has answered it: nobody else can.
type book struct {
	open []question
	// closed are ids of the past with who answered, so that a late answer is told why
	// it does not count; the oldest are forgotten.
	closed map[string]string
	order  []string
}

// remembered is how many closed questions are known by id.
const remembered = 1000

func (b *book) ask(q question) { b.open = append(b.open, q) }

// find is an open question.
func (b *book) find(id string) (question, bool) {
	for _, q := range b.open {
		if q.id == id {
			return q, true
		}
	}
	return question{}, false
}

// close takes a question out; false when it is not open.
func (b *book) close(id, by string) bool {
	for i, q := range b.open {
		if q.id != id {
			continue
		}
		b.open = append(b.open[:i:i], b.open[i+1:]...)
		if b.closed == nil {
			b.closed = map[string]string{}
		}
		b.closed[id] = by
		b.order = append(b.order, id)
		if len(b.order) > remembered {
			delete(b.closed, b.order[0])
			b.order = b.order[1:]
		}
		return true
	}
	return false
}

// reply is what an answer says.
type reply struct {
	// behavior is allow or deny, or the action or behavior of a form or dialog.
	behavior, message string
	updates           []event.Suggestion
}

// judge reads the answer to a question. What would not be understood is refused
// here, while the question is still open.
func judge(q question, response json.RawMessage) (reply, *fault) {
	bad := func(text string) (reply, *fault) {
		return reply{}, refuse(0, "invalid_answer", "this is no answer to the question, which is still open: %s", text)
	}
	var in struct {
		Subtype  string          `json:"subtype"`
		Response json.RawMessage `json:"response"`
	}
	if err := json.Unmarshal(response, &in); err != nil || in.Subtype != "success" {
		return bad("want the subtype success and a response")
	}
	var a struct {
		Behavior string             `json:"behavior"`
		Input    map[string]any     `json:"updatedInput"`
		Updates  []event.Suggestion `json:"updatedPermissions"`
		Message  string             `json:"message"`
		Action   string             `json:"action"`
		Content  map[string]any     `json:"content"`
	}
	if err := json.Unmarshal(in.Response, &a); err != nil {
		return bad(err.Error())
	}
	switch q.body.Get("subtype").Str {
	case "can_use_tool":
		if a.Behavior != "allow" && a.Behavior != "deny" {
			return bad("want the behavior allow or deny")
		}
		return reply{a.Behavior, a.Message, a.Updates}, nil
	case "elicitation":
		if a.Action != "accept" && a.Action != "decline" && a.Action != "cancel" {
			return bad("want the action accept, decline or cancel")
		}
		return reply{behavior: a.Action}, nil
	}
	if a.Behavior != "completed" && a.Behavior != "cancelled" {
		return bad("want the behavior completed or cancelled")
	}
	return reply{behavior: a.Behavior}, nil
}
