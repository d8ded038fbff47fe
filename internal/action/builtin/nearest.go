package builtin

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of the search for a resembling text, so that a failed match in a huge
// file costs milliseconds.
const (
	maxNearLines = 200_000
	maxNearShown = 12   // lines of the candidate
	maxNearLine  = 200  // bytes of one line
	maxCompared  = 300  // bytes of a line that are compared
	alike        = 0.55 // least likeness of two lines, 0 to 1
)

// nearest describes the text in content that resembles want most, with white
// space made visible; "" when nothing does.
func nearest(content, want string) string {
	want = strings.ReplaceAll(want, "\r\n", "\n")
	wanted := strings.Split(strings.Trim(want, "\n"), "\n")
	lines := strings.SplitN(content, "\n", maxNearLines)
	at := byVotes(lines, wanted)
	if at < 0 {
		at = byLikeness(lines, wanted)
	}
	if at < 0 {
		return byPrefix(content, want)
	}
	return describe(lines, wanted, at)
}

// squeeze drops all white space, so that lines which differ in nothing else are equal.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' {
			return -1
		}
		return r
	}, s)
}

// byVotes lets every line that also stands in the file vote for the place where
// the wanted text would begin; -1 when no line does. Lines that stand there
// often carry little weight.
func byVotes(lines, wanted []string) int {
	index := make(map[string][]int)
	for i, w := range wanted {
		if k := squeeze(w); len(k) > 2 {
			index[k] = append(index[k], i)
		}
	}
	if len(index) == 0 {
		return -1
	}
	places := make(map[string][]int, len(index))
	for i, l := range lines {
		if len(l) > 1<<12 {
			continue
		}
		if k := squeeze(l); index[k] != nil {
			places[k] = append(places[k], i)
		}
	}
	votes := make(map[int]int)
	for k, ps := range places {
		for _, p := range ps {
			for _, i := range index[k] {
				votes[p-i] += 1000 * min(len(k), 40) / len(ps)
			}
		}
	}
	best, most := -1, 0
	for at, v := range votes {
		if v > most || v == most && at < best {
			best, most = at, v
		}
	}
	if most == 0 {
		return -1
	}
	return max(0, best)
}

// byLikeness compares the most telling wanted line with every line of the file.
func byLikeness(lines, wanted []string) int {
	probe := 0
	for i, w := range wanted {
		if len(squeeze(w)) > len(squeeze(wanted[probe])) {
			probe = i
		}
	}
	want := pairs(wanted[probe])
	best, most := -1, alike
	for i, l := range lines {
		if n := len(want.order); n == 0 || len(l) > 4*maxCompared || len(l)*3 < n {
			continue
		}
		if s := want.likeness(l); s > most {
			best, most = i, s
		}
	}
	if best < 0 {
		return -1
	}
	return max(0, best-probe)
}

// bag counts the pairs of neighbouring bytes of a line.
type bag struct {
	count map[[2]byte]int
	order []byte
}

func pairs(s string) bag {
	s = squeeze(s[:min(len(s), maxCompared)])
	b := bag{make(map[[2]byte]int, len(s)), []byte(s)}
	for i := range len(s) - 1 {
		b.count[[2]byte{s[i], s[i+1]}]++
	}
	return b
}

// likeness is the share of pairs that two lines have in common (Dice's coefficient).
func (b bag) likeness(line string) float64 {
	s := squeeze(line[:min(len(line), maxCompared)])
	if len(s) < 2 || len(b.order) < 2 {
		return 0
	}
	used := make(map[[2]byte]int, len(s))
	common := 0
	for i := range len(s) - 1 {
		p := [2]byte{s[i], s[i+1]}
		if used[p] < b.count[p] {
			used[p]++
			common++
		}
	}
	return 2 * float64(common) / float64(len(s)-1+len(b.order)-1)
}

// byPrefix finds how much of the beginning of want stands in the content:
// the right thing for long lines. At least a third must, or 20 bytes.
func byPrefix(content, want string) string {
	least := max(min(len(want)/3, 20), 4)
	if len(want) < least || !strings.Contains(content, want[:least]) {
		return ""
	}
	lo, hi := least, len(want)
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if strings.Contains(content, want[:mid]) {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	at := strings.Index(content, want[:lo])
	line := strings.Count(content[:at], "\n") + 1
	col := at - strings.LastIndexByte(content[:at], '\n')
	rest := content[at+lo : min(len(content), at+lo+80)]
	return fmt.Sprintf("The first %d of its %d bytes stand at line %d, column %d; then the file has %s where old_string has %s. %s",
		lo, len(want), line, col, visible(clean(rest)), visible(clean(want[lo:min(len(want), lo+80)])), legend)
}

// clean drops the halves of characters at the ends of a cut.
func clean(s string) string { return strings.ToValidUTF8(s, "") }

const legend = "(· is a space, → a tab, ␍ a carriage return, ⏎ a line end)"

// describe shows the lines at a place, and where the first difference is.
func describe(lines, wanted []string, at int) string {
	end := min(at+len(wanted), len(lines))
	var b strings.Builder
	fmt.Fprintf(&b, "The nearest text is at line %d:\n", at+1)
	for i := at; i < end && i < at+maxNearShown; i++ {
		fmt.Fprintf(&b, "%d\t%s\n", i+1, visible(clip(lines[i], maxNearLine)))
	}
	if end-at > maxNearShown {
		fmt.Fprintf(&b, "(%d more lines)\n", end-at-maxNearShown)
	}
	for i, w := range wanted {
		have := ""
		if at+i < len(lines) {
			have = lines[at+i]
		}
		if have == w {
			continue
		}
		fmt.Fprintf(&b, "First difference, line %d of the file: it has\n%s\nwhere old_string has\n%s\n", at+i+1, around(have, w), around(w, have))
		if squeeze(have) == squeeze(w) {
			b.WriteString("They differ in white space only. ")
		}
		break
	}
	b.WriteString(legend)
	return b.String()
}

// around is the part of s near its first difference to t.
func around(s, t string) string {
	if s == "" {
		return "(an empty line)"
	}
	p := 0
	for p < len(s) && p < len(t) && s[p] == t[p] {
		p++
	}
	from, to := 0, len(s)
	lead, tail := "", ""
	if p > maxNearLine/2 {
		from, lead = p-maxNearLine/4, "…"
	}
	if to-from > maxNearLine {
		to, tail = from+maxNearLine, "…"
	}
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to++
	}
	return lead + visible(s[from:to]) + tail
}

// visible marks white space and characters that cannot be seen.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == ' ':
			b.WriteRune('·')
		case r == '\t':
			b.WriteRune('→')
		case r == '\r':
			b.WriteRune('␍')
		case r == '\n':
			b.WriteRune('⏎')
		case !unicode.IsGraphic(r) || unicode.IsSpace(r) || unicode.Is(unicode.Mn, r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
