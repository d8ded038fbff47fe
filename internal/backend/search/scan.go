package search

import (
	"bytes"
	"context"
)

// scanner searches one file after the other. One belongs to one goroutine;
// its buffer and matcher are reused.
type scanner struct {
	q     *GrepQuery
	m     *lineMatcher
	buf   []byte
	need  int // lines of one file that can be asked for; 0 is no limit
	limit int64
	src   source
	found fileFound

	pos       int // where the search goes on
	printed   int // end of the last line that was given out
	counted   int // lineNo is the number of the line at this offset
	lineNo    int
	afterLeft int
	lineBytes int // text bytes kept of this file
}

// fileFound is what a search of one file gave.
type fileFound struct {
	path    string
	lines   []Line
	count   int
	binary  bool // matches, but holds NUL bytes
	err     error
	stopped bool // enough was found before the end
}

func newScanner(q *GrepQuery, p *pattern) *scanner {
	return &scanner{q: q, m: newLineMatcher(p), need: q.keep(), limit: MaxFileBytes}
}

// scan searches the file at path. explicit files were named by the caller:
// links are followed and NUL bytes do not end the search.
func (s *scanner) scan(ctx context.Context, path string, links linkPolicy) fileFound {
	s.found = fileFound{path: path}
	file, err := openFile(path, links)
	if err != nil {
		s.found.err = err
		return s.found
	}
	defer file.Close()
	s.src = source{file: file, buf: s.buf, limit: s.limit, explicit: links == followLinks}
	s.pos, s.printed, s.counted, s.lineNo, s.afterLeft, s.lineBytes = 0, 0, 0, 1, 0, 0
	if err := s.search(ctx); err != nil {
		s.found.err = err
	} else if s.src.cut {
		s.found.err = errCut
	}
	if s.src.refused() && s.q.Mode != ModeContent {
		s.found.count = 0 // as if it had been left out from the start
	}
	s.found.binary = s.src.binary && s.src.explicit && s.found.count > 0
	if s.buf = s.src.buf; len(s.buf) > keepBytes {
		s.buf = nil
	}
	return s.found
}

func (s *scanner) search(ctx context.Context) error {
	src := &s.src
	end, err := src.lines(ctx, 0)
	if err != nil {
		return err
	}
	head := src.buf[:src.hi]
	if order := byteOrder(src.buf[:min(len(src.buf), 2)]); order != nil && src.read > 1 {
		return s.searchUTF16(ctx)
	}
	if s.m.p.span {
		return s.searchWhole(ctx)
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		s.pos, s.printed, s.counted = 3, 3, 3
	}
	for !src.refused() {
		if s.searchLines(src.buf[:end]); s.found.stopped || src.eof {
			break
		}
		s.roll()
		if end, err = src.lines(ctx, src.hi); err != nil {
			return err
		}
	}
	return nil
}

// reread starts the file again, with all of it in the buffer.
func (s *scanner) reread(ctx context.Context) error {
	path, explicit := s.found.path, s.src.explicit
	file, err := openFile(path, pick(explicit, followLinks, refuseLinks))
	if err != nil {
		return err
	}
	defer file.Close()
	s.src = source{file: file, buf: s.src.buf, limit: s.limit, explicit: explicit}
	return s.src.all(ctx)
}

func (s *scanner) searchUTF16(ctx context.Context) error {
	if err := s.reread(ctx); err != nil {
		return err
	}
	src := &s.src
	src.buf = decodeUTF16(src.buf[:src.hi], byteOrder(src.buf))
	src.hi = len(src.buf)
	if s.m.p.span {
		s.searchText(src.buf)
		return nil
	}
	if src.judge(src.buf); !src.refused() {
		s.searchLines(src.buf)
	}
	return nil
}

func (s *scanner) searchWhole(ctx context.Context) error {
	if err := s.reread(ctx); err != nil {
		return err
	}
	s.searchText(bytes.TrimPrefix(s.src.buf[:s.src.hi], []byte("\xef\xbb\xbf")))
	return nil
}

