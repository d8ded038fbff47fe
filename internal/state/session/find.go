package session

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Query is what to look for in the words of sessions.
type Query struct {
	// Text is found as it stands; without an upper-case letter in it, case does not count.
	Text string
	// Sessions bounds the sessions returned, PerSession the hits of each; 0 is no bound.
	Sessions, PerSession int
}

// Hit is a place of a session where the text stands.
type Hit struct {
	// Line is the line of the transcript, from 1; Entry its id.
	Line  int    `json:"line"`
	Entry string `json:"entry,omitempty"`
	// Kind is user, assistant, or the type of another line.
	Kind string `json:"kind"`
	Time string `json:"time,omitempty"`
	// Snippet is the text around the first match, on one line.
	Snippet string `json:"snippet"`
}

// Match is a session with its hits; Problem says why the file could not be read to its end.
type Match struct {
	Summary
	Hits []Hit
}

// Search looks into the sessions, in their order, several at a time, and stops
// when enough were found: every session before the last one returned was
// looked through, so the answer does not depend on timing. Of a file, no more
// than a line is in memory.
func Search(ctx context.Context, in []Summary, q Query) ([]Match, error) {
	n := newNeedle(q.Text)
	found := make([]*Match, len(in))
	var mu sync.Mutex
	count := 0
	parallel(len(in), func(i int) {
		mu.Lock()
		enough := q.Sessions > 0 && count >= q.Sessions
		mu.Unlock()
		if enough || ctx.Err() != nil {
			return
		}
		m := n.session(ctx, in[i], q.PerSession)
		if len(m.Hits) == 0 && m.Problem == "" {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		found[i] = &m
		if len(m.Hits) > 0 {
			count++
		}
	})
	var out []Match
	hits := 0
	for _, m := range found {
		if m == nil || q.Sessions > 0 && hits >= q.Sessions {
			continue
		}
		if len(m.Hits) > 0 {
			hits++
		}
		out = append(out, *m)
	}
	return out, ctx.Err()
}

// needle is a text to look for. seed is a piece of it that stands in a line as
// it is, however the line's strings are escaped; most lines are dismissed by
// looking for it alone.
type needle struct {
	text string
	fold bool
	seed []byte
	bufs *sync.Pool
}

func newNeedle(text string) needle {
	n := needle{text: text, fold: strings.ToLower(text) == text, bufs: &sync.Pool{New: func() any {
		b := make([]byte, chunk)
		return &b
	}}}
	best := ""
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return !plainRune(r) }) {
		if len(run) > len(best) {
			best = run
		}
	}
	n.seed = []byte(best)
	if len(n.seed) > chunk/2 {
		n.seed = n.seed[:chunk/2]
	}
	return n
}

// plainRune tells which characters no JSON encoder escapes.
func plainRune(r rune) bool {
	return r >= 0x20 && r < 0x7f && !strings.ContainsRune(`"\/<>&'=+`, r)
}

func (n needle) session(ctx context.Context, s Summary, limit int) Match {
	out := Match{Summary: s}
	if s.Problem != "" {
		return out
	}
	f, _, err := fsys.OpenRegular(s.Path)
	if err != nil {
		out.Problem = err.Error()
		return out
	}
	defer closeQuietly(f)
	if may, err := n.inFile(ctx, f); !may || err != nil {
		if err != nil {
			out.Problem = err.Error()
		}
		return out
	}
	for r := newLineReader(f); ctx.Err() == nil; {
		line, err := r.next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			out.Problem = err.Error()
			return out
		}
		if !n.may(line.bytes) {
			continue
		}
		if hit, ok := n.line(line); ok {
			out.Hits = append(out.Hits, hit)
			if limit > 0 && len(out.Hits) >= limit {
				return out
			}
		}
	}
	return out
}

// chunk is how much of a file is searched at a time.
const chunk = 512 << 10

