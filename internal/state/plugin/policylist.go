package plugin

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
)

// matches tells whether an entry of an administrator's list means this source. All
// that the entry says must hold; a pattern that cannot be read matches nothing.
func (s Source) matches(entry json.RawMessage) bool {
	var e struct {
		Source
		Host  string `json:"hostPattern"`
		Paths string `json:"pathPattern"`
	}
	if json.Unmarshal(entry, &e) != nil {
		return false
	}
	switch e.Kind {
	case "hostPattern":
		return s.host() != "" && whole(e.Host, s.host())
	case "pathPattern":
		return s.Path != "" && whole(e.Paths, s.Path)
	case "github":
		return strings.EqualFold(s.github(), e.Repo) && (e.Ref == "" || e.Ref == s.Ref)
	case "":
		return false
	}
	sameKind := e.Kind == s.Kind || s.remote() != "" && e.remote() != ""
	return sameKind && e.URL == s.URL && e.Path == s.Path && (e.Ref == "" || e.Ref == s.Ref)
}

func whole(pattern, text string) bool {
	re, err := regexp.Compile(`^(?:` + pattern + `)$`)
	return pattern != "" && err == nil && re.MatchString(text)
}

// github is owner/name of a repository there, however it is written: a blocked
// one must not come in by its address.
func (s Source) github() string {
	if s.Kind == "github" {
		return strings.TrimSuffix(s.Repo, ".git")
	}
	if !strings.EqualFold(s.host(), "github.com") {
		return ""
	}
	path := s.URL
	if _, rest, ok := strings.Cut(path, "://"); ok {
		_, path, _ = strings.Cut(rest, "/")
	} else {
		_, path, _ = strings.Cut(path, ":")
	}
	return strings.TrimSuffix(strings.Trim(path, "/"), ".git")
}

func (s Source) host() string {
	if s.Kind == "github" {
		return "github.com"
	}
	if u, err := url.Parse(s.URL); err == nil && u.Host != "" {
		return u.Hostname()
	}
	if at := strings.Index(s.URL, "@"); at >= 0 {
		host, _, ok := strings.Cut(s.URL[at+1:], ":")
		if ok {
			return host
		}
	}
	return ""
}
