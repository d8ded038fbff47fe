package editor

// kept is a draft that was put aside.
type kept struct {
	text string
	cur  pos
}

// Stash puts the draft aside, or takes the one that was put aside back into an
// empty editor.
func (e *Editor) Stash() {
	switch {
	case !e.Empty():
		k := &kept{e.buf.String(), e.cur}
		e.Set("")
		e.stash = k
	case e.stash != nil:
		k := e.stash
		e.set(k.text)
		e.cur, e.stash = k.cur, nil
	}
}

// Stashed tells that a draft was put aside.
func (e *Editor) Stashed() bool { return e.stash != nil }

// Discard clears the editor and returns what stood there, for the history.
func (e *Editor) Discard() Draft {
	d := e.Draft()
	e.Set("")
	return d
}
