package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hew-agent/hew/internal/surface/tui/style"
)

func (in *inline) openBracket(i, n int) int {
	in.open = append(in.open, bracket{node: len(in.nodes), at: i + n, image: n == 2})
	in.nodes = append(in.nodes, node{text: in.s[i : i+n]})
	return n
}

// closeBracket ends a link or an image, or is a bracket like any other.
func (in *inline) closeBracket(i int) int {
	k := len(in.open) - 1
	if k < 0 {
		in.nodes = append(in.nodes, node{text: "]"})
		return 1
	}
	b := in.open[k]
	in.open = in.open[:k]
	to, n, ok := in.target(i+1, in.s[b.at:i])
	if b.dead || !ok {
		in.nodes = append(in.nodes, node{text: "]"})
		return 1
	}
	in.link(b, to)
	return 1 + n
}

// link turns everything behind a bracket into the text of a link.
func (in *inline) link(b bracket, to string) {
	in.emphasis(b.node + 1)
	in.nodes[b.node].text = ""
	for j := b.node + 1; j < len(in.nodes); j++ {
		n := &in.nodes[j]
		n.opens, n.closes = false, false
		n.marks |= linked
		n.link = to
	}
	if b.image {
		in.nodes[b.node] = node{text: "image: ", marks: linked, link: to}
		if len(in.nodes) == b.node+1 {
			in.nodes = append(in.nodes, node{text: to, marks: linked, link: to})
		}
		return
	}
	for j := range in.open { // no link in a link
		if !in.open[j].image {
			in.open[j].dead = true
		}
	}
}

// target reads "(address "title")" or "[label]" at i; label is the text before it.
func (in *inline) target(i int, label string) (to string, n int, ok bool) {
	s := in.s[i:]
	if strings.HasPrefix(s, "(") {
		if to, n, ok = destination(s); ok {
			return to, n, true
		}
		if in.tail && !strings.ContainsAny(s, ")\n") && len(s) < 400 {
			return "", len(s), true
		}
	}
	if in.tail && s == "" {
		return "", 0, footnote(label) == ""
	}
	if strings.HasPrefix(s, "[") {
		if end := strings.IndexByte(s, ']'); end > 0 {
			if end > 1 {
				label = s[1:end]
			}
			to, ok = in.refs[refLabel(label)]
			return to, end + 1, ok
		}
	}
	to, ok = in.refs[refLabel(label)]
	return to, 0, ok
}

// footnote is the label of a footnote's mark, "" for what is none.
func footnote(label string) string {
	rest, ok := strings.CutPrefix(label, "^")
	if !ok && len(label) > 1 && strings.Trim(label, "0123456789") != "" {
		return ""
	}
	return rest
}