// inFile dismisses a file without looking for its lines, which most are.
func (n needle) inFile(ctx context.Context, f io.ReaderAt) (bool, error) {
	if len(n.seed) == 0 {
		return true, nil
	}
	buf := n.bufs.Get().(*[]byte)
	defer n.bufs.Put(buf)
	for off := int64(0); ctx.Err() == nil; {
		got, err := f.ReadAt(*buf, off)
		if n.may((*buf)[:got]) {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		off += int64(got - len(n.seed) + 1) // a match may lie across two pieces
	}
	return false, nil
}

// may dismisses a line without parsing it.
func (n needle) may(line []byte) bool {
	if len(n.seed) == 0 {
		return true
	}
	if !n.fold {
		return bytes.Contains(line, n.seed)
	}
	return containsFold(line, n.seed)
}

// containsFold is bytes.Contains with the case of ASCII letters ignored; sub is
// in lower case. It looks for the rarest byte of sub, which is quick, and
// compares around it.
func containsFold(b, sub []byte) bool {
	at := rarest(sub)
	lower := sub[at]
	upper := lower
	if 'a' <= lower && lower <= 'z' {
		upper -= 'a' - 'A'
	}
	low, up := -1, -1
	for i := at; i < len(b); {
		if low < i {
			low = next(b, i, lower)
		}
		if up < i {
			up = next(b, i, upper)
		}
		i = min(low, up)
		if from := i - at; i < len(b) && from+len(sub) <= len(b) && equalFold(b[from:from+len(sub)], sub) {
			return true
		}
		i++
	}
	return false
}

// next is the place of c in b from i on, len(b) when there is none.
func next(b []byte, i int, c byte) int {
	if n := bytes.IndexByte(b[i:], c); n >= 0 {
		return i + n
	}
	return len(b)
}

func equalFold(b, lower []byte) bool {
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// rarest is the place of the byte of sub that stands least often in text and
// code; later in the list is rarer.
func rarest(sub []byte) int {
	const common = ` etaoinsrhldcumfpgw_0.1,-y2b:3v4569k87x()jqz`
	best, rank := 0, -1
	for i, c := range sub {
		r := strings.IndexByte(common, c)
		if r < 0 {
			r = len(common)
		}
		if r > rank {
			best, rank = i, r
		}
	}
	return best
}

// line looks into the strings that a line shows to people.
func (n needle) line(raw rawLine) (Hit, bool) {
	v := gjson.ParseBytes(raw.bytes)
	if !v.IsObject() {
		return Hit{}, false
	}
	hit := Hit{Line: raw.no, Entry: v.Get("uuid").String(), Kind: v.Get("type").String(), Time: v.Get("timestamp").String()}
	for _, path := range []string{"message.content", "rendered", "customTitle", "aiTitle", "tag"} {
		if at := v.Get(path); at.Exists() {
			if s, ok := n.value(at, ""); ok {
				hit.Snippet = s
				return hit, true
			}
		}
	}
	return Hit{}, false
}

// value looks into a value and what is in it; key is its name.
func (n needle) value(v gjson.Result, key string) (snippet string, ok bool) {
	switch {
	case v.Type == gjson.String:
		if slices.Contains(unseen(), key) {
			return "", false
		}
		return n.within(v.String())
	case v.IsObject() || v.IsArray():
		list := v.IsArray()
		v.ForEach(func(k, in gjson.Result) bool {
			name := key
			if !list {
				name = k.String()
			}
			snippet, ok = n.value(in, name)
			return !ok
		})
	}
	return snippet, ok
}

// unseen are fields of blocks that nobody reads as words.
func unseen() []string {
	return []string{"id", "type", "tool_use_id", "signature", "data", "media_type"}
}

func (n needle) within(s string) (string, bool) {
	hay := s
	if n.fold {
		hay = strings.ToLower(s)
	}
	at := strings.Index(hay, n.text)
	if at < 0 {
		return "", false
	}
	if len(hay) != len(s) { // lower case has another length in some scripts
		s = hay
	}
	return around(s, at, len(n.text)), true
}

// around is s near a match, on one line.
func around(s string, at, size int) string {
	const before, after = 40, 80
	from, to := max(0, at-before), min(len(s), at+size+after)
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to++
	}
	out := strings.Join(strings.Fields(s[from:to]), " ")
	if from > 0 {
		out = "…" + out
	}
	if to < len(s) {
		out += "…"
	}
	return out
}
