package messages_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider/messages"
	"github.com/hew-agent/hew/internal/msg"
)

// Whatever requests follow each other, an Encoder writes what Encode writes,
// and a body that was made before keeps its bytes.
func TestEncoderIsEncode(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	e := messages.NewEncoder(nil)
	var history []*msg.Message
	made := map[*messages.Body]string{}
	for i := range 400 {
		switch rnd.IntN(6) {
		case 0:
			history = slices.Clone(history[:rnd.IntN(len(history)+1)])
		case 1: // the same request again
		default:
			history = append(slices.Clone(history), msg.User("", time.Time{}, fmt.Sprint("text ", i)), msg.User("", time.Time{}, fmt.Sprint("more ", i)))
		}
		r := request(0)
		r.Messages = history
		if n := len(history); n > 0 && rnd.IntN(4) > 0 {
			r.Mark, r.MarkAt = "5m", []int{max(0, n-1-rnd.IntN(3)), n - 1}
		}
		if rnd.IntN(8) == 0 {
			r.Side = "title"
		}
		want, body := string(messages.Encode(r, nil).Bytes()), e.Encode(r)
		sent, err := io.ReadAll(body.Reader())
		if err != nil || string(sent) != want || string(body.Bytes()) != want || body.Len() != int64(len(want)) {
			t.Fatalf("step %d, %v: sent %d bytes, length %d\n%s\nwant\n%s", i, err, len(sent), body.Len(), sent, want)
		}
		made[body] = want
	}
	for body, want := range made {
		if string(body.Bytes()) != want {
			t.Fatal("a later request has changed the bytes of an earlier one")
		}
	}
}

// The work of a turn must not grow with the conversation.
func TestEncoderDoesOnlyWhatIsNew(t *testing.T) {
	r := request(0)
	for range 2_000 {
		r.Messages = append(r.Messages, msg.User("", time.Time{}, "text"))
	}
	e := messages.NewEncoder(nil)
	e.Encode(r)
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.Mark, r.MarkAt = "5m", []int{len(r.Messages) - 2, len(r.Messages) - 1}
			e.Encode(r)
		}
	}).AllocedBytesPerOp()
	if allocated > 20_000 {
		t.Errorf("%d bytes allocated for a request after 2,000 messages", allocated)
	}
}
