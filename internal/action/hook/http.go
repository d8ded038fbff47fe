package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// closedClient is a client that follows no redirect: an allowed address must not
// hand the payload and its headers to another.
func closedClient(c *http.Client) *http.Client {
	own := http.Client{}
	if c != nil {
		own = *c
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// post sends the payload. Only a 2xx with an empty body or a JSON object is an
// answer.
func (d *Dispatcher) post(ctx context.Context, h *loaded, o *occasion) answer {
	l := d.boundaries()
	if l.LimitURLs && !slices.ContainsFunc(l.URLs, func(p string) bool { return matchesURL(p, h.URL) }) {
		return answer{exit: -1, failure: "allowedHttpHookUrls does not allow its URL"}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(o.payload))
	if err != nil {
		return failure(err)
	}
	if req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		return answer{exit: -1, failure: "its URL is neither http nor https"}
	}
	for name, value := range h.Headers {
		req.Header.Set(name, d.header(value, h.AllowedEnv, l))
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := d.client.Do(req)
	if err != nil {
		return failure(unwrapped(err))
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxOutput+1))
	text := strings.TrimSpace(string(body))
	switch {
	case res.StatusCode < 200 || res.StatusCode > 299:
		return answer{stdout: text, exit: res.StatusCode, failure: "its server answered " + res.Status}
	case err != nil:
		return failure(err)
	case len(body) > maxOutput:
		return answer{exit: -1, failure: fmt.Sprintf("its answer is longer than %d bytes", maxOutput)}
	case text != "" && text[0] != '{':
		return answer{stdout: text, exit: -1, failure: "its server's answer is no JSON object"}
	}
	return answer{stdout: text}
}

// unwrapped is an error without the URL, which may hold a secret.
func unwrapped(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func (d *Dispatcher) boundaries() Limits {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.limits
}

// header fills in $VAR and ${VAR} for the variables that both the hook and the
// settings allow; every other one is empty.
func (d *Dispatcher) header(value string, allowed []string, l Limits) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(value, "$")
		b.WriteString(before)
		if !ok {
			break
		}
		name, after := variable(rest)
		if name == "" {
			b.WriteByte('$')
			value = rest
			continue
		}
		if slices.Contains(allowed, name) && (!l.LimitEnv || slices.Contains(l.Env, name)) {
			b.WriteString(d.getenv(name))
		}
		value = after
	}
	return strings.Map(func(r rune) rune {
		if r == '\r' || r == '\n' || r == 0 { // no second header by way of a value
			return -1
		}
		return r
	}, b.String())
}

// variable splits NAME or {NAME} from what follows a dollar sign.
func variable(s string) (name, after string) {
	if inner, ok := strings.CutPrefix(s, "{"); ok {
		if name, after, ok = strings.Cut(inner, "}"); ok && nameLength(name) == len(name) {
			return name, after
		}
		return "", s
	}
	n := nameLength(s)
	return s[:n], s[n:]
}

func nameLength(s string) int {
	for i, c := range s {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return i
		}
	}
	return len(s)
}

// matchesURL compares with a pattern in which * stands for any text. A * in the
// host never reaches into the path, and addresses with a user name match
// nothing: https://*.example.com/ must not cover https://evil.net/x.example.com/.
func matchesURL(pattern, address string) bool {
	if pattern == "*" {
		return true
	}
	u, err := url.Parse(address)
	if err != nil || u.User != nil || strings.ContainsAny(address, "\\") {
		return false
	}
	wantHost, wantPath := splitURL(pattern)
	host, path := splitURL(address)
	if wantPath == "" && strings.HasSuffix(wantHost, "*") {
		wantPath = "*"
	}
	return glob(strings.ToLower(wantHost), strings.ToLower(host)) && glob(orSlash(wantPath), orSlash(path))
}

func orSlash(path string) string {
	if path == "" {
		return "/"
	}
	return path
}

// splitURL separates scheme and host from the rest.
func splitURL(s string) (host, rest string) {
	start := strings.Index(s, "://")
	if start < 0 {
		start = -len("://")
	}
	start += len("://")
	if i := strings.IndexAny(s[start:], "/?#"); i >= 0 {
		return s[:start+i], s[start+i:]
	}
	return s, ""
}

// glob compares s with a pattern in which * stands for any text.
func glob(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	s, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return false
	}
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return strings.HasSuffix(s, parts[len(parts)-1])
}
