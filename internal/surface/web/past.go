package web

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"time"

	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/surface/view"
	"github.com/hew-agent/hew/internal/tool"
)

// find looks for a session's transcript. It is a 404 when there is none.
func (s *Server) find(id string) (session.Summary, error) {
	if !session.ValidID(id) {
		return session.Summary{}, refuse(http.StatusNotFound, "not_found", "%.60q is not the id of a session", id)
	}
	sum, err := s.store().Find(id)
	if errors.Is(err, fs.ErrNotExist) {
		return sum, refuse(http.StatusNotFound, "not_found", "there is no session %s", id)
	}
	return sum, err
}

// row is a session as clients read it.
type row struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	First     string `json:"first_prompt"`
	Last      string `json:"last_prompt"`
	Cwd       string `json:"cwd"`
	Branch    string `json:"branch"`
	Modified  int64  `json:"modified_ms"`
	Size      int64  `json:"size"`
	ForkOf    string `json:"fork_of"`
	Tag       string `json:"tag"`
	State     string `json:"state"`
	Questions int    `json:"questions"`
	Clients   int    `json:"clients"`
	Problem   string `json:"problem,omitempty"`
}

// The states of a session.
const (
	asleep  = "asleep"
	idle    = "idle"
	running = "running"
	waiting = "waiting"
)

func rowOf(s session.Summary) row {
	return row{
		ID: s.ID, Title: s.Title, First: s.FirstPrompt, Last: s.LastPrompt, Cwd: s.Cwd, Branch: s.Branch, Modified: s.Modified.UnixMilli(), Size: s.Size,
		ForkOf: s.ForkOf, Tag: s.Tag, State: asleep, Problem: s.Problem,
	}
}

// history is the whole conversation of a transcript as messages, in which what hew
// told the model is marked; without what was taken back.
func history(path string) ([]*msg.Message, error) {
	var out []*msg.Message
	_, err := session.Replay(path, func(e session.Entry) error {
		switch e.Kind {
		case session.KindUser, session.KindAssistant, session.KindResult:
			out = append(out, e.Message)
		case session.KindHarness, session.KindSummary, session.KindNotice:
		}
		return nil
	})
	return out, err
}

// outlined describes a call of a session that nobody has open.
func outlined(u *msg.ToolUse) view.Outline { return view.Outline{Title: u.Name, Act: tool.ActOther} }

// pastLine is an entry of a transcript as a line of stream-json; nil for what has none.
func pastLine(id string, e session.Entry) []byte {
	type body struct {
		ID      string            `json:"id,omitempty"`
		Type    string            `json:"type,omitempty"`
		Role    msg.Role          `json:"role"`
		Model   string            `json:"model,omitempty"`
		Content []json.RawMessage `json:"content"`
	}
	line := struct {
		Type    string  `json:"type"`
		UUID    string  `json:"uuid"`
		Session string  `json:"session_id"`
		Message body    `json:"message"`
		Parent  *string `json:"parent_tool_use_id"`
		At      string  `json:"timestamp"`
		Replay  bool    `json:"isReplay"`
	}{"user", e.ID, id, body{Role: msg.RoleUser, Content: []json.RawMessage{}}, nil, "", true}
	switch e.Kind {
	case session.KindUser, session.KindResult:
	case session.KindAssistant:
		line.Type = "assistant"
		line.Message.Type, line.Message.Role = "message", msg.RoleAssistant
		if r := e.Message.Reply; r != nil {
			line.Message.ID, line.Message.Model = r.ID, r.Model
		}
	case session.KindHarness, session.KindSummary, session.KindNotice:
		return nil
	}
	line.At = e.Message.Time.UTC().Format(time.RFC3339Nano)
	for _, b := range e.Message.Blocks {
		line.Message.Content = append(line.Message.Content, b.JSON())
	}
	return msg.Encode(line)
}
