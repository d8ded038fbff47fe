package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/msg"
)

// Conversation is a session as it is continued.
type Conversation struct {
	// ID is the session id that the file's entries carry, "" in an empty file.
	ID, Path string
	// Cwd, Branch and Version are those of the newest entry of the conversation.
	Cwd, Branch, Version string
	// Messages is the live conversation, oldest first, as it was: it may end in
	// the middle of a turn and hold unanswered calls. Every request goes
	// through prompt.Repair, which also answers them.
	Messages []*msg.Message
	// Context is the message of instruction files and date, also the first of
	// Messages; nil when none was recorded.
	Context *msg.Message
	// System is the recorded system prompt, a text a block; nil when none was.
	System []string
	// Model is the one that was last asked for, Mode the last permission mode.
	Model, Mode string
	// Title is the session's name, LastPrompt the newest recorded prompt.
	Title, LastPrompt string
	// Prefix is what the last request began with (see Writer.Prefix), "" when
	// that is not known: nothing was noted, or no reply tells that a request
	// with it was sent.
	Prefix string
	// Cost is the newest account; Known is false when there is none.
	Cost CostState
	// Leaf is the entry that the next one hangs on.
	Leaf string
	// Shapings are the replacements of the context shapers, oldest first, not yet
	// applied to Messages; Boundaries are the compactions. Both are of the whole file.
	Shapings   []Shaping
	Boundaries []Boundary
	// Kinds names, by message id, what kind of attachment an injected message was.
	Kinds map[string]string
	// Used and Fresh are what is known of the size of Messages; see loop.Window.
	Used, Fresh int
	// Reshaped is the reason for which the next request cannot extend the last
	// one: what shaped the history since the newest reply, "" when nothing did.
	Reshaped string
	// Pending are the calls that have no result, in call order.
	Pending []*msg.ToolUse
	// Deferred tells that the one call in Pending was put off and is to be taken up.
	Deferred bool
	// Points are the prompts of the live conversation, oldest first.
	Points []Point
	// Withheld are the digests of blocks that the model's API has refused (see
	// event.Quarantined).
	Withheld []string
	// Rewound tells that nothing was said since the conversation was taken back.
	Rewound bool

	tail  string
	calls map[string]string
}

// CostState is a recorded account.
type CostState struct {
	Cost
	Known bool
}

// Report is one thing in a file that was skipped or repaired, and why.
type Report struct {
	// Line is 1-based; 0 when it is about the whole file.
	Line int
	Text string
}

// String is the report as a sentence.
func (r Report) String() string {
	if r.Line == 0 {
		return r.Text
	}
	return fmt.Sprintf("line %d: %s", r.Line, r.Text)
}

// maxReports bounds the reports of a file that is damaged all over.
const maxReports = 100

// Load rebuilds the conversation of a transcript. It fails only when the file
// cannot be read; whatever stands in it, the rest is used and the reports say
// what was not. Only the lines of the live conversation are decoded, so the
// memory it takes depends on the window and not on the age of the session.
func Load(path string) (*Conversation, []Report, error) {
	f, err := openTranscript(path)
	if err != nil {
		return nil, nil, fmt.Errorf("load session: %w", err)
	}
	defer f.close()
	l, c, err := loadWindow(f)
	if errors.Is(err, errNoWindow) {
		l, c, err = loadFrom(f, window{})
	}
	return loaded(path, l, c, err)
}

// LoadSidechain is Load for the transcript of a subagent.
func LoadSidechain(path string) (*Conversation, []Report, error) {
	f, err := openTranscript(path)
	if err != nil {
		return nil, nil, fmt.Errorf("load subagent: %w", err)
	}
	defer f.close()
	l, c, err := loadFrom(f, window{alone: true})
	return loaded(path, l, c, err)
}

func loaded(path string, l *loader, c *Conversation, err error) (*Conversation, []Report, error) {
	if err != nil {
		return nil, nil, failed("read transcript", path, err)
	}
	c.Path, c.Prefix, c.Shapings = path, l.prefix(), l.shapings()
	c.known(l.reshaped)
	if l.dropped > 0 {
		l.reports = append(l.reports, Report{Text: fmt.Sprintf("%d more problems of this kind", l.dropped)})
	}
	return c, l.reports, nil
}

// loadWindow indexes the end of a large file; errNoWindow when that is not enough.
func loadWindow(f *transcript) (*loader, *Conversation, error) {
	if f.size <= wholeFile {
		return nil, nil, errNoWindow
	}
	w, err := findWindow(f)
	if err != nil {
		return nil, nil, err
	}
	return loadFrom(f, w)
}

