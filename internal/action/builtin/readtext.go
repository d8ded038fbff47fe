package builtin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// text reads a text file, whole or a range of lines.
func (r *reading) text(ctx context.Context, st fsys.Status) tool.Result {
	if !r.ranged {
		if limit := r.wholeLimit(); st.Size > limit {
			return r.tooLarge(st.Size, limit)
		}
	}
	if st.Size > r.c.Limits.LoadBytes {
		return r.stream(ctx)
	}
	t, err := fsys.ReadText(r.path, fsys.Limits{MaxBytes: r.c.Limits.LoadBytes})
	if err != nil {
		return r.failed(err)
	}
	return r.show(t)
}

// wholeLimit is the size up to which a file is read without a range. A lifted
// limit still ends where no window could hold the text.
func (r *reading) wholeLimit() int64 {
	if r.large {
		return max(r.c.Limits.ReadBytes, int64(r.c.Limits.LargeTokens)*7/2)
	}
	return r.c.Limits.ReadBytes
}

func (r *reading) tooLarge(size, limit int64) tool.Result {
	more := ", or set allow_large when all of it is needed"
	if r.large {
		more = ""
	}
	return tool.Failure(fmt.Sprintf("%s has %s, over the limit of %s for reading a whole file. Read a part with offset and limit, search it with %s%s.",
		fsys.Printable(r.path), amount(size), amount(limit), grepName, more))
}

func amount(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

// page is what is shown of a text.
type page struct {
	lines       []string
	from, total int    // number of the first line; lines of the text, a last empty one included
	notice      string // put after the text
	extent      fsys.Extent
}

// show answers from a text that is at hand, and notes that it was seen.
func (r *reading) show(t *fsys.Text) tool.Result {
	all := strings.Split(t.Content, "\n")
	p := page{lines: all, from: 1, total: len(all), extent: fsys.Whole}
	if t.Content == "" {
		p.lines, p.total = nil, 0
		p.notice = "The file exists and is empty."
	} else if r.ranged {
		p = r.cut(p, lineCount(t))
	}
	if over := r.overBudget(p); over.IsError {
		return over
	}
	if !r.ranged && tokens(size(p.lines)) > r.budget() {
		p = firstPage(p, r.budget())
		if len(p.lines) == 0 {
			return tool.Failure(fmt.Sprintf("%s: line 1 alone is about %d tokens long, over the limit of %d. Search it with %s (-o) or cut a piece out of it in the shell.",
				fsys.Printable(r.path), tokens(len(all[0])), r.budget(), grepName))
		}
	}
	if t.Undecodable > 0 {
		p.notice = strings.TrimSpace(p.notice + fmt.Sprintf(" %d bytes of the file are not valid %s; they are shown as \uFFFD.", t.Undecodable, t.Encoding))
	}
	r.c.Seen.Record(r.path, fsys.View{Status: t.Status, Content: t.Raw, Extent: p.extent})
	return r.result(p)
}

func lineCount(t *fsys.Text) int {
	n := strings.Count(t.Content, "\n")
	if !t.FinalNewline {
		n++
	}
	return n
}

func (r *reading) cut(p page, lines int) page {
	if r.from > lines {
		return page{
			from: r.from, total: p.total, extent: fsys.Partial,
			notice: fmt.Sprintf("The file exists but is shorter than the offset %d: it has %d lines.", r.from, lines),
		}
	}
	end := len(p.lines)
	if r.count > 0 && r.count < end-(r.from-1) {
		end = r.from - 1 + r.count
	}
	p.lines, p.from = p.lines[r.from-1:end], r.from
	if r.from > 1 || end < lines {
		p.extent = fsys.Partial
	}
	return p
}

// overBudget refuses a range that the model chose too large.
func (r *reading) overBudget(p page) tool.Result {
	n := tokens(size(p.lines))
	if !r.ranged || n <= r.budget() {
		return tool.Result{}
	}
	return tool.Failure(fmt.Sprintf("The %d lines asked for are about %d tokens long, over the limit of %d. Ask for fewer lines, or search the file with %s.",
		len(p.lines), n, r.budget(), grepName))
}

// size is the number of bytes of numbered lines.
func size(lines []string) int {
	n := 0
	for _, l := range lines {
		n += len(l) + 7
	}
	return n
}

// firstPage keeps the lines that fit and says how to go on.
func firstPage(p page, budget int) page {
	n, used := 0, 0
	for n < len(p.lines) && tokens(used+len(p.lines[n])+7) <= budget {
		used += len(p.lines[n]) + 7
		n++
	}
	whole := tokens(size(p.lines))
	p.lines, p.extent = p.lines[:n], fsys.Partial
	p.notice = fmt.Sprintf("PARTIAL view: lines 1-%d of %d, because the whole file is about %d tokens long and the limit is %d. "+
		"Go on with offset %d and limit %d, or set allow_large when all of it is needed at once.", n, p.total, whole, budget, n+1, n)
	return p
}

func (r *reading) result(p page) tool.Result {
	var b strings.Builder
	b.Grow(size(p.lines))
	for i, l := range p.lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%d\t%s", p.from+i, l)
	}
	res := done(b.String(), map[string]any{"type": "text", "file": map[string]any{
		"filePath": r.path, "content": strings.Join(p.lines, "\n"), "numLines": len(p.lines), "startLine": p.from, "totalLines": p.total,
	}}, tool.TextView{Text: fmt.Sprintf("%d lines", len(p.lines))})
	if p.notice != "" {
		res.Content = append(res.Content, reminder(p.notice))
	}
	return res
}

