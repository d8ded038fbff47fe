package task

import "testing"

func TestLeaveReachesWhoWaits(t *testing.T) {
	var l List
	one, doneOne := l.Attend("t1")
	two, doneTwo := l.Attend("t2")
	_, gone := l.Attend("t3")
	gone()
	if n := l.Leave("nobody"); n != 0 {
		t.Errorf("%d calls for an id that none has", n)
	}
	if n := l.Leave("t3"); n != 0 {
		t.Errorf("%d calls that wait no more", n)
	}
	if n := l.Leave("t1"); n != 1 {
		t.Errorf("%d calls t1", n)
	}
	<-one
	select {
	case <-two:
		t.Error("another call was told, too")
	default:
	}
	if n := l.Leave(""); n != 1 { // t1 has been told
		t.Errorf("%d calls that still wait", n)
	}
	<-two
	doneOne()
	doneTwo()
	if n := l.Leave(""); n != 0 {
		t.Errorf("%d calls at the end", n)
	}
}
