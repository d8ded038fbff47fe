package web

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/session"
)

// routes is the table of addresses.
func (s *Server) routes() *http.ServeMux {
	m := http.NewServeMux()
	m.HandleFunc("GET /healthz", s.health)
	m.HandleFunc("GET /metrics", s.measured)
	m.HandleFunc("GET /login", s.follow)
	m.HandleFunc("POST /api/login", s.login)
	m.Handle("/", s.page)
	for pattern, do := range map[string]action{
		"POST /api/logout": s.logout, "GET /api/me": s.me, "GET /api/sessions": s.list, "GET /api/search": s.search, "GET /api/folders": s.folders,
		"GET /api/sessions/{id}": s.one, "GET /api/sessions/{id}/socket": s.socket, "GET /api/sessions/{id}/items": s.items,
		"GET /api/sessions/{id}/history": s.history, "GET /api/sessions/{id}/images/{message}/{n}": s.image, "GET /api/sessions/{id}/files": s.files,
		"GET /api/sessions/{id}/tasks": s.tasks, "GET /api/sessions/{id}/rewind": s.points, "/api/": s.nowhere,
	} {
		m.HandleFunc(pattern, s.by(do))
	}
	for pattern, do := range map[string]action{
		"POST /api/links": s.link, "POST /api/sessions": s.open, "PATCH /api/sessions/{id}": s.rename, "DELETE /api/sessions/{id}": s.remove,
		"POST /api/sessions/{id}/fork": s.fork, "POST /api/sessions/{id}/close": s.shut, "POST /api/sessions/{id}/control": s.control,
		"POST /api/sessions/{id}/rewind": s.rewind,
	} {
		m.HandleFunc(pattern, s.changing(do))
	}
	for name, subtype := range map[string]string{
		"commands": "list_commands", "context": "get_context_usage", "cost": "get_session_cost", "settings": "list_settings", "rules": "list_permission_rules",
	} {
		m.HandleFunc("GET /api/sessions/{id}/"+name, s.changing(s.asks(subtype)))
	}
	return m
}

func (s *Server) nowhere(_ http.ResponseWriter, r *http.Request, _ *guest) (any, error) {
	return nil, refuse(http.StatusNotFound, "not_found", "there is nothing at %s %s", r.Method, clean(r.URL.Path))
}

// measured lets machines of the same host read the metrics without signing in.
func (s *Server) measured(w http.ResponseWriter, r *http.Request) {
	if near(r) {
		s.carryOut(w, r, nil, s.metrics)
		return
	}
	s.by(s.metrics)(w, r)
}

// rows are all sessions, newest first: those of the disk, and open ones that have
// written nothing yet.
func (s *Server) rows() ([]row, error) {
	all, err := session.ListAll(s.c.Home)
	if err != nil {
		return nil, err
	}
	var out []row
	there := map[string]bool{}
	for _, sum := range all {
		out = append(out, rowOf(sum))
		there[sum.ID] = true
	}
	rooms := map[string]*room{}
	for _, m := range s.all() {
		m.mu.Lock()
		if !there[m.id] && m.live.Load() != nil {
			m.row.Modified = m.idleAt.UnixMilli()
			out = append([]row{m.row}, out...)
		}
		rooms[m.id] = m
		m.mu.Unlock()
	}
	for i := range out {
		if m := rooms[out[i].ID]; m != nil {
			m.mu.Lock()
			out[i].State, out[i].Questions, out[i].Clients = m.now(), len(m.asked.open), len(m.clients)
			m.mu.Unlock()
		}
	}
	return out, nil
}

func number(r *http.Request, name string, otherwise, most int) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil || n < 0 {
		return otherwise
	}
	return min(n, most)
}

func (s *Server) list(_ http.ResponseWriter, r *http.Request, _ *guest) (any, error) {
	all, err := s.rows()
	if err != nil {
		return nil, err
	}
	q, cwd := strings.ToLower(r.URL.Query().Get("q")), r.URL.Query().Get("cwd")
	all = slices.DeleteFunc(all, func(row row) bool {
		text := strings.ToLower(strings.Join([]string{row.Title, row.First, row.Last, row.Cwd, row.Tag, row.ID}, "\n"))
		return cwd != "" && row.Cwd != cwd || !strings.Contains(text, q)
	})
	from := min(number(r, "offset", 0, len(all)), len(all))
	to := min(from+number(r, "limit", 100, 1000), len(all))
	return map[string]any{"sessions": append([]row{}, all[from:to]...), "total": len(all)}, nil
}