func refLabel(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// destination reads "(address "title")".
func destination(s string) (to string, n int, ok bool) {
	i := 1
	for i < len(s) && (s[i] == ' ' || s[i] == '\n') {
		i++
	}
	from := i
	if i < len(s) && s[i] == '<' {
		end := strings.IndexAny(s[i:], ">\n")
		if end < 0 || s[i+end] != '>' {
			return "", 0, false
		}
		to, i = s[i+1:i+end], i+end+1
	} else {
		for depth := 0; i < len(s) && s[i] > ' '; i++ {
			if s[i] == '(' {
				depth++
			}
			if s[i] == ')' {
				if depth == 0 {
					break
				}
				depth--
			}
			if s[i] == '\\' && i+1 < len(s) && punct(s[i+1]) {
				i++
			}
		}
		to = s[from:min(i, len(s))]
	}
	for i < len(s) && (s[i] == ' ' || s[i] == '\n') {
		i++
	}
	if i < len(s) && strings.IndexByte(`"'`, s[i]) >= 0 {
		end := strings.IndexByte(s[i+1:], s[i])
		if end < 0 {
			return "", 0, false
		}
		i += end + 2
		for i < len(s) && s[i] == ' ' {
			i++
		}
	}
	if i >= len(s) || s[i] != ')' {
		return "", 0, false
	}
	return unescape(to), i + 1, true
}

func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && punct(s[i+1]) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// assumeLink draws "[text" at the end as the link that it will most likely be.
func (in *inline) assumeLink(b bracket) {
	text := in.s[b.at:]
	r, _ := utf8.DecodeLastRuneInString(in.s[:in.nodesStart(b)])
	first, _ := utf8.DecodeRuneInString(text)
	if b.dead || text == "" || len(text) > 120 || unicode.IsLetter(r) || unicode.IsDigit(r) || !unicode.IsLetter(first) && first != '`' {
		return
	}
	in.nodes[b.node].text = ""
	if b.image {
		in.nodes[b.node] = node{text: "image: ", marks: linked}
	}
	for j := b.node + 1; j < len(in.nodes); j++ {
		in.nodes[j].marks |= linked
	}
}

// nodesStart is the offset of a bracket's first byte.
func (in *inline) nodesStart(b bracket) int { return b.at - len(in.nodes[b.node].text) }

// angle reads "<address>" and the line break of HTML. Other HTML is text.
func (in *inline) angle(i, from int) int {
	s := in.s[i:]
	end := strings.IndexByte(s, '>')
	if end < 0 && in.tail && strings.HasPrefix(s, "<http") && !strings.ContainsAny(s, " \n\"") {
		in.text(from, i)
		in.nodes = append(in.nodes, node{text: s[1:], marks: linked})
		return len(s)
	}
	if end < 2 || end > 2000 {
		return 0
	}
	body := s[1:end]
	switch strings.ToLower(strings.TrimRight(body, "/ ")) {
	case "br":
		in.text(from, i)
		in.nodes = append(in.nodes, node{text: "\n"})
		return end + 1
	}
	if strings.ContainsAny(body, " <\n\"") {
		return 0
	}
	to := body
	if at := strings.IndexByte(body, '@'); at > 0 && strings.IndexByte(body[at:], '.') > 0 && !strings.Contains(body, ":") {
		to = "mailto:" + body
	} else if scheme, rest, ok := strings.Cut(body, ":"); !ok || len(scheme) < 2 || len(scheme) > 32 || rest == "" || strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+.-") != "" {
		return 0
	}
	in.text(from, i)
	in.nodes = append(in.nodes, node{text: body, marks: linked, link: to})
	return end + 1
}

// address is the length of the web address that begins at i, 0 for none.
func address(s string, i int) int {
	rest := s[i:]
	body, ok := strings.CutPrefix(rest, "https://")
	if !ok {
		body, ok = strings.CutPrefix(rest, "http://")
	}
	if !ok {
		return 0
	}
	if r, _ := utf8.DecodeLastRuneInString(s[:i]); i > 0 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return 0
	}
	head := len(rest) - len(body)
	end := strings.IndexFunc(body, func(r rune) bool { return r <= ' ' || r == '<' || r == '`' || r == '|' || r == 0x3001 || r == 0x3002 })
	if end < 0 {
		end = len(body)
	}
	for end > 0 {
		c := body[end-1]
		if strings.IndexByte("?!.,:;*_~'\"]}", c) >= 0 || c == ')' && strings.Count(body[:end], ")") > strings.Count(body[:end], "(") {
			end--
			continue
		}
		break
	}
	if end == 0 {
		return 0
	}
	return head + end
}

// rows breaks a line at its line breaks.
func rows(l style.Line) []style.Line {
	out := []style.Line{nil}
	for _, s := range l {
		for {
			head, rest, more := strings.Cut(s.Text, "\n")
			if s.Text = head; head != "" {
				out[len(out)-1] = append(out[len(out)-1], s)
			}
			if !more {
				break
			}
			out = append(out, nil)
			s.Text = rest
		}
	}
	return out
}