// searchLines searches b[s.pos:], which ends with a whole line.
func (s *scanner) searchLines(b []byte) {
	for s.pos < len(b) {
		start, end, ok := s.m.next(b, s.pos)
		if !ok {
			break
		}
		next := min(end+1, len(b))
		s.found.count++
		switch s.q.Mode {
		case ModeFiles:
			s.found.stopped = true
			return
		case ModeContent:
			if s.src.binary && s.src.explicit {
				s.found.stopped = true // only the fact is told
				return
			}
			s.context(b, start)
			s.emitMatch(b, start, end)
			s.printed = next
			s.afterLeft = s.q.After
			if s.enough() {
				s.found.stopped = true
				return
			}
		case ModeCount:
		}
		s.pos = next
	}
	s.pos = len(b)
	if s.q.Mode == ModeContent {
		s.trailing(b, len(b))
	}
}

func (s *scanner) enough() bool {
	return s.need > 0 && len(s.found.lines) > s.need+s.q.After || s.lineBytes > maxContentBytes
}

// trailing gives out context that is still due after the last match, up to
// limit.
func (s *scanner) trailing(b []byte, limit int) {
	for s.afterLeft > 0 && s.printed < limit {
		end := lineEnd(b, s.printed)
		s.emit(LineContext, b, s.printed, end)
		s.printed = min(end+1, len(b))
		s.afterLeft--
	}
}

// context gives out the lines around the gap before a match at start.
func (s *scanner) context(b []byte, start int) {
	s.trailing(b, start)
	from := backLines(b, s.printed, start, s.q.Before)
	if len(s.found.lines) > 0 && from > s.printed && s.q.Before+s.q.After > 0 {
		s.found.lines = append(s.found.lines, Line{Kind: LineBreak})
	}
	for from < start {
		end := lineEnd(b, from)
		s.emit(LineContext, b, from, end)
		from = end + 1
	}
}

func (s *scanner) emitMatch(b []byte, start, end int) {
	if !s.q.OnlyMatching {
		s.emit(LineMatch, b, start, end)
		return
	}
	s.m.eachSpan(b[start:end], func(from, to int) bool {
		if from < to {
			s.number(b, start)
			s.append(LineMatch, b[start+from:start+to])
		}
		return !s.enough()
	})
}

func (s *scanner) emit(kind LineKind, b []byte, start, end int) {
	s.number(b, start)
	s.append(kind, b[start:end])
}

// number moves lineNo to the line that starts at offset at.
func (s *scanner) number(b []byte, at int) {
	s.lineNo += bytes.Count(b[s.counted:at], []byte{'\n'})
	s.counted = at
}

func (s *scanner) append(kind LineKind, text []byte) {
	kept := text[:min(len(text), s.q.maxLine())]
	s.lineBytes += len(kept)
	s.found.lines = append(s.found.lines, Line{
		Kind: kind, Path: s.found.path, Number: s.lineNo, Text: string(kept), Omitted: len(text) - len(kept),
	})
}

// roll drops what was searched, but for the lines that may still be context.
func (s *scanner) roll() {
	b := s.src.buf[:s.src.hi]
	keep := s.pos
	if s.q.Mode == ModeContent {
		keep = backLines(b, min(s.printed, s.pos), s.pos, s.q.Before)
		s.number(b, keep)
	}
	s.src.discard(keep)
	s.pos -= keep
	s.counted = 0
	// -1 stands for lines that were dropped unprinted, so that a match at the
	// very start of what is kept is known to lie behind a gap.
	s.printed = max(s.printed-keep, -1)
}

func lineEnd(b []byte, start int) int {
	if nl := bytes.IndexByte(b[start:], '\n'); nl >= 0 {
		return start + nl
	}
	return len(b)
}

// backLines returns the start of the line that lies n lines before the line
// at start, but not before limit.
func backLines(b []byte, limit, start, n int) int {
	limit = max(limit, 0)
	for ; n > 0 && start > limit; n-- {
		start = limit + bytes.LastIndexByte(b[limit:start-1], '\n') + 1
	}
	return start
}