// loadFrom indexes the file from the beginning of w on.
func loadFrom(f *transcript, w window) (*loader, *Conversation, error) {
	l := &loader{f: f, byID: map[string]int{}, own: f.own, id: f.id, base: w.from, windowed: w.from > 0, alone: w.alone, at: w.at}
	if f.lost != "" {
		l.report(0, "%s", f.lost)
	}
	if err := l.early(w.side); err != nil {
		return nil, nil, err
	}
	if size := f.size - w.from; size <= wholeFile {
		l.data = make([]byte, size)
		n, err := io.ReadFull(io.NewSectionReader(f, w.from, size), l.data)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, nil, err
		}
		l.data = l.data[:n]
	}
	if err := l.scan(w.line); err != nil {
		return nil, nil, err
	}
	c, err := l.conversation()
	if err != nil {
		return nil, nil, err
	}
	if l.windowed && (l.outside || len(c.Messages) == 0) {
		return nil, nil, errNoWindow
	}
	return l, c, nil
}

// wholeFile is the size up to which a file is read in one piece, which is
// quicker: its lines are not read a second time.
const wholeFile = 32 << 20

// closeQuietly closes a file that was only read: nothing can be lost.
func closeQuietly(f *os.File) { _ = f.Close() }

// kind is what a line is to the loader.
type kind uint8

const (
	kindOther kind = iota // known to nobody here, but it may have a place in the chain
	kindUser
	kindAssistant
	kindAttachment
	kindSystem
)

// record is what the scan keeps of a chained line.
type record struct {
	off          int64
	size         int
	line         int
	kind         kind
	sidechain    bool
	uuid, parent string
	source       string // of a tool result: the entry of its call
	result       bool   // a tool result
	reply        string // of a reply's block: what all its blocks share
	subtype      string
}

// loader holds the index of a file.
type loader struct {
	alone bool   // the file is a subagent's: its sidechain is the conversation
	at    string // the entry that the conversation ends with, "" for the newest
	f     io.ReaderAt
	own   int64  // what stands before belongs to the session that this one was forked from
	data  []byte // the file from base on, nil when that is too large
	base  int64  // where the index begins
	// windowed tells that base is not the beginning, outside that something before it is alive.
	windowed, outside bool
	recs              []record
	byID              map[string]int // uuid → index in recs
	reports           []Report
	dropped           int

	id, mode                  string
	title, last, cost, aiName lineRef
	noted                     lineRef
	confirmed                 bool // a reply came after noted
	edits                     []lineRef
	reshaped                  string // stage that came after the newest reply
	buf                       []byte
}

// lineRef is where the newest side entry of a type stands.
type lineRef struct {
	off  int64
	size int
}

func (l *loader) report(line int, format string, args ...any) {
	if len(l.reports) >= maxReports {
		l.dropped++
		return
	}
	l.reports = append(l.reports, Report{Line: line, Text: fmt.Sprintf(format, args...)})
}

// scan reads the file once from base on and indexes it; before is how many lines stand before.
func (l *loader) scan(before int) error {
	r := &lineReader{data: l.data}
	if l.data == nil {
		r = newLineReader(io.NewSectionReader(l.f, l.base, 1<<62-l.base))
	}
	r.no = before
	for {
		line, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line.off += l.base
		switch {
		case line.tooLong:
			l.report(line.no, "skipped: longer than %d MB", maxLine>>20)
		case len(strings.TrimSpace(string(line.bytes[:min(len(line.bytes), 64)]))) == 0 && len(line.bytes) < 64:
			// Blank lines are where a torn line was closed.
		default:
			l.index(line)
		}
	}
}

