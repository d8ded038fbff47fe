package script

import (
	"fmt"
	"regexp"
	"strings"
)

// mismatches lists what m asks for and r does not have, ready to be read.
func (m Match) mismatches(r *request) []string {
	var d diff
	d.text("user", m.User, r.user())
	d.expr("user_regexp", m.UserRegexp, []string{r.user()})
	d.any("result", m.Result, r.results())
	d.expr("result_regexp", m.ResultRegexp, r.results())
	d.text("system", m.System, texts(r.system))
	d.equal("model", m.Model, r.model)
	d.equal("thinking", m.Thinking, r.thinking)
	d.equal("effort", m.Effort, r.effort)
	d.count("messages", m.Messages, len(r.messages))
	d.count("replies", m.Replies, r.replies())
	d.count("max_tokens", m.MaxTokens, r.maxTokens)
	d.flag("stream", m.Stream, r.stream)
	d.flag("result_error", m.ResultError, r.resultError())
	if m.Break == "none" {
		d.check("break", r.brk == "", "none", r.brk)
	} else {
		d.equal("break", m.Break, r.brk)
	}
	for _, s := range m.Seen {
		d.check("seen", r.seen(s), fmt.Sprintf("%q somewhere", s), "it nowhere")
	}
	for _, s := range m.Unseen {
		d.check("unseen", !r.seen(s), fmt.Sprintf("%q nowhere", s), "it")
	}
	for _, t := range m.Tools {
		d.check("tools", r.offers(t), t+" offered", offered(r))
	}
	for _, t := range m.NoTools {
		d.check("no_tools", !r.offers(t), t+" not offered", offered(r))
	}
	return d
}

func offered(r *request) string {
	var names []string
	for _, t := range r.tools {
		names = append(names, t.Get("name").String())
	}
	return strings.Join(names, ", ")
}

// diff collects lines "member: want …, got …".
type diff []string

func (d *diff) check(what string, holds bool, want, got string) {
	if !holds {
		*d = append(*d, fmt.Sprintf("%s: want %s, got %s", what, want, got))
	}
}

func (d *diff) text(what, want, got string) {
	d.check(what, strings.Contains(got, want), fmt.Sprintf("text holding %q", want), fmt.Sprintf("%q", clip(got)))
}

func (d *diff) any(what, want string, got []string) {
	if want == "" {
		return
	}
	for _, g := range got {
		if strings.Contains(g, want) {
			return
		}
	}
	d.check(what, false, fmt.Sprintf("a result holding %q", want), list(got))
}

func (d *diff) expr(what, want string, got []string) {
	if want == "" {
		return
	}
	re, err := regexp.Compile(want)
	for _, g := range got {
		if err == nil && re.MatchString(g) {
			return
		}
	}
	d.check(what, false, "a match of "+want, list(got))
}

func (d *diff) equal(what, want, got string) {
	d.check(what, want == "" || want == got, fmt.Sprintf("%q", want), fmt.Sprintf("%q", got))
}

func (d *diff) count(what string, want *int, got int) {
	if want != nil {
		d.check(what, *want == got, fmt.Sprint(*want), fmt.Sprint(got))
	}
}

func (d *diff) flag(what string, want *bool, got bool) {
	if want != nil {
		d.check(what, *want == got, fmt.Sprint(*want), fmt.Sprint(got))
	}
}

func list(texts []string) string {
	if len(texts) == 0 {
		return "none"
	}
	var out []string
	for _, t := range texts {
		out = append(out, fmt.Sprintf("%q", clip(t)))
	}
	return strings.Join(out, ", ")
}

// clip shortens a text for a message.
func clip(s string) string {
	const most = 300
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
