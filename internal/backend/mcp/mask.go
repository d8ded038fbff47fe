package mcp

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// hidden stands in the place of what may be a secret.
const hidden = "…"

// patterns find secrets in texts of commands and addresses. Who looks at a list
// of servers loses little by a word too many that is hidden.
type patterns struct{ name, pair, reference, known, word *regexp.Regexp }

var secrets = sync.OnceValue(func() patterns {
	const named = `(?i)(?:api[-_]?key|[-_]key$|^key$|token|secret|passw|passphrase|pwd|auth|credential|bearer|cookie|signature)`
	return patterns{
		name: regexp.MustCompile(named),
		// NAME=VALUE and --name=value.
		pair: regexp.MustCompile(`^(-{0,2}[A-Za-z_][\w.-]*)=(.+)$`),
		// A variable without a default: its name says nothing.
		reference: regexp.MustCompile(`^\$\{?[A-Za-z_]\w*\}?$`),
		known:     regexp.MustCompile(`^(?:sk-|pk-|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|ASIA|AIza|eyJ|ya29\.|npm_|hf_|key-)[\w.+/=-]{8,}$`),
		word:      regexp.MustCompile(`^[A-Za-z0-9_+=-]{20,}$`),
	}
})

// Shown is what the entry runs or reaches, as Runs has it, without what may be a
// secret.
func (e Entry) Shown() string {
	switch e.Transport {
	case Stdio:
		masked := e
		masked.Command, masked.Args = Masked(e.Command), maskedArgs(e.Args)
		return masked.Runs()
	case SDK:
		return e.Runs()
	case HTTP, SSE, WS:
	}
	u, err := url.Parse(e.URL)
	if err != nil {
		return hidden
	}
	parts := strings.Split(u.Path, "/")
	for i, p := range parts {
		if token(p) {
			parts[i] = hidden
		}
	}
	return fmt.Sprintf("%s://%s%s (%s)", u.Scheme, u.Host, strings.Join(parts, "/"), e.Transport)
}

func maskedArgs(args []string) []string {
	out := make([]string, len(args))
	next := false // the value of a flag whose name says that it is a secret
	for i, a := range args {
		flag := strings.HasPrefix(a, "-")
		switch {
		case next && !flag:
			out[i] = MaskedValue(a)
		case header(args, i):
			out[i] = maskedHeader(a)
		default:
			out[i] = Masked(a)
		}
		next = flag && !strings.Contains(a, "=") && secrets().name.MatchString(strings.TrimLeft(a, "-"))
	}
	return out
}

func header(args []string, i int) bool {
	return i > 0 && (args[i-1] == "-H" || args[i-1] == "--header" || args[i-1] == "--headers")
}

func maskedHeader(s string) string {
	name, value, ok := strings.Cut(s, ":")
	if !ok {
		return MaskedValue(s)
	}
	return name + ": " + MaskedValue(strings.TrimSpace(value))
}

// MaskedValue hides a value, but not the name of a variable that holds it.
func MaskedValue(s string) string {
	if secrets().reference.MatchString(s) {
		return s
	}
	return hidden
}

// Masked is a text of words, such as a shell's, without what may be a secret.
func Masked(text string) string {
	if !strings.ContainsAny(text, " \t\n") {
		return maskedWord(text)
	}
	words := strings.Fields(text)
	for i, w := range maskedArgs(words) {
		words[i] = w
	}
	return strings.Join(words, " ")
}

func maskedWord(w string) string {
	bare := strings.Trim(w, `"'`)
	if f := secrets().pair.FindStringSubmatch(bare); f != nil {
		if secrets().name.MatchString(strings.TrimLeft(f[1], "-")) {
			return f[1] + "=" + MaskedValue(f[2])
		}
		return f[1] + "=" + maskedWord(f[2])
	}
	if token(bare) {
		return hidden
	}
	if scheme, _, ok := strings.Cut(bare, "://"); ok && len(scheme) < 16 {
		if u, err := url.Parse(bare); err == nil {
			return maskedURL(u)
		}
	}
	return w
}

func maskedURL(u *url.URL) string {
	if u.User != nil {
		u.User = url.User("hidden") // an ellipsis would be escaped
	}
	q := ""
	if u.RawQuery != "" {
		q = "?" + hidden
	}
	u.RawQuery, u.Fragment = "", ""
	return u.String() + q
}

// token tells a word that looks like a secret: with a known beginning, or long and
// of letters and digits without sense.
func token(w string) bool {
	if secrets().known.MatchString(w) {
		return true
	}
	if !secrets().word.MatchString(w) || strings.HasPrefix(w, "-") {
		return false
	}
	digits, changes, last := 0, 0, ' '
	for _, r := range w {
		class := 'a'
		switch {
		case r >= '0' && r <= '9':
			class, digits = '0', digits+1
		case r >= 'A' && r <= 'Z':
			class = 'A'
		case r == '-' || r == '_' || r == '=' || r == '+':
			class = last
		}
		if class != last {
			changes, last = changes+1, class
		}
	}
	return digits >= 3 && changes >= 6
}

// secretsOf are the texts of an entry that no message about it may hold, with what
// stands in their place: addresses, values of headers and the environment, and
// what is hidden of arguments.
func secretsOf(e Entry) *strings.Replacer {
	var pairs []string
	hide := func(text, by string) {
		if len(text) >= shortest {
			pairs = append(pairs, text, by)
		}
	}
	if e.URL != "" {
		shown := strings.TrimSuffix(e.Shown(), " ("+string(e.Transport)+")")
		hide(e.URL, shown)
		if u, err := url.Parse(e.URL); err == nil {
			hide(u.Redacted(), shown) // as the HTTP client writes it
			plain := *u
			plain.User = nil
			hide(plain.String(), shown)
		}
	}
	for _, m := range []map[string]string{e.Headers, e.Env} {
		for _, v := range m {
			hide(v, hidden)
			if _, after, ok := strings.Cut(v, " "); ok { // "Bearer …"
				hide(after, hidden)
			}
		}
	}
	for i, a := range maskedArgs(e.Args) {
		if _, value, ok := strings.Cut(e.Args[i], "="); ok && a != e.Args[i] {
			hide(value, hidden)
		} else if a == hidden {
			hide(e.Args[i], hidden)
		}
	}
	return strings.NewReplacer(pairs...)
}

// shortest is the length below which a value is no secret: it would stand
// everywhere in a text.
const shortest = 6
