package editor

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// A chip is one character of a private range in the text, which stands for a
// long paste or a picture: one unit for the cursor and for deleting.
const (
	firstChip = 0xF0000
	lastChip  = 0xFFFFD
)

func isChip(r rune) bool { return r >= firstChip && r <= lastChip }

// Where a paste becomes a chip (interactive.md §3).
const (
	longPaste = 800 // characters
	highPaste = 2   // line breaks
)

// chips are the long pastes and pictures of a draft, by the chip's number.
type chips struct {
	pastes, images map[int]string
	pasted, drawn  int // the highest numbers given
	kinds          []chip
}

type chip struct {
	image bool
	n     int
}

func (c *chips) add(k chip) string {
	c.kinds = append(c.kinds, k)
	return string(rune(firstChip + len(c.kinds) - 1))
}

func (c *chips) paste(text string) string {
	c.pasted++
	return c.pasteAs(c.pasted, text)
}

func (c *chips) pasteAs(n int, text string) string {
	if c.pastes == nil {
		c.pastes = map[int]string{}
	}
	c.pastes[n], c.pasted = text, max(c.pasted, n)
	return c.add(chip{false, n})
}

func (c *chips) image(path string) string {
	c.drawn++
	return c.imageAs(c.drawn, path)
}

func (c *chips) imageAs(n int, path string) string {
	if c.images == nil {
		c.images = map[int]string{}
	}
	c.images[n], c.drawn = path, max(c.drawn, n)
	return c.add(chip{true, n})
}

func (c *chips) of(r rune) (chip, bool) {
	i := int(r) - firstChip
	if i < 0 || i >= len(c.kinds) {
		return chip{}, false
	}
	return c.kinds[i], true
}

// label is what a chip shows.
func (c *chips) label(r rune) string {
	k, ok := c.of(r)
	switch {
	case !ok:
		return ""
	case k.image:
		return fmt.Sprintf("[Image #%d]", k.n)
	}
	if lines := strings.Count(c.pastes[k.n], "\n"); lines > 0 {
		return fmt.Sprintf("[Pasted text #%d +%d lines]", k.n, lines)
	}
	return fmt.Sprintf("[Pasted text #%d]", k.n)
}

// draft is the text with its chips resolved.
func (c *chips) draft(text string) Draft {
	if len(c.kinds) == 0 {
		return Draft{Text: text, Shown: text}
	}
	var whole, shown strings.Builder
	var d Draft
	for _, r := range text {
		k, ok := c.of(r)
		if !ok {
			whole.WriteRune(r)
			shown.WriteRune(r)
			continue
		}
		shown.WriteString(c.label(r))
		if k.image {
			whole.WriteString(c.label(r))
			if d.Images == nil {
				d.Images = map[int]string{}
			}
			d.Images[k.n] = c.images[k.n]
			continue
		}
		whole.WriteString(c.pastes[k.n])
		if d.Pastes == nil {
			d.Pastes = map[int]string{}
		}
		d.Pastes[k.n] = c.pastes[k.n]
	}
	d.Text, d.Shown = whole.String(), shown.String()
	return d
}

var labels = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[(?:Image #(\d{1,6})|Pasted text #(\d{1,6})(?: \+\d+ lines)?)\]`)
})

// undraft is the text of a draft with chips for what it has pastes and images of.
func (c *chips) undraft(d Draft) string {
	if len(d.Pastes) == 0 && len(d.Images) == 0 {
		return clean(d.Text)
	}
	return labels().ReplaceAllStringFunc(clean(d.Shown), func(l string) string {
		m := labels().FindStringSubmatch(l)
		if n, err := strconv.Atoi(m[1]); err == nil {
			if path, ok := d.Images[n]; ok {
				return c.imageAs(n, path)
			}
		}
		if n, err := strconv.Atoi(m[2]); err == nil {
			if text, ok := d.Pastes[n]; ok {
				return c.pasteAs(n, text)
			}
		}
		return l
	})
}

// paste takes pasted text: short text as it is, long text as a chip. A second
// paste of the same text opens the chip that stands before the cursor.
func (e *Editor) paste(text string) {
	text = clean(text)
	e.save(false)
	if utf8.RuneCountInString(text) <= longPaste && strings.Count(text, "\n") <= highPaste {
		e.put(text)
		e.complete()
		return
	}
	if r, ok := e.chipBefore(); ok {
		if k, _ := e.chips.of(r); !k.image && e.chips.pastes[k.n] == text {
			e.buf.cut(e.buf.left(e.cur), e.cur)
			e.cur = pos{e.cur.row, e.cur.col - utf8.RuneLen(r)}
			e.put(text)
			return
		}
	}
	e.put(e.chips.paste(text))
}

func (e *Editor) chipBefore() (rune, bool) {
	r, _ := utf8.DecodeLastRuneInString(e.buf.lines[e.cur.row][:e.cur.col])
	return r, isChip(r)
}

// AddImage puts a picture of a file into the text.
func (e *Editor) AddImage(path string) {
	e.save(false)
	e.put(e.chips.image(path) + " ")
}