func (s *Server) search(_ http.ResponseWriter, r *http.Request, _ *guest) (any, error) {
	q := r.URL.Query().Get("q")
	if strings.TrimSpace(q) == "" {
		return nil, refuse(http.StatusBadRequest, "bad_request", "q is what to look for")
	}
	all, err := session.ListAll(s.c.Home)
	if err != nil {
		return nil, err
	}
	found, err := session.Search(r.Context(), all, session.Query{Text: q, Sessions: number(r, "limit", 20, 100), PerSession: 5})
	if err != nil {
		return nil, err
	}
	type match struct {
		row
		Hits []session.Hit `json:"hits"`
	}
	out := []match{}
	for _, f := range found {
		if len(f.Hits) > 0 {
			out = append(out, match{rowOf(f.Summary), f.Hits})
		}
	}
	return map[string]any{"matches": out}, nil
}

// maxFolders bounds a list of folders.
const maxFolders = 500

// folders are places to begin a session in.
func (s *Server) folders(_ http.ResponseWriter, r *http.Request, _ *guest) (any, error) {
	dir := r.URL.Query().Get("under")
	if dir == "" {
		dir = s.c.Cwd
	}
	if !filepath.IsAbs(dir) {
		return nil, refuse(http.StatusBadRequest, "bad_request", "under is an absolute path")
	}
	dir = filepath.Clean(dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, refuse(http.StatusNotFound, "not_found", "%v", err)
	}
	names := []string{}
	for _, e := range entries {
		if len(names) < maxFolders && !strings.HasPrefix(e.Name(), ".") && fsys.KindOf(filepath.Join(dir, e.Name())) == fsys.KindDir {
			names = append(names, e.Name())
		}
	}
	recent, err := s.recent()
	return map[string]any{"dir": dir, "parent": filepath.Dir(dir), "folders": names, "recent": recent}, err
}

// recent are the folders of the newest sessions.
func (s *Server) recent() ([]string, error) {
	all, err := session.ListAll(s.c.Home)
	out := []string{}
	for _, sum := range all {
		if len(out) < 20 && sum.Cwd != "" && !slices.Contains(out, sum.Cwd) && fsys.KindOf(sum.Cwd) == fsys.KindDir {
			out = append(out, sum.Cwd)
		}
	}
	return out, err
}

func (s *Server) one(_ http.ResponseWriter, r *http.Request, _ *guest) (any, error) {
	id := r.PathValue("id")
	all, err := s.rows()
	if err != nil {
		return nil, err
	}
	for _, row := range all {
		if row.ID == id {
			return row, nil
		}
	}
	return nil, refuse(http.StatusNotFound, "not_found", "there is no session %.60q", id)
}

// control is a control request without a socket.
func (s *Server) control(_ http.ResponseWriter, r *http.Request, _ *guest) (any, error) {
	request, err := read[json.RawMessage](r)
	if err != nil {
		return nil, err
	}
	return s.ask(r, request)
}

// asks is a request for what a control request answers.
func (s *Server) asks(subtype string) action {
	return func(_ http.ResponseWriter, r *http.Request, _ *guest) (any, error) {
		return s.ask(r, []byte(`{"subtype":"`+subtype+`"}`))
	}
}

func (s *Server) ask(r *http.Request, request json.RawMessage) (json.RawMessage, error) {
	m, leave, err := s.visit(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	defer leave()
	over := make(chan []byte, 1)
	if err := m.control(call{over: over}, request); err != nil {
		return nil, err
	}
	var line []byte
	select {
	case got, ok := <-over:
		if !ok {
			return nil, refuse(http.StatusConflict, asleep, "the session was closed meanwhile")
		}
		line = got
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	res := gjson.GetBytes(line, "response")
	if res.Get("subtype").Str == "error" {
		return nil, refuse(http.StatusUnprocessableEntity, res.Get("error_code").Str, "%s", res.Get("error").Str)
	}
	if v := res.Get("response"); v.Exists() {
		return json.RawMessage(v.Raw), nil
	}
	return json.RawMessage("{}"), nil
}
