package editor

import (
	"strings"
	"unicode"
)

// perform does what a command says.
func (e *Editor) perform(c command) Outcome {
	v := e.vim
	if v.visual() {
		return e.performVisual(c)
	}
	if c.op != "" {
		e.operate(c)
		return Changed
	}
	if to, ok := e.motion(c); ok {
		e.moveTo(c, to)
		return Changed
	}
	switch c.verb {
	case "j", "down", "ctrl+n":
		return e.recall(1)
	case "k", "up", "ctrl+p":
		return e.recall(-1)
	case "/":
		return e.find()
	case "ctrl+r":
		for range c.times() {
			e.again()
		}
		return Changed
	case "u":
		for range c.times() {
			e.back()
		}
		return Changed
	case ".":
		e.repeat(c.count)
		return Changed
	case "v", "V":
		v.mode, v.anchor = visualMode, e.cur
		if c.verb == "V" {
			v.mode = visualLineMode
		}
		return Changed
	case "y", "Y":
		e.operate(command{reg: c.reg, count: c.count, op: "y", verb: "line"})
		return Changed
	}
	e.change(c)
	return Changed
}

func (e *Editor) moveTo(c command, r reach) {
	e.cur = r.to
	if !r.keep {
		e.want = -1
	}
	if c.verb == "$" || c.verb == "end" {
		e.want = 1 << 30 // up and down stay at the ends
	}
	e.menu.close()
}

// change does a command that changes text by itself.
func (e *Editor) change(c command) {
	n := c.times()
	line := e.buf.eol(e.cur.row)
	as := map[string]command{
		"x": {op: "d", verb: "l"}, "delete": {op: "d", verb: "l"}, "X": {op: "d", verb: "h"},
		"D": {op: "d", verb: "$"}, "C": {op: "c", verb: "$"}, "s": {op: "c", verb: "l"}, "S": {op: "c", verb: "line"},
	}
	if same, ok := as[c.verb]; ok {
		same.reg, same.count = c.reg, c.count
		e.operate(same)
		return
	}
	e.merges = false
	switch c.verb {
	case "i", "a", "I", "A", "o", "O":
		e.save(false)
		switch c.verb {
		case "a":
			e.cur = e.buf.right(pos{e.cur.row, min(e.cur.col, line.col)})
			if e.cur.row != line.row {
				e.cur = line
			}
		case "I":
			e.cur = e.buf.indent(e.cur.row)
		case "A":
			e.cur = line
		case "o":
			e.cur = e.buf.insert(line, "\n"+e.buf.lines[line.row][:e.buf.indent(line.row).col])
		case "O":
			lead := e.buf.lines[line.row][:e.buf.indent(line.row).col]
			e.buf.insert(pos{line.row, 0}, lead+"\n")
			e.cur = pos{line.row, len(lead)}
		}
		e.startInsert(n)
		e.vim.opens = c.verb == "o" || c.verb == "O"
	case "p", "P":
		e.save(false)
		e.put2(c.reg, c.verb == "P", n)
		e.vim.changes = true
	case "r":
		e.replaceChars(c.arg, n)
	case "~":
		to := e.cur
		for range n {
			if to.col < len(e.buf.lines[to.row]) {
				to = e.buf.right(to)
			}
		}
		e.save(false)
		e.recased(e.cur, to, toggled)
		e.cur = to
		e.vim.changes = true
	case "J":
		e.save(false)
		e.join(e.cur.row, max(1, n-1))
		e.vim.changes = true
	}
}

