package task

// waited is a call that waits for its work and may let go of it.
type waited struct {
	use   string
	leave chan struct{}
}

// Attend says that the call use waits for work that could go on without it.
// leave is closed when somebody asks for that; done ends the waiting.
func (l *List) Attend(use string) (leave <-chan struct{}, done func()) {
	w := &waited{use, make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, w)
	return w.leave, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.forget(w)
	}
}

// Leave asks the call use, "" for all that wait, to let its work go on in the
// background, and returns how many were asked.
func (l *List) Leave(use string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, w := range append([]*waited(nil), l.waiting...) {
		if use == "" || w.use == use {
			l.forget(w)
			close(w.leave)
			n++
		}
	}
	return n
}

func (l *List) forget(w *waited) {
	for i, o := range l.waiting {
		if o == w {
			l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
			return
		}
	}
}

// Untold says that the call no longer waits: the model is to be told of the end.
func (l *List) Untold(id string) {
	if e := l.entry(id); e != nil {
		l.know(e, false)
	}
}
