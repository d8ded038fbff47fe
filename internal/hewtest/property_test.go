package hewtest

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tidwall/gjson"
)

// acks are the messages that a run has acknowledged: their lines have left hew.
type acks struct {
	w     *world
	lines []gjson.Result
}

// acknowledged collects them from whole lines of the output; earlier are those
// of runs before. A reply that hew took back, on the output or in the
// transcript, is not among them: the next try replaced it.
func acknowledged(w *world, output []string, earlier *acks) *acks {
	a := &acks{w: w}
	back := map[string]bool{}
	for _, l := range bytes.Split(w.bytes(), []byte("\n")) {
		for _, id := range gjson.GetBytes(l, "retractedUuids").Array() {
			back[id.String()] = true
		}
	}
	var all []gjson.Result
	if earlier != nil {
		all = earlier.lines
	}
	for _, l := range output {
		v := gjson.Parse(l)
		switch v.Get("type").String() {
		case "assistant":
			if v.Get("message.model").String() != "<synthetic>" {
				all = append(all, v)
			}
		case "user":
			all = append(all, v)
		case "system":
			for _, id := range v.Get("uuids").Array() {
				back[id.String()] = true
			}
		}
	}
	for _, v := range all {
		if !back[v.Get("uuid").String()] {
			a.lines = append(a.lines, v)
		}
	}
	return a
}

// missing tells which acknowledged messages are not in the transcript.
func (a *acks) missing(transcript []byte) error {
	known := map[string]bool{}
	for _, l := range bytes.Split(transcript, []byte("\n")) {
		known[gjson.GetBytes(l, "uuid").String()] = true
	}
	var errs []error
	for _, v := range a.lines {
		if !known[v.Get("uuid").String()] {
			errs = append(errs, fmt.Errorf("not in the transcript, but acknowledged: %.300s", v.Raw))
		}
	}
	return errors.Join(errs...)
}
