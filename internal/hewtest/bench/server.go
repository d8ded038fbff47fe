package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// plan gives the reply to the turn-th request (from 0) of a conversation, whose body has so many bytes.
type plan func(turn, bytes int) reply

// server is a Messages API on loopback that notes when bytes come and go. It does not judge requests as the scripted model does: that
// takes the longer the longer a history is, and its garbage would be collected during what is measured here.
type server struct {
	url  string
	http *http.Server

	mu   sync.Mutex
	next plan
	talk *talk
	body []byte // reused: a fresh buffer per request would be this process's garbage
	sent int    // replies so far, of all conversations: ids must not repeat in a resumed one
}

// talk is what the server saw of one conversation.
type talk struct {
	first  []byte // body of the first request
	bytes  int    // size of the last one
	arrive []time.Time
	leave  []time.Time
}

// gaps are the times between the last byte of a reply and the last byte of the request that follows, in seconds.
func (t *talk) gaps() samples {
	var out samples
	for i := 1; i < len(t.arrive); i++ {
		out = append(out, t.arrive[i].Sub(t.leave[i-1]).Seconds())
	}
	return out
}

func listen() (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{url: "http://" + l.Addr().String()}
	s.http = &http.Server{Handler: s}
	go func() {
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			panic(err) // every measure of this run would wait for ever
		}
	}()
	return s, nil
}

func (s *server) close() { _ = s.http.Shutdown(context.Background()) }

// converse begins a conversation: what comes from now on is answered by p and noted in the talk, to be read when the client has ended.
func (s *server) converse(p plan) *talk {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next, s.talk = p, &talk{}
	return s.talk
}

// ServeHTTP answers turns; a request without tools is a side query and takes no turn.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case strings.HasSuffix(r.URL.Path, "/count_tokens"):
		_, _ = io.WriteString(w, `{"input_tokens":1000}`)
		return
	case r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/messages"):
		http.NotFound(w, r)
		return
	}
	if err := s.receive(r); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	arrived := time.Now()
	s.sent++
	id := fmt.Sprintf("%06d", s.sent)
	if !bytes.Contains(s.body, []byte(`"tools":[`)) {
		_, _ = text("ok").send(w, id)
		return
	}
	turn := len(s.talk.arrive)
	s.talk.arrive = append(s.talk.arrive, arrived)
	s.talk.bytes = len(s.body)
	if turn == 0 {
		s.talk.first = bytes.Clone(s.body)
	}
	left, _ := s.next(turn, len(s.body)).send(w, id) // a client that went away shows in its own exit code
	s.talk.leave = append(s.talk.leave, left)
}

// receive reads the body into s.body.
func (s *server) receive(r *http.Request) error {
	if need := int(r.ContentLength); need > cap(s.body) {
		s.body = make([]byte, 0, need+need/4)
	}
	b := bytes.NewBuffer(s.body[:0])
	_, err := b.ReadFrom(r.Body)
	s.body = b.Bytes()
	return err
}
