package web

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/surface/view"
)

// wanted is the request for a session.
type wanted struct {
	Cwd    string `json:"cwd"`
	Resume string `json:"resume"`
	Name   string `json:"name"`
	Model  string `json:"model"`
	Mode   string `json:"permission_mode"`
	Trust  string `json:"trust"`
}

// open opens a session: a new one, or one of the past.
func (s *Server) open(_ http.ResponseWriter, r *http.Request, g *guest) (any, error) {
	in, err := read[wanted](r)
	if err != nil {
		return nil, err
	}
	q := Request{Cwd: in.Cwd, Resume: in.Resume, Name: in.Name, Model: in.Model, Permission: in.Mode}
	var m *room
	leave := func() {}
	switch {
	case in.Resume != "":
		if m, leave, err = s.visit(in.Resume); err != nil {
			return nil, err
		}
		m.mu.Lock()
		q.Cwd = m.row.Cwd
		m.mu.Unlock()
	case !filepath.IsAbs(in.Cwd) || fsys.KindOf(in.Cwd) != fsys.KindDir:
		return nil, refuse(http.StatusBadRequest, "bad_request", "cwd is no folder of this machine: %.200q", in.Cwd)
	default:
		q.ID = s.c.NewID()
	}
	defer func() { leave() }()
	if q.Trusted, err = s.trusts(r.Context(), g, q.Cwd, in.Trust); err != nil {
		return nil, err
	}
	if m == nil {
		m = s.newRoom(q.ID, row{ID: q.ID, Cwd: filepath.Clean(q.Cwd), Title: in.Name, State: idle}, nil)
		leave, _ = m.enter()
	}
	if _, err := m.wake(q); err != nil {
		return nil, err
	}
	id := m.session()
	s.add(id, m)
	s.audit(g, Act{Op: "open", Session: id, Detail: q.Cwd})
	return made{id}, nil
}

// trusts settles what the folder may do by itself: nobody is asked in the open
// session, so the answer comes with the request.
func (s *Server) trusts(ctx context.Context, g *guest, cwd, answer string) (forOnce bool, err error) {
	if answer == "none" || cwd == "" {
		return false, nil
	}
	f, err := s.c.Folder(cwd)
	if err != nil || !f.Open {
		return false, err
	}
	switch answer {
	case "always":
		s.audit(g, Act{Op: "trust", Detail: f.Key})
		return false, s.c.Accept(ctx, cwd)
	case "once":
		return true, nil
	case "":
		no := refuse(http.StatusConflict, "untrusted", "this folder would run or be granted things by itself, and nobody has agreed to that yet")
		no.more = map[string]any{"folder": f.Key, "items": append([]Item{}, f.Items...)}
		return false, no
	}
	return false, refuse(http.StatusBadRequest, "bad_request", `trust is "always", "once" or "none"`)
}

