package editor

import "strings"

// motions are keys that only move the cursor.
func motions() map[string]func(*Editor) pos {
	home := func(e *Editor) pos { return pos{e.cur.row, 0} }
	end := func(e *Editor) pos { return pos{e.cur.row, len(e.buf.lines[e.cur.row])} }
	left := func(e *Editor) pos { return e.buf.left(e.cur) }
	right := func(e *Editor) pos { return e.buf.right(e.cur) }
	wordLeft := func(e *Editor) pos { return e.buf.wordLeft(e.cur) }
	wordRight := func(e *Editor) pos { return e.buf.wordRight(e.cur) }
	return map[string]func(*Editor) pos{
		"left": left, "ctrl+b": left, "right": right, "ctrl+f": right,
		"home": home, "ctrl+a": home, "end": end, "ctrl+e": end,
		"alt+b": wordLeft, "ctrl+left": wordLeft, "alt+left": wordLeft,
		"alt+f": wordRight, "ctrl+right": wordRight, "alt+right": wordRight,
		"ctrl+home": func(*Editor) pos { return pos{} }, "ctrl+end": func(e *Editor) pos { return e.buf.end() },
		"alt+<": func(*Editor) pos { return pos{} }, "alt+>": func(e *Editor) pos { return e.buf.end() },
	}
}

// edits are keys that change the text.
func edits() map[string]func(*Editor) {
	newline := func(e *Editor) { e.save(false); e.put("\n") }
	return map[string]func(*Editor){
		"ctrl+j": newline, "shift+enter": newline, "alt+enter": newline, "ctrl+enter": newline,
		"backspace": func(e *Editor) { e.erase(e.buf.left(e.cur), e.cur) }, "ctrl+h": func(e *Editor) { e.erase(e.buf.left(e.cur), e.cur) },
		"delete": func(e *Editor) { e.erase(e.cur, e.buf.right(e.cur)) }, "ctrl+d": func(e *Editor) { e.erase(e.cur, e.buf.right(e.cur)) },
		"ctrl+k": func(e *Editor) {
			to := pos{e.cur.row, len(e.buf.lines[e.cur.row])}
			if e.cur == to {
				to = e.buf.right(e.cur)
			}
			e.kill(e.cur, to, false)
		},
		"ctrl+u": func(e *Editor) {
			from := pos{e.cur.row, 0}
			if e.cur == from {
				from = e.buf.left(e.cur)
			}
			e.kill(from, e.cur, true)
		},
		"ctrl+w":        func(e *Editor) { e.kill(e.buf.blankLeft(e.cur), e.cur, true) },
		"alt+backspace": func(e *Editor) { e.kill(e.buf.wordLeft(e.cur), e.cur, true) }, "ctrl+backspace": func(e *Editor) { e.kill(e.buf.wordLeft(e.cur), e.cur, true) },
		"alt+d": func(e *Editor) { e.kill(e.cur, e.buf.wordRight(e.cur), false) }, "ctrl+delete": func(e *Editor) { e.kill(e.cur, e.buf.wordRight(e.cur), false) },
		"ctrl+y": func(e *Editor) { e.yank() }, "alt+y": func(e *Editor) { e.yankPop() },
		"ctrl+_": func(e *Editor) { e.back() }, "ctrl+-": func(e *Editor) { e.back() }, "ctrl+/": func(e *Editor) { e.back() },
		"alt+_": func(e *Editor) { e.again() }, "ctrl+alt+_": func(e *Editor) { e.again() },
		"alt+u": func(e *Editor) { e.recase(strings.ToUpper) }, "alt+l": func(e *Editor) { e.recase(strings.ToLower) },
	}
}

// isKill tells of the keys whose cuts join into one text.
func isKill(key string) bool {
	switch key {
	case "ctrl+k", "ctrl+u", "ctrl+w", "alt+backspace", "ctrl+backspace", "alt+d", "ctrl+delete":
		return true
	}
	return false
}

func (e *Editor) erase(from, to pos) {
	if from == to {
		return
	}
	e.save(false)
	e.buf.cut(from, to)
	e.cur, e.want = from, -1
	e.past.leave()
}

// kill cuts text into the ring; cuts that follow each other are one.
func (e *Editor) kill(from, to pos, before bool) {
	if from == to {
		return
	}
	e.save(false)
	text := e.buf.cut(from, to)
	e.cur, e.want = from, -1
	switch {
	case !e.killed || len(e.kills) == 0:
		e.kills = append(e.kills, text)
	case before:
		e.kills[len(e.kills)-1] = text + e.kills[len(e.kills)-1]
	default:
		e.kills[len(e.kills)-1] += text
	}
	e.killed = true
	e.past.leave()
}

func (e *Editor) yank() {
	if len(e.kills) == 0 {
		return
	}
	e.save(false)
	e.yanked, e.turn, e.yanks = e.cur, len(e.kills)-1, true
	e.put(e.kills[e.turn])
}

// yankPop puts the cut before in the place of the one that was just yanked.
func (e *Editor) yankPop() {
	if !e.yanks || len(e.kills) == 0 {
		return
	}
	e.save(false)
	e.buf.cut(e.yanked, e.cur)
	e.cur = e.yanked
	e.turn = (e.turn + len(e.kills) - 1) % len(e.kills)
	e.put(e.kills[e.turn])
}

// recase changes the letters up to the end of the word.
func (e *Editor) recase(to func(string) string) {
	end := e.buf.wordRight(e.cur)
	e.save(false)
	text := e.buf.cut(e.cur, end)
	e.put(to(text))
}
