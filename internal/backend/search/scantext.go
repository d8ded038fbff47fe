package search

import "bytes"

// searchText searches b, all of a file, with matches that may span lines.
func (s *scanner) searchText(b []byte) {
	if bytes.IndexByte(b[:min(len(b), chunkBytes)], 0) >= 0 {
		s.src.binary = true
		if !s.src.explicit {
			return
		}
	}
	if !s.m.mayMatch(b) {
		return
	}
	s.m.eachSpan(b, func(start, end int) bool { return s.textMatch(b, start, end) })
	if s.q.Mode == ModeContent && !s.src.binary {
		s.trailing(b, len(b))
	}
}

// textMatch takes in one match and reports whether to look for the next.
func (s *scanner) textMatch(b []byte, start, end int) bool {
	if start == len(b) && (start == 0 || b[start-1] == '\n') {
		return false // there is no line behind the last line feed
	}
	from := bytes.LastIndexByte(b[:start], '\n') + 1
	to := end - 1 // a match that ends with a line feed ends its line
	if end == start || b[end-1] != '\n' {
		to = lineEnd(b, end)
	}
	if bytes.IndexByte(b[from:to], 0) >= 0 {
		s.src.binary = true
		if !s.src.explicit {
			return false
		}
	}
	s.found.count++
	switch s.q.Mode {
	case ModeFiles:
		s.found.stopped = true
		return false
	case ModeContent:
		if s.src.binary {
			s.found.stopped = true
			return false
		}
		s.emitText(b, from, to, start, end)
		s.found.stopped = s.enough()
	case ModeCount:
	}
	return !s.found.stopped
}

// emitText gives out the lines from..to of a match at start..end; a line that
// two matches share is given out once.
func (s *scanner) emitText(b []byte, from, to, start, end int) {
	if from >= s.printed {
		s.context(b, from)
	}
	if s.q.OnlyMatching {
		s.emitSpanLines(b, start, end)
	} else {
		for at := max(from, s.printed); at <= to && at < len(b); {
			stop := lineEnd(b, at)
			s.emit(LineMatch, b, at, stop)
			at = stop + 1
		}
	}
	s.printed = max(s.printed, min(to+1, len(b)))
	s.afterLeft = s.q.After
}

func (s *scanner) emitSpanLines(b []byte, start, end int) {
	for start < end {
		stop := min(lineEnd(b, start), end)
		line := bytes.LastIndexByte(b[:start], '\n') + 1
		s.number(b, max(line, s.counted))
		s.append(LineMatch, b[start:stop])
		start = stop + 1
	}
}

// mayMatch is false when b surely holds no match.
func (m *lineMatcher) mayMatch(b []byte) bool {
	if len(m.p.literal.text) > 0 && m.p.literal.index(b, 0) < 0 {
		return false
	}
	if m.dfa == nil {
		m.dfa = newDFA(m.p.nfa)
	}
	_, verdict := m.dfa.find(b, 0, fromText)
	return verdict != dfaNone
}
