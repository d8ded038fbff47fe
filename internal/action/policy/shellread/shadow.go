package shellread

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// runners start the program that stands somewhere among their arguments. Rules
// that deny or ask look at every place where it could start: a reading too many
// is harmless, it can only refuse.
const runners = " env sudo doas setsid watch ionice chrt taskset flock xargs nocorrect noglob exec chroot strace ltrace nsenter unshare systemd-run " +
	"parallel busybox toybox caffeinate time nice stdbuf timeout nohup command builtin runuser fakeroot script rtk firejail bwrap unbuffer setarch prlimit numactl proxychains "

// shells run text given to -c or on standard input.
const shells = " bash sh dash zsh ksh ash fish rbash "

const (
	maxShadowLevel = 4
	// maxStarts is how many words behind a runner are tried as the program.
	maxStarts = 6
)

// shadows returns the other readings of p.
func shadows(p *Part, level int) []Part {
	words := p.Words[p.Start:]
	if len(words) == 0 || level >= maxShadowLevel {
		return nil
	}
	name := path.Base(words[0].Text)
	var out []Part
	switch {
	case name == "find":
		out = findPrograms(p, words, level)
	case strings.Contains(runners, " "+name+" "):
		out = startsBehind(p, words, level)
	case strings.Contains(shells, " "+name+" "):
		out = shellText(p, words, level)
	case name == "eval":
		out = textShadows(p, words[1:], level)
	case name == "trap" && len(words) > 1:
		out = textShadows(p, words[1:2], level)
	case name == "alias":
		for _, w := range words[1:] {
			if _, text, ok := strings.Cut(w.Text, "="); ok {
				w.Text = text
				out = append(out, textShadows(p, []Word{w}, level)...)
			}
		}
	}
	if name == "su" || name == "watch" || name == "script" || name == "runuser" || name == "flock" {
		out = append(out, shellText(p, words, level)...)
	}
	return out
}

func startsBehind(p *Part, words []Word, level int) []Part {
	var out []Part
	tried := 0
	for i := 1; i < len(words) && tried < maxStarts; i++ {
		t := words[i].Text
		if strings.HasPrefix(t, "-") && words[i].Literal() || isAssignment(t) {
			if (t == "-S" || t == "--split-string") && i+1 < len(words) {
				out = append(out, textShadows(p, words[i+1:i+2], level)...)
			}
			continue
		}
		tried++
		inner := words[i:]
		if path.Base(words[0].Text) == "xargs" && inner[len(inner)-1].Holes&FromInput == 0 {
			inner = append(inner[:len(inner):len(inner)], Word{Text: hole, Holes: FromInput})
		}
		out = append(out, shadowOf(p, inner, level)...)
	}
	if path.Base(words[0].Text) == "watch" {
		out = append(out, textShadows(p, words[1:], level)...)
	}
	return out
}

func shadowOf(p *Part, words []Word, level int) []Part {
	s := Part{Words: slices.Clone(words), Dirs: p.Dirs, Shadow: true}
	s.unwrap(Bash)
	s.judge(false)
	s.Shadow = true
	s.finish()
	return append([]Part{s}, shadows(&s, level+1)...)
}

func findPrograms(p *Part, words []Word, level int) []Part {
	var out []Part
	for i := 1; i < len(words); i++ {
		switch words[i].Text {
		case "-exec", "-execdir", "-ok", "-okdir":
		default:
			continue
		}
		end := i + 1
		for end < len(words) && words[end].Text != ";" && words[end].Text != "+" {
			end++
		}
		if end > i+1 {
			out = append(out, shadowOf(p, words[i+1:end], level)...)
		}
		i = end
	}
	return out
}

// shellText reads the text given to -c of a shell.
func shellText(p *Part, words []Word, level int) []Part {
	for i := 1; i < len(words); i++ {
		t := words[i].Text
		if strings.HasPrefix(t, hole) {
			return []Part{unknownPart(p)}
		}
		if strings.HasPrefix(t, "-") && !strings.HasPrefix(t, "--") && strings.HasSuffix(t, "c") || t == "--command" {
			if i+1 < len(words) {
				return textShadows(p, words[i+1:i+2], level)
			}
		}
	}
	return nil
}

// textShadows reads words, joined by blanks, as a command text.
func textShadows(p *Part, words []Word, level int) []Part {
	for len(words) > 0 && words[0].Text == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil
	}
	for _, w := range words {
		if w.Holes != 0 {
			return []Part{unknownPart(p)}
		}
	}
	return readNested(joinWords(words, plainText), p.Dirs, level)
}

// unknownPart stands for commands that are only known at run time.
func unknownPart(p *Part) Part {
	return Part{
		Words: []Word{{Text: hole, Source: p.Line(), Holes: FromVar}}, Dirs: p.Dirs, Shadow: true, Why: "it runs text that is only known at run time",
		Forms: Forms{Possible: []string{hole}},
	}
}

// readNested reads code that another part runs. Its issues do not matter: the
// part that runs it is judged by its own name.
func readNested(code string, in Dirs, level int) []Part {
	if len(code) > maxBytes || depth(code) > maxDepth || keywords(code) > maxKeywords {
		return crude(code[:min(len(code), maxBytes)])
	}
	sub := &Facts{}
	w := &walker{src: code, facts: sub, level: level + 1}
	stmts, err := statements(code)
	w.variables(stmts)
	w.stmts(stmts, in, context{where: "command text", shadow: true})
	if err != nil {
		sub.Parts = append(sub.Parts, crude(code)...)
	}
	return sub.Parts
}

// fedCode reads what a shell gets on standard input.
func (w *walker) fedCode(p *Part, redirs []*syntax.Redirect, ctx context) {
	if !strings.Contains(shells, " "+p.Name+" ") || w.level >= maxShadowLevel {
		return
	}
	for _, word := range p.Words[p.Start+1:] {
		if !strings.HasPrefix(word.Text, "-") || strings.HasSuffix(word.Text, "c") {
			return
		}
	}
	for _, r := range redirs {
		if r.Op != syntax.Hdoc && r.Op != syntax.DashHdoc {
			continue
		}
		if code, fixed := heredocText(r); fixed {
			w.facts.Parts = append(w.facts.Parts, readNested(code, p.Dirs, w.level)...)
			return
		}
	}
	// A pipe, a file or a here-string: the text is not known.
	w.facts.Parts = append(w.facts.Parts, unknownPart(p))
}

// exactOnly reports programs whose argument is a command again: a prefix rule
// for them would be a rule for everything.
func exactOnly(name string, words []Word) bool {
	switch name {
	case "watch", "setsid", "ionice", "flock":
		return true
	case "find":
		for _, w := range words[1:] {
			if strings.HasPrefix(w.Text, "-exec") || strings.HasPrefix(w.Text, "-ok") || w.Text == "-delete" || strings.HasPrefix(w.Text, "-fprint") || w.Text == "-fls" {
				return true
			}
		}
	}
	return false
}
