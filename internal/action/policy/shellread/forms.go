package shellread

import (
	"path"
	"slices"
	"strings"
)

// finish computes the spellings of the part.
func (p *Part) finish() {
	words := p.Words[p.Start:]
	if len(words) == 0 {
		return
	}
	if p.Name == "" && p.Class == Other && p.Why == "" {
		p.Why = "the program is only known at run time"
	}
	p.ruleLimits(words)
	source := joinWords(words, sourceText)
	canonical := joinWords(words, quotedText)
	if p.harmlessAssigns() {
		p.Forms.Allow = distinct(canonical, source)
	}
	raw := joinWords(p.Words, sourceText)
	if len(p.Assigns) == 0 {
		p.Forms.Exact = distinct(canonical, source, raw)
	} else {
		for i := len(p.Assigns) - 1; i >= 0; i-- {
			raw = p.Assigns[i].Source + " " + raw
		}
		p.Forms.Exact, p.Forms.Assigned = []string{raw}, raw
	}
	p.denyForms(words)
}

func (p *Part) harmlessAssigns() bool {
	for _, a := range p.Assigns {
		if !a.Harmless {
			return false
		}
	}
	return true
}

// ruleLimits sets what keeps a rule with a pattern from covering the part.
func (p *Part) ruleLimits(words []Word) {
	if p.Unruled != "" {
		return
	}
	first := words[0]
	if !first.Literal() || first.Braced || first.Tilde {
		p.Unruled = "the program is only known at run time"
		return
	}
	for _, w := range words {
		switch {
		case w.Holes&FromSubst != 0:
			p.Unruled = "an argument is the output of another command"
		case w.Holes&FromProc != 0:
			p.Unruled = "an argument is a process substitution"
		case w.Braced:
			p.Unruled = "an argument is a brace expansion"
		}
	}
}

func sourceText(w Word) string {
	if w.Source == "" {
		return w.Text
	}
	return w.Source
}

// quotedText is the word in one canonical spelling: bare when it cannot be
// mistaken for anything else, in single quotes otherwise.
func quotedText(w Word) string {
	if w.Pattern != "" || w.Holes != 0 {
		return sourceText(w)
	}
	if w.Text == "" || strings.ContainsAny(w.Text, " \t\n|&;<>()$`\\\"'*?[]#") {
		return "'" + strings.ReplaceAll(w.Text, "'", `'\''`) + "'"
	}
	return w.Text
}

func plainText(w Word) string { return w.Text }

// possibleText is the word with a hole at every place that is not certain.
func possibleText(w Word) string {
	if w.Pattern == "" {
		return w.Text
	}
	var b strings.Builder
	for i := 0; i < len(w.Pattern); i++ {
		switch c := w.Pattern[i]; c {
		case '\\':
			if i+1 < len(w.Pattern) {
				i++
				b.WriteByte(w.Pattern[i])
			}
		case '*', '?':
			b.WriteString(hole)
		case '[':
			b.WriteString(hole)
			if end := strings.IndexByte(w.Pattern[i:], ']'); end > 0 {
				i += end
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func (p *Part) denyForms(words []Word) {
	plain := joinWords(words, plainText)
	forms := []string{plain, joinWords(words, quotedText), joinWords(words, sourceText)}
	if p.Start > 0 {
		forms = append(forms, joinWords(p.Words, plainText))
	}
	if strings.Contains(words[0].Text, "/") && !strings.HasSuffix(words[0].Text, "/") {
		forms = append(forms, path.Base(words[0].Text)+plain[len(words[0].Text):])
	}
	short := withoutGlobals(words)
	if short != nil {
		forms = append(forms, joinWords(short, plainText))
	}
	p.Forms.Deny = distinct(forms...)
	if slices.ContainsFunc(words, func(w Word) bool { return !w.Literal() }) {
		p.Forms.Possible = distinct(joinWords(words, possibleText))
		if short != nil {
			p.Forms.Possible = append(p.Forms.Possible, joinWords(short, possibleText))
		}
		if strings.Contains(words[0].Text, "/") && words[0].Pattern == "" {
			p.Forms.Possible = append(p.Forms.Possible, path.Base(words[0].Text)+joinWords(words, possibleText)[len(words[0].Text):])
		}
	}
}

// withoutGlobals drops the options between a program and its subcommand, so
// that a rule for "git push" also sees "git -C dir push". nil when there are none.
func withoutGlobals(words []Word) []Word {
	valued := ""
	switch path.Base(words[0].Text) {
	case "git":
		valued = " -C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source "
	case "docker", "podman", "kubectl", "helm":
		valued = " -H --host --context --config -c -l --log-level -n --namespace --kubeconfig --cluster --user -s --server "
	case "npm", "pnpm", "yarn", "cargo", "go", "gh", "aws", "gcloud", "terraform":
		valued = " -C --prefix --dir --cwd -w --workspace --filter -R --repo --profile --region --project --manifest-path --config "
	default:
		return nil
	}
	i := 1
	for i < len(words) && strings.HasPrefix(words[i].Text, "-") {
		if strings.Contains(valued, " "+words[i].Text+" ") {
			i++
		}
		i++
	}
	if i == 1 || i >= len(words) {
		return nil
	}
	return append([]Word{words[0]}, words[i:]...)
}

func distinct(s ...string) []string {
	out := s[:0:0]
	for _, v := range s {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}
