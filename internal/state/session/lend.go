package session

import "fmt"

// Moved says that a session that was lent was continued by another process: what
// this one holds of it is not its newest state any more.
type Moved struct{ ID string }

// Error tells how to go on.
func (m *Moved) Error() string {
	return fmt.Sprintf("session %s was continued by another process meanwhile; resume it to go on from there", m.ID)
}

// Lend lets other processes continue the session until the next line is
// appended. A program that drives hew may have forgotten a session whose process
// still waits for it, and continue it in another. Append takes the session back:
// it is a *Busy while somebody has it, and a *Moved once somebody had.
func (l *Log) Lend() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil || l.f == nil {
		return nil
	}
	info, err := l.f.Stat()
	if err != nil {
		return failed("lend the session", l.path, err)
	}
	err = l.lock.release()
	l.lock, l.lent = nil, &loan{info.Size()}
	return failed("lend the session", l.path, err)
}

// loan is what a lent session was.
type loan struct{ size int64 }

// back takes a lent session back.
func (l *Log) back() error {
	if l.lent == nil {
		return nil
	}
	lock, err := acquire(l.lockPath, l.id)
	if err != nil {
		return err
	}
	info, err := l.f.Stat()
	if err == nil && info.Size() != l.lent.size {
		err = &Moved{l.id}
	}
	if err != nil {
		_ = lock.release() // what went wrong is told
		return err
	}
	l.lock, l.lent = lock, nil
	return nil
}