// operate does an operator over a motion or a text object.
func (e *Editor) operate(c command) {
	b := &e.buf
	var s span
	switch {
	case c.verb == "line":
		last := min(len(b.lines)-1, e.cur.row+c.times()-1)
		s = span{from: pos{e.cur.row, 0}, to: b.eol(last), lines: true}
	case len(c.verb) > 1 && (c.verb[0] == 'i' || c.verb[0] == 'a'):
		var ok bool
		if s, ok = e.object(c); !ok {
			return
		}
	default:
		if c.op == "c" && (c.verb == "w" || c.verb == "W") && b.kind(e.cur, c.verb == "W") != 0 {
			c.verb = map[string]string{"w": "e", "W": "E"}[c.verb]
			if end := e.endOfWord(c); end != nil {
				s = *end
				break
			}
		}
		r, ok := e.motion(c)
		if !ok {
			return
		}
		s = e.spanTo(r)
	}
	e.apply(c.op, c.reg, s)
}

// endOfWord is what cw takes: to the end of the word at the cursor, even where
// that is one character, which e would leave.
func (e *Editor) endOfWord(c command) *span {
	b, big := e.buf, c.verb == "E"
	k := b.kind(e.cur, big)
	next := b.right(e.cur)
	if next.row == e.cur.row && next.col < len(b.lines[next.row]) && b.kind(next, big) == k {
		return nil
	}
	to := next
	if next.row != e.cur.row {
		to = b.eol(e.cur.row)
	}
	if c.times() > 1 {
		here := e.cur
		c.count--
		r, ok := e.motion(c)
		e.cur = here
		if ok {
			s := e.spanTo(r)
			return &s
		}
	}
	return &span{from: e.cur, to: to}
}

// spanTo is what lies between the cursor and where a motion leads.
func (e *Editor) spanTo(r reach) span {
	from, to := e.cur, r.to
	if to.before(from) {
		from, to = to, from
	}
	if r.lines {
		return span{from: pos{from.row, 0}, to: e.buf.eol(to.row), lines: true}
	}
	if r.inclusive && to.col < len(e.buf.lines[to.row]) {
		to = e.buf.right(to)
	}
	return span{from: from, to: to}
}

// apply does an operator over a span.
func (e *Editor) apply(op, reg string, s span) {
	e.merges = false
	e.save(false)
	e.want = -1
	e.past.leave()
	switch op {
	case "y":
		e.store(reg, e.buf.text(s.from, s.to), s.lines, "0")
		if !s.lines || s.from.row < e.cur.row {
			e.cur = pos{s.from.row, s.from.col}
			if s.lines {
				e.cur = e.under(s.from.row)
			}
		}
	case "d":
		e.vim.changes = true
		e.store(reg, e.buf.text(s.from, s.to), s.lines, "")
		if !s.lines {
			e.buf.cut(s.from, s.to)
			e.cur = s.from
			return
		}
		e.cutLines(s.from.row, s.to.row)
	case "c":
		e.store(reg, e.buf.text(s.from, s.to), s.lines, "")
		if s.lines {
			s.from = e.buf.indent(s.from.row)
		}
		e.buf.cut(s.from, s.to)
		e.cur = s.from
		e.startInsert(1)
	case ">", "<":
		e.vim.changes = true
		e.shift(s.from.row, s.to.row, op == ">")
		e.cur = e.buf.indent(s.from.row)
	case "gu", "gU", "g~":
		e.vim.changes = true
		e.recased(s.from, s.to, map[string]func(rune) rune{"gu": unicode.ToLower, "gU": unicode.ToUpper, "g~": toggled}[op])
		e.cur = s.from
	}
}

// cutLines takes whole lines out.
func (e *Editor) cutLines(from, to int) {
	switch {
	case to+1 < len(e.buf.lines):
		e.buf.cut(pos{from, 0}, pos{to + 1, 0})
	case from > 0:
		e.buf.cut(e.buf.eol(from-1), e.buf.eol(to))
	default:
		e.buf.cut(pos{}, e.buf.end())
	}
	e.cur = e.buf.indent(min(from, len(e.buf.lines)-1))
}

