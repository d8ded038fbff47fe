package web

import (
	"fmt"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// refused is what a person sees whose link does not work; the text is one of ours.
const refused = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>hew: not signed in</title><h1>This link does not work</h1><p>%s</p></html>
`

const spent = "It was used already, is too old, or was not copied whole. Each link works once, within ten minutes. " +
	"A browser that is signed in can make a new one; starting hew serve again prints one."

// follow spends the token of a link and sends the browser to the page.
func (s *Server) follow(w http.ResponseWriter, r *http.Request) {
	from := address(r)
	if s.door.spend(r.URL.Query().Get("token")) {
		s.welcome(w, r, "")
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	s.strange(from)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusForbidden)
	_, _ = fmt.Fprintf(w, refused, spent) // a reader that has gone cannot be told
}

func (s *Server) strange(from string) {
	s.door.failed(from)
	s.count.refused.Add(1)
	s.audit(nil, Act{Op: "refused_login", Remote: from})
}

func (s *Server) welcome(w http.ResponseWriter, r *http.Request, name string) *guest {
	if strings.TrimSpace(name) == "" {
		name = browser(r.UserAgent())
	}
	g, cookie := s.door.admit(name, address(r))
	http.SetCookie(w, s.door.cookie(cookie))
	s.count.logins.Add(1)
	s.audit(g, Act{Op: "login", Remote: g.remote})
	return g
}

// login is the same for programs, and for passwords.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	from := address(r)
	in, err := read[struct{ Token, Password, Name string }](r)
	if err != nil {
		s.deny(w, err)
		return
	}
	byToken := in.Token != "" && s.door.spend(in.Token) // nobody can guess one, so nobody is slowed down
	if wait := s.door.wait(from); wait > 0 && !byToken {
		w.Header().Set("Retry-After", strconv.Itoa(seconds(wait)))
		s.deny(w, refuse(http.StatusTooManyRequests, "too_many_tries", "there were too many tries: wait %d seconds", seconds(wait)))
		return
	}
	if !byToken && !s.door.password(in.Password) {
		s.strange(from)
		s.deny(w, refuse(http.StatusForbidden, "bad_login", "the token or password is wrong, or the token was used already or is too old"))
		return
	}
	g := s.welcome(w, r, in.Name)
	answer(w, http.StatusOK, map[string]string{"client": g.id, "name": g.name})
}

func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

func (s *Server) logout(w http.ResponseWriter, _ *http.Request, g *guest) (any, error) {
	s.door.dismiss(g)
	http.SetCookie(w, s.door.cookie(""))
	return struct{}{}, nil
}

func (s *Server) link(_ http.ResponseWriter, _ *http.Request, g *guest) (any, error) {
	s.audit(g, Act{Op: "link"})
	return map[string]any{"path": s.Link(), "expires_ms": linkLife.Milliseconds()}, nil
}

func (s *Server) me(_ http.ResponseWriter, _ *http.Request, g *guest) (any, error) {
	return map[string]any{
		"client": g.id, "name": g.name, "version": s.c.Version, "page": s.page.name, "read_only": s.c.ReadOnly, "home": s.c.Home, "cwd": s.c.Cwd,
		"now": s.c.Now().UnixMilli(),
	}, nil
}

// browser is what a browser calls itself, in a word that people know.
func browser(agent string) string {
	for _, b := range [][2]string{{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}} {
		if strings.Contains(agent, b[0]) {
			for _, on := range []string{"iPhone", "iPad", "Android", "Windows", "Macintosh", "Linux"} {
				if strings.Contains(agent, on) {
					return b[1] + " on " + on
				}
			}
			return b[1]
		}
	}
	return ""
}

// health answers anybody: it says only that the process lives.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]string{"status": "ok"})
}

// near tells whether a request comes from this machine.
func near(r *http.Request) bool {
	ip := net.ParseIP(address(r))
	return ip != nil && ip.IsLoopback()
}
