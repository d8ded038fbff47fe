package shellread

import (
	"path"
	"strings"
)

// unwrap finds the program that really runs behind the wrappers that are looked
// through, and sets Start and Name.
func (p *Part) unwrap(shell Shell) {
	i := 0
	for i < len(p.Words) {
		n, ok := skipWrapper(p.Words[i:], shell)
		if !ok {
			break
		}
		if p.Words[i].Text == "xargs" {
			p.Words = append(p.Words[:len(p.Words):len(p.Words)], Word{Text: hole, Holes: FromInput})
			i += n
			break
		}
		i += n
	}
	p.Start = i
	p.Name = programName(p.Words[i:])
}

// inShell reports whether the part runs in the shell itself when its name is a
// builtin: most wrappers start a program of that name instead.
func (p *Part) inShell() bool {
	for _, w := range p.Words[:p.Start] {
		if w.Text != "command" && w.Text != "builtin" {
			return false
		}
	}
	return true
}

// programName is the bare name of the program, or "" when it is not certain.
func programName(words []Word) string {
	if len(words) == 0 || !words[0].Literal() || words[0].Tilde {
		return ""
	}
	return path.Base(words[0].Text)
}

// skipWrapper returns how many words belong to a wrapper at the front, options
// included. Only forms that are fully understood count, and only wrappers that
// pass their operands on unchanged.
func skipWrapper(words []Word, shell Shell) (int, bool) {
	if len(words) < 2 || !words[0].Literal() || words[0].Tilde {
		return 0, false
	}
	n, ok := 0, false
	switch words[0].Text {
	case "command", "builtin", "nohup", "xargs":
		n, ok = 1, true
	case "time":
		n, ok = wrapperOptions(words, "-p ", "")
	case "nice":
		n, ok = wrapperOptions(words, "", "-n --adjustment ")
	case "stdbuf":
		n, ok = wrapperOptions(words, "", "-i -o -e --input --output --error ")
	case "timeout":
		n, ok = wrapperOptions(words, "--foreground --preserve-status -v --verbose ", "-s -k --signal --kill-after ")
		if ok && n < len(words) && words[n].Literal() && isDuration(words[n].Text) {
			n++
		} else {
			ok = false
		}
	case "noglob":
		n, ok = 1, shell == Zsh
	}
	if !ok || n >= len(words) || strings.HasPrefix(words[n].Text, "-") || strings.HasPrefix(words[n].Text, hole) {
		return 0, false
	}
	if n > 1 && isAssignment(words[n].Text) {
		return 0, false
	}
	return n, true
}

// wrapperOptions skips the options of a wrapper: flags take no value, valued do.
func wrapperOptions(words []Word, flags, valued string) (int, bool) {
	i := 1
	for i < len(words) {
		t := words[i].Text
		if !strings.HasPrefix(t, "-") || t == "-" {
			return i, true
		}
		if !words[i].Literal() {
			return 0, false
		}
		name, _, attached := strings.Cut(t, "=")
		switch {
		case strings.Contains(flags, t+" "):
			i++
		case strings.HasPrefix(t, "--") && attached && strings.Contains(valued, name+" "):
			i++
		case strings.Contains(valued, t+" "):
			if i+1 >= len(words) || !words[i+1].Literal() {
				return 0, false
			}
			i += 2
		case !strings.HasPrefix(t, "--") && len(t) > 2 && strings.Contains(valued, t[:2]+" "):
			i++
		case words[0].Text == "nice" && isNumber(strings.TrimLeft(t, "-+")):
			i++
		default:
			return 0, false
		}
	}
	return 0, false
}

// isDuration accepts what timeout and sleep take: 5, 1.5, 10s, 2m, 1h, 1d.
func isDuration(s string) bool {
	s = strings.TrimRight(s, "smhd")
	whole, frac, dot := strings.Cut(s, ".")
	return isNumber(whole) && (!dot || isNumber(frac)) || whole == "" && dot && isNumber(frac)
}