// store puts text into a register and into the usual one. An upper case register
// takes it behind what it has.
func (e *Editor) store(reg, text string, lines bool, also string) {
	r := register{text, lines}
	if reg == "_" {
		return
	}
	if reg != "" && reg != `"` {
		if low := strings.ToLower(reg); low != reg {
			if old, ok := e.vim.regs[low]; ok {
				sep := ""
				if old.lines || lines {
					sep = "\n"
				}
				r = register{old.text + sep + text, old.lines || lines}
			}
			reg = low
		}
		e.vim.regs[reg] = r
	} else if also != "" {
		e.vim.regs[also] = r
	}
	e.vim.regs[""] = r
}

// put2 puts a register behind the cursor, or before it.
func (e *Editor) put2(reg string, before bool, n int) {
	if reg == `"` {
		reg = ""
	}
	r, ok := e.vim.regs[strings.ToLower(reg)]
	if !ok {
		return
	}
	row := e.cur.row
	if r.lines {
		text := strings.Repeat(r.text+"\n", n)
		if before {
			e.buf.insert(pos{row, 0}, text)
			e.cur = e.buf.indent(row)
			return
		}
		e.buf.insert(e.buf.eol(row), "\n"+strings.TrimSuffix(text, "\n"))
		e.cur = e.buf.indent(row + 1)
		return
	}
	at := e.cur
	if !before && at.col < len(e.buf.lines[row]) {
		at = e.buf.right(at)
	}
	end := e.buf.insert(at, strings.Repeat(r.text, n))
	if strings.Contains(r.text, "\n") {
		e.cur = at
	} else if end != at {
		e.cur = e.buf.left(end)
	}
}

// replaceChars puts a character in the place of n.
func (e *Editor) replaceChars(with string, n int) {
	to := e.cur
	for range n {
		if to.col >= len(e.buf.lines[to.row]) {
			return // vim replaces all or nothing
		}
		to = e.buf.right(to)
	}
	e.save(false)
	e.buf.cut(e.cur, to)
	text := strings.Repeat(with, n)
	if with == "\n" {
		text = with
	}
	end := e.buf.insert(e.cur, text)
	if e.cur = end; with != "\n" {
		e.cur = e.buf.left(end)
	}
	e.vim.changes = true
}

func toggled(r rune) rune {
	if unicode.IsUpper(r) {
		return unicode.ToLower(r)
	}
	return unicode.ToUpper(r)
}

// recased changes the letters of a span.
func (e *Editor) recased(from, to pos, f func(rune) rune) {
	if from != to {
		e.buf.insert(from, strings.Map(f, e.buf.cut(from, to)))
	}
}

// join puts the next n lines behind a line.
func (e *Editor) join(row, n int) {
	for range n {
		if row+1 >= len(e.buf.lines) {
			return
		}
		end := e.buf.eol(row)
		next := e.buf.indent(row + 1)
		gap := " "
		if rest := e.buf.lines[row+1][next.col:]; rest == "" || rest[0] == ')' || end.col == 0 || e.buf.lines[row][end.col-1] == ' ' {
			gap = ""
		}
		e.buf.cut(end, next)
		e.buf.insert(end, gap)
		e.cur = end
	}
}

// indentBy is what > puts before a line.
const indentBy = "  "

// shift moves lines right or left.
func (e *Editor) shift(from, to int, right bool) {
	for row := from; row <= to; row++ {
		s := e.buf.lines[row]
		switch {
		case right && s != "":
			e.buf.insert(pos{row, 0}, indentBy)
		case !right && strings.HasPrefix(s, "\t"):
			e.buf.cut(pos{row, 0}, pos{row, 1})
		case !right:
			n := min(len(indentBy), len(s)-len(strings.TrimLeft(s, " ")))
			e.buf.cut(pos{row, 0}, pos{row, n})
		}
	}
}

// selection is what visual mode has taken in.
func (e *Editor) selection() span {
	v := e.vim
	from, to := v.anchor, e.cur
	if to.before(from) {
		from, to = to, from
	}
	if v.mode == visualLineMode {
		return span{from: pos{from.row, 0}, to: e.buf.eol(to.row), lines: true}
	}
	if to.col < len(e.buf.lines[to.row]) {
		to = e.buf.right(to)
	}
	return span{from: from, to: to}
}

