package web

import (
	"strconv"

	"github.com/tidwall/gjson"
)

// entry is a line of a session's log.
type entry struct {
	// data is the line with its number in it.
	data []byte
	// question tells that every client gets it, also those that asked for views.
	question bool
}

// lines is the log of a session: the newest lines, each with its number. A client
// reads from its own place, and what it costs does not depend on how many read.
type lines struct {
	limit   int // of bytes
	first   int // the number of list[0]
	list    []entry
	bytes   int
	dropped []mark
}

// mark is a message that is no longer in the log. Its text is in the transcript.
type mark struct {
	seq  int
	uuid string
}

// add appends a line and returns its number.
func (l *lines) add(line []byte, question bool) int {
	if l.first == 0 {
		l.first = 1
	}
	seq := l.first + len(l.list)
	data := make([]byte, 0, len(line)+24)
	data = append(data, `{"seq":`...)
	data = strconv.AppendInt(data, int64(seq), 10)
	data = append(append(data, ','), line[1:]...) // behind the brace
	l.list = append(l.list, entry{data, question})
	l.bytes += len(data)
	if l.bytes > l.limit {
		l.shrink()
	}
	return seq
}

// shrink drops a quarter, so that it is not done with each line.
func (l *lines) shrink() {
	n := 0
	for l.bytes > l.limit/4*3 && n < len(l.list)-1 {
		l.drop(l.first+n, l.list[n])
		n++
	}
	l.first += n
	l.list = append([]entry(nil), l.list[n:]...)
}

func (l *lines) drop(seq int, e entry) {
	l.bytes -= len(e.data)
	f := gjson.GetManyBytes(e.data, "type", "uuid")
	if t := f[0].Str; t == "assistant" || t == "user" {
		l.dropped = append(l.dropped, mark{seq, f[1].Str})
	}
}

// last is the number of the newest line, 0 for none.
func (l *lines) last() int { return max(0, l.first+len(l.list)-1) }

// chunk bounds what a client takes at once, in bytes.
const chunk = 256 << 10

// after returns what stands behind a number, as much as a client takes at once;
// gap tells that the next lines are no longer there. next is the number of the
// last line returned.
func (l *lines) after(seq int) (out []entry, next int, gap bool) {
	if seq+1 < l.first {
		return nil, l.first - 1, true
	}
	from := seq + 1 - max(l.first, 1)
	for n := 0; from < len(l.list) && n < chunk; from++ {
		out = append(out, l.list[from])
		n += len(l.list[from].data)
		seq++
	}
	return out, seq, false
}

// missing are the messages behind a number that are no longer in the log.
func (l *lines) missing(seq int) map[string]bool {
	out := map[string]bool{}
	for _, m := range l.dropped {
		if m.seq > seq {
			out[m.uuid] = true
		}
	}
	return out
}