func (s *Server) rename(_ http.ResponseWriter, r *http.Request, g *guest) (any, error) {
	in, err := read[struct{ Title string }](r)
	if err != nil {
		return nil, err
	}
	title := session.CleanTitle(in.Title)
	if title == "" {
		return nil, refuse(http.StatusBadRequest, "bad_request", "a title must not be empty")
	}
	m, leave, err := s.visit(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	defer leave()
	if m.live.Load() != nil {
		_, err = s.ask(r, msg.Encode(map[string]string{"subtype": "rename_session", "title": title}))
	} else {
		var sum session.Summary
		if sum, err = s.find(m.session()); err == nil {
			err = occupied(sum.Rename(title))
		}
	}
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.row.Title = title
	m.mu.Unlock()
	s.audit(g, Act{Op: "rename", Session: m.session(), Detail: title})
	return struct{}{}, nil
}

// occupied is err, as clients read it when another process has the session.
func occupied(err error) error {
	var busy *session.Busy
	if errors.As(err, &busy) {
		return refuse(http.StatusConflict, "busy", "%v", err)
	}
	return err
}

func (s *Server) remove(_ http.ResponseWriter, r *http.Request, g *guest) (any, error) {
	m, leave, err := s.visit(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	defer leave()
	m.mu.Lock()
	id, now := m.id, m.now()
	m.mu.Unlock()
	if now == running || now == waiting {
		return nil, refuse(http.StatusConflict, "busy", "the session is %s: interrupt it first", now)
	}
	if err := m.sleep(); err != nil {
		return nil, err
	}
	sum, err := s.find(id)
	var f *fault
	switch {
	case errors.As(err, &f) && f.status == http.StatusNotFound: // it was open and has written nothing
	case err != nil:
		return nil, err
	default:
		all, err := session.ListAll(s.c.Home)
		if err != nil {
			return nil, err
		}
		if err := session.Remove(sum, all); err != nil {
			return nil, occupied(err)
		}
	}
	_ = os.Remove(s.draftPath(id)) // there may be none
	m.mu.Lock()
	for c := range m.clients {
		c.end(errRemoved)
	}
	m.mu.Unlock()
	s.audit(g, Act{Op: "remove", Session: id})
	return struct{}{}, nil
}

func (s *Server) fork(_ http.ResponseWriter, r *http.Request, g *guest) (any, error) {
	sum, err := s.find(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	id := s.c.NewID()
	if err := (session.Store{Home: s.c.Home, Project: sum.Store.Project}).Fork(sum.Path, id); err != nil {
		return nil, err
	}
	s.audit(g, Act{Op: "fork", Session: sum.ID, Detail: id})
	return made{id}, nil
}

func (s *Server) shut(_ http.ResponseWriter, r *http.Request, g *guest) (any, error) {
	m, leave, err := s.visit(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	defer leave()
	s.audit(g, Act{Op: "close", Session: m.session()})
	return struct{}{}, m.sleep()
}

// items are finished items before one, or the newest.
func (s *Server) items(_ http.ResponseWriter, r *http.Request, _ *guest) (any, error) {
	m, leave, err := s.visit(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	defer leave()
	st, _ := m.store.State()
	end := len(st.Items)
	if before := r.URL.Query().Get("before"); before != "" {
		if end = slices.IndexFunc(st.Items, func(it view.Item) bool { return it.Key() == before }); end < 0 {
			return nil, refuse(http.StatusNotFound, "not_found", "there is no item %.60q", before)
		}
	}
	from := max(0, end-number(r, "limit", firstItems, 1000))
	out := []json.RawMessage{}
	for _, it := range st.Items[from:end] {
		out = append(out, view.Encode(it))
	}
	return map[string]any{"items": out, "total": len(st.Items), "more": from > 0}, nil
}

// history is the whole conversation, a line of stream-json a message.
func (s *Server) history(w http.ResponseWriter, r *http.Request, _ *guest) (any, error) {
	sum, err := s.find(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	w.Header().Set("Content-Type", "application/x-ndjson; charset=utf-8")
	b := bufio.NewWriter(w)
	left := number(r, "limit", 0, 1<<30)
	_, err = session.Replay(sum.Path, func(e session.Entry) error {
		line := pastLine(sum.ID, e)
		if line == nil {
			return nil
		}
		_, err := b.Write(append(line, '\n'))
		if left--; left == 0 && err == nil {
			err = errEnough
		}
		return err
	})
	if err != nil && !errors.Is(err, errEnough) && b.Buffered() == 0 {
		return nil, err
	}
	_ = b.Flush() // a reader that has gone cannot be told
	return nil, nil
}

var errEnough = errors.New("enough")

// image is a picture of a message or of the result of a call. Its kind is one of
// four, whatever the transcript says: nothing else is shown as what it claims to be.
func (s *Server) image(w http.ResponseWriter, r *http.Request, _ *guest) (any, error) {
	sum, err := s.find(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	want := r.PathValue("message")
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || n < 0 {
		return nil, refuse(http.StatusNotFound, "not_found", "pictures are counted from 0")
	}
	var found *msg.Image
	_, err = session.Replay(sum.Path, func(e session.Entry) error {
		if e.Message == nil || found != nil {
			return nil
		}
		if pictures := picturesOf(e.Message, want); n < len(pictures) {
			found = pictures[n]
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	if found == nil {
		return nil, refuse(http.StatusNotFound, "not_found", "there is no such picture")
	}
	src := gjson.GetBytes(found.JSON(), "source")
	data, err := base64.StdEncoding.DecodeString(src.Get("data").Str)
	kinds := []string{"image/png", "image/jpeg", "image/gif", "image/webp"}
	if err != nil || !slices.Contains(kinds, src.Get("media_type").Str) {
		return nil, refuse(http.StatusNotFound, "not_found", "the picture cannot be shown")
	}
	w.Header().Set("Content-Type", src.Get("media_type").Str)
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	w.Header().Set("Cache-Control", "private, max-age=3600")
	_, _ = w.Write(data) // a reader that has gone cannot be told
	return nil, nil
}

// picturesOf are the pictures of the message want, or of the result of the call want.
func picturesOf(m *msg.Message, want string) (out []*msg.Image) {
	for _, b := range m.Blocks {
		if img, ok := b.(*msg.Image); ok && m.ID == want {
			out = append(out, img)
		}
		r, ok := b.(*msg.ToolResult)
		if !ok || r.ToolUseID != want {
			continue
		}
		for _, inner := range r.Content {
			if img, ok := inner.(*msg.Image); ok {
				out = append(out, img)
			}
		}
	}
	return out
}

func (s *Server) files(_ http.ResponseWriter, r *http.Request, _ *guest) (any, error) {
	m, leave, err := s.visit(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	defer leave()
	m.mu.Lock()
	cwd := m.row.Cwd
	m.mu.Unlock()
	if cwd == "" { // an old transcript that does not say
		return map[string]any{"files": []string{}}, nil
	}
	found, err := s.c.Files(r.Context(), cwd, strings.TrimPrefix(r.URL.Query().Get("q"), "@"))
	return map[string]any{"files": append([]string{}, found...)}, err
}

func (s *Server) tasks(_ http.ResponseWriter, r *http.Request, _ *guest) (any, error) {
	m, leave, err := s.visit(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	defer leave()
	st, _ := m.store.State()
	return map[string]any{"tasks": tasks(st.Tasks)}, nil
}

// points are the prompts that one can go back to.
func (s *Server) points(_ http.ResponseWriter, r *http.Request, _ *guest) (any, error) {
	sum, err := s.find(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	c, _, err := session.Load(sum.Path)
	if err != nil {
		return nil, err
	}
	out := []map[string]any{}
	for i, p := range c.Points {
		out = append(out, map[string]any{"number": i + 1, "id": p.ID, "text": p.Text, "time": p.Time})
	}
	return map[string]any{"prompts": out}, nil
}

// rewind takes back what a prompt and all after it did.
func (s *Server) rewind(_ http.ResponseWriter, r *http.Request, g *guest) (any, error) {
	in, err := read[struct {
		To           string `json:"to"`
		Files        bool   `json:"files"`
		Conversation bool   `json:"conversation"`
		Preview      bool   `json:"preview"`
	}](r)
	if err != nil {
		return nil, err
	}
	out, err := s.ask(r, msg.Encode(map[string]any{
		"subtype": "rewind", "to": in.To, "files": in.Files, "conversation": in.Conversation, "preview": in.Preview,
	}))
	if err != nil || in.Preview {
		return out, err
	}
	s.audit(g, Act{Op: "rewind", Session: r.PathValue("id"), Detail: in.To})
	if !in.Conversation {
		return out, nil
	}
	m, leave, err := s.visit(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	defer leave()
	return out, m.reload()
}