// reminder is a text of the harness, marked as such.
func reminder(s string) msg.Block {
	return msg.NewText("<system-reminder>" + s + "</system-reminder>")
}

// stream reads a range of a file that is too large to load. Only the lines
// that are asked for are kept.
func (r *reading) stream(ctx context.Context) (res tool.Result) {
	f, st, err := fsys.OpenRegular(r.path)
	if err != nil {
		return r.failed(err)
	}
	defer func() {
		if err := f.Close(); err != nil && !res.IsError {
			res = r.failed(err)
		}
	}()
	src := bufio.NewReaderSize(f, 1<<16)
	head, err := src.Peek(8000)
	if err != nil && !errors.Is(err, io.EOF) {
		return r.failed(err)
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return tool.Failure(fmt.Sprintf("%s: the first bytes hold NUL, so this is no text that can be read in parts (%s).", fsys.Printable(r.path), amount(st.Size)))
	}
	raw, seen, err := r.collect(ctx, src)
	if err != nil {
		return r.failed(err)
	}
	if len(raw) == 0 {
		return r.result(page{from: r.from, total: seen, notice: fmt.Sprintf("The file exists but is shorter than the offset %d: it has %d lines.", r.from, seen)})
	}
	t, err := fsys.Decode(raw)
	if err != nil {
		return r.failed(&fsys.Error{Op: "read", Path: r.path, Cause: fsys.CauseBinary, Err: err})
	}
	p := page{lines: strings.Split(strings.TrimSuffix(t.Content, "\n"), "\n"), from: r.from, total: seen}
	p.notice = fmt.Sprintf("The file has %s; only the lines up to %d were looked at.", amount(st.Size), seen)
	if over := r.overBudget(p); over.IsError {
		return over
	}
	r.c.Seen.Record(r.path, fsys.View{Status: st, Extent: fsys.Partial})
	return r.result(p)
}

// collect skips to the first line and copies the range. It gives up soon after
// the budget is passed, so a range of one huge line costs bounded memory. seen
// is the number of lines that were passed.
func (r *reading) collect(ctx context.Context, src *bufio.Reader) (raw []byte, seen int, err error) {
	limit := r.budget()*4 + 1<<16
	for n := 0; r.count == 0 || seen < r.from-1+r.count; n++ {
		if n%64 == 0 && ctx.Err() != nil {
			return nil, seen, ctx.Err()
		}
		piece, err := src.ReadSlice('\n')
		if seen >= r.from-1 {
			raw = append(raw, piece...)
		}
		if len(raw) > limit {
			return nil, seen, fmt.Errorf("the lines from %d on are more than %s long; ask for fewer, or search the file with %s", r.from, amount(int64(limit)), grepName)
		}
		switch {
		case err == nil:
			seen++
		case errors.Is(err, io.EOF):
			if len(piece) > 0 {
				seen++
			}
			return raw, seen, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, seen, fmt.Errorf("read %s: %w", fsys.Printable(r.path), err)
		}
	}
	return raw, seen, nil
}
