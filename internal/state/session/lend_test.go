package session

import (
	"errors"
	"testing"
)

func TestALentSessionIsTakenBackUnlessItMoved(t *testing.T) {
	s := Store{Home: t.TempDir(), Project: "p"}
	id := NewID()
	mine, err := s.Create(id)
	if err != nil {
		t.Fatal(err)
	}
	line := []byte(`{"type":"x"}`)
	var busy *Busy
	if _, err := s.Open(id); !errors.As(err, &busy) {
		t.Fatalf("an open session was opened again: %v", err)
	}
	if err := errors.Join(mine.Append(line), mine.Lend(), mine.Append(line), mine.Lend()); err != nil {
		t.Fatal(err)
	}
	other, err := s.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := mine.Append(line); err == nil {
		t.Error("a session was written while another process had it")
	}
	if err := errors.Join(other.Append(line), other.Close()); err != nil {
		t.Fatal(err)
	}
	var moved *Moved
	if err := mine.Append(line); !errors.As(err, &moved) {
		t.Errorf("after another process continued it: %v", err)
	}
	if err := mine.Close(); err != nil {
		t.Error(err)
	}
}