// index takes in one line.
func (l *loader) index(line rawLine) {
	rec := record{off: line.off, size: len(line.bytes), line: line.no}
	var kindName, session, mode string
	var request, message []byte
	ok := eachField(line.bytes, func(key, val []byte) bool {
		switch string(key) {
		case "type":
			kindName = str(val)
		case "uuid":
			rec.uuid = str(val)
		case "parentUuid":
			rec.parent = str(val)
		case "isSidechain":
			rec.sidechain = string(val) == "true" && !l.alone
		case "sourceToolAssistantUUID":
			rec.source = str(val)
		case "subtype":
			rec.subtype = str(val)
		case "sessionId":
			session = str(val)
		case "permissionMode", "mode":
			mode = str(val)
		case "requestId":
			request = val
		case "message":
			message = val
		}
		return true
	})
	if !ok {
		if line.ended {
			l.report(line.no, "skipped: not a JSON object")
		} else {
			l.report(line.no, "skipped: the last line is torn, its writer was stopped in the middle of it")
		}
		return
	}
	if l.id == "" {
		l.id = session
	}
	rec.kind = kindOf(kindName)
	if at, ok := l.byID[rec.parent]; ok { // one copy of each id
		rec.parent = l.recs[at].uuid
	}
	if rec.uuid == "" {
		l.sideEntry(kindName, mode, lineRef{line.off, len(line.bytes)})
		if kindName == typeEdit {
			l.reshaped = "microcompact"
		}
		if rec.kind != kindOther {
			l.report(line.no, "skipped: %s entry without uuid", kindName)
		}
		return
	}
	if !rec.sidechain {
		l.mode = or(mode, l.mode)
	}
	switch rec.kind {
	case kindAssistant:
		rec.reply = replyKey(message, request)
		l.confirmed = true
		if !rec.sidechain && l.reshaped != "" && billed(message) {
			l.reshaped = ""
		}
	case kindUser:
		rec.result = rec.source != "" || holdsResult(message)
	case kindSystem:
		if rec.subtype == boundarySubtype && !rec.sidechain {
			l.reshaped = "compaction"
		}
	case kindOther, kindAttachment:
	}
	l.add(rec)
}

// billed tells a reply that an API sent: it says what it cost. Words of hew about
// a failed request, and lines of another hand, show that no request was taken.
func billed(message []byte) bool {
	u := gjson.GetBytes(message, "usage")
	return u.Get("input_tokens").Int()+u.Get("output_tokens").Int() > 0
}

func (l *loader) add(rec record) {
	if first, dup := l.byID[rec.uuid]; dup {
		// The first is what was acknowledged; a file that only grows cannot change it.
		l.report(rec.line, "skipped: same uuid as line %d", l.recs[first].line)
		return
	}
	l.byID[rec.uuid] = len(l.recs)
	l.recs = append(l.recs, rec)
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func kindOf(name string) kind {
	switch name {
	case "user":
		return kindUser
	case "assistant":
		return kindAssistant
	case "attachment":
		return kindAttachment
	case "system":
		return kindSystem
	}
	return kindOther
}

// replyKey is shared by the blocks of one reply; "" when the line does not say.
func replyKey(message, request []byte) string {
	var id string
	eachField(message, func(key, val []byte) bool {
		if string(key) == "id" {
			id = str(val)
			return false
		}
		return true
	})
	if id == "" {
		return ""
	}
	return id + "\x00" + str(request)
}

// holdsResult tells whether the content of a user message begins with a tool
// result, for writers that do not name the call's entry.
func holdsResult(message []byte) bool {
	found := false
	eachField(message, func(key, content []byte) bool {
		if string(key) != "content" {
			return true
		}
		eachElement(content, func(block []byte) bool {
			eachField(block, func(key, val []byte) bool {
				found = string(key) == "type" && string(val) == `"tool_result"`
				return string(key) != "type"
			})
			return false
		})
		return false
	})
	return found
}

// sideEntry notes the newest of the entries outside the chain that count.
func (l *loader) sideEntry(kindName, mode string, at lineRef) {
	switch kindName {
	case typeEdit:
		l.edits = append(l.edits, at)
	case "custom-title":
		l.title = at
	case "ai-title":
		l.aiName = at
	case "last-prompt":
		l.last = at
	case "cost-state":
		if at.off >= l.own { // what a source spent is not this session's
			l.cost = at
		}
	case "request-prefix":
		l.noted, l.confirmed = at, false
	case "permission-mode", "mode":
		l.mode = or(mode, l.mode)
	}
}

// prefix is what the last request began with.
func (l *loader) prefix() string {
	if !l.confirmed || l.noted.size == 0 {
		return ""
	}
	line, err := l.read(l.noted.off, l.noted.size)
	if err != nil {
		return ""
	}
	return gjson.GetBytes(line, "prefix").String()
}

// read returns the bytes of a line, valid until the next read.
func (l *loader) read(off int64, size int) ([]byte, error) {
	if l.data != nil && off >= l.base {
		return l.data[off-l.base : off-l.base+int64(size)], nil
	}
	return l.readFile(off, size)
}

func (l *loader) readFile(off int64, size int) ([]byte, error) {
	if cap(l.buf) < size {
		l.buf = make([]byte, max(size, 64<<10))
	}
	buf := l.buf[:size]
	n, err := l.f.ReadAt(buf, off)
	if n == size {
		return buf, nil
	}
	return nil, fmt.Errorf("the file shrank while it was read: %w", err)
}