// performVisual does a command over the selection, or moves its end.
func (e *Editor) performVisual(c command) Outcome {
	v := e.vim
	if len(c.verb) == 2 && (c.verb[0] == 'i' || c.verb[0] == 'a') {
		if s, ok := e.object(c); ok {
			v.anchor, e.cur = s.from, s.to
			if e.cur.col > 0 && v.anchor.before(e.cur) {
				e.cur = e.buf.left(e.cur)
			}
			if s.lines {
				v.mode = visualLineMode
			}
		}
		return Changed
	}
	switch c.verb {
	case "v", "V":
		to := visualMode
		if c.verb == "V" {
			to = visualLineMode
		}
		if v.mode == to {
			e.toNormal()
		} else {
			v.mode = to
		}
		return Changed
	case "o":
		v.anchor, e.cur = e.cur, v.anchor
		return Changed
	case "/":
		e.toNormal()
		return e.find()
	}
	if e.visualChange(c) {
		return Changed
	}
	if r, ok := e.motion(c); ok {
		e.moveTo(c, r)
	}
	return Changed
}

// visualChange does an operator over the selection and leaves visual mode.
func (e *Editor) visualChange(c command) bool {
	v, s := e.vim, e.selection()
	whole := span{from: pos{s.from.row, 0}, to: e.buf.eol(s.to.row), lines: true}
	ops := map[string]string{"d": "d", "x": "d", "delete": "d", "backspace": "d", "y": "y", "c": "c", "s": "c", "u": "gu", "U": "gU", "~": "g~", ">": ">", "<": "<", "gu": "gu", "gU": "gU", "g~": "g~"}
	lineOps := map[string]string{"X": "d", "D": "d", "Y": "y", "C": "c", "S": "c", "R": "c"}
	op, ok := ops[c.verb]
	if line, is := lineOps[c.verb]; is {
		op, s, ok = line, whole, true
	}
	start := s.from
	v.mode = normalMode
	switch {
	case ok && (op == ">" || op == "<"):
		for range c.times() {
			e.apply(op, c.reg, s)
		}
	case ok:
		e.cur = start
		e.apply(op, c.reg, s)
		if op == "y" && s.lines {
			e.cur = start
		}
	case c.verb == "J":
		e.save(false)
		e.join(s.from.row, max(1, s.to.row-s.from.row))
		v.changes = true
	case c.verb == "r":
		e.save(false)
		text := e.buf.cut(s.from, s.to)
		var b strings.Builder
		for text != "" {
			n := size(text)
			if text[:n] == "\n" {
				b.WriteString("\n")
			} else {
				b.WriteString(c.arg)
			}
			text = text[n:]
		}
		e.buf.insert(s.from, b.String())
		e.cur, v.changes = s.from, true
	case c.verb == "p" || c.verb == "P":
		e.replaceBy(c, s)
	default:
		v.mode = visualMode
		if s.lines {
			v.mode = visualLineMode
		}
		return false
	}
	return true
}

// replaceBy puts a register in the place of the selection; p takes what stood
// there into the usual one.
func (e *Editor) replaceBy(c command, s span) {
	r, ok := e.vim.regs[strings.ToLower(strings.Trim(c.reg, `"`))]
	if !ok {
		return
	}
	e.save(false)
	e.vim.changes = true
	old := e.buf.cut(s.from, s.to)
	text := r.text
	if r.lines && !s.lines {
		text = "\n" + text + "\n"
	}
	end := e.buf.insert(s.from, text)
	if e.cur = s.from; !s.lines && !r.lines && end != s.from {
		e.cur = e.buf.left(end)
	}
	if c.verb == "p" {
		e.vim.regs[""] = register{old, s.lines}
	}
}
