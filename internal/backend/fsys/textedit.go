package fsys

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Span is a byte range of Text.Content.
type Span struct {
	Start, End int
}

// Match says how Find found its spans.
type Match int

// The matches, strictest first.
const (
	NoMatch    Match = iota
	Exact            // byte for byte, "\r\n" in the wanted text counting as a line end
	Equivalent       // equal characters in another Unicode composition (é as one or as two code points)
)

// Edit replaces the bytes Start to End of Text.Content by New.
type Edit struct {
	Span
	New string
}

// Find returns all places of want in the content that do not overlap, in order.
func (t *Text) Find(want string) ([]Span, Match) {
	if want == "" {
		return nil, NoMatch
	}
	if spans := findAll(t.Content, want); spans != nil {
		return spans, Exact
	}
	plain := want
	if t.EOL != LF {
		plain = plainEOL(want)
	}
	if spans := findAll(t.Content, plain); plain != want && spans != nil {
		return spans, Exact
	}
	if spans := t.findEquivalent(plain); spans != nil {
		return spans, Equivalent
	}
	return nil, NoMatch
}

func plainEOL(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func findAll(s, want string) (spans []Span) {
	for at := 0; ; {
		i := strings.Index(s[at:], want)
		if i < 0 {
			return spans
		}
		spans = append(spans, Span{at + i, at + i + len(want)})
		at += i + len(want)
	}
}

// findEquivalent searches in composed form and maps what it finds back. A hit must begin and end between characters.
func (t *Text) findEquivalent(want string) (spans []Span) {
	if norm.NFC.IsNormalString(t.Content) && norm.NFC.IsNormalString(want) {
		return nil
	}
	var composed strings.Builder
	origin := make(map[int]int) // boundary in composed → in Content
	var it norm.Iter
	it.InitString(norm.NFC, t.Content)
	for !it.Done() {
		origin[composed.Len()] = it.Pos()
		composed.Write(it.Next())
	}
	origin[composed.Len()] = len(t.Content)
	for _, s := range findAll(composed.String(), norm.NFC.String(want)) {
		start, ok := origin[s.Start]
		end, ok2 := origin[s.End]
		if ok && ok2 {
			spans = append(spans, Span{start, end})
		}
	}
	return spans
}

// Apply returns the raw bytes of the file after the edits, which may come in any order but must not overlap. No byte
// outside what really differs changes: what an edit's old and new text share at their ends is left as it is, a line end
// in the new text is written like the one that stood at its place (the nearest one before where there was none), the
// encoding stays, and new text is put into the decomposed form where the replaced text was in it.
func (t *Text) Apply(edits []Edit) ([]byte, error) {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.Start - b.Start })
	last := 0
	for i, e := range edits {
		if e.Start < last || e.End < e.Start || e.End > len(t.Content) {
			return nil, fmt.Errorf("edit %d of %s covers %d to %d: overlapping or outside the text", i, Printable(t.Path), e.Start, e.End)
		}
		if !startsRune(t.Content, e.Start) || !startsRune(t.Content, e.End) {
			return nil, fmt.Errorf("edit %d of %s begins or ends inside a character", i, Printable(t.Path))
		}
		last = e.End
		edits[i] = t.trim(e)
	}
	return t.splice(edits)
}

// trim makes an edit as small as it can be.
func (t *Text) trim(e Edit) Edit {
	old := t.Content[e.Start:e.End]
	// A "\r\n" that is still in the content is a CR before a line end: then the new text means it literally.
	if t.EOL != LF && !strings.Contains(old, "\r\n") {
		e.New = plainEOL(e.New)
	}
	if !norm.NFC.IsNormalString(old) && norm.NFD.IsNormalString(old) {
		e.New = norm.NFD.String(e.New)
	}
	p := 0
	for p < len(old) && p < len(e.New) && old[p] == e.New[p] {
		p++
	}
	for p > 0 && (!startsRune(old, p) || !startsRune(e.New, p)) {
		p--
	}
	s := 0
	for s < len(old)-p && s < len(e.New)-p && old[len(old)-1-s] == e.New[len(e.New)-1-s] {
		s++
	}
	for s > 0 && (!startsRune(old, len(old)-s) || !startsRune(e.New, len(e.New)-s)) {
		s--
	}
	return Edit{Span{e.Start + p, e.End - s}, e.New[p : len(e.New)-s]}
}

func startsRune(s string, i int) bool { return i == len(s) || utf8.RuneStart(s[i]) }

var errUndecodable = errors.New("the new text holds U+FFFD where the file has bytes that are no characters; leave those bytes out of the edit")

func (t *Text) splice(edits []Edit) ([]byte, error) {
	raw, ends := t.rawOffsets(edits)
	var err error
	out := make([]byte, 0, len(t.Raw)+256)
	done := 0
	for i, e := range edits {
		if t.Undecodable > 0 && strings.ContainsRune(e.New, utf8.RuneError) {
			return nil, &Error{Op: "edit", Path: t.Path, Cause: CauseOther, Err: errUndecodable}
		}
		out = append(out, t.Raw[done:raw[i].Start]...)
		if out, err = t.Encoding.append(out, e.New, ends.supplier(t.EOL, e.Span)); err != nil {
			return nil, &Error{Op: "edit", Path: t.Path, Cause: CauseOther, Err: err}
		}
		done = raw[i].End
	}
	return append(out, t.Raw[done:]...), nil
}

// rawOffsets maps the sorted edits to ranges of Raw, and lists the line ends of a mixed text.
func (t *Text) rawOffsets(edits []Edit) ([]Span, lineEnds) {
	raw := make([]Span, len(edits))
	bom := t.Encoding.bomLen()
	if len(t.Content) == len(t.Raw)-bom && t.Encoding.isUTF8() && t.Undecodable == 0 && t.EOL != Mixed {
		for i, e := range edits {
			raw[i] = Span{e.Start + bom, e.End + bom}
		}
		return raw, nil
	}
	var ends lineEnds
	at := make(map[int]int, 2*len(edits))
	for _, e := range edits {
		at[e.Start], at[e.End] = -1, -1
	}
	pos, off := 0, bom
	note := func() {
		if _, ok := at[pos]; ok {
			at[pos] = off
		}
	}
	for u := range t.units(t.EOL) {
		note()
		if t.EOL == Mixed && (u.r == '\n' || u.r == '\r') {
			ends = append(ends, lineEnd{pos, endOf(u, t.Encoding)})
		}
		pos += utf8.RuneLen(u.r)
		off += u.size
	}
	note()
	for i, e := range edits {
		raw[i] = Span{at[e.Start], at[e.End]}
	}
	return raw, ends
}

type lineEnd struct {
	pos int // in Content
	eol EOL
}

// lineEnds are those of a Mixed text in order; nil for every other.
type lineEnds []lineEnd

func endOf(u unit, e Encoding) EOL {
	switch {
	case u.size > e.width():
		return CRLF
	case u.r == '\r':
		return CR
	}
	return LF
}

// supplier returns the endings for the line feeds of a new text in s, one after the other. A lone CR is no model for a
// line feed: in a mixed text it stays a character of its own.
func (l lineEnds) supplier(eol EOL, s Span) func() string {
	if eol != Mixed {
		return eol.String
	}
	i, _ := slices.BinarySearchFunc(l, s.Start, func(e lineEnd, pos int) int { return e.pos - pos })
	last := LF
	if near := l.nearest(i); near >= 0 {
		last = l[near].eol
	}
	return func() string {
		for i < len(l) && l[i].pos < s.End {
			i++
			if l[i-1].eol != CR {
				last = l[i-1].eol
				break
			}
		}
		return last.String()
	}
}

// nearest is the index of the last real line end before i, else of the first at or after it, else -1.
func (l lineEnds) nearest(i int) int {
	for j := i - 1; j >= 0; j-- {
		if l[j].eol != CR {
			return j
		}
	}
	for j := i; j < len(l); j++ {
		if l[j].eol != CR {
			return j
		}
	}
	return -1
}
